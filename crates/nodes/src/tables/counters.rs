//! Per-interface counters of one worker, which alone writes them.

use crate::tables::TwinClass;
use graph::{Reason, add};
use std::sync::atomic::{AtomicU64, Ordering};

/// Most interfaces; counters for all of them stand ready.
pub const MOST_INTERFACES: usize = 1024;

/// What one interface carried on one worker.
#[derive(Default)]
#[repr(align(64))]
pub struct InterfaceCounters {
    /// Frames received.
    pub rx_packets: AtomicU64,
    /// Their bytes, from the link header on.
    pub rx_bytes: AtomicU64,
    /// Frames given to the device.
    pub tx_packets: AtomicU64,
    /// Their bytes, from the link header on.
    pub tx_bytes: AtomicU64,
}

/// What one port of a bridge taught one worker.
#[derive(Default)]
pub struct BridgedCounters {
    /// Stations that were not known.
    pub learned: AtomicU64,
    /// Stations that were behind another port before.
    pub moved: AtomicU64,
    /// Frames whose station there was no room for.
    pub not_learned: AtomicU64,
}

/// Copies that one worker made of one interface's frames.
#[derive(Default)]
pub struct MirroredCounters {
    /// Of those that it received.
    pub received: AtomicU64,
    /// Of those that it sent.
    pub sent: AtomicU64,
    /// Not made: there was no buffer.
    pub lost: AtomicU64,
}

/// What one worker handed to the twin of one interface, by [`TwinClass`].
#[derive(Default)]
pub struct TwinnedCounters {
    /// Handed over.
    pub passed: [AtomicU64; TwinClass::COUNT],
    /// Not: more of the class than it may have a second.
    pub limited: [AtomicU64; TwinClass::COUNT],
}

/// Drops and answers of one worker by interface and reason (the layout's reason numbers).
pub struct DropCounters {
    reasons: usize,
    cells: Box<[AtomicU64]>,
}

impl DropCounters {
    /// Counts one drop.
    #[inline]
    pub fn count(&self, interface: u16, reason: u16) {
        let cell = usize::from(interface) * self.reasons + usize::from(reason);
        if let Some(cell) = self.cells.get(cell) {
            add(cell, 1);
        }
    }

    /// Drops of `interface` for `reason`.
    pub fn get(&self, interface: u16, reason: u16) -> u64 {
        let cell = usize::from(interface) * self.reasons + usize::from(reason);
        self.cells.get(cell).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}

/// True if packets that this node drops had an interface to leave by: then it is charged.
pub fn is_outbound(node: &str) -> bool {
    matches!(node, "interface-output" | "shape" | "port-tx")
}

/// All that one worker counts beside the engine.
pub struct WorkerCounters {
    /// By interface id.
    pub interfaces: Box<[InterfaceCounters]>,
    /// By interface id: what it taught its bridge.
    pub bridged: Box<[BridgedCounters]>,
    /// By interface id: copies of its frames.
    pub mirrored: Box<[MirroredCounters]>,
    /// By interface id: what its twin was handed.
    pub twinned: Box<[TwinnedCounters]>,
    /// Packets dropped, charged to the interface that received them or was to send them.
    pub drops: DropCounters,
    /// By reason: the interface that was to send is charged.
    pub outbound: Box<[bool]>,
    /// By reason: what the sender is told; 0 where the packet is dropped.
    pub answers: Box<[u16]>,
}

impl WorkerCounters {
    /// Counts frames that an interface received; of one that is none, nothing.
    #[inline]
    pub fn count_received(&self, interface: u16, packets: u64, bytes: u64) {
        let Some(counters) = self.interfaces.get(usize::from(interface)) else { return };
        add(&counters.rx_packets, packets);
        add(&counters.rx_bytes, bytes);
    }

    /// Counts frames that an interface sends; of one that is none, nothing.
    #[inline]
    pub fn count_sent(&self, interface: u16, packets: u64, bytes: u64) {
        let Some(counters) = self.interfaces.get(usize::from(interface)) else { return };
        add(&counters.tx_packets, packets);
        add(&counters.tx_bytes, bytes);
    }

    /// Zeros for a layout with these drop reasons.
    pub fn new(reasons: &[Reason]) -> Self {
        let outbound = reasons.iter().map(|reason| is_outbound(reason.node)).collect();
        let answers = reasons.iter().map(|reason| reason.answer.unwrap_or_default()).collect();
        let reasons = reasons.len();
        let cells = (0..MOST_INTERFACES * reasons).map(|_| AtomicU64::new(0)).collect();
        Self {
            interfaces: (0..MOST_INTERFACES).map(|_| InterfaceCounters::default()).collect(),
            bridged: (0..MOST_INTERFACES).map(|_| BridgedCounters::default()).collect(),
            mirrored: (0..MOST_INTERFACES).map(|_| MirroredCounters::default()).collect(),
            twinned: (0..MOST_INTERFACES).map(|_| TwinnedCounters::default()).collect(),
            drops: DropCounters { reasons, cells },
            outbound,
            answers,
        }
    }
}
