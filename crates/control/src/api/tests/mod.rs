//! Tests over real sockets.

mod bulk;
mod contributing;
mod document;
mod events;
mod metrics_page;
mod requests;
mod rights;
mod sockets;
mod tls;

use std::path::PathBuf;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::router;
use crate::config::{Config, Host, Source, parse};
use crate::control_loop::{Control, Handle, channel};
use crate::fake::FakeRouter;
use crate::view::Right;

const TEXT: &str = "[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n\n\
                    [[route]]\nprefix = \"default\"\nvia = \"192.0.2.9\"\n";

fn config() -> Config {
    parse(&Source::new("router.toml", TEXT), &Host::any()).unwrap()
}

/// A control loop over a fake router, on this thread.
fn start(file: Option<PathBuf>) -> Handle {
    let (handle, jobs) = channel();
    let engine = Box::new(FakeRouter::new(&config()));
    let mut control = Control::new(engine, config(), Host::any(), file);
    tokio::task::spawn_local(async move { control.run(jobs).await });
    handle
}

/// Runs a test beside its control loop.
fn on_one_thread<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test)
}

struct Reply {
    status: u16,
    kind: String,
    tag: String,
    text: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

async fn send(router: &Router, mut request: Request<Body>) -> Reply {
    if request.extensions().get::<Right>().is_none() {
        request.extensions_mut().insert(Right::All);
    }
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let said = |name| response.headers().get(name).map_or("", |it| it.to_str().unwrap()).to_owned();
    let (kind, tag) = (said(header::CONTENT_TYPE), said(header::ETAG));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Reply { status, kind, tag, text: String::from_utf8_lossy(&body).into_owned() }
}

async fn get(router: &Router, path: &str) -> Reply {
    send(router, Request::get(path).body(Body::empty()).unwrap()).await
}

async fn post(router: &Router, path: &str, body: Value) -> Reply {
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
    send(router, request.body(Body::from(body.to_string())).unwrap()).await
}

fn fresh_router() -> Router {
    router(start(None))
}
