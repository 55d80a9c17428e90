//! Rates of one stream on a time scale.

use serde::{Deserialize, Serialize};

/// The rates on one scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScaleRates {
    /// Window length.
    pub window_ms: u64,
    /// Complete windows.
    pub windows: usize,
    /// Slowest window.
    pub min_pps: f64,
    /// Mean over the windows.
    pub mean_pps: f64,
    /// Fastest window.
    pub max_pps: f64,
    /// Windows in which nothing came.
    pub empty: usize,
}
