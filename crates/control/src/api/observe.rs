//! `/v1/trace`, `/v1/capture`, `/v1/stations`, `/v1/connections/clear`, `/v1/counters`: looking
//! closer.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::problem::Refusal;
use super::show::{aside, ask, ask_all};
use super::verb::{Serve, served};
use crate::control_loop::{Control, Handle};
use crate::pace;
use crate::view::{
    All, Capture, CapturePcap, CaptureTake, ConnectionClear, ConnectionsClear, Fields, Nothing,
    Pcap, StationFill, StationFlush, StationsFill, StationsFlush, Trace, TraceRequest, TraceStart,
    TraceStop,
};

served! {
    CaptureStart: |Fields(request), control, _| {
        control.engine.capture_start(&request)?;
        Ok(ask::<Capture>(control, &All)?.whole())
    },
    CaptureStop: |Nothing, control, _| {
        control.engine.capture_stop();
        Ok(ask::<Capture>(control, &All)?.whole())
    },
    CountersClear: |Nothing, control, _| {
        control.engine.counters_clear();
        pace::clear();
        Ok(Nothing)
    },
}

impl Serve for TraceStart {
    async fn serve(
        handle: Handle,
        Fields(request): Fields<TraceRequest>,
    ) -> Result<Response, Refusal> {
        let start = move |control: &mut Control, _| control.engine.trace_start(&request);
        handle.call(start).await??;
        trace(&handle).await
    }
}

impl Serve for TraceStop {
    async fn serve(handle: Handle, _: Nothing) -> Result<Response, Refusal> {
        handle.call(|control, _| control.engine.trace_stop()).await?;
        trace(&handle).await
    }
}

/// The trace, as it stands.
async fn trace(handle: &Handle) -> Result<Response, Refusal> {
    let trace = ask_all::<Trace>(handle, All).await??;
    aside(move || Json(trace).into_response()).await
}

impl Serve for StationsFlush {
    async fn serve(
        handle: Handle,
        Fields(request): Fields<StationFlush>,
    ) -> Result<Response, Refusal> {
        let flush = move |control: &mut Control, _| control.engine.stations_flush(&request);
        let flush = handle.call(flush).await??;
        Ok(Json(aside(flush).await?).into_response())
    }
}

impl Serve for ConnectionsClear {
    async fn serve(
        handle: Handle,
        Fields(request): Fields<ConnectionClear>,
    ) -> Result<Response, Refusal> {
        let clear = move |control: &mut Control, _| control.engine.connections_clear(&request);
        let clear = handle.call(clear).await??;
        Ok(Json(aside(clear).await?).into_response())
    }
}

impl Serve for StationsFill {
    async fn serve(
        handle: Handle,
        Fields(request): Fields<StationFill>,
    ) -> Result<Response, Refusal> {
        let fill = move |control: &mut Control, _| control.engine.stations_fill(&request);
        let fill = handle.call(fill).await??;
        Ok(Json(aside(fill).await??).into_response())
    }
}

impl Serve for CaptureTake {
    async fn serve(handle: Handle, _: Nothing) -> Result<Response, Refusal> {
        let take = handle.call(|control, _| control.engine.capture_take()).await?;
        aside(move || Json(take()).into_response()).await
    }
}

impl Serve for CapturePcap {
    async fn serve(handle: Handle, _: Nothing) -> Result<Response, Refusal> {
        let write = handle.call(|control, _| control.engine.capture_pcap()).await?;
        let file = aside(write).await?;
        Ok(([(header::CONTENT_TYPE, Pcap::MEDIA)], file).into_response())
    }
}
