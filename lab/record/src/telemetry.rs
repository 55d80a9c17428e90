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
    /// Where nodes and counters are told at saturation: packets that vectors held. Without it they
    /// are of the load, as they once were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_packets: Option<f64>,
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

impl TelemetryRecord {
    /// A counter of the processor for each packet.
    fn counter(&self, name: &str) -> Option<f64> {
        // As `cycles:u` where the kernel's are not to be seen.
        let is = |it: &&(String, f64)| it.0.split(':').next() == Some(name);
        self.per_packet.iter().find(is).map(|it| it.1).filter(|each| *each > 0.0)
    }

    /// Instructions a cycle, and instructions a packet, where the processor tells.
    pub fn ipc_ipp(&self) -> Option<[f64; 2]> {
        let instructions = self.counter("instructions")?;
        Some([instructions / self.counter("cycles")?, instructions])
    }
}

/// A function's share of the samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Its name, and the program or library that it is in.
    pub function: String,
    /// In percent.
    pub percent: f64,
}
