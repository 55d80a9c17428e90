//! What happened, and which of it is asked for.

pub use events::{Event, Level};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// Which events to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EventFilter {
    /// As grave as this, or graver.
    #[serde(default)]
    #[param(inline)]
    pub level: Option<Level>,
    /// Of those that happened, the latest so many.
    #[serde(default)]
    pub last: Option<u32>,
    /// Those to come as well, for ever, as server-sent events.
    #[serde(default)]
    pub follow: bool,
}

/// Told to a follower that was too slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Events that it will not get.
    pub missed: u64,
}
