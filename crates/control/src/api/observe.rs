//! `/v1/trace`, `/v1/capture`, `/v1/stations`, `/v1/counters`: looking closer.

use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::problem::Refusal;
use super::show::ask;
use super::verb::{Serve, served};
use crate::control_loop::Handle;
use crate::view::{All, Capture, CapturePcap, Fields, Nothing, Pcap, Trace};

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

impl Serve for CapturePcap {
    async fn serve(handle: Handle, _: Nothing) -> Result<Response, Refusal> {
        let file = handle.call(|control, _| control.engine.capture_pcap()).await?;
        Ok(([(header::CONTENT_TYPE, Pcap::MEDIA)], file).into_response())
    }
}
