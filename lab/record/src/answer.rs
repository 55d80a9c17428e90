//! What a search said of one run: a rate.

use serde::{Deserialize, Serialize};

use crate::{Subject, Verdict};

/// What a search said of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// What was measured.
    pub subject: Subject,
    /// Name of the number: NDR, PDR 0.5 %, MRR …
    pub metric: String,
    /// Lower bound, or the number itself.
    pub low_pps: f64,
    /// Upper bound, or the number itself.
    pub high_pps: f64,
    /// What the run must be read with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}
