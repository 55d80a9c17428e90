//! Every verb as a path of the API.

use std::any::TypeId;
use std::marker::PhantomData;

use axum::extract::{FromRequest, FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{get, post};
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, Paths};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{
    Content, ContentBuilder, RefOr, Required, ResponseBuilder, ResponsesBuilder, Schema,
};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::entity_tag;
use super::problem::{Refusal, Refused};
use super::right::{allowed, takes};
use crate::control_loop::Handle;
use crate::view::{self, Applied, Asked, Method, Right, Told, Verb, every_verb};

/// A verb as it is done.
pub(super) trait Serve: Verb {
    /// Does it.
    fn serve(
        handle: Handle,
        request: Self::Request,
    ) -> impl Future<Output = Result<Response, Refusal>> + Send;
}

/// Verbs that the control loop does by itself, and the value that each answers with.
macro_rules! served {
    ($($Verb:ident: $make:expr,)*) => {$(
        impl $crate::api::verb::Serve for $crate::view::$Verb {
            async fn serve(
                handle: $crate::control_loop::Handle,
                request: <Self as $crate::view::Verb>::Request,
            ) -> Result<axum::response::Response, $crate::api::problem::Refusal> {
                let make: fn(
                    <Self as $crate::view::Verb>::Request,
                    &mut $crate::control_loop::Control,
                    $crate::transaction::Moment,
                ) -> Result<
                    <Self as $crate::view::Verb>::Reply,
                    $crate::api::problem::Refusal,
                > = $make;
                let made = handle.call(move |control, now| make(request, control, now)).await??;
                Ok(axum::response::IntoResponse::into_response(axum::Json(made)))
            }
        }
    )*};
}
pub(super) use served;

/// Adds the path of every verb.
pub(super) fn add(paths: OpenApiRouter<Handle>) -> OpenApiRouter<Handle> {
    macro_rules! routes {
        ($($Verb:ident: $method:ident $right:ident $path:literal, $tag:literal, $Request:ty => $Reply:ty, $about:literal, $done:literal;)*) => {
            paths$(.routes(route::<view::$Verb>()))*
        };
    }
    every_verb!(routes)
}

/// Whoever asks may have this done.
struct Permit<V> {
    right: Right,
    verb: PhantomData<fn(V)>,
}

/// Looked at before anything of the body is.
impl<S: Send + Sync, V: Verb> FromRequestParts<S> for Permit<V> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let asker = parts.extensions.get::<Right>().copied();
        Ok(Self { right: allowed(asker, V::RIGHT)?, verb: PhantomData })
    }
}

fn route<V: Serve>() -> UtoipaMethodRouter<Handle>
where
    V::Request: FromRequest<Handle, Rejection = Refusal>,
{
    let mut schemas = Vec::new();
    let operation = operation::<V>(&mut schemas);
    let mut paths = Paths::new();
    let method = match V::METHOD {
        Method::Get => HttpMethod::Get,
        Method::Post => HttpMethod::Post,
    };
    paths.add_path_operation(V::PATH, vec![method], operation);
    let serve = async |State(handle): State<Handle>,
                       asker: Permit<V>,
                       headers: HeaderMap,
                       request: V::Request| {
        let handle = handle.for_asker(asker.right).named(V::PATH);
        let handle = match entity_tag::if_match(&headers)? {
            Some(revision) => handle.only_at(revision),
            None => handle,
        };
        V::serve(handle, request).await
    };
    let served = match V::METHOD {
        Method::Get => get(serve),
        Method::Post => post(serve),
    };
    (schemas, paths, served)
}

fn operation<V: Verb>(schemas: &mut view::Schemas) -> Operation {
    let mut done = ResponseBuilder::new().description(V::DONE);
    for (media, schema) in V::Reply::contents(schemas) {
        done = done.content(media, content(Some(schema)));
    }
    if TypeId::of::<V::Reply>() == TypeId::of::<Applied>() {
        let (name, tag) = entity_tag::told();
        done = done.header(name, tag);
    }
    let mut parameters = V::Request::parameters();
    if V::METHOD == Method::Post {
        parameters.push(entity_tag::parameter());
    }
    let refused = ResponsesBuilder::new().responses_from_into_responses::<Refused>();
    let body = V::Request::MEDIA.map(|media| {
        let content = content(V::Request::schema(schemas));
        RequestBodyBuilder::new().content(media, content).required(Some(Required::True)).build()
    });
    OperationBuilder::new()
        .tag(V::TAG)
        .summary(Some(V::ABOUT.trim_end_matches('.')))
        .description(Some(takes(V::RIGHT)))
        .operation_id(Some(operation_id(V::PATH)))
        .parameters(Some(parameters).filter(|parameters| !parameters.is_empty()))
        .request_body(body)
        .responses(refused.response("200", done).build())
        .build()
}

fn content(schema: Option<RefOr<Schema>>) -> Content {
    ContentBuilder::new().schema(schema).build()
}

/// The name of what is at a path, as in `config_apply`.
pub(super) fn operation_id(path: &str) -> String {
    let parts = path.trim_start_matches("/v1").split('/').filter(|part| !part.starts_with('{'));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}
