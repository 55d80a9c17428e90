//! What a scenario searches for.

use lab_search::search::mlr::Goal;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::Error;

/// The kinds of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchKind {
    /// NDR and PDR at once.
    Mlr,
    /// Rate received at the largest load.
    MaxRate,
    /// RFC 2544 throughput.
    Throughput,
    /// RFC 2544 latency, at shares of the throughput.
    Latency,
    /// RFC 2544 frame loss rate.
    FrameLoss,
    /// RFC 2544 back-to-back frames.
    BackToBack,
    /// RFC 2544 system recovery.
    Recovery,
    /// RFC 2544 reset.
    Reset,
    /// Loss at each load, up and down.
    LossScan,
    /// Load of a tiny loss ratio.
    Soak,
    /// Cost of a change under load.
    Reconfigure,
    /// Entries added until one is refused.
    LargestTable,
    /// TCP throughput and request/response round trip between endpoints.
    Stream,
    /// Does it do what it says, at a rate that anything carries?
    Functional,
}

/// A search with its goals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Which.
    pub search: SearchKind,
    /// Loss ratios of the goals: 0 for an NDR.
    #[serde(default = "ndr_and_pdr")]
    pub loss_ratios: Spanned<Vec<f64>>,
    /// Longest trial.
    #[serde(default = "one_second")]
    pub trial_s: f64,
    /// Trial time after which a load is decided.
    #[serde(default = "twenty_one_seconds")]
    pub duration_sum_s: Spanned<f64>,
    /// How close bounds must come, relative.
    #[serde(default = "half_a_percent")]
    pub relative_width: f64,
    /// Loads, in percent of the throughput, at which latency is measured afterwards.
    #[serde(default)]
    pub latency_at_percent: Vec<u64>,
    /// How often bursts, overloads and resets are repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u32>,
    /// Whether per-node cycles and the like are collected in runs of their own.
    #[serde(default)]
    pub telemetry: bool,
    /// Number of objects that a live change adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_entries: Option<u64>,
    /// Entries beyond which a search for the largest table does not go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_entries: Option<u64>,
}

fn ndr_and_pdr() -> Spanned<Vec<f64>> {
    Spanned::new(0..0, vec![0.0, 0.005])
}

fn one_second() -> f64 {
    1.0
}

fn twenty_one_seconds() -> Spanned<f64> {
    Spanned::new(0..0, 21.0)
}

fn half_a_percent() -> f64 {
    0.005
}

/// Most entries that a running device is given: there are addresses for so many.
pub const MOST_ENTRIES: u64 = 1 << 24;

impl Measure {
    /// Entries beyond which a search for the largest table does not go.
    pub fn most_entries(&self) -> u64 {
        self.most_entries.unwrap_or(MOST_ENTRIES)
    }

    /// The goals of an MLRsearch; an error names what is out of range.
    pub fn goals(&self) -> Result<Vec<Goal>, Error> {
        let goal = |&loss_ratio: &f64| {
            let goal = Goal {
                loss_ratio,
                relative_width: self.relative_width,
                initial_trial_s: self.trial_s.min(1.0),
                final_trial_s: self.trial_s,
                duration_sum_s: *self.duration_sum_s.get_ref(),
                ..Goal::default()
            };
            goal.check().map(|()| goal)
        };
        self.loss_ratios.get_ref().iter().map(goal).collect()
    }
}
