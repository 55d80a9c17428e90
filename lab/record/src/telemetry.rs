//! What other tools saw, apart from the timed trials.

use serde::{Deserialize, Serialize};

use crate::Subject;

/// What a node of a device costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeCost {
    /// Its name.
    pub node: String,
    /// Times that it was called.
    pub calls: u64,
    /// Packets that it saw.
    pub packets: u64,
    /// Cycles of the time-stamp counter, by the device's own count.
    pub cycles: f64,
}

/// What was seen of a device at a load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TelemetryRecord {
    /// What was watched.
    pub subject: Subject,
    /// At which load.
    pub load_pps: f64,
    /// Packets received in bare trials, and in watched ones.
    pub bare: u64,
    /// See above.
    pub watched: u64,
    /// Busy time of the devices' cores for each packet received, whoever used it.
    pub cpu_us_per_packet: f64,
    /// By node, where the device tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeCost>,
    /// The processor's counters for each packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_packet: Vec<(String, f64)>,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What sampled the functions: cycles, or the timer.
    #[serde(default)]
    pub sampled_by: String,
    /// Functions by share of the samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Share>,
}

/// A function's share of the samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Its name, and the program or library that it is in.
    pub function: String,
    /// In percent.
    pub percent: f64,
}
