//! The page that shows the router in a browser: four files in the program, and behind them the
//! API, as far as it only shows.
//!
//! ```text
//!  browser ── GET /, /page.css, /page.js … ─▶ the files
//!          ── GET /v1/… ───────────────────▶ the API, with the right to see and no other
//!          ── anything else ───────────────▶ refused
//! ```
//! A page of somebody else's that a browser has open may ask here, too: names that lead to this
//! machine are nobody's secret. So who asks must have meant this machine (`Host`), and answers are
//! for pages of ours alone.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use tokio::net::TcpListener;

use super::connection::{ACCEPT_PAUSE, accept_failed, serve, turned_away};
use super::places::{Peer, Places};
use super::problem::refuse;
use crate::control_loop::Handle;
use crate::view::Right;

const PAGE: &str = include_str!("web/page.html");
const STYLE: &str = include_str!("web/page.css");
const SCRIPT: &str = include_str!("web/page.js");
const TOPOLOGY: &str = include_str!("web/topology.js");

/// What is said of every answer: nothing of other places is loaded, and nobody shows it inside a
/// page of their own.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-cache"),
];

/// The page, and what it asks, for this control loop: whoever asks may see, and nothing else.
pub fn page(handle: Handle) -> Router {
    const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
    let file = |media: &'static str, text: &'static str| {
        get(async move || ([(header::CONTENT_TYPE, media)], text))
    };
    super::router(handle)
        .route("/", file("text/html; charset=utf-8", PAGE))
        .route("/page.css", file("text/css; charset=utf-8", STYLE))
        .route("/page.js", file(JAVASCRIPT, SCRIPT))
        .route("/topology.js", file(JAVASCRIPT, TOPOLOGY))
        .layer(Extension(Right::See))
        .layer(from_fn(only_shows))
}

/// Refuses all but questions, and says who may have the answers.
async fn only_shows(request: Request, next: Next) -> Response {
    let mut response = match *request.method() {
        Method::GET | Method::HEAD => next.run(request).await,
        _ => {
            let why = "the page only shows: use the API's socket, or `volley`";
            refuse(StatusCode::METHOD_NOT_ALLOWED, why).into_response()
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Refuses who did not mean this machine.
async fn meant_us(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    match host.is_some_and(is_own) {
        true => next.run(request).await,
        false => {
            let why = format!("this is no machine called `{}`", host.unwrap_or_default());
            refuse(StatusCode::MISDIRECTED_REQUEST, why).into_response()
        }
    }
}

/// Whether a name, with or without a port, is this machine's, and no other machine has it.
fn is_own(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let plain = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let address: Option<IpAddr> = plain.parse().ok();
    name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}

/// The page on an address of this machine.
pub struct Web(TcpListener);

impl Web {
    /// Listens there.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await;
        let told = |error: io::Error| {
            io::Error::new(error.kind(), format!("[web] listen {address}: {error}"))
        };
        listener.map(Self).map_err(told)
    }

    /// The address listened at, its port chosen by the system if it was 0.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Serves every connection, for ever.
    pub async fn serve(self, page: Router) {
        let (page, places) = (page.layer(from_fn(meant_us)), Places::default());
        loop {
            let (stream, peer) = match self.0.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    accept_failed(&error);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let peer = Peer::machine(peer.ip());
            match places.of_known(peer) {
                Ok(place) => {
                    let served = serve(stream, page.clone(), Arc::clone(&place), None);
                    let task = tokio::spawn(served);
                    place.is_served_by(task.abort_handle());
                }
                Err(full) => turned_away(peer, full),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_own_and_no_others() {
        for host in
            ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]:8080", "[::1]"]
        {
            assert!(is_own(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8080",
            "192.0.2.1",
            "localhost.evil.example",
            "0.0.0.0",
            "[2001:db8::1]:80",
            "127.0.0.1.evil.example",
        ] {
            assert!(!is_own(host), "{host}");
        }
    }

    /// What the page loads and asks is there, and it loads nothing else.
    #[test]
    fn the_page_asks_for_what_there_is() {
        let paths = super::super::openapi()["paths"].clone();
        let scripts = [SCRIPT, TOPOLOGY].concat();
        let asked = scripts.split(['"', '`', '\'']).filter(|text| text.starts_with("/v1/"));
        let mut count = 0;
        for path in asked {
            let path = path.split(['?', '$']).next().unwrap();
            let mut known = paths.as_object().unwrap().keys();
            let fits = known.any(|it| it == path || it.split('{').next() == Some(path));
            assert!(fits, "{path}");
            count += 1;
        }
        assert!(count >= 8, "{count}");
        for text in [PAGE, STYLE, SCRIPT, TOPOLOGY] {
            let others = text.replace("http://www.w3.org/", "");
            assert!(!others.contains("http:") && !others.contains("https:"));
            assert!(!text.contains("innerHTML"), "what routers say is no page");
        }
        for file in ["page.css", "page.js", "topology.js"] {
            assert!(PAGE.contains(file));
        }
    }
}
