//! `/v1/ping` and `/v1/traceroute`: questions of the router itself. The answer is one JSON object a
//! line, told as it goes.
//!
//! ```text
//!  request ─▶ control loop: a course begins, and goes on by itself ─▶ lines ─▶ whoever asked
//! ```
//! The control loop waits for nobody: whoever does not read his lines, or hangs up, ends his
//! course.

use axum::response::Response;
use hyper::body::Bytes;
use serde::Serialize;
use tokio::sync::mpsc;

use super::lines::{answer, line_of};
use super::problem::Refusal;
use super::verb::Serve;
use crate::control_loop::Handle;
use crate::engine::Tell;
use crate::view::{Fields, Ping, PingRequest, Traceroute, TracerouteRequest};

/// Lines on their way to whoever asked.
const LINES: usize = 1024;

impl Serve for Ping {
    async fn serve(
        handle: Handle,
        Fields(request): Fields<PingRequest>,
    ) -> Result<Response, Refusal> {
        let (tell, lines) = telling();
        handle.call(move |control, _| control.engine.ping(&request, tell)).await??;
        Ok(answer(lines))
    }
}

impl Serve for Traceroute {
    async fn serve(
        handle: Handle,
        Fields(request): Fields<TracerouteRequest>,
    ) -> Result<Response, Refusal> {
        let (tell, lines) = telling();
        handle.call(move |control, _| control.engine.traceroute(&request, tell)).await??;
        Ok(answer(lines))
    }
}

fn telling<T: Serialize>() -> (Tell<T>, mpsc::Receiver<Bytes>) {
    let (lines, receiver) = mpsc::channel(LINES);
    (Box::new(move |line| lines.try_send(line_of(&line)).is_ok()), receiver)
}
