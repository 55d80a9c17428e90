//! The body of a request: read whole, in bounds of length and time, before anything answers. A
//! refusal that overtakes the body would cost the connection, and its next request.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::Body as _;
use tokio::time::{Instant, timeout_at};

use super::activity::until_answered;
use super::places::Place;
use super::problem::{Refusal, refuse};
use crate::view::{Right, RoutesLoad, Verb};

/// Longest body taken: a configuration with about a million routes.
pub(super) const MAX_BODY_BYTES: usize = 64 << 20;
/// Longest file of routes.
const MAX_FILE_BYTES: usize = 1 << 30;
/// Time for a body, and as much more as it has bytes at [`SLOWEST`].
const BODY_TIME: Duration = Duration::from_secs(10);
/// Bytes a second that a body comes at, at least.
const SLOWEST: usize = 16 << 10;

/// Reads the body.
pub(super) async fn read(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let may_load = head.extensions.get::<Right>().is_some_and(|right| *right >= RoutesLoad::RIGHT);
    let is_file = head.uri.path() == RoutesLoad::PATH && may_load;
    let most = if is_file { MAX_FILE_BYTES } else { MAX_BODY_BYTES };
    match whole(body, most).await {
        Ok(bytes) => {
            // Only who has said all of it waits for an answer.
            let busy = head.extensions.get::<Arc<Place>>().map(|place| place.activity().busy());
            let response = next.run(Request::from_parts(head, Body::from(bytes))).await;
            match busy {
                Some(busy) => until_answered(response, busy),
                None => response,
            }
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn whole(mut body: Body, most: usize) -> Result<Vec<u8>, Refusal> {
    let (start, mut bytes) = (Instant::now(), Vec::new());
    loop {
        let end = start + BODY_TIME + Duration::from_secs((bytes.len() / SLOWEST) as u64);
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let late = |_| {
            let detail = format!("the body comes at less than {SLOWEST} bytes a second");
            refuse(StatusCode::REQUEST_TIMEOUT, detail)
        };
        match timeout_at(end, frame).await.map_err(late)? {
            None => return Ok(bytes),
            Some(Err(_)) => return Err(refuse(StatusCode::BAD_REQUEST, "the body breaks off")),
            Some(Ok(frame)) => bytes.extend(frame.into_data().unwrap_or_default()),
        }
        if bytes.len() > most {
            let detail = format!("the body has more than {most} bytes");
            return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, detail));
        }
    }
}
