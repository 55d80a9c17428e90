//! No scheduler: it holds one burst and gives it back. What the benchmark itself costs.

use sched::{Backlog, Burst, Drops, Next, Packet, Report, Scheduler, Sent, Verdict};

/// See the module.
#[derive(Default)]
pub(crate) struct Nothing {
    held: Vec<Sent<u64>>,
}

fn sent(packet: &Packet<u64>) -> Sent<u64> {
    Sent { handle: packet.handle, length_bytes: packet.length_bytes, mark: false }
}

impl Scheduler<u64> for Nothing {
    fn enqueue(&mut self, _: u64, packet: Packet<u64>, _: Drops<'_, u64>) -> Verdict {
        self.held.push(sent(&packet));
        Verdict::Queued
    }

    fn enqueue_burst(&mut self, _: u64, packets: &[Packet<u64>], _: Drops<'_, u64>) {
        self.held.extend(packets.iter().map(sent));
    }

    fn dequeue(&mut self, _: u64, _: Drops<'_, u64>) -> Next<u64> {
        self.held.pop().map_or(Next::Empty, Next::Packet)
    }

    fn dequeue_burst(
        &mut self,
        _: u64,
        limit: usize,
        out: &mut Vec<Sent<u64>>,
        _: Drops<'_, u64>,
    ) -> Burst {
        let from = self.held.len().saturating_sub(limit);
        out.extend_from_slice(&self.held[from..]);
        self.held.truncate(from);
        if self.held.is_empty() { Burst::Empty } else { Burst::More }
    }

    fn adopt(&mut self, now: u64, _: u64, packet: Packet<u64>, drops: Drops<'_, u64>) -> Verdict {
        self.enqueue(now, packet, drops)
    }

    fn give_back(&mut self, sent: Sent<u64>) -> Result<(), Sent<u64>> {
        Err(sent)
    }

    fn spend(&mut self, _: u64) {}

    fn take_given_back(&mut self) -> Option<Sent<u64>> {
        None
    }

    fn drain(&mut self, _: u64, _: &mut dyn FnMut(u64, Packet<u64>)) {
        self.held.clear();
    }

    fn waiting_packets(&self) -> u32 {
        self.held.len() as u32
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting_packets(), bytes: 0 }
    }

    fn report(&self) -> Report {
        let (counters, backlog) = Default::default();
        let (settings, gauges, children) = Default::default();
        Report {
            kind: "none".into(),
            id: Default::default(),
            settings,
            counters,
            backlog,
            gauges,
            children,
        }
    }
}
