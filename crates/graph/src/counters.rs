//! What each node did: written by one worker, read by anyone.

use core::sync::atomic::AtomicU64;

use crate::stalls::StallCounters;

/// One node's counters on one worker. Only that worker writes, so adding is a load and a store.
#[repr(align(64))]
#[derive(Default)]
pub struct NodeCounters {
    /// How often it was shown a frame.
    pub calls: AtomicU64,
    /// Packets that it was shown, or that an input brought.
    pub packets: AtomicU64,
    /// TSC cycles inside it; the engine's moving of its packets included.
    pub cycles: AtomicU64,
    /// Packets it took for itself.
    pub taken: AtomicU64,
    /// Packets by exit.
    pub exits: Box<[AtomicU64]>,
}

impl NodeCounters {
    pub(crate) fn new(exits: usize) -> Self {
        Self { exits: (0..exits).map(|_| AtomicU64::new(0)).collect(), ..Self::default() }
    }
}

/// All counters of one worker's graph, node by node in the layout's order.
pub struct GraphCounters {
    /// Per node.
    pub nodes: Box<[NodeCounters]>,
    /// Passes over the graph.
    pub loops: AtomicU64,
    /// Passes that found no packet.
    pub idle_loops: AtomicU64,
    /// Rests taken for want of packets.
    pub sleeps: AtomicU64,
    /// Passes that took longer than any work does.
    pub stalls: StallCounters,
    /// Frames that had to be allocated; stays put in steady state.
    pub frames_made: AtomicU64,
}
