//! What a driver of ours for Linux's devices counts.

use super::counted::{self, Queue};
use crate::stats::PortStats;
use sockets::Counters;

/// The sum of what queues did.
pub(super) fn sum(queues: impl Iterator<Item = Counters>) -> Counters {
    queues.fold(Counters::default(), |mut sum, counters| {
        sum += counters;
        sum
    })
}

/// What a port did, of whose frames so many were missed.
pub(super) fn all(received: Counters, sent: Counters, missed: u64) -> PortStats {
    PortStats {
        rx_packets: received.packets,
        rx_bytes: received.bytes,
        rx_missed: missed + received.lost,
        rx_errors: received.wrong,
        rx_no_buffers: received.no_buffers,
        tx_packets: sent.packets,
        tx_bytes: sent.bytes,
        tx_errors: sent.wrong,
    }
}

/// All that a port counts, by name.
pub(super) fn named(
    all: &PortStats,
    received: impl Iterator<Item = Counters> + Clone,
    sent: impl Iterator<Item = Counters> + Clone,
) -> Vec<(String, u64)> {
    let own = [
        ("rx_large_frames", sum(received.clone()).large),
        ("tx_large_frames", sum(sent.clone()).large),
    ];
    let queue = |it: Counters| Queue { packets: it.packets, bytes: it.bytes, wrong: it.wrong };
    counted::named(all, &own, received.map(queue), sent.map(queue))
}
