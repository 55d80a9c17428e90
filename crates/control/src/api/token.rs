//! The token that every request over TCP must bear (RFC 6750).

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};

use super::places::{Full, Place};
use super::problem::refuse;

/// Fewest characters of a token: 128 bits in hexadecimal digits.
const MIN_TOKEN: usize = 32;

/// A secret shared with clients.
#[derive(Clone)]
pub struct Token(Arc<[u8]>);

impl Token {
    /// Reads the first line of a file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        let line = text.lines().next().unwrap_or("").trim();
        if line.len() < MIN_TOKEN {
            let message = format!(
                "the token has {} characters: expected {MIN_TOKEN} or more, as of `openssl rand -hex 32`",
                line.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(Self(line.as_bytes().into()))
    }

    /// Takes as long for a near miss as for a wild guess.
    fn matches(&self, given: &[u8]) -> bool {
        let difference = self.0.iter().zip(given).fold(0, |sum, (a, b)| sum | (a ^ b));
        self.0.len() == given.len() && difference == 0
    }

    /// Refuses requests that do not bear the token.
    pub(super) fn guard(self, router: Router) -> Router {
        router.layer(from_fn(move |request: Request, next: Next| {
            let token = self.clone();
            async move {
                let place = request.extensions().get::<Arc<Place>>();
                let given = request.headers().get(header::AUTHORIZATION);
                let given = given.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
                if given.is_some_and(|given| token.matches(given)) {
                    return match place.map_or(Ok(()), |place| place.is_known()) {
                        Ok(()) => next.run(request).await,
                        Err(full) => refuse_full(full),
                    };
                }
                refuse_unknown(place)
            }
        }))
    }
}

/// Ends the connection: its place is for somebody else.
fn refuse_full(full: Full) -> Response {
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, full.why()).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Ends the connection, too, and remembers who was wrong.
fn refuse_unknown(place: Option<&Arc<Place>>) -> Response {
    if let Some(place) = place {
        place.failed(Instant::now());
    }
    let peer = place.map(|place| place.peer().to_string());
    tracing::warn!(fault = "api-token", peer, "a request was refused that bears no valid token");
    let refusal = refuse(StatusCode::UNAUTHORIZED, "this request bears no valid token");
    let mut response = refusal.into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
