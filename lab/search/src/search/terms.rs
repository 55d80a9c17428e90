//! What a search is carried out with.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::ref_ndr::Ends;

/// The smallest load searched, as a share of the largest.
const LEAST_SHARE: f64 = 1e-3;

/// A parameter of a search's own, a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it counts.
    pub what: &'static str,
    /// What it may be.
    pub range: RangeInclusive<u64>,
    /// What it is where it is not given; none where it has to be.
    pub usual: Option<u64>,
}

/// What a search is carried out with.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms<'a> {
    /// The largest load.
    pub max_pps: f64,
    /// Share of its own throughput at which a device is measured, where a search finds one first.
    pub load_share: f64,
    /// Stalls of the host in a second that it should live with.
    pub stalls_per_s: f64,
    /// Longest trial.
    pub trial_s: f64,
    /// How close bounds must come, relative.
    pub relative_width: f64,
    /// Trial time after which a load is decided.
    pub duration_sum_s: f64,
    /// Loss ratios of the goals.
    pub loss_ratios: &'a [f64],
    /// How often bursts, overloads and resets are repeated, where it is said.
    pub repetitions: Option<u32>,
    /// What the NDR was, where one is to be verified.
    pub reference: Option<Ends>,
    /// The search's own parameters that were given, by name.
    pub parameters: BTreeMap<&'a str, u64>,
}

impl Terms<'_> {
    /// The smallest load.
    pub fn min_pps(&self) -> f64 {
        self.max_pps * LEAST_SHARE
    }

    /// Repetitions, where `usual` are made unless others are asked for.
    pub fn repeated(&self, usual: u32) -> usize {
        self.repetitions.unwrap_or(usual).max(1) as usize
    }

    /// The value of a parameter.
    pub fn parameter(&self, parameter: &Parameter) -> u64 {
        let given = self.parameters.get(parameter.name).copied();
        given.or(parameter.usual).unwrap_or(*parameter.range.start())
    }
}
