//! Stochastic fair queueing (McKenney 1990) as Linux runs it: a queue for each flow, round robin by
//! allotment.
//!
//! ```text
//!   hash ─▶ bucket ─▶ flow ─▶ slots          ring of flows:   ┌▶ f3 ─▶ f7 ─▶ f1 ─┐   each sends until its
//!                                            (tail ─▶ next)   └──────────────────┘   allotment is used up
//!   lengths:  longest ─▶ flows of that many packets             full: the tail of a longest queue is dropped
//! ```
//!
//! Time O(1), about three cache lines, asked for some packets ahead. Which flows are longest is
//! only known from when the queue is full until it is half empty: finding out takes a sort of the
//! busy flows, of which there are at most `limit`, at most once in `limit / 2` packets. Every
//! `perturb` one pass over the queued packets hashes them anew. Space 38 bytes a flow, 2 a bucket
//! and 8 a length.

mod flow;
mod lengths;
mod plan;

pub use plan::SfqShape;

use crate::ClassId;
use crate::discipline::{Accepted, Discipline, Drained, Step, visit_for_one};
use crate::hash;
use crate::packet::{DropReason, Packet};
use crate::pool::{Backlog, Context, Pool, Queue, SlotId};
use crate::prefetch::prefetch;
use crate::report::{Counters, Report};
use crate::said::Said;
use crate::turns::Turns;
use crate::units::Size;
use flow::Flow;
use lengths::Lengths;

const NIL: u16 = u16::MAX;
/// Up to so many busy flows, all of their state stays in the near caches.
const FEW_FLOWS: usize = 4096;
/// Changes after which they are counted anew: far from the end, as one packet may bring as many as
/// there are packets.
const MOST_CHANGES: u32 = u32::MAX / 2;

/// The settings, checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SfqSettings {
    pub(crate) limit: u32,
    pub(crate) depth: u32,
    pub(crate) flows: u32,
    pub(crate) divisor: u32,
    pub(crate) quantum_bytes: u32,
    pub(crate) perturb_ns: u64,
    pub(crate) head_drop: bool,
}

/// Where a packet leaves its flow.
#[derive(Clone, Copy)]
enum End {
    Head,
    Tail,
}

pub(crate) struct Sfq {
    settings: SfqSettings,
    flows: Vec<Flow>,
    /// The flows that have no packet.
    free: Vec<u16>,
    buckets: Vec<u16>,
    lengths: Lengths,
    /// Room to sort the busy flows in.
    by_change: Vec<u16>,
    turns: Turns,
    backlog: Backlog,
    seed: u32,
    reseed_at_ns: u64,
    counters: Counters,
}

impl Sfq {
    pub(crate) fn new(settings: SfqSettings) -> Self {
        let SfqSettings { flows, depth, divisor, perturb_ns, .. } = settings;
        Self {
            settings,
            flows: vec![Flow::IDLE; flows as usize],
            free: (0..flows as u16).rev().collect(),
            buckets: vec![NIL; divisor as usize],
            lengths: Lengths::new(flows, depth),
            by_change: Vec::with_capacity(flows as usize),
            turns: Turns::new(flows),
            backlog: Backlog::default(),
            seed: 0,
            reseed_at_ns: if perturb_ns == 0 { u64::MAX } else { perturb_ns },
            counters: Counters::default(),
        }
    }

    /// Writes down the busy flows in the order in which their lengths changed.
    fn sort_by_change(&mut self) {
        let Self { by_change, turns, flows, .. } = self;
        by_change.clear();
        by_change.extend((0..turns.len()).map(|at| turns.at(at) as u16));
        by_change.sort_unstable_by_key(|&index| flows[usize::from(index)].changed);
    }

    /// The count of changes comes to its end: it begins again, the order of the flows stays.
    #[cold]
    fn count_anew(&mut self) {
        self.sort_by_change();
        self.lengths.changes = 0;
        for &index in &self.by_change {
            self.lengths.changes += 1;
            self.flows[usize::from(index)].changed = self.lengths.changes;
        }
    }

    /// The queue is full for the first time in a while: who is longest matters from now on.
    #[cold]
    fn keep_lengths(&mut self) {
        self.sort_by_change();
        let length = |&index: &u16| (index, self.flows[usize::from(index)].packets);
        self.lengths.keep(self.by_change.iter().map(length));
    }

