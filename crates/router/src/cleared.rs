//! Counters as they stood when they were last cleared: workers' own never go back. Where a router
//! went on with those of one before it, this is that much less than nothing: all is modulo 2^64.

use dataplane::{BridgedTotals, InterfaceTotals, MirroredTotals, NodeTotals, TwinnedTotals};
use std::collections::{BTreeMap, HashMap};

/// Counters as they stood when they were last cleared.
#[derive(Default)]
pub(crate) struct Cleared {
    /// When that was, by the time-stamp counter.
    pub(crate) tsc: u64,
    pub(crate) nodes: Vec<NodeTotals>,
    pub(crate) interfaces: HashMap<u16, InterfaceTotals>,
    pub(crate) drops: BTreeMap<(u16, &'static str, String), u64>,
    pub(crate) bridged: HashMap<u16, BridgedTotals>,
    pub(crate) mirrored: HashMap<u16, MirroredTotals>,
    /// By adjacency: packets and octets.
    pub(crate) next_hops: HashMap<u32, [u64; 2]>,
    pub(crate) twinned: HashMap<u16, TwinnedTotals>,
    /// Errors that devices of ports had counted for a router before this one: received, sent.
    pub(crate) errors: HashMap<u16, [u64; 2]>,
}
