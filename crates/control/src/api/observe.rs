//! `/v1/trace`, `/v1/capture`, `/v1/counters`: looking closer.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::extract::{Body, within};
use super::problem::{Answer, Refusal, Refused};
use crate::control_loop::Handle;
use crate::view;

/// Most packets of a trace.
const MAX_TRACE: u32 = 10_000;
/// Most packets of a capture.
const MAX_CAPTURE: u32 = 100_000;

/// What was traced.
#[utoipa::path(get, path = "/v1/trace", tag = "observe",
    responses((status = 200, description = "Packets and their walks.", body = view::Trace), Refused))]
pub(super) async fn trace(State(handle): State<Handle>) -> Answer<view::Trace> {
    Ok(Json(handle.call(|control, _| control.engine.trace()).await?))
}

/// Traces the next packets.
#[utoipa::path(post, path = "/v1/trace/start", tag = "observe", request_body = view::TraceRequest,
    responses((status = 200, description = "Tracing.", body = view::Trace), Refused))]
pub(super) async fn trace_start(
    State(handle): State<Handle>,
    Body(request): Body<view::TraceRequest>,
) -> Answer<view::Trace> {
    within("count", request.count, 1..=MAX_TRACE)?;
    let trace = handle.call(move |control, _| {
        control.engine.trace_start(&request)?;
        Ok::<_, Refusal>(control.engine.trace())
    });
    Ok(Json(trace.await??))
}

/// Traces no more.
#[utoipa::path(post, path = "/v1/trace/stop", tag = "observe",
    responses((status = 200, description = "What was traced.", body = view::Trace), Refused))]
pub(super) async fn trace_stop(State(handle): State<Handle>) -> Answer<view::Trace> {
    let trace = handle.call(|control, _| {
        control.engine.trace_stop();
        control.engine.trace()
    });
    Ok(Json(trace.await?))
}

/// How the capture stands.
#[utoipa::path(get, path = "/v1/capture", tag = "observe",
    responses((status = 200, description = "How it stands.", body = view::Capture), Refused))]
pub(super) async fn capture(State(handle): State<Handle>) -> Answer<view::Capture> {
    Ok(Json(handle.call(|control, _| control.engine.capture()).await?))
}

/// Captures the next packets at a node's exit.
#[utoipa::path(post, path = "/v1/capture/start", tag = "observe",
    request_body = view::CaptureRequest,
    responses((status = 200, description = "Capturing.", body = view::Capture), Refused))]
pub(super) async fn capture_start(
    State(handle): State<Handle>,
    Body(request): Body<view::CaptureRequest>,
) -> Answer<view::Capture> {
    within("count", request.count, 1..=MAX_CAPTURE)?;
    if let Some(snap_bytes) = request.snap_bytes {
        within("snap_bytes", snap_bytes, 14..=16_384)?;
    }
    let capture = handle.call(move |control, _| {
        control.engine.capture_start(&request)?;
        Ok::<_, Refusal>(control.engine.capture())
    });
    Ok(Json(capture.await??))
}

/// Captures no more.
#[utoipa::path(post, path = "/v1/capture/stop", tag = "observe",
    responses((status = 200, description = "How it stands.", body = view::Capture), Refused))]
pub(super) async fn capture_stop(State(handle): State<Handle>) -> Answer<view::Capture> {
    let capture = handle.call(|control, _| {
        control.engine.capture_stop();
        control.engine.capture()
    });
    Ok(Json(capture.await?))
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

/// Sets every counter to zero.
#[utoipa::path(post, path = "/v1/counters/clear", tag = "observe",
    responses((status = 200, description = "They are zero."), Refused))]
pub(super) async fn counters_clear(State(handle): State<Handle>) -> Answer<()> {
    handle.call(|control, _| control.engine.counters_clear()).await?;
    Ok(Json(()))
}
