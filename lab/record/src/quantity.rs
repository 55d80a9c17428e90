//! What a search said of one run that is no rate.

use serde::{Deserialize, Serialize};

use crate::Subject;

/// What a quantity is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A number of frames.
    Frames,
    /// A time in seconds.
    Seconds,
    /// Entries of a table.
    Entries,
    /// Bits a second.
    #[serde(rename = "bit/s")]
    BitsPerSecond,
    /// A share of one.
    Share,
    /// Cycles of the time-stamp counter, for each packet.
    Cycles,
}

impl Unit {
    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Frames => "frames",
            Self::Seconds => "seconds",
            Self::BitsPerSecond => "bit/s",
            Self::Share => "share",
            Self::Cycles => "cycles",
        }
    }
}

/// What a search said of one run that is no rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantityRecord {
    /// What was measured.
    pub subject: Subject,
    /// Name of the number: back-to-back, recovery, reset, largest table …
    pub metric: String,
    /// What it is counted in.
    pub unit: Unit,
    /// The value of each repetition.
    pub values: Vec<f64>,
    /// What it must be read with, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
