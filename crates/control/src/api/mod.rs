//! HTTP/JSON, generated into OpenAPI from the types themselves.
//!
//! ```text
//!  listen (Unix socket) ─┐ places: who may be connected
//!                        ├─▶ connection ─▶ body ─▶ router ─▶ show, config, observe ─▶ control loop
//!  tls + token (TCP) ────┘   (patience)              └─▶ /metrics, /openapi.json
//! ```
//!
//! Errors are problem details (RFC 9457). A handler holds no state but the control loop's handle.

mod activity;
mod body;
mod bulk;
mod config;
mod connection;
mod entity_tag;
mod events;
mod extract;
mod lines;
mod listen;
mod observe;
mod patience;
mod ping;
mod places;
mod problem;
mod right;
mod show;
mod tls;
mod token;
mod verb;
mod web;

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri, header};
use axum::middleware::from_fn;
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::Value;
use utoipa::{OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;

use crate::config::{Finding, schema::schema};
use crate::control_loop::Handle;
use crate::view::{self, ProblemDetails};
use problem::Refusal;
use show::{Views, aside};

pub use listen::{ListenError, UnixSocket};
pub use right::trusting;
pub use tls::{Tls, TlsError};
pub use token::Tokens;
pub use web::{Web, page};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Volley",
        description = "The API of a Volley router: what it shows, its configuration, its traces.\n\n\
            `GET /v1/config` and each change answer with the revision that runs as `ETag`. A `POST` with `If-Match: \"REVISION\"` is done only while this revision of the configuration runs, \
            and else refused (412).\n\n\
            Each operation says which right it takes: `see`, `change`, `files` or `all`, each with those before. \
            Who has less is refused (403).",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(ProblemDetails, Finding, view::Configuration)),
    tags(
        (name = "show", description = "What the router is doing."),
        (name = "routes", description = "Many routes at once."),
        (name = "config", description = "Its one configuration."),
        (name = "observe", description = "Traces, captures, counters."),
    ),
)]
struct Document;

/// Every path with its handler, and the document that describes them.
fn described() -> (Router<Handle>, utoipa::openapi::OpenApi) {
    let mut views = Views(OpenApiRouter::with_openapi(Document::openapi()));
    view::visit(&mut views);
    verb::add(views.0).split_for_parts()
}

/// The document that describes the API. What the derives cannot say, the schema of the
/// configuration, is made of its declared fields.
pub fn openapi() -> Value {
    let mut document = serde_json::to_value(described().1).unwrap_or_default();
    document["components"]["schemas"][view::Configuration::name().as_ref()] = schema();
    document
}

/// The same as text, made when the first one asks: a start does not wait for it.
async fn document() -> Result<impl IntoResponse, Refusal> {
    static TEXT: LazyLock<Bytes> = LazyLock::new(|| openapi().to_string().into());
    let text = aside(|| TEXT.clone()).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text))
}

/// Every path, served for this control loop.
pub fn router(handle: Handle) -> Router {
    described()
        .0
        .route("/openapi.json", get(document))
        .fallback(async |uri: Uri| {
            // Where the document is that says what there is (RFC 8631).
            let document = [(header::LINK, "</openapi.json>; rel=\"service-desc\"")];
            let nothing = format!("there is nothing at {}", uri.path());
            (document, problem::refuse(StatusCode::NOT_FOUND, nothing))
        })
        .method_not_allowed_fallback(async |method: Method, uri: Uri| {
            let detail = format!("{method} does not apply to {}", uri.path());
            problem::refuse(StatusCode::METHOD_NOT_ALLOWED, detail)
        })
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(body::read))
        .layer(from_fn(events::tell_refusals))
        .with_state(handle)
}

#[cfg(test)]
mod tests;
