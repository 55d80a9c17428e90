//! One device held against another.

use serde::{Deserialize, Serialize};

use crate::Interval;

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// B gives more.
    Higher,
    /// B gives less.
    Lower,
    /// No difference that this campaign could show.
    NoDifference,
}

/// B against A.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Blocks compared.
    pub blocks: usize,
    /// B over A: the middle of the means of all pairs of blocks.
    pub ratio: f64,
    /// Its 95 % interval.
    pub ratio_95: Interval,
    /// Two-sided p-value of the signed-rank test.
    pub p: f64,
    /// Smallest relative difference to be believed, where a null campaign was run.
    pub smallest_believable: Option<f64>,
    /// The finding.
    pub finding: Finding,
}

/// What a packet costs two devices, where that is what was compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ComparedCost {
    /// Cycles a packet of the base and of the other, in the quietest window: medians over starts.
    pub cycles: [f64; 2],
    /// Packets in their vectors meanwhile.
    pub vector_packets: [f64; 2],
}

/// One device held against another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRecord {
    /// The base.
    pub base: String,
    /// What is held against it.
    pub other: String,
    /// The case in words.
    pub case: String,
    /// What came of it.
    pub comparison: Comparison,
    /// Devices that most starts did not bring to their limit, as they lost next to nothing of what
    /// was sent: they may do more than was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexhausted: Vec<String>,
    /// Where some were not, and both tell what a packet costs them: then the ratio is of that, the
    /// base's over the other's, so that less than 1 is slower here as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<ComparedCost>,
}

/// How a ratio of rates is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioReading {
    /// As it stands.
    Exact,
    /// The device may do more: no less than this.
    AtLeast,
    /// The base may do more: no more than this.
    AtMost,
    /// Both may do more: it says nothing.
    Nothing,
}

impl RatioReading {
    /// Of a ratio whose device, and whose base, may do more than was seen.
    pub fn of(device: bool, base: bool) -> Self {
        match (device, base) {
            (false, false) => Self::Exact,
            (true, false) => Self::AtLeast,
            (false, true) => Self::AtMost,
            (true, true) => Self::Nothing,
        }
    }

    /// What stands before the number; none where none may be printed.
    pub fn sign(self) -> Option<&'static str> {
        match self {
            Self::Exact => Some(""),
            Self::AtLeast => Some("≥"),
            Self::AtMost => Some("≤"),
            Self::Nothing => None,
        }
    }
}

impl ComparisonRecord {
    /// How its ratio is to be read.
    pub fn reading(&self) -> RatioReading {
        if self.cost.is_some() {
            return RatioReading::Exact;
        }
        let more = |device: &String| self.unexhausted.contains(device);
        RatioReading::of(more(&self.other), more(&self.base))
    }
}
