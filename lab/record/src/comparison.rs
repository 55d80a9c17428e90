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
    /// B over A, geometric mean.
    pub ratio: f64,
    /// 95 % bootstrap interval of the ratio.
    pub ratio_95: Interval,
    /// Two-sided p-value of the signed-rank test.
    pub p: f64,
    /// Smallest relative difference to be believed, where a null campaign was run.
    pub smallest_believable: Option<f64>,
    /// The finding.
    pub finding: Finding,
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
    /// Devices that lost nothing in most trials of most starts: the largest load was not their
    /// limit, and they may do more than was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexhausted: Vec<String>,
}
