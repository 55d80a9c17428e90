//! Every view as a path of the API, and the counters of all of them at `/metrics`.

use std::pin::Pin;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json};
use utoipa::PartialSchema;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, Paths};
use utoipa::openapi::{ContentBuilder, ResponseBuilder, ResponsesBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::entity_tag::{self, entity_tag};
use super::extract::only;
use super::problem::{Refusal, Refused, refuse};
use super::right::{allowed, takes};
use super::verb::{Serve, operation_id};
use crate::control_loop::{Control, Handle};
use crate::view::{
    self, Counters, EngineError, Exposition, Kind, Nothing, OpenMetrics, Reply, Right, Shown,
    Shows, View, Visitor,
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
    if V::REVISION.is_some() {
        let (name, tag) = entity_tag::told();
        shown = shown.header(name, tag);
    }
    let refused = ResponsesBuilder::new().responses_from_into_responses::<Refused>();
    OperationBuilder::new()
        .tag(V::TAG)
        .summary(Some(V::ABOUT))
        .description(Some(takes(V::RIGHT)))
        .operation_id(Some(operation_id(V::PATH)))
        .parameters(Some(view::parameters::<V>()).filter(|parameters| !parameters.is_empty()))
        .responses(refused.response("200", shown).build())
        .build()
}

async fn show<V: View>(
    State(handle): State<Handle>,
    asker: Option<Extension<Right>>,
    uri: Uri,
) -> Result<Response, Refusal>
where
    dyn Shows: view::Answer<V>,
{
    let handle = handle.for_asker(allowed(asker.map(|Extension(right)| right), V::RIGHT)?);
    let filter = filter::<V>(&uri)?;
    let reply = ask_all::<V>(&handle.named(V::PATH), filter).await??;
    aside(move || {
        if V::MEDIA == [view::JSON] {
            return match V::REVISION {
                Some(of) => (entity_tag(of(&reply)), Json(reply)).into_response(),
                None => Json(reply).into_response(),
            };
        }
        let (media, text) = V::written(reply).unwrap_or_default();
        ([(header::CONTENT_TYPE, media)], text).into_response()
    })
    .await
}

/// Asks the running router for one view, slice by slice: between two the control loop does what
/// else there is to do, and what can be made without it is made elsewhere.
pub(super) async fn ask_all<V: View>(
    handle: &Handle,
    mut filter: V::Filter,
) -> Result<Result<V::Reply, EngineError>, Refusal>
where
    dyn Shows: view::Answer<V>,
{
    let mut whole = None;
    loop {
        let (shown, asked) =
            handle.call(move |control, _| (ask::<V>(control, &filter), filter)).await?;
        filter = asked;
        let slice = match shown {
            Ok(Shown::Whole(slice)) => slice,
            Ok(Shown::Later(make)) => aside(make).await?,
            Err(error) => return Ok(Err(error)),
        };
        if V::take_in(&mut whole, slice, &mut filter) {
            continue;
        }
        if let Some(whole) = whole {
            return Ok(Ok(whole));
        }
    }
}

/// Does on a thread of its own what takes long and waits for nobody.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let broken = |_| refuse(StatusCode::INTERNAL_SERVER_ERROR, "this answer cannot be made");
    tokio::task::spawn_blocking(work).await.map_err(broken)
}

/// Asks the running router for one view, or a slice of it.
pub(super) fn ask<V: View>(control: &mut Control, filter: &V::Filter) -> view::Answered<V>
where
    dyn Shows: view::Answer<V>,
{
    let shown: &mut dyn Shows = control;
    view::Answer::<V>::answer(shown, filter)
}

/// What the request chooses, by its parameters and the parts of its path that are some.
fn filter<V: View>(uri: &Uri) -> Result<V::Filter, Refusal> {
    let flags = view::flags::<V>();
    let known: Vec<&str> = flags.iter().filter(|it| !it.in_path).map(|it| &it.name[..]).collect();
    only(uri, &known)?;
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
    for flag in flags {
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
        let mut scrape = Scrape { handle, asked: Vec::new() };
        view::visit(&mut scrape);
        let mut told = Vec::new();
        for asked in scrape.asked {
            told.extend(asked.await?);
        }
        aside(move || {
            let mut out = Exposition::default();
            told.into_iter().for_each(|tell| tell(&mut out));
            super::events::count(&mut out);
            let media = format!("{}; version=1.0.0; charset=utf-8", OpenMetrics::MEDIA);
            ([(header::CONTENT_TYPE, media)], out.finish()).into_response()
        })
        .await
    }
}

/// What is told of a view.
type Tell = Box<dyn FnOnce(&mut Exposition) + Send>;

/// A question on its way; none: the view has no answer.
type Asked = Pin<Box<dyn Future<Output = Result<Option<Tell>, Refusal>> + Send>>;

/// Every view that has counters is asked, one after the other.
struct Scrape {
    handle: Handle,
    asked: Vec<Asked>,
}

impl Visitor for Scrape {
    fn visit<V: View>(&mut self)
    where
        dyn Shows: view::Answer<V>,
    {
        let Some((filter, tell)) = V::METRICS else { return };
        let handle = self.handle.clone().named(V::PATH);
        self.asked.push(Box::pin(async move {
            let reply = ask_all::<V>(&handle, filter).await?.ok();
            Ok(reply.map(|reply| -> Tell { Box::new(move |out| tell(&reply, out)) }))
        }));
    }
}
