//! Requests into values; what does not fit is refused as problem details.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::problem::{Refusal, refuse};

/// A JSON object as the body.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let Json(Object(value)) = Json::from_request(request, state).await?;
        Ok(Self(value))
    }
}

/// A value read from a JSON object: a list of its fields in order, which serde takes too, is not
/// what the document describes.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Object<T>, M::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// The query's parameters.
#[derive(FromRequestParts)]
#[from_request(via(Query), rejection(Refusal))]
pub(super) struct Parameters<T>(pub(super) T);

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

/// Refuses a number out of range.
pub(super) fn within(field: &str, value: u32, range: RangeInclusive<u32>) -> Result<(), Refusal> {
    if range.contains(&value) {
        return Ok(());
    }
    let detail = format!("{field} is {value}: expected {} to {}", range.start(), range.end());
    Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, detail))
}
