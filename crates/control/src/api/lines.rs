//! Answers of JSON objects, one a line, as they come.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::{Bytes, Frame};
use serde::Serialize;
use tokio::sync::mpsc;

/// The answer that such lines go into.
pub(super) fn answer(lines: mpsc::Receiver<Bytes>) -> Response {
    let body = Body::new(Lines(lines));
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

/// One of them.
pub(super) fn line_of(value: &impl Serialize) -> Bytes {
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line.into()
}

/// A body of lines, as they come.
struct Lines(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Lines {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}