    /// Takes a packet out of a flow that has one.
    fn pop<T: Copy>(&mut self, cx: &mut Context<'_, T>, index: u16, end: End) -> SlotId {
        let flow = &mut self.flows[usize::from(index)];
        let before = flow.packets;
        let id = match end {
            End::Head => flow.pop_head(cx.pool),
            End::Tail => flow.pop_tail(cx.pool),
        };
        self.lengths.changed(index, flow, before);
        self.backlog.remove(cx.length_bytes(id));
        id
    }

    /// Takes the flow whose turn it is, now empty, out of the ring and out of its bucket.
    #[inline]
    fn retire_first(&mut self, index: u16, bucket: u16) {
        self.buckets[usize::from(bucket)] = NIL;
        self.turns.pop();
        self.free.push(index);
    }

    /// Asks for a flow whose turn comes soon, and for the packet of one whose turn comes sooner.
    #[inline]
    fn foresee_turns<T: Copy>(&self, pool: &Pool<T>) {
        if self.turns.len() <= FEW_FLOWS {
            return;
        }
        let soon = self.turns.at(6) as usize;
        prefetch(&self.flows, soon);
        self.lengths.prefetch(soon);
        pool.prefetch(self.flows[self.turns.at(3) as usize].head);
    }

    /// Drops one packet of a longest queue: its last, or its first with `head_drop`. Returns its
    /// flow.
    fn drop_longest<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<u16> {
        if !self.lengths.are_kept() {
            self.keep_lengths();
        }
        let index = match self.lengths.longest() {
            Some((index, 2..)) => index,
            // Every flow has one packet: the flow whose turn it is loses its own.
            _ => {
                let first = self.turns.front()?;
                self.retire_first(first as u16, self.flows[first as usize].bucket);
                first as u16
            }
        };
        let end = if self.settings.head_drop { End::Head } else { End::Tail };
        let id = self.pop(cx, index, end);
        self.counters.dropped += 1;
        cx.drop_packet(id, DropReason::LongestQueue);
        Some(index)
    }

    #[inline]
    fn bucket_of(&self, flow_hash: u32) -> usize {
        hash::bucket(flow_hash ^ self.seed, self.settings.divisor) as usize
    }

    /// Takes every packet out, flow after flow, each flow in its order.
    fn collect<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Queue {
        let mut all = Queue::EMPTY;
        while let Some(first) = self.turns.front() {
            while self.flows[first as usize].packets > 0 {
                let id = self.pop(cx, first as u16, End::Head);
                cx.pool.get_mut(id).next = SlotId::NIL;
                all.push(cx.pool, id);
            }
            self.retire_first(first as u16, self.flows[first as usize].bucket);
        }
        all
    }

    /// Hashes every queued packet anew, so that two flows of one bucket do not stay together for
    /// ever.
    #[cold]
    fn reseed<T: Copy>(&mut self, cx: &mut Context<'_, T>) {
        self.reseed_at_ns = cx.now_ns + self.settings.perturb_ns;
        let mut all = self.collect(cx);
        self.seed = hash::next_seed(self.seed);
        while let Some(id) = all.pop(cx.pool) {
            self.admit(cx, id);
        }
    }

    /// Puts a packet at the end of its flow, where a flow is free and not too long.
    #[inline(always)]
    fn admit<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId) -> Option<u16> {
        let slot = cx.pool.get(id);
        let length_bytes = slot.length_bytes;
        let bucket = self.bucket_of(slot.flow_hash);
        let place = &mut self.buckets[bucket];
        let is_new = *place == NIL;
        let Some(index) = (if is_new { self.free.pop() } else { Some(*place) }) else {
            self.counters.dropped += 1;
            cx.drop_packet(id, DropReason::QueueFull);
            return None;
        };
        *place = index;
        let flow = &mut self.flows[usize::from(index)];
        let before = flow.packets;
        if u32::from(before) >= self.settings.depth {
            return self.admit_to_longest(cx, id, index);
        }
        if is_new {
            flow.bucket = bucket as u16;
            // Behind all others: the new flow waits its turn, or new flows alone would be served.
            flow.allotment = self.settings.quantum_bytes as i32;
            self.turns.push(u32::from(index));
        }
        flow.push(cx.pool, id);
        self.lengths.changed(index, flow, before);
        self.backlog.add(length_bytes);
        Some(index)
    }

    /// The flow is as long as it may be: the packet is dropped, or with `head_drop` the oldest in
    /// its place.
    #[cold]
    fn admit_to_longest<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        index: u16,
    ) -> Option<u16> {
        self.counters.dropped += 1;
        if !self.settings.head_drop {
            cx.drop_packet(id, DropReason::QueueFull);
            return None;
        }
        let oldest = self.pop(cx, index, End::Head);
        cx.drop_packet(oldest, DropReason::QueueFull);
        self.admit(cx, id)
    }
}

