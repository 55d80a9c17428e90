//! `GET /v1/…`: what the router is doing.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{InPath, Parameters};
use super::problem::{Answer, Refusal, Refused, refuse};
use crate::config::objects::vrf::DEFAULT_NAME;
use crate::control_loop::Handle;
use crate::engine::Engine;
use crate::view;

/// Asks the engine one thing.
async fn ask<T: Send + 'static>(
    handle: &Handle,
    question: impl FnOnce(&dyn Engine) -> T + Send + 'static,
) -> Answer<T> {
    Ok(Json(handle.call(|control, _| question(control.engine.as_ref())).await?))
}

/// What runs.
#[utoipa::path(get, path = "/v1/version", tag = "show",
    responses((status = 200, description = "What runs.", body = view::Version), Refused))]
pub(super) async fn version(State(handle): State<Handle>) -> Answer<view::Version> {
    ask(&handle, |engine| engine.version()).await
}

/// Every port with its counters.
#[utoipa::path(get, path = "/v1/ports", tag = "show",
    responses((status = 200, description = "Every port.", body = Vec<view::Port>), Refused))]
pub(super) async fn ports(State(handle): State<Handle>) -> Answer<Vec<view::Port>> {
    ask(&handle, |engine| engine.ports()).await
}

/// Every shaped port: its disciplines and classes with their statistics.
#[utoipa::path(get, path = "/v1/qos", tag = "show",
    responses((status = 200, description = "Every shaped port.", body = Vec<view::Qos>), Refused))]
pub(super) async fn qos(State(handle): State<Handle>) -> Answer<Vec<view::Qos>> {
    Ok(Json(handle.call(|control, _| control.engine.qos()).await?))
}

/// Every node with its counters.
#[utoipa::path(get, path = "/v1/nodes", tag = "show",
    responses((status = 200, description = "Every node.", body = Vec<view::Node>), Refused))]
pub(super) async fn nodes(State(handle): State<Handle>) -> Answer<Vec<view::Node>> {
    ask(&handle, |engine| engine.nodes()).await
}

/// Packets dropped, by reason and port.
#[utoipa::path(get, path = "/v1/errors", tag = "show",
    responses((status = 200, description = "Every reason.", body = Vec<view::Drop>), Refused))]
pub(super) async fn errors(State(handle): State<Handle>) -> Answer<Vec<view::Drop>> {
    ask(&handle, |engine| engine.errors()).await
}

/// Routes.
#[utoipa::path(get, path = "/v1/routes", tag = "show", params(view::RouteFilter),
    responses((status = 200, description = "The routes asked for.", body = view::Routes), Refused))]
pub(super) async fn routes(
    State(handle): State<Handle>,
    Parameters(filter): Parameters<view::RouteFilter>,
) -> Answer<view::Routes> {
    if filter.limit == Some(0) {
        return Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, "limit is 0: expected 1 or more"));
    }
    Ok(Json(handle.call(move |control, _| control.engine.routes(&filter)).await??))
}

/// Every VRF: its ports and routes.
#[utoipa::path(get, path = "/v1/vrfs", tag = "show",
    responses((status = 200, description = "Every VRF.", body = Vec<view::Vrf>), Refused))]
pub(super) async fn vrfs(State(handle): State<Handle>) -> Answer<Vec<view::Vrf>> {
    ask(&handle, |engine| engine.vrfs()).await
}

/// The VRF that a request names.
pub(super) fn vrf_of(named: Option<String>) -> String {
    named.unwrap_or_else(|| DEFAULT_NAME.to_owned())
}

/// Every neighbour.
#[utoipa::path(get, path = "/v1/neighbors", tag = "show",
    responses((status = 200, description = "Every neighbour.", body = Vec<view::Neighbor>), Refused))]
pub(super) async fn neighbors(State(handle): State<Handle>) -> Answer<Vec<view::Neighbor>> {
    ask(&handle, |engine| engine.neighbors()).await
}

/// Every access list, with what its rules decided.
#[utoipa::path(get, path = "/v1/acls", tag = "show",
    responses((status = 200, description = "Every access list.", body = Vec<view::Acl>), Refused))]
pub(super) async fn acls(State(handle): State<Handle>) -> Answer<Vec<view::Acl>> {
    ask(&handle, |engine| engine.acls()).await
}

/// Every policer, with what it counted of each colour.
#[utoipa::path(get, path = "/v1/policers", tag = "show",
    responses((status = 200, description = "Every policer.", body = Vec<view::Policer>), Refused))]
