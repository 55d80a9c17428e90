//! CAKE (Høiland-Jørgensen, Täht, Morton 2018): a rate, tins by code point, fairness between hosts
//! and between their flows, CoDel in each flow, and acknowledgements that later ones make needless
//! left out. One discipline for the line to a home or an office.
//!
//! ```text
//!   code point ─▶ tin ─▶ flow of a host ─▶ [ · · · ] + CoDel          [ clock: the rate ] ─▶ dequeue
//!                  │                                                        ▲
//!                  └ clock: the tin's share ─ within it? those with the smallest share first
//! ```
//! With a rate a packet goes when the clock says so: there is no burst. What the link makes of a
//! packet (`overhead`, `mpu`, `linklayer`) is what the clocks count. Without a rate tins take turns
//! by their shares. Not here: BLUE (CoDel alone decides), cutting of large frames (they are cut
//! before), addresses before a NAT.
//!
//! Time O(1) a packet and a look at each tin; when full, one pass over the flows' byte counts (4
//! bytes each) for up to 64 drops. Space about 140 bytes a flow and tin.

mod clock;
mod hosts;
mod isolation;
mod places;
mod plan;
#[cfg(test)]
mod tests;
mod tin;
mod tins;

pub use isolation::Isolation;
pub use plan::CakeShape;
pub use tins::Tins;

use self::clock::Clock;
use self::tin::{Taken, Tin};
use self::tins::CODE_POINTS;
use crate::ClassId;
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::pool::{Backlog, Context, SlotId};
use crate::report::{Counters, Report};

/// Most packets dropped at a time when it is full.
const DROP_BATCH: u32 = 64;

/// A tin in its place among the others.
struct Part {
    name: &'static str,
    /// What it is set to, as it is shown.
    told: String,
    tin: Tin,
    /// Within its share of the rate; without a rate there is none.
    clock: Option<Clock>,
    /// What it may send in its turn, and what is left of it.
    quantum_bytes: u32,
    deficit: i64,
}

pub(crate) struct Cake {
    /// Of the classes that are its tins.
    major: Option<u16>,
    parts: Vec<Part>,
    by_code_point: [u8; CODE_POINTS],
    clock: Option<Clock>,
    /// Whose turn it is where there is no rate.
    turn: usize,
    limit_packets: u32,
    memory_limit_bytes: u64,
    filters_acks: bool,
    backlog: Backlog,
    overlimits: u64,
    over_memory: u64,
    told: String,
}

impl Cake {
    /// The tin that a packet goes to: the one that a filter named by its number, else its code
    /// point's.
    #[inline]
    fn tin_of(&self, class: ClassId, code_point: u8) -> usize {
        let by_filter = usize::from(class.minor());
        if self.major == Some(class.major()) && (1..=self.parts.len()).contains(&by_filter) {
            return by_filter - 1;
        }
        let tin = usize::from(self.by_code_point[usize::from(code_point) % CODE_POINTS]);
        tin.min(self.parts.len() - 1)
    }

    /// The tin that goes first, of those that have packets.
    fn choose(&mut self, now_ns: u64) -> Option<usize> {
        if self.clock.is_none() {
            return self.choose_by_turns();
        }
        let (mut chosen, mut earliest_ns) = (None, u64::MAX);
        for (at, part) in self.parts.iter().enumerate() {
            if part.tin.backlog.packets == 0 {
                continue;
            }
            let due_ns = part.clock.as_ref().map_or(0, Clock::due_ns);
            // Of those within their shares the last; of others the one that is due first.
            if due_ns <= now_ns || due_ns < earliest_ns {
                (chosen, earliest_ns) = (Some(at), due_ns.max(now_ns));
            }
        }
        chosen
    }

    fn choose_by_turns(&mut self) -> Option<usize> {
        self.parts.iter().find(|part| part.tin.backlog.packets != 0)?;
        loop {
            let part = &mut self.parts[self.turn];
            if part.tin.backlog.packets != 0 && part.deficit > 0 {
                return Some(self.turn);
            }
            if part.tin.backlog.packets == 0 {
                part.deficit = 0;
            }
            self.turn = (self.turn + 1) % self.parts.len();
            let next = &mut self.parts[self.turn];
            if next.tin.backlog.packets != 0 {
                next.deficit += i64::from(next.quantum_bytes);
            }
        }
    }