impl Discipline for Sfq {
    #[inline(always)]
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        if cx.now_ns >= self.reseed_at_ns {
            self.reseed(cx);
        }
        if self.lengths.changes > MOST_CHANGES {
            self.count_anew();
        }
        let Some(index) = self.admit(cx, id) else { return false };
        if self.backlog.packets <= self.settings.limit {
            return true;
        }
        // The arrival stands at the tail of its flow: it is the one dropped when that flow is a
        // longest.
        self.drop_longest(cx) != Some(index) || self.settings.head_drop
    }

    #[inline(always)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        visit_for_one(self, cx)
    }

    /// What a flow may send in its turn.
    #[inline(always)]
    fn visit<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        mut out: impl FnMut(&mut Context<'_, T>, SlotId) -> bool,
    ) -> Option<Step> {
        let quantum = self.settings.quantum_bytes as i32;
        loop {
            let Some(first) = self.turns.front() else { return Some(Step::Empty) };
            let flow = &mut self.flows[first as usize];
            if flow.allotment <= 0 {
                flow.allotment += quantum;
                self.turns.pop();
                self.turns.push(first);
                self.foresee_turns(cx.pool);
                continue;
            }
            let before = flow.packets;
            let mut went = Backlog::default();
            loop {
                let length_bytes = cx.length_bytes(flow.head);
                let id = flow.pop_head(cx.pool);
                flow.allotment -= length_bytes as i32;
                went.add(length_bytes);
                if !out(cx, id) || flow.allotment <= 0 || flow.packets == 0 {
                    break;
                }
            }
            let emptied = flow.packets == 0;
            self.lengths.changed(first as u16, flow, before);
            self.backlog.lose(went);
            self.counters.sent_together(went);
            if emptied {
                let bucket = flow.bucket;
                self.retire_first(first as u16, bucket);
                self.foresee_turns(cx.pool);
            }
            if self.lengths.are_kept() && self.backlog.packets <= self.settings.limit / 2 {
                self.lengths.forget();
            }
            return None;
        }
    }

    #[inline]
    fn foresee<T: Copy>(&self, pool: &Pool<T>, packets: &[Packet<T>]) {
        if self.turns.len() <= FEW_FLOWS {
            return;
        }
        let flows = || packets.iter().map(|packet| self.buckets[self.bucket_of(packet.flow_hash)]);
        for flow in flows() {
            prefetch(&self.flows, usize::from(flow));
            self.lengths.prefetch(usize::from(flow));
        }
        for flow in flows() {
            if let Some(flow) = self.flows.get(usize::from(flow)) {
                pool.prefetch(flow.tail);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn own_backlog(&mut self) -> Option<&mut Backlog> {
        Some(&mut self.backlog)
    }

    fn busy_flows(&self) -> u32 {
        self.turns.len() as u32
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        let mut all = self.collect(cx);
        while let Some(id) = all.pop(cx.pool) {
            // The note held the slot before it, not the arrival: the packet starts to wait anew.
            cx.pool.get_mut(id).note = cx.now_ns;
            out(class, id);
        }
    }

    fn report(&self) -> Report {
        let SfqSettings { limit, depth, divisor, quantum_bytes, perturb_ns, head_drop, .. } =
            self.settings;
        let mut settings = format!(
            "limit {limit}p quantum {} depth {depth}{} divisor {divisor}",
            Said(Size(u64::from(quantum_bytes))),
            if head_drop { " headdrop" } else { "" },
        );
        if perturb_ns != 0 {
            settings += &format!(" perturb {}sec", perturb_ns / 1_000_000_000);
        }
        let longest = self.flows.iter().map(|flow| flow.packets).max().unwrap_or(0);
        Report::new("sfq", settings, self.counters, self.backlog)
            .gauge("active_flows", self.turns.len() as u64)
            .gauge("longest_packets", u64::from(longest))
    }
}

#[cfg(test)]
mod tests;
