//! The API, on any path and body: it answers, and never with 500.
#![no_main]

use std::cell::OnceCell;

use axum::body::Body;
use axum::http::Request;
use control::api::{router, trusting};
use control::config::{Config, Host};
use control::control_loop::{Control, channel};
use control::fake::FakeRouter;
use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use tower::ServiceExt;

/// What bodies are sent to, by the first byte; beyond these the path is fuzzed too.
const PATHS: [&str; 10] = [
    "/v1/config/check",
    "/v1/config/diff",
    "/v1/config/apply",
    "/v1/config/edit",
    "/v1/config/rollback",
    "/v1/config/confirm",
    "/v1/trace/start",
    "/v1/capture/start",
    "/v1/ping",
    "/v1/traceroute",
];

/// One router for the whole run.
struct Server {
    runtime: Runtime,
    tasks: LocalSet,
    router: axum::Router,
}

impl Server {
    fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let tasks = LocalSet::new();
        let (handle, jobs) = channel();
        tasks.spawn_local(async move {
            let config = Config::default();
            let engine = Box::new(FakeRouter::new(&config));
            Control::new(engine, config, Host::any(), None).run(jobs).await;
        });
        Self { runtime, tasks, router: trusting(router(handle)) }
    }
}

thread_local! {
    /// Never dropped: its tasks could not end once the thread's own storage is gone.
    static SERVER: OnceCell<&'static Server> = const { OnceCell::new() };
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let request = match PATHS.get(usize::from(*first)) {
        Some(path) => {
            let request = Request::post(*path).header("content-type", "application/json");
            request.body(Body::from(rest.to_vec()))
        }
        None => Request::get(format!("/v1/{}", String::from_utf8_lossy(rest))).body(Body::empty()),
    };
    // What is no request at all never gets as far as the router.
    let Ok(request) = request else { return };
    SERVER.with(|server| {
        let server = server.get_or_init(|| Box::leak(Box::new(Server::start())));
        let answer = server.router.clone().oneshot(request);
        let answer = server.tasks.block_on(&server.runtime, answer).expect("an answer");
        assert_ne!(answer.status().as_u16(), 500);
    });
});
