//! What a trial, or a series of them, must be read with: every verdict carries the number that it
//! was drawn from.

use serde::{Deserialize, Serialize};

/// A verdict, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Higher loads looked better than lower ones.
    LossInversion {
        /// The loads above the upper bound that carried.
        loads_pps: Vec<f64>,
    },
    /// The results have two humps: their mean means nothing.
    Bimodal {
        /// The humps, lower first.
        modes: [Mode; 2],
    },
    /// The results rise or fall over the campaign.
    Drift {
        /// Change over the series, as a share of its median.
        share: f64,
        /// p-value of no trend.
        p: f64,
    },
    /// The time was up before the bounds were as close as asked, or all trials were made.
    CutShort {
        /// Trials made.
        trials: u64,
    },
    /// Of a number over all starts: searches that were cut short, beside others that were not.
    NotCounted {
        /// Starts whose searches they were.
        starts: u64,
    },
    /// The series had not become steady when it ended.
    StillWarmingUp,
    /// What was verified: whether a number is what it was.
    AgainstReference {
        /// What came of it.
        finding: Reference,
        /// The reference's lower end.
        low_pps: f64,
        /// Its upper end; none where it may have been more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high_pps: Option<f64>,
    },
    /// The load is too near what the generator can do on this link.
    GeneratorBound {
        /// The load as a share of the ceiling.
        share: f64,
    },
    /// No load was found that the device carries: the trial's is a share of what came through.
    NoBound {
        /// The most that came through it in any trial, each way.
        through_pps: f64,
    },
    /// The ends of a stream were virtual machines whose processors are software.
    EmulatedEnds,
    /// The device was a virtual machine whose processors are software.
    EmulatedDevice,
    /// Frames came by several queues: those that seem overtaken may only have been looked at later.
    OrderUnknown {
        /// Queues that brought frames.
        queues: u64,
        /// Frames that seem overtaken.
        reordered: u64,
    },
    /// Packets are unaccounted for: sent is not received plus every drop.
    CountersDisagree {
        /// Sent minus received, counted drops, and what is still in flight.
        missing: i64,
    },
    /// The device's workers were away during the trial, as they tell.
    DeviceStalled {
        /// Number of stalls.
        stalls: u64,
        /// The longest that one can have been.
        longest_us: f64,
        /// Their sum as a share of the trial.
        share: f64,
    },
    /// The host took the processor away during the trial.
    HostStalled {
        /// Number of stalls.
        stalls: u64,
        /// The longest.
        longest_us: f64,
        /// Share of the trial that was lost to them.
        share: f64,
    },
}

impl Verdict {
    /// What of a number was emulated, in words; none where nothing was.
    pub fn emulated(&self) -> Option<&'static str> {
        match self {
            Self::EmulatedEnds => Some(EMULATED_ENDS),
            Self::EmulatedDevice => Some(EMULATED_DEVICE),
            _ => None,
        }
    }
}

/// What [`Verdict::EmulatedDevice`] says.
pub const EMULATED_DEVICE: &str =
    "it was emulated: a virtual machine without KVM, whose own speed is in every number";
/// What [`Verdict::EmulatedEnds`] says.
pub const EMULATED_ENDS: &str =
    "its ends were emulated: virtual machines without KVM, whose own speed is in every number";

/// What came of a number held against what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reference {
    /// It is what it was.
    Holds,
    /// It is less.
    Lower,
    /// It is more.
    Higher,
    /// Nobody can tell: not the device spoiled the trials.
    Undecided,
}

/// What a trial's counters say, those of the device included.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Accounts {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Sum of every drop counter of the device.
    pub dropped: u64,
    /// Packets still in rings when the counters were read.
    pub in_flight: u64,
}

/// Stalls seen by timestamp gaps during a trial.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stalled {
    /// Number of gaps over the limit.
    pub stalls: u64,
    /// The longest.
    pub longest_us: f64,
    /// Their sum.
    pub total_us: f64,
}

/// One hump.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Values in it.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
}
