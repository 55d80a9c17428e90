//! Requests into values; what does not fit is refused as problem details.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, Query, Request};
use axum::http::{StatusCode, Uri};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::problem::{Refusal, refuse};
use crate::config::nearest;
use crate::view::{Fields, File, Nothing, found, perhaps};

impl<S: Send + Sync> FromRequest<S> for Nothing {
    type Rejection = Refusal;

    async fn from_request(_: Request, _: &S) -> Result<Self, Refusal> {
        Ok(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Serialize + ToSchema> FromRequest<S> for Fields<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let Json(Object(value)) = Json::from_request(request, state).await?;
        within_declared(&value)?;
        Ok(Self(value))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequest<S> for File<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let Query(how) = Query::try_from_uri(request.uri())?;
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|rejection| refuse(rejection.status(), rejection.body_text()))?;
        Ok(Self(how, body.into()))
    }
}

/// Refuses numbers out of the ranges that are declared of the fields.
fn within_declared<T: Serialize + ToSchema>(value: &T) -> Result<(), Refusal> {
    let schema = serde_json::to_value(T::schema()).unwrap_or_default();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let ranges: Vec<(&str, u64, u64)> = fields
        .filter_map(|(name, field)| {
            let end = |end| Some(found(field, end)?.as_f64()? as u64);
            Some((&name[..], end("minimum")?, end("maximum")?))
        })
        .collect();
    if ranges.is_empty() {
        return Ok(());
    }
    let said = serde_json::to_value(value).unwrap_or_default();
    for (name, least, most) in ranges {
        if let Some(number) = said[name].as_u64() {
            within(name, number, least..=most)?;
        }
    }
    Ok(())
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

/// Refuses parameters that a path does not have: what they choose would not be chosen.
pub(super) fn only(uri: &Uri, known: &[&str]) -> Result<(), Refusal> {
    let Query(said) = Query::<Vec<(String, String)>>::try_from_uri(uri)?;
    let Some((name, _)) = said.iter().find(|(name, _)| !known.contains(&&**name)) else {
        return Ok(());
    };
    let there = match known {
        [] => "nor any other".to_owned(),
        _ => format!("but {}", known.join(", ")),
    };
    let likely = perhaps(nearest(name, known.iter().copied()));
    let detail = format!("{} has no parameter `{name}`, {there}{likely}", uri.path());
    Err(refuse(StatusCode::BAD_REQUEST, detail))
}

/// Refuses a number out of range.
pub(super) fn within(field: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), Refusal> {
    if range.contains(&value) {
        return Ok(());
    }
    let detail = format!("{field} is {value}: expected {} to {}", range.start(), range.end());
    Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, detail))
}
