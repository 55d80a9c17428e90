//! What a driver of ours counts, by the names that DPDK has for what all its drivers count.

use crate::stats::PortStats;

/// What a queue did: packets, bytes, and what was wrong.
pub(super) struct Queue {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) wrong: u64,
}

/// All of a port, what it counts of its own, and each queue.
pub(super) fn named(
    all: &PortStats,
    own: &[(&str, u64)],
    received: impl Iterator<Item = Queue>,
    sent: impl Iterator<Item = Queue>,
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
    ];
    let both = named.iter().chain(own);
    let mut stats: Vec<_> = both.map(|(name, value)| ((*name).to_owned(), *value)).collect();
    for (number, queue) in received.enumerate() {
        stats.push((format!("rx_q{number}_packets"), queue.packets));
        stats.push((format!("rx_q{number}_bytes"), queue.bytes));
        stats.push((format!("rx_q{number}_errors"), queue.wrong));
    }
    for (number, queue) in sent.enumerate() {
        stats.push((format!("tx_q{number}_packets"), queue.packets));
        stats.push((format!("tx_q{number}_bytes"), queue.bytes));
    }
    stats
}
