//! What a device costs by valgrind.

use serde::{Deserialize, Serialize};

use crate::Subject;

/// What a packet costs in a node, by valgrind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelledCost {
    /// The node's name.
    pub node: String,
    /// Packets that it saw.
    pub packets: u64,
    /// Times that it was called.
    pub calls: u64,
    /// Instructions a packet.
    pub instructions: f64,
    /// Misses of the first level a packet, of data and instructions.
    pub first_level_misses: f64,
    /// Misses of the last level a packet.
    pub last_level_misses: f64,
}

/// What a device costs, by valgrind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelledRecord {
    /// What was run.
    pub subject: Subject,
    /// Its nodes, in its own order.
    pub nodes: Vec<ModelledCost>,
}
