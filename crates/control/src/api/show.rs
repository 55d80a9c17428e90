//! Every view as a path of the API, and the counters of all of them at `/metrics`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, Paths};
use utoipa::openapi::{ContentBuilder, ResponseBuilder, ResponsesBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::extract::Parameters;
use super::problem::{Answer, Refusal, Refused, refuse};
use crate::control_loop::{Control, Handle};
use crate::view::{self, Exposition, Kind, Reply, Shows, View, Visitor};

/// The media type of OpenMetrics 1.0.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Paths in the making: each view adds its own.
pub(super) struct Views(pub(super) OpenApiRouter<Handle>);

impl Visitor for Views {
    fn visit<V: View>(&mut self)
    where
        dyn Shows: view::Answer<V>,
    {
        self.0 = std::mem::take(&mut self.0).routes(route::<V>());
    }
}

fn route<V: View>() -> UtoipaMethodRouter<Handle>
where
    dyn Shows: view::Answer<V>,
{
    let mut schemas = vec![(V::name().into_owned(), V::schema())];
    V::schemas(&mut schemas);
    let mut paths = Paths::new();
    paths.add_path_operation(V::PATH, vec![HttpMethod::Get], operation::<V>());
    (schemas, paths, get(show::<V>))
}

fn operation<V: View>() -> Operation {
    let name = V::PATH.split('/').nth(2).unwrap_or(V::PATH);
    let content = ContentBuilder::new().schema(Some(V::Reply::schema())).build();
    let shown = ResponseBuilder::new().description(V::ABOUT).content("application/json", content);
    let refused = ResponsesBuilder::new().responses_from_into_responses::<Refused>();
    OperationBuilder::new()
        .tag(V::TAG)
        .summary(Some(V::ABOUT))
        .operation_id(Some(name))
        .parameters(Some(view::parameters::<V>()).filter(|parameters| !parameters.is_empty()))
        .responses(refused.response("200", shown).build())
        .build()
}

async fn show<V: View>(State(handle): State<Handle>, uri: Uri) -> Answer<V::Reply>
where
    dyn Shows: view::Answer<V>,
{
    let filter = filter::<V>(&uri)?;
    Ok(Json(handle.call(move |control, _| ask::<V>(control, &filter)).await??))
}

/// Asks the running router for one view.
pub(super) fn ask<V: View>(control: &mut Control, filter: &V::Filter) -> view::Answered<V>
where
    dyn Shows: view::Answer<V>,
{
    let router: &mut dyn Shows = control.engine.as_mut();
    view::Answer::<V>::answer(router, filter)
}

/// What the request chooses, by its parameters and the parts of its path that are some.
fn filter<V: View>(uri: &Uri) -> Result<V::Filter, Refusal> {
    let mut query = uri.query().unwrap_or_default().to_owned();
    for (name, part) in V::PATH.split('/').zip(uri.path().split('/')) {
        if let Some(name) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            let part = part.replace('&', "%26").replace('+', "%2B");
            query = format!("{name}={part}&{query}");
        }
    }
    let malformed = |rejection: QueryRejection| {
        refuse(rejection.status(), format!("{}: {}", uri.path(), rejection.body_text()))
    };
    let broken = |error: axum::http::Error| refuse(StatusCode::BAD_REQUEST, error.to_string());
    let uri = Uri::builder().path_and_query(format!("/?{query}")).build().map_err(broken)?;
    let Query(filter) = Query::<V::Filter>::try_from_uri(&uri).map_err(malformed)?;
    let chosen = serde_json::to_value(&filter).unwrap_or_default();
    for flag in view::flags::<V>() {
        if let (Kind::Number(least), Some(number)) = (flag.kind, chosen[&flag.name].as_u64())
            && number < least
        {
            let detail = format!("{} is {number}: expected {least} or more", flag.name);
            return Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, detail));
        }
    }
    Ok(filter)
}

/// Every counter in OpenMetrics text.
#[utoipa::path(get, path = "/metrics", tag = "show",
    responses(
        (status = 200, description = "OpenMetrics 1.0.", body = String,
            content_type = "application/openmetrics-text"),
        Refused))]
pub(super) async fn metrics(State(handle): State<Handle>) -> Result<Response, Refusal> {
    let text = handle.call(|control, _| {
        let mut scrape = Scrape { router: control.engine.as_mut(), out: Exposition::default() };
        view::visit(&mut scrape);
        super::events::count(&mut scrape.out);
        scrape.out.finish()
    });
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text.await?).into_response())
}

struct Scrape<'a> {
    router: &'a mut (dyn Shows + 'static),
    out: Exposition,
}

impl Visitor for Scrape<'_> {
    fn visit<V: View>(&mut self)
    where
        dyn Shows: view::Answer<V>,
    {
        if let Some((filter, tell)) = V::METRICS
            && let Ok(reply) = view::Answer::<V>::answer(self.router, &filter)
        {
            tell(&reply, &mut self.out);
        }
    }
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
