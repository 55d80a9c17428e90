//! Requests into values; what does not fit is refused as problem details.

use std::ops::RangeInclusive;

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query};
use axum::http::StatusCode;

use super::problem::{Refusal, refuse};

/// A JSON body.
#[derive(FromRequest)]
#[from_request(via(Json), rejection(Refusal))]
pub(super) struct Body<T>(pub(super) T);

/// The query's parameters.
#[derive(FromRequestParts)]
#[from_request(via(Query), rejection(Refusal))]
pub(super) struct Parameters<T>(pub(super) T);

/// A part of the path.
#[derive(FromRequestParts)]
#[from_request(via(Path), rejection(Refusal))]
pub(super) struct InPath<T>(pub(super) T);

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Self {
        refuse(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        refuse(rejection.status(), rejection.body_text())
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        refuse(rejection.status(), rejection.body_text())
    }
}

/// Refuses a number out of range.
pub(super) fn within(field: &str, value: u32, range: RangeInclusive<u32>) -> Result<(), Refusal> {
    if range.contains(&value) {
        return Ok(());
    }
    let detail = format!("{field} is {value}: expected {} to {}", range.start(), range.end());
    Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, detail))
}
