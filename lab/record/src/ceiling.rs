//! What the lab itself could do when a campaign began: up to there its searches go.

use serde::{Deserialize, Serialize};

/// The most that the lab can do with frames of a mean size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CeilingRecord {
    /// Mean octets of a frame.
    pub frame_bytes: u16,
    /// Packets a second.
    pub pps: f64,
}
