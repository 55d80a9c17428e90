//! What a driver of ours for Linux's devices counts, by the names that DPDK has for it.

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

/// The names that DPDK has for what all its drivers count, and ours.
pub(super) fn named(
    all: &PortStats,
    received: impl Iterator<Item = Counters> + Clone,
    sent: impl Iterator<Item = Counters> + Clone,
) -> Vec<(String, u64)> {
    let named = [
        ("rx_good_packets", all.rx_packets),
        ("tx_good_packets", all.tx_packets),
        ("rx_good_bytes", all.rx_bytes),
        ("tx_good_bytes", all.tx_bytes),
        ("rx_missed_errors", all.rx_missed),
        ("rx_errors", all.rx_errors),
        ("tx_errors", all.tx_errors),
        ("rx_mbuf_allocation_errors", all.rx_no_buffers),
        ("rx_large_frames", sum(received.clone()).large),
        ("tx_large_frames", sum(sent.clone()).large),
    ];
    let mut stats: Vec<_> =
        named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (queue, counters) in received.enumerate() {
        stats.push((format!("rx_q{queue}_packets"), counters.packets));
        stats.push((format!("rx_q{queue}_bytes"), counters.bytes));
        stats.push((format!("rx_q{queue}_errors"), counters.wrong));
    }
    for (queue, counters) in sent.enumerate() {
        stats.push((format!("tx_q{queue}_packets"), counters.packets));
        stats.push((format!("tx_q{queue}_bytes"), counters.bytes));
    }
    stats
}
