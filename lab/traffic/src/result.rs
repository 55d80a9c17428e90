//! What came of sending and receiving for a while.

use lab_record::{DelayVariation, Histogram, ScaleRates, SequenceCounts, Spike, Who};
use serde::{Deserialize, Serialize};

use super::port_times::{LatencyClock, PortTimes};

/// One stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamResult {
    /// Its name.
    pub name: String,
    /// The end it was sent at.
    pub from: String,
    /// The end it should come out at.
    pub to: String,
    /// Packets that should have been sent.
    pub intended: u64,
    /// Packets sent.
    pub offered: u64,
    /// Octets of these, checksums included.
    pub octets: u64,
    /// What arrived, in which order.
    pub sequence: SequenceCounts,
    /// Latency of every packet.
    pub latency: Histogram,
    /// RFC 3550, at the end.
    pub jitter_ns: f64,
    /// RFC 5481.
    pub variation: DelayVariation,
}

/// One end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndResult {
    /// Its name.
    pub name: String,
    /// Packets received that were no test frames.
    pub foreign: u64,
    /// Test frames of an earlier trial.
    pub stale: u64,
    /// Test frames that should have come out elsewhere.
    pub misdirected: u64,
    /// Packets that the port lost on their way to the receiver.
    pub missed: u64,
    /// Receive queues that brought frames.
    #[serde(default)]
    pub queues: u64,
    /// Octets of the test frames received, checksums included.
    pub octets: u64,
    /// Rate of arrivals on four time scales.
    pub rates: Vec<ScaleRates>,
    /// Test frames that arrived in each millisecond.
    #[serde(skip)]
    pub per_ms: Vec<u32>,
    /// Excursions of the latency.
    pub spikes: Vec<Spike>,
    /// Gaps really left between packets sent.
    pub gaps: Histogram,
    /// How late packets left.
    pub lateness: Histogram,
    /// Times at which there was no buffer to send from.
    pub starved: u64,
    /// What its port said of the time at which packets came, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_times: Option<PortTimes>,
}

/// Times at which the generator's thread was away.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Away {
    /// Number of gaps over the limit.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// The longest of them, since the start.
    pub longest: Vec<Gone>,
}

/// A time at which somebody was away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// Since when.
    pub at_ns: u64,
    /// How long.
    pub length_ns: u64,
    /// Whose doing it was, where the kernel's account of processor time says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<Who>,
}

impl Away {
    /// The longest of all.
    pub fn longest_ns(&self) -> u64 {
        self.longest.iter().map(|gone| gone.length_ns).max().unwrap_or(0)
    }
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrafficResult {
    /// When it began, by the clock of the trial.
    #[serde(skip)]
    pub start_ns: u64,
    /// Time of sending.
    pub duration_ns: u64,
    /// Time in all, with what was waited for stragglers.
    pub elapsed_ns: u64,
    /// The streams.
    pub streams: Vec<StreamResult>,
    /// The ends.
    pub ends: Vec<EndResult>,
    /// When the generator itself was held up.
    pub away: Away,
    /// Which clock took the time at which packets came. When they were meant to leave the
    /// generator's says.
    #[serde(default)]
    pub latency_clock: LatencyClock,
    /// Whether somebody wanted it to end early.
    pub stopped: bool,
}

impl TrafficResult {
    /// Packets that should have been sent.
    pub fn intended(&self) -> u64 {
        self.streams.iter().map(|stream| stream.intended).sum()
    }

    /// Packets sent.
    pub fn offered(&self) -> u64 {
        self.streams.iter().map(|stream| stream.offered).sum()
    }

    /// Packets received, copies apart.
    pub fn received(&self) -> u64 {
        self.streams.iter().map(|stream| stream.sequence.unique).sum()
    }

    /// Latency of all streams.
    pub fn latency(&self) -> Histogram {
        let mut all = Histogram::default();
        self.streams.iter().for_each(|stream| all.merge(&stream.latency));
        all
    }

    /// Packets received in a second of sending.
    pub fn received_pps(&self) -> f64 {
        self.received() as f64 * 1e9 / self.duration_ns.max(1) as f64
    }
}
