//! `/v1/trace`, `/v1/capture`, `/v1/stations`, `/v1/counters`: looking closer.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::extract::{Body, within};
use super::problem::{Answer, Refusal, Refused};
use super::show::ask;
use crate::control_loop::{Control, Handle};
use crate::engine::EngineError;
use crate::view::{self, All, Capture, StationCount, Trace};

/// Most packets of a trace.
const MAX_TRACE: u32 = 10_000;
/// Most packets of a capture.
const MAX_CAPTURE: u32 = 100_000;
/// Most stations filled in at once.
const MAX_FILL: u32 = 16_777_216;

/// Has the router do something; answers how it went.
async fn make<T: Send + 'static>(
    handle: &Handle,
    job: impl FnOnce(&mut Control) -> Result<T, EngineError> + Send + 'static,
) -> Answer<T> {
    Ok(Json(handle.call(|control, _| job(control)).await??))
}

/// Traces the next packets.
#[utoipa::path(post, path = "/v1/trace/start", tag = "observe", request_body = view::TraceRequest,
    responses((status = 200, description = "Tracing.", body = view::Trace), Refused))]
pub(super) async fn trace_start(
    State(handle): State<Handle>,
    Body(request): Body<view::TraceRequest>,
) -> Answer<Trace> {
    within("count", request.count, 1..=MAX_TRACE)?;
    make(&handle, move |control| {
        control.engine.trace_start(&request)?;
        ask::<Trace>(control, &All)
    })
    .await
}

/// Traces no more.
#[utoipa::path(post, path = "/v1/trace/stop", tag = "observe",
    responses((status = 200, description = "What was traced.", body = view::Trace), Refused))]
pub(super) async fn trace_stop(State(handle): State<Handle>) -> Answer<Trace> {
    make(&handle, |control| {
        control.engine.trace_stop();
        ask::<Trace>(control, &All)
    })
    .await
}

/// Captures the next packets at a node's exit.
#[utoipa::path(post, path = "/v1/capture/start", tag = "observe",
    request_body = view::CaptureRequest,
    responses((status = 200, description = "Capturing.", body = view::Capture), Refused))]
pub(super) async fn capture_start(
    State(handle): State<Handle>,
    Body(request): Body<view::CaptureRequest>,
) -> Answer<Capture> {
    within("count", request.count, 1..=MAX_CAPTURE)?;
    if let Some(snap_bytes) = request.snap_bytes {
        within("snap_bytes", snap_bytes, 14..=16_384)?;
    }
    make(&handle, move |control| {
        control.engine.capture_start(&request)?;
        ask::<Capture>(control, &All)
    })
    .await
}

/// Captures no more.
#[utoipa::path(post, path = "/v1/capture/stop", tag = "observe",
    responses((status = 200, description = "How it stands.", body = view::Capture), Refused))]
pub(super) async fn capture_stop(State(handle): State<Handle>) -> Answer<Capture> {
    make(&handle, |control| {
        control.engine.capture_stop();
        ask::<Capture>(control, &All)
    })
    .await
}

/// What was captured, as a pcap file.
#[utoipa::path(get, path = "/v1/capture/pcap", tag = "observe",
    responses(
        (status = 200, description = "A pcap file.", body = Vec<u8>,
            content_type = "application/vnd.tcpdump.pcap"),
        Refused))]
pub(super) async fn capture_pcap(State(handle): State<Handle>) -> Result<Response, Refusal> {
    let file = handle.call(|control, _| control.engine.capture_pcap()).await?;
    Ok(([(header::CONTENT_TYPE, "application/vnd.tcpdump.pcap")], file).into_response())
}

/// Forgets learned stations.
#[utoipa::path(post, path = "/v1/stations/flush", tag = "observe",
    request_body = view::StationFlush,
    responses((status = 200, description = "How many went.", body = view::StationCount), Refused))]
pub(super) async fn stations_flush(
    State(handle): State<Handle>,
    Body(request): Body<view::StationFlush>,
) -> Answer<StationCount> {
    make(&handle, move |control| control.engine.stations_flush(&request)).await
}

/// Has stations learned that nobody has heard, for measurements.
#[utoipa::path(post, path = "/v1/stations/fill", tag = "observe",
    operation_id = "fill", request_body = view::StationFill,
    responses((status = 200, description = "How many came.", body = view::StationCount), Refused))]
pub(super) async fn stations_fill(
    State(handle): State<Handle>,
    Body(request): Body<view::StationFill>,
) -> Answer<StationCount> {
    within("count", request.count, 1..=MAX_FILL)?;
    make(&handle, move |control| control.engine.stations_fill(&request)).await
}

/// Sets every counter to zero.
#[utoipa::path(post, path = "/v1/counters/clear", tag = "observe",
    responses((status = 200, description = "They are zero."), Refused))]
pub(super) async fn counters_clear(State(handle): State<Handle>) -> Answer<()> {
    handle.call(|control, _| control.engine.counters_clear()).await?;
    Ok(Json(()))
}
