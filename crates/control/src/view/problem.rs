//! Errors as problem details (RFC 9457).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::config::Finding;

/// What went wrong (RFC 9457).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemDetails {
    /// Kind of problem; always `about:blank`: the status says it.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// This very problem, as a person reads it.
    pub detail: String,
    /// Faults of a configuration or command, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}
