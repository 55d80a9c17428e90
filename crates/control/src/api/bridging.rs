//! `/v1/bridges`, `/v1/stations`: bridges and who is behind which port.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::extract::{Body, Parameters, within};
use super::problem::{Answer, Refused, refuse};
use crate::control_loop::Handle;
use crate::view;

/// Most stations filled in at once.
const MAX_FILL: u32 = 16_777_216;

/// Every bridge with its ports.
#[utoipa::path(get, path = "/v1/bridges", tag = "show",
    responses((status = 200, description = "Every bridge.", body = Vec<view::Bridge>), Refused))]
pub(super) async fn bridges(State(handle): State<Handle>) -> Answer<Vec<view::Bridge>> {
    Ok(Json(handle.call(|control, _| control.engine.bridges()).await?))
}

/// Stations of bridges.
#[utoipa::path(get, path = "/v1/stations", tag = "show", params(view::StationFilter),
    responses((status = 200, description = "The stations asked for.", body = view::Stations), Refused))]
pub(super) async fn stations(
    State(handle): State<Handle>,
    Parameters(filter): Parameters<view::StationFilter>,
) -> Answer<view::Stations> {
    if filter.limit == Some(0) {
        return Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, "limit is 0: expected 1 or more"));
    }
    Ok(Json(handle.call(move |control, _| control.engine.stations(&filter)).await??))
}

/// Forgets learned stations.
#[utoipa::path(post, path = "/v1/stations/flush", tag = "observe",
    request_body = view::StationFlush,
    responses((status = 200, description = "How many went.", body = view::StationCount), Refused))]
pub(super) async fn flush(
    State(handle): State<Handle>,
    Body(request): Body<view::StationFlush>,
) -> Answer<view::StationCount> {
    Ok(Json(handle.call(move |control, _| control.engine.stations_flush(&request)).await??))
}

/// Has stations learned that nobody has heard, for measurements.
#[utoipa::path(post, path = "/v1/stations/fill", tag = "observe",
    request_body = view::StationFill,
    responses((status = 200, description = "How many came.", body = view::StationCount), Refused))]
pub(super) async fn fill(
    State(handle): State<Handle>,
    Body(request): Body<view::StationFill>,
) -> Answer<view::StationCount> {
    within("count", request.count, 1..=MAX_FILL)?;
    Ok(Json(handle.call(move |control, _| control.engine.stations_fill(&request)).await??))
}
