//! What an idle core lost.

use serde::{Deserialize, Serialize};

use crate::Stalled;

/// What an idle core lost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// The core, as `taskset` writes it.
    pub core: String,
    /// Whose core it is in trials: `lab` or `device`.
    pub of: String,
    /// When, since the campaign began; none before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_s: Option<f64>,
    /// For how long it was watched.
    pub watched_s: f64,
    /// Stalls longer than 5 µs: how many, the longest, their sum.
    pub stalled: Stalled,
    /// How many of them were longer than 1 ms.
    pub long: u64,
}
