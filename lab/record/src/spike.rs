//! A spike of latency or of a rate.

use serde::{Deserialize, Serialize};

/// One excursion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spike {
    /// When it began.
    pub at_s: f64,
    /// How long it lasted.
    pub length_s: f64,
    /// Its largest value.
    pub peak: f64,
    /// Values in it.
    pub count: usize,
}
