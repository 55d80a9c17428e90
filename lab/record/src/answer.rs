//! What a search said of one run: a rate.

use serde::{Deserialize, Serialize};

use crate::{Directions, Limit, Limiter, Subject, Verdict};

/// What a search said of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// What was measured.
    pub subject: Subject,
    /// Name of the number: NDR, PDR 0.5 %, MRR …
    pub metric: String,
    /// Which directions it is of; none in files of before this was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directions: Option<Directions>,
    /// Lower bound, or the number itself.
    pub low_pps: f64,
    /// Upper bound, or the number itself.
    pub high_pps: f64,
    /// Of an MLRsearch: what got through at the lower bound in trials that the exceed ratio does
    /// not excuse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditional_pps: Option<f64>,
    /// What kept it from being higher; none in files of before this was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What the run must be read with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}

impl AnswerRecord {
    /// Whether the time was up before its search had ended: it lies further below than the
    /// number of a search that ended.
    pub fn is_cut_short(&self) -> bool {
        self.verdicts.iter().any(|it| matches!(it, Verdict::CutShort { .. }))
    }

    /// Who kept it from being higher.
    pub fn limiter(&self) -> Limiter {
        let bound = |verdict: &Verdict| matches!(verdict, Verdict::GeneratorBound { .. });
        match self.limit {
            _ if self.verdicts.iter().any(bound) => Limiter::Generator,
            Some(limit) => limit.by,
            None => Limiter::Device,
        }
    }
}
