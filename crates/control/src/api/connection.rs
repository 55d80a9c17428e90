//! One connection: HTTP/1.1 with bounds on how long and how many.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};

use super::patience::Patient;
use super::places::{Full, Peer, Place};
use crate::view::Right;

/// Time for a request's header, and between two requests.
pub(super) const HEADER_TIME: Duration = Duration::from_secs(30);

/// Serves requests until the peer is done. What it may is told to each of them, where it is known
/// already: a router made anew for each connection has all its paths made anew, for milliseconds.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    router: Router,
    place: Arc<Place>,
    right: Option<Right>,
) {
    let activity = Arc::clone(place.activity());
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&place));
        if let Some(right) = right {
            request.extensions_mut().insert(right);
        }
        router.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .serve_connection(TokioIo::new(Patient::new(stream, activity)), service);
    // A peer that hangs up in the middle has nobody left to be told.
    if let Err(error) = served.await {
        tracing::info!(fault = "api-connection", %error, "a connection to the API broke off");
    }
}

/// Tells of a peer for whom there is no place.
pub(super) fn turned_away(peer: Peer, full: Full) {
    tracing::warn!(fault = "api-full", %peer, "a connection to the API was refused: {}", full.why());
}

/// Tells that nobody could connect.
pub(super) fn accept_failed(error: &std::io::Error) {
    tracing::warn!(fault = "api-accept", %error, "a connection to the API could not be accepted");
}

/// After an accept failed (no file descriptors, say): the time before the next.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
