//! Counters as they stood when they were last cleared: workers' own never go back.

use dataplane::{BridgedTotals, InterfaceTotals, MirroredTotals, NodeTotals, TwinnedTotals};
use std::collections::HashMap;

/// Counters as they stood when they were last cleared.
#[derive(Default)]
pub(crate) struct Cleared {
    pub(crate) nodes: Vec<NodeTotals>,
    pub(crate) interfaces: HashMap<u16, InterfaceTotals>,
    pub(crate) drops: HashMap<(u16, &'static str, String), u64>,
    pub(crate) bridged: HashMap<u16, BridgedTotals>,
    pub(crate) mirrored: HashMap<u16, MirroredTotals>,
    /// By adjacency: packets and octets.
    pub(crate) next_hops: HashMap<u32, [u64; 2]>,
    pub(crate) twinned: HashMap<u16, TwinnedTotals>,
}
