//! One trial, with all that was counted in it.

use serde::{Deserialize, Serialize};

use crate::{
    Accounts, Counters, DelayVariation, Histogram, Outcome, ScaleRates, SequenceCounts, Spike,
    Subject, Verdict, Who,
};

/// A time at which the processor was away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// When, since the trial began.
    pub at_s: f64,
    /// For how long.
    pub length_us: f64,
    /// Who saw it: generator, device, kernel (of the device's processes) or probe.
    pub seen_by: String,
    /// Whose doing it was, where the kernel's account of processor time says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<Who>,
}

impl Stall {
    /// Who sees the stalls of a device's workers.
    pub const DEVICE: &str = "device";
    /// Who sees those of the device's processes.
    pub const KERNEL: &str = "kernel";

    /// One that nobody has explained.
    pub fn new(at_s: f64, length_us: f64, seen_by: &str) -> Self {
        Self { at_s, length_us, seen_by: seen_by.into(), who: None }
    }

    /// Whether it was the device that was held up.
    pub fn is_of_the_device(&self) -> bool {
        [Self::DEVICE, Self::KERNEL].contains(&self.seen_by.as_str())
    }
}

/// What came back in a trial that went both ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Back {
    /// Loss, duplicates, reordering.
    pub sequence: SequenceCounts,
    /// Delay variation.
    pub variation: DelayVariation,
    /// RTP jitter at its end.
    pub jitter_ns: f64,
}

/// One trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// What was measured.
    pub subject: Subject,
    /// Number of the trial in its run.
    pub index: u32,
    /// Search that asked for it, or "latency" and the like.
    pub purpose: String,
    /// When it began, since the campaign did.
    pub at_s: f64,
    /// When its traffic began, in seconds since 1970: on this clock trials lie beside each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_unix_s: Option<f64>,
    /// What came of it.
    pub outcome: Outcome,
    /// Latency of every packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Histogram>,
    /// How late packets left, where latencies are kept: it is in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Histogram>,
    /// Loss, duplicates, reordering from the first end to the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<SequenceCounts>,
    /// Throughput on four time scales.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<ScaleRates>,
    /// Delay variation there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<DelayVariation>,
    /// RTP jitter at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<f64>,
    /// The same three from the second end to the first, where packets went there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<Back>,
    /// The device's counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Accounts>,
    /// The device's own counters, with drops by place and reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Counters>,
    /// Stalls of the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Spikes of latency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spikes: Vec<Spike>,
    /// What it must be read with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}

impl TrialRecord {
    /// A record of an outcome, for what else was counted to be added to.
    pub fn new(subject: Subject, index: u32, purpose: &str, at_s: f64, outcome: Outcome) -> Self {
        Self {
            subject,
            index,
            purpose: purpose.to_owned(),
            at_s,
            began_unix_s: None,
            outcome,
            latency: None,
            lateness: None,
            sequence: None,
            rates: Vec::new(),
            variation: None,
            jitter_ns: None,
            back: None,
            accounts: None,
            device: None,
            stalls: Vec::new(),
            spikes: Vec::new(),
            verdicts: Vec::new(),
        }
    }
}
