//! The tokens of which every request over TCP must bear one (RFC 6750), each with its right.

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
use crate::view::Right;

/// Fewest characters of a token: 128 bits in hexadecimal digits.
const MIN_TOKEN: usize = 32;

/// A secret shared with clients.
#[derive(Clone)]
struct Token(Arc<[u8]>);

impl Token {
    /// Reads the first line of a file.
    fn read(path: &Path) -> io::Result<Self> {
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
}

/// Secrets, and what who bears one may.
#[derive(Clone, Default)]
pub struct Tokens(Vec<(Token, Right)>);

impl Tokens {
    /// Reads one more, for those who may so much.
    pub(super) fn read(&mut self, path: &Path, right: Right) -> io::Result<()> {
        let token = Token::read(path)?;
        if let Some((_, other)) = self.0.iter().find(|(known, _)| known.matches(&token.0)) {
            let message = format!("the token is that of the right {other}, too");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.0.push((token, right));
        Ok(())
    }

    /// Looks at all of them, whichever it is.
    fn right_of(&self, given: &[u8]) -> Option<Right> {
        let matching = |best: Option<Right>, (token, right): &(Token, Right)| {
            if token.matches(given) { best.max(Some(*right)) } else { best }
        };
        self.0.iter().fold(None, matching)
    }

    /// Refuses requests that bear no token; tells the others what they may.
    pub(super) fn guard(self, router: Router) -> Router {
        router.layer(from_fn(move |mut request: Request, next: Next| {
            let tokens = self.clone();
            async move {
                let place = request.extensions().get::<Arc<Place>>();
                let given = request.headers().get(header::AUTHORIZATION);
                let given = given.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
                let Some(right) = given.and_then(|given| tokens.right_of(given)) else {
                    return refuse_unknown(place);
                };
                if let Err(full) = place.map_or(Ok(()), |place| place.is_known()) {
                    return refuse_full(full);
                }
                request.extensions_mut().insert(right);
                next.run(request).await
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