    /// Drops from the head of the fattest flow of all. Tells if `arrival` went too.
    #[cold]
    fn drop_from_fattest<T: Copy>(&mut self, cx: &mut Context<'_, T>, arrival: SlotId) -> bool {
        let all = self.parts.iter().map(|part| part.tin.fattest()).enumerate();
        let Some((part, (_, flow))) = all.max_by_key(|&(_, (bytes, _))| bytes) else {
            return false;
        };
        let tin = &mut self.parts[part].tin;
        let (dropped, arrival_dropped) = tin.drop_from(flow, DROP_BATCH, cx, arrival);
        self.backlog.lose(dropped);
        arrival_dropped
    }
}

impl Discipline for Cake {
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        let at = self.tin_of(class, cx.pool.get(id).code_point);
        let now_ns = cx.now_ns;
        if self.backlog.packets == 0
            && let Some(clock) = &mut self.clock
        {
            clock.begin(now_ns);
        }
        let part = &mut self.parts[at];
        if part.tin.backlog.packets == 0
            && let Some(clock) = &mut part.clock
        {
            clock.begin(now_ns);
        }
        match part.tin.enqueue(cx, id, self.filters_acks) {
            Taken::Queued(length_bytes) => self.backlog.add(length_bytes),
            Taken::InPlace { more } => {
                self.backlog.bytes = self.backlog.bytes.wrapping_add_signed(more);
                return true;
            }
        }
        let over_memory = self.backlog.bytes > self.memory_limit_bytes;
        if self.backlog.packets <= self.limit_packets && !over_memory {
            return true;
        }
        self.over_memory += u64::from(over_memory);
        !self.drop_from_fattest(cx, id)
    }

    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        if self.backlog.packets == 0 {
            return Step::Empty;
        }
        let now_ns = cx.now_ns;
        if let Some(due_ns) = self.clock.as_ref().map(Clock::due_ns)
            && due_ns > now_ns
        {
            self.overlimits += 1;
            return Step::Wait(due_ns);
        }
        while let Some(at) = self.choose(now_ns) {
            let part = &mut self.parts[at];
            let before = part.tin.backlog;
            let next = part.tin.dequeue(cx);
            self.backlog.packets -= before.packets - part.tin.backlog.packets;
            self.backlog.bytes -= before.bytes - part.tin.backlog.bytes;
            let Some(id) = next else { continue };
            let length_bytes = cx.length_bytes(id);
            part.deficit -= i64::from(length_bytes);
            for clock in [&mut part.clock, &mut self.clock].into_iter().flatten() {
                clock.charge(now_ns, length_bytes);
            }
            return Step::Packet(id);
        }
        Step::Empty
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn own_backlog(&mut self) -> Option<&mut Backlog> {
        Some(&mut self.backlog)
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        for part in &mut self.parts {
            part.tin.drain(cx, |id| out(class, id));
        }
        self.backlog = Backlog::default();
    }

    fn spend(&mut self, now_ns: u64) {
        let clocks = self.parts.iter_mut().map(|part| &mut part.clock).chain([&mut self.clock]);
        clocks.flatten().for_each(|clock| clock.begin(now_ns));
    }

    fn report(&self) -> Report {
        let mut counters = Counters { overlimits: self.overlimits, ..Counters::default() };
        let (mut over_limit, mut acks_dropped) = (0, 0);
        let mut children = Vec::new();
        for part in &self.parts {
            let tin = &part.tin;
            let own = Counters {
                dropped: tin.law.dropped + tin.over_limit + tin.acks_dropped,
                marked: tin.law.marked,
                ..tin.counters
            };
            counters.sent_packets += own.sent_packets;
            counters.sent_bytes += own.sent_bytes;
            counters.dropped += own.dropped;
            counters.marked += own.marked;
            over_limit += tin.over_limit;
            acks_dropped += tin.acks_dropped;
            let [new, old] = tin.listed();
            let told = format!("{} {}", part.name, part.told);
            children.push(
                Report::new("tin", told.trim_end().to_owned(), own, tin.backlog)
                    .gauge("maxpacket", u64::from(tin.max_packet_bytes))
                    .gauge("drop_overlimit", tin.over_limit)
                    .gauge("ack_drops", tin.acks_dropped)
                    .gauge("way_collisions", tin.shared_places)
                    .gauge("new_flows_len", new as u64)
                    .gauge("old_flows_len", old as u64),
            );
        }
        let mut report = Report::new("cake", self.told.clone(), counters, self.backlog)
            .gauge("drop_overlimit", over_limit)
            .gauge("drop_overmemory", self.over_memory)
            .gauge("ack_drops", acks_dropped);
        report.children = children;
        report
    }
}
