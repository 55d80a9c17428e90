//! `/v1/trace`, `/v1/capture`, `/v1/stations`, `/v1/counters`: looking closer.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::problem::{Refusal, Refused};
use super::show::ask;
use super::verb::served;
use crate::control_loop::Handle;
use crate::view::{All, Capture, Fields, Nothing, Trace};

served! {
    TraceStart: |Fields(request), control, _| {
        control.engine.trace_start(&request)?;
        Ok(ask::<Trace>(control, &All)?)
    },
    TraceStop: |Nothing, control, _| {
        control.engine.trace_stop();
        Ok(ask::<Trace>(control, &All)?)
    },
    CaptureStart: |Fields(request), control, _| {
        control.engine.capture_start(&request)?;
        Ok(ask::<Capture>(control, &All)?)
    },
    CaptureStop: |Nothing, control, _| {
        control.engine.capture_stop();
        Ok(ask::<Capture>(control, &All)?)
    },
    StationsFlush: |Fields(request), control, _| Ok(control.engine.stations_flush(&request)?),
    StationsFill: |Fields(request), control, _| Ok(control.engine.stations_fill(&request)?),
    CountersClear: |Nothing, control, _| {
        control.engine.counters_clear();
        Ok(Nothing)
    },
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
