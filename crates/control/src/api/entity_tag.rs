//! The revision of the configuration as an entity tag (RFC 9110): answers tell it, and a change may
//! be asked for on the condition that it runs still.

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{Object, ObjectBuilder, Type};

use super::problem::{Refusal, refuse};

/// What `If-Match` of the next change names, if it is to be made while nobody else made one.
pub(super) fn entity_tag(revision: u64) -> [(HeaderName, String); 1] {
    [(header::ETAG, format!("\"{revision}\""))]
}

/// The revision of the configuration that a request is meant for, where it says so: the entity tag
/// is its number (section 13.1.1). A list without any has none that runs.
pub(super) fn if_match(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let Some(said) = headers.get(header::IF_MATCH).filter(|said| said.as_bytes() != b"*") else {
        return Ok(None);
    };
    if said.is_empty() {
        let why = "If-Match names no revision of the configuration";
        return Err(refuse(StatusCode::PRECONDITION_FAILED, why));
    }
    let tag = said.to_str().ok().and_then(|said| said.strip_prefix('"')?.strip_suffix('"'));
    let number = tag.filter(|tag| tag.bytes().all(|digit| digit.is_ascii_digit()));
    let revision = number.and_then(|number| number.parse().ok());
    let wrong = || "If-Match is the number of one revision of the configuration, as in \"7\"";
    revision.map(Some).ok_or_else(|| refuse(StatusCode::BAD_REQUEST, wrong()))
}

/// `If-Match` as the document has it.
pub(super) fn parameter() -> Parameter {
    let tag = text().pattern(Some("^(\\*|\"[0-9]{1,18}\")$"));
    let about = "To be done only while this revision of the configuration runs, as `ETag` tells it";
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .description(Some(about))
        .schema(Some(tag.build()))
        .build()
}

/// `ETag` as the document has it.
pub(super) fn told() -> (&'static str, Header) {
    let about = "The revision of the configuration that runs now, for `If-Match`";
    let tag: Object = text().pattern(Some("^\"[0-9]+\"$")).build();
    ("ETag", HeaderBuilder::new().schema(tag).description(Some(about)).build())
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}
