//! Every view as a path of the API, and the counters of all of them at `/metrics`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use utoipa::PartialSchema;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, Paths};
use utoipa::openapi::{ContentBuilder, ResponseBuilder, ResponsesBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::problem::{Refusal, Refused, refuse};
use super::verb::{Serve, operation_id};
use crate::control_loop::{Control, Handle};
use crate::view::{
    self, Counters, Exposition, Kind, Nothing, OpenMetrics, Reply, Shows, View, Visitor,
};

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
    let mut shown = ResponseBuilder::new().description(V::ABOUT);
    for media in V::MEDIA {
        let schema = if *media == view::JSON { V::Reply::schema() } else { String::schema() };
        shown = shown.content(*media, ContentBuilder::new().schema(Some(schema)).build());
    }
    let refused = ResponsesBuilder::new().responses_from_into_responses::<Refused>();
    OperationBuilder::new()
        .tag(V::TAG)
        .summary(Some(V::ABOUT))
        .operation_id(Some(operation_id(V::PATH)))
        .parameters(Some(view::parameters::<V>()).filter(|parameters| !parameters.is_empty()))
        .responses(refused.response("200", shown).build())
        .build()
}

async fn show<V: View>(State(handle): State<Handle>, uri: Uri) -> Result<Response, Refusal>
where
    dyn Shows: view::Answer<V>,
{
    let filter = filter::<V>(&uri)?;
    let reply = handle.call(move |control, _| ask::<V>(control, &filter)).await??;
    if V::MEDIA == [view::JSON] {
        return Ok(Json(reply).into_response());
    }
    let (media, text) = V::written(reply).unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, media)], text).into_response())
}

/// Asks the running router for one view.
pub(super) fn ask<V: View>(control: &mut Control, filter: &V::Filter) -> view::Answered<V>
where
    dyn Shows: view::Answer<V>,
{
    let shown: &mut dyn Shows = control;
    view::Answer::<V>::answer(shown, filter)
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

impl Serve for Counters {
    async fn serve(handle: Handle, _: Nothing) -> Result<Response, Refusal> {
        let text = handle.call(|control, _| {
            let mut scrape = Scrape { shown: control, out: Exposition::default() };
            view::visit(&mut scrape);
            super::events::count(&mut scrape.out);
            scrape.out.finish()
        });
        let media = format!("{}; version=1.0.0; charset=utf-8", OpenMetrics::MEDIA);
        Ok(([(header::CONTENT_TYPE, media)], text.await?).into_response())
    }
}

struct Scrape<'a> {
    shown: &'a mut (dyn Shows + 'static),
    out: Exposition,
}

impl Visitor for Scrape<'_> {
    fn visit<V: View>(&mut self)
    where
        dyn Shows: view::Answer<V>,
    {
        if let Some((filter, tell)) = V::METRICS
            && let Ok(reply) = view::Answer::<V>::answer(self.shown, &filter)
        {
            tell(&reply, &mut self.out);
        }
    }
}