pub(super) async fn policers(State(handle): State<Handle>) -> Answer<Vec<view::Policer>> {
    ask(&handle, |engine| engine.policers()).await
}

/// Every mirror: whose frames leave by which other port as well.
#[utoipa::path(get, path = "/v1/mirrors", tag = "show",
    responses((status = 200, description = "Every mirror.", body = Vec<view::Mirror>), Refused))]
pub(super) async fn mirrors(State(handle): State<Handle>) -> Answer<Vec<view::Mirror>> {
    ask(&handle, |engine| engine.mirrors()).await
}

/// Packets to ourselves that come in pieces: what is held, and what became of them.
#[utoipa::path(get, path = "/v1/reassembly", tag = "show",
    responses((status = 200, description = "What is held and counted.", body = view::Reassembly), Refused))]
pub(super) async fn reassembly(State(handle): State<Handle>) -> Answer<view::Reassembly> {
    ask(&handle, |engine| engine.reassembly()).await
}

/// Every twin: the kernel's interface beside a port, and what it was handed.
#[utoipa::path(get, path = "/v1/twins", tag = "show",
    responses((status = 200, description = "Every twin.", body = Vec<view::Twin>), Refused))]
pub(super) async fn twins(State(handle): State<Handle>) -> Answer<Vec<view::Twin>> {
    ask(&handle, |engine| engine.twins()).await
}

/// The routes that FRR's zebra brings: who listens, who is connected, how many.
#[utoipa::path(get, path = "/v1/fpm", tag = "show",
    responses((status = 200, description = "The listener and its session.", body = view::Fpm), Refused))]
pub(super) async fn fpm(State(handle): State<Handle>) -> Answer<view::Fpm> {
    ask(&handle, |engine| engine.fpm()).await
}

/// The graph of nodes.
#[utoipa::path(get, path = "/v1/graph", tag = "show",
    responses((status = 200, description = "Nodes and edges.", body = view::Graph), Refused))]
pub(super) async fn graph(State(handle): State<Handle>) -> Answer<view::Graph> {
    ask(&handle, |engine| engine.graph()).await
}

/// How to draw the graph.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Drawing {
    /// How it is written.
    #[serde(default)]
    #[param(inline)]
    format: view::GraphFormat,
}

/// The graph of nodes, drawn.
#[utoipa::path(get, path = "/v1/graph/drawing", tag = "show", params(Drawing),
    responses(
        (status = 200, description = "The graph, drawn.", content(
            (String = "text/plain"), (String = "text/vnd.graphviz"), (String = "image/svg+xml"))),
        Refused))]
pub(super) async fn draw(
    State(handle): State<Handle>,
    Parameters(drawing): Parameters<Drawing>,
) -> Result<Response, Refusal> {
    let format = drawing.format;
    let kind = match format {
        view::GraphFormat::Text => "text/plain; charset=utf-8",
        view::GraphFormat::Dot => "text/vnd.graphviz; charset=utf-8",
        view::GraphFormat::Svg => "image/svg+xml",
    };
    let text = handle.call(move |control, _| control.engine.draw(format)).await?;
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// Where memory goes.
#[utoipa::path(get, path = "/v1/memory", tag = "show",
    responses((status = 200, description = "Pools and tables.", body = view::Memory), Refused))]
pub(super) async fn memory(State(handle): State<Handle>) -> Answer<view::Memory> {
    ask(&handle, |engine| engine.memory()).await
}

/// Every worker.
#[utoipa::path(get, path = "/v1/workers", tag = "show",
    responses((status = 200, description = "Every worker.", body = Vec<view::Worker>), Refused))]
pub(super) async fn workers(State(handle): State<Handle>) -> Answer<Vec<view::Worker>> {
    ask(&handle, |engine| engine.workers()).await
}

/// What becomes of a packet to an address.
#[utoipa::path(get, path = "/v1/lookup/{address}", tag = "show",
    params(("address" = String, Path, format = "ipv4", description = "The destination."),
        view::InVrf),
    responses((status = 200, description = "What the table says.", body = view::Lookup), Refused))]
pub(super) async fn lookup(
    State(handle): State<Handle>,
    InPath(address): InPath<IpAddr>,
    Parameters(view::InVrf { vrf }): Parameters<view::InVrf>,
) -> Answer<view::Lookup> {
    let vrf = vrf_of(vrf);
    Ok(Json(handle.call(move |control, _| control.engine.lookup(&vrf, address)).await??))
}
