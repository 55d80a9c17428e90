//! Packets whose senders are told why they go no further: counted and kept as dropped ones are, for
//! `volley show errors` and `volley why-dropped`.

use crate::tables::{DroppedPacket, Keeper, Setup, WorkerCounters};
use graph::answered_reason;
use packet::PacketView;
use std::sync::Arc;

/// Of one node that tells senders.
pub struct Refusals {
    counters: Arc<WorkerCounters>,
    last: Keeper,
}

impl Refusals {
    /// None yet.
    pub fn new(setup: &Setup) -> Self {
        Self { counters: Arc::clone(&setup.counters), last: Keeper::new(setup) }
    }

    /// Counts the packet under the reason that its cause names; what is to be told of it.
    pub fn told(&mut self, packet: &PacketView<'_>, now_tsc: u64) -> u16 {
        let cause = packet.cause();
        let Some(reason) = answered_reason(cause) else { return cause };
        self.counters.drops.count(packet.rx(), reason);
        self.last.keep(reason, || DroppedPacket::of(packet, now_tsc), now_tsc);
        self.counters.answers.get(usize::from(reason)).copied().unwrap_or_default()
    }
}
