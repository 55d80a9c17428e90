//! What the workers counted, added up.

use crate::start::Dataplane;
use nodes::tables::{DroppedPacket, NextHopCounters, TwinClass, is_outbound};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One node over all workers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeTotals {
    /// Its name.
    pub name: &'static str,
    /// How often it was shown a frame.
    pub calls: u64,
    /// Packets shown to it.
    pub packets: u64,
    /// TSC cycles inside it.
    pub cycles: u64,
    /// Packets it took.
    pub taken: u64,
    /// Packets by exit, in the layout's order.
    pub exits: Vec<u64>,
}

/// One interface over all workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InterfaceTotals {
    /// Frames received.
    pub rx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
}

/// What one port of a bridge taught, over all workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BridgedTotals {
    /// Stations that were not known.
    pub learned: u64,
    /// Stations that were behind another port before.
    pub moved: u64,
    /// Frames whose station there was no room for.
    pub not_learned: u64,
}

/// Copies of one interface's frames, over all workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MirroredTotals {
    /// Of those that it received.
    pub received: u64,
    /// Of those that it sent.
    pub sent: u64,
    /// Not made for want of a buffer.
    pub lost: u64,
}

/// What the twin of one interface was handed, by class, over all workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TwinnedTotals {
    /// Handed over.
    pub passed: [u64; TwinClass::COUNT],
    /// Not: more of the class than it may have a second.
    pub limited: [u64; TwinClass::COUNT],
}

/// Drops of one interface for one reason, over all workers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DropCount {
    /// The interface that had received the packets, or was to send them.
    pub interface: u16,
    /// It was to send them.
    pub outbound: bool,
    /// Their senders were told, by a packet that stands for theirs.
    pub answered: bool,
    /// The node that decided.
    pub node: &'static str,
    /// Its exit.
    pub reason: String,
    /// How many.
    pub packets: u64,
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Dataplane {
    /// Nodes in the layout's order, of the workers that `only` names, or of all.
    pub fn node_totals(&self, only: Option<usize>) -> Vec<NodeTotals> {
        let mut totals: Vec<_> = self
            .layout
            .nodes
            .iter()
            .map(|node| NodeTotals {
                name: node.spec.name,
                exits: vec![0; node.edges.len()],
                ..NodeTotals::default()
            })
            .collect();
        let chosen = self.workers.iter().enumerate();
        for (_, worker) in chosen.filter(|(number, _)| only.is_none_or(|only| only == *number)) {
            for (total, node) in totals.iter_mut().zip(&worker.handle.counters().nodes) {
                total.calls += read(&node.calls);
                total.packets += read(&node.packets);
                total.cycles += read(&node.cycles);
                total.taken += read(&node.taken);
                for (sum, exit) in total.exits.iter_mut().zip(&node.exits) {
                    *sum += read(exit);
                }
            }
        }
        totals
    }

    /// One interface.
    pub fn interface_totals(&self, interface: u16) -> InterfaceTotals {
        let mut totals = InterfaceTotals::default();
        for worker in &self.workers {
            let Some(row) = worker.setup.counters.interfaces.get(usize::from(interface)) else {
                continue;
            };
            totals.rx_packets += read(&row.rx_packets);
            totals.rx_bytes += read(&row.rx_bytes);
            totals.tx_packets += read(&row.tx_packets);
            totals.tx_bytes += read(&row.tx_bytes);
        }
        totals
    }

    /// What each worker counted by next hop, for who reads it elsewhere.
    pub fn next_hop_counters(&self) -> Vec<Arc<NextHopCounters>> {
        self.workers.iter().map(|worker| Arc::clone(&worker.setup.next_hops)).collect()
    }

    /// Packets and octets that left by one adjacency.
    pub fn next_hop_totals(&self, adjacency: u32) -> [u64; 2] {
        let each = self.workers.iter().map(|worker| worker.setup.next_hops.read(adjacency));
        each.fold([0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    }

    /// One port of a bridge.
    pub fn bridged_totals(&self, interface: u16) -> BridgedTotals {
        let mut totals = BridgedTotals::default();
        for worker in &self.workers {
            let Some(row) = worker.setup.counters.bridged.get(usize::from(interface)) else {
                continue;
            };
            totals.learned += read(&row.learned);
            totals.moved += read(&row.moved);
            totals.not_learned += read(&row.not_learned);
        }
        totals
    }

    /// Copies of one interface's frames.
    pub fn mirrored_totals(&self, interface: u16) -> MirroredTotals {
        let mut totals = MirroredTotals::default();
        for worker in &self.workers {
            let Some(row) = worker.setup.counters.mirrored.get(usize::from(interface)) else {
                continue;
            };
            totals.received += read(&row.received);
            totals.sent += read(&row.sent);
            totals.lost += read(&row.lost);
        }
        totals
    }

    /// What the twin of one interface was handed.
    pub fn twinned_totals(&self, interface: u16) -> TwinnedTotals {
        let mut totals = TwinnedTotals::default();
        let rows = self.workers.iter().map(|worker| &worker.setup.counters.twinned);
        for row in rows.filter_map(|rows| rows.get(usize::from(interface))) {
            let sum = |totals: &mut [u64], counters: &[AtomicU64]| {
                totals
                    .iter_mut()
                    .zip(counters)
                    .for_each(|(total, counter)| *total += read(counter));
            };
            sum(&mut totals.passed, &row.passed);
            sum(&mut totals.limited, &row.limited);
        }
        totals
    }

    /// The last packets that workers dropped, with the numbers of their workers and reasons.
    pub fn last_dropped(&self) -> Vec<(usize, u16, DroppedPacket)> {
        let of = |(worker, slot): (usize, &crate::start::WorkerSlot)| {
            let read = slot.setup.dropped.read().into_iter();
            read.map(move |(reason, packet)| (worker, reason, packet))
        };
        self.workers.iter().enumerate().flat_map(of).collect()
    }

    /// Every drop there was of one interface's packets.
    pub fn drops_of(&self, interface: u16) -> Vec<DropCount> {
        let reasons = self.layout.reasons.iter().enumerate();
        reasons
            .filter_map(|(number, reason)| {
                let of = |worker: &crate::start::WorkerSlot| {
                    worker.setup.counters.drops.get(interface, number as u16)
                };
                let packets: u64 = self.workers.iter().map(of).sum();
                if packets == 0 {
                    return None;
                }
                let (outbound, answered) = (is_outbound(reason.node), reason.answer.is_some());
                let (node, reason) = (reason.node, reason.exit.clone());
                Some(DropCount { interface, outbound, answered, node, reason, packets })
            })
            .collect()
    }
}
