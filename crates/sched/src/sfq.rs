//! Stochastic fair queueing (McKenney 1990) as Linux runs it: a queue for each flow, round robin by allotment.
//!
//! ```text
//!   hash ─▶ bucket ─▶ flow ─▶ slots          ring of flows:   ┌▶ f3 ─▶ f7 ─▶ f1 ─┐   each sends until its
//!                                            (tail ─▶ next)   └──────────────────┘   allotment is used up
//!   lengths:  longest ─▶ flows of that many packets             full: the tail of a longest queue is dropped
//! ```
//!
//! Time O(1), about five cache lines, asked for some packets ahead; every `perturb` one pass over the queued packets to
//! hash them anew. Space 28 bytes a flow, 2 a bucket and 8 a length.

use crate::ClassId;
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::hash;
use crate::packet::{DropReason, Packet};
use crate::pool::{Backlog, Context, Pool, Queue, SlotId};
use crate::prefetch::prefetch;
use crate::report::{Counters, Report};
use crate::turns::Turns;
use crate::units::{Size, Time};

const NIL: u16 = u16::MAX;
/// Up to so many flows, all of their state stays in the near caches.
const FEW_FLOWS: u32 = 4096;

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

/// Four to a cache line.
#[derive(Clone, Copy)]
struct Flow {
    head: SlotId,
    tail: SlotId,
    allotment: i32,
    bucket: u16,
    packets: u16,
}

/// Neighbours on the ring of the flows of one number of packets, which the ring's own entry closes: nothing to branch on.
#[derive(Clone, Copy)]
struct Links {
    before: u32,
    after: u32,
}

pub(crate) struct Sfq {
    settings: SfqSettings,
    flows: Vec<Flow>,
    /// Of each flow, then of the rings for 0 packets, 1 packet, …; flows of none are free.
    links: Vec<Links>,
    buckets: Vec<u16>,
    longest: u16,
    turns: Turns,
    backlog: Backlog,
    seed: u32,
    reseed_at_ns: u64,
    counters: Counters,
}

impl Sfq {
    pub(crate) fn new(settings: SfqSettings) -> Self {
        let SfqSettings { flows, depth, divisor, perturb_ns, .. } = settings;
        let (head, tail) = (SlotId::NIL, SlotId::NIL);
        let free = Flow { head, tail, allotment: 0, bucket: 0, packets: 0 };
        // All flows stand on the first ring, whose own entry follows theirs.
        let ring = |at: u32| Links {
            before: at.checked_sub(1).unwrap_or(flows),
            after: if at == flows { 0 } else { at + 1 },
        };
        let alone = |at: u32| Links { before: at, after: at };
        Self {
            settings,
            flows: vec![free; flows as usize],
            links: (0..=flows).map(ring).chain((flows + 1..=flows + depth).map(alone)).collect(),
            buckets: vec![NIL; divisor as usize],
            longest: 0,
            turns: Turns::new(flows),
            backlog: Backlog::default(),
            seed: 0,
            reseed_at_ns: perturb_ns,
            counters: Counters::default(),
        }
    }

    /// The ring of the flows that have so many packets.
    #[inline]
    fn ring_of(&self, packets: u16) -> u32 {
        self.settings.flows + u32::from(packets)
    }

    /// The flow that came to this number of packets last, unless there is none.
    #[inline]
    fn first_of(&self, packets: u16) -> Option<u16> {
        let ring = self.ring_of(packets);
        let first = self.links[ring as usize].after;
        (first != ring).then_some(first as u16)
    }

    /// Moves the flow from the ring of its length to the ring of `packets`, one more or one less.
    #[inline]
    fn set_length(&mut self, index: u16, packets: u16) {
        self.flows[usize::from(index)].packets = packets;
        let flow = u32::from(index);
        let Links { before, after } = self.links[flow as usize];
        self.links[before as usize].after = after;
        self.links[after as usize].before = before;
        let ring = self.ring_of(packets);
        let first = std::mem::replace(&mut self.links[ring as usize].after, flow);
        self.links[first as usize].before = flow;
        self.links[flow as usize] = Links { before: ring, after: first };
        if packets > self.longest {
            self.longest = packets;
        } else if self.first_of(self.longest).is_none() {
            self.longest -= 1;
        }
    }

    #[inline]
    fn push<T: Copy>(&mut self, cx: &mut Context<'_, T>, index: u16, id: SlotId) {
        let flow = &mut self.flows[usize::from(index)];
        let slot = cx.pool.get_mut(id);
        slot.note = u64::from(flow.tail.0);
        slot.next = SlotId::NIL;
        self.backlog.add(slot.length_bytes);
        if flow.head.is_nil() {
            flow.head = id;
        } else {
            cx.pool.get_mut(flow.tail).next = id;
        }
        flow.tail = id;
        let packets = flow.packets + 1;
        self.set_length(index, packets);
    }

    #[inline]
    fn pop_head<T: Copy>(&mut self, cx: &mut Context<'_, T>, index: u16) -> SlotId {
        let flow = &mut self.flows[usize::from(index)];
        let id = flow.head;
        let slot = cx.pool.get_mut(id);
        flow.head = slot.next;
        slot.next = SlotId::NIL;
        self.backlog.remove(slot.length_bytes);
        if flow.head.is_nil() {
            flow.tail = SlotId::NIL;
        }
        let packets = flow.packets - 1;
        self.set_length(index, packets);
        id
    }

    fn pop_tail<T: Copy>(&mut self, cx: &mut Context<'_, T>, index: u16) -> SlotId {
        let flow = &mut self.flows[usize::from(index)];
        let id = flow.tail;
        let slot = cx.pool.get(id);
        // A lone packet's note may name one that has left from before it.
        flow.tail = if flow.packets == 1 { SlotId::NIL } else { SlotId(slot.note as u32) };
        self.backlog.remove(slot.length_bytes);
        if flow.tail.is_nil() {
            flow.head = SlotId::NIL;
        } else {
            cx.pool.get_mut(flow.tail).next = SlotId::NIL;
        }
        let packets = flow.packets - 1;
        self.set_length(index, packets);
        id
    }

    /// Takes the flow whose turn it is, now empty, out of the ring and out of its bucket.
    #[inline]
    fn retire_first(&mut self) {
        if let Some(first) = self.turns.front() {
            self.buckets[usize::from(self.flows[first as usize].bucket)] = NIL;
            self.turns.pop();
        }
    }

    /// Asks for a flow whose turn comes soon, and for the packet of one whose turn comes sooner.
    #[inline]
    fn foresee_turns<T: Copy>(&self, pool: &Pool<T>) {
        if self.settings.flows <= FEW_FLOWS {
            return;
        }
        let soon = self.turns.at(6) as usize;
        prefetch(&self.flows, soon);
        prefetch(&self.links, soon);
        pool.prefetch(self.flows[self.turns.at(3) as usize].head);
    }

    /// Drops one packet of a longest queue: its last, or its first with `head_drop`. Returns its flow.
    fn drop_longest<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<u16> {
        let index = if self.longest > 1 {
            self.first_of(self.longest)?
        } else {
            // Every flow has one packet: the flow whose turn it is loses its own.
            let first = self.turns.front()?;
            self.retire_first();
            first as u16
        };
        let id = if self.settings.head_drop {
            self.pop_head(cx, index)
        } else {
            self.pop_tail(cx, index)
        };
        self.counters.dropped += 1;
        cx.drop_packet(id, DropReason::LongestQueue);
        Some(index)
    }

    #[inline]
    fn bucket_of(&self, flow_hash: u32) -> usize {
        hash::bucket(flow_hash ^ self.seed, self.settings.divisor) as usize
    }

    /// Finds the flow of a packet, or gives it a free one.
    #[inline]
    fn flow_of(&mut self, flow_hash: u32) -> Option<u16> {
        let bucket = self.bucket_of(flow_hash);
        match self.buckets[bucket] {
            NIL => {
                let free = self.first_of(0)?;
                self.buckets[bucket] = free;
                self.flows[usize::from(free)].bucket = bucket as u16;
                Some(free)
            }
            index => Some(index),
        }
    }

    /// Takes every packet out, flow after flow, each flow in its order.
    fn collect<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Queue {
        let mut all = Queue::EMPTY;
        while let Some(first) = self.turns.front() {
            while !self.flows[first as usize].head.is_nil() {
                let id = self.pop_head(cx, first as u16);
                all.push(cx.pool, id);
            }
            self.retire_first();
        }
        all
    }

    /// Hashes every queued packet anew, so that two flows of one bucket do not stay together for ever.
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
    #[inline]
    fn admit<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId) -> Option<u16> {
        let Some(index) = self.flow_of(cx.pool.get(id).flow_hash) else {
            self.counters.dropped += 1;
            cx.drop_packet(id, DropReason::QueueFull);
            return None;
        };
        let flow = &mut self.flows[usize::from(index)];
        let packets = flow.packets;
        if packets == 0 {
            // Behind all others: the new flow waits its turn, or new flows alone would be served.
            flow.allotment = self.settings.quantum_bytes as i32;
            self.turns.push(u32::from(index));
        } else if u32::from(packets) >= self.settings.depth {
            self.counters.dropped += 1;
            if !self.settings.head_drop {
                cx.drop_packet(id, DropReason::QueueFull);
                return None;
            }
            let head = self.pop_head(cx, index);
            cx.drop_packet(head, DropReason::QueueFull);
        }
        self.push(cx, index, id);
        Some(index)
    }
}

impl Discipline for Sfq {
    #[inline]
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        if self.settings.perturb_ns != 0 && cx.now_ns >= self.reseed_at_ns {
            self.reseed(cx);
        }
        let Some(index) = self.admit(cx, id) else { return false };
        if self.backlog.packets <= self.settings.limit {
            return true;
        }
        // The arrival stands at the tail of its flow: it is the one dropped when that flow is a longest.
        self.drop_longest(cx) != Some(index) || self.settings.head_drop
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        let quantum = self.settings.quantum_bytes as i32;
        let index = loop {
            let Some(first) = self.turns.front() else { return Step::Empty };
            let flow = &mut self.flows[first as usize];
            if flow.allotment > 0 {
                break first as u16;
            }
            flow.allotment += quantum;
            self.turns.pop();
            self.turns.push(first);
            self.foresee_turns(cx.pool);
        };
        let id = self.pop_head(cx, index);
        let length_bytes = cx.length_bytes(id);
        let flow = &mut self.flows[usize::from(index)];
        if flow.packets == 0 {
            self.retire_first();
            self.foresee_turns(cx.pool);
        } else {
            flow.allotment -= length_bytes as i32;
        }
        self.counters.sent(length_bytes);
        Step::Packet(id)
    }

    #[inline]
    fn foresee<T: Copy>(&self, pool: &Pool<T>, packets: &[Packet<T>]) {
        if self.settings.flows <= FEW_FLOWS {
            return;
        }
        let flows = || packets.iter().map(|packet| self.buckets[self.bucket_of(packet.flow_hash)]);
        for flow in flows() {
            prefetch(&self.flows, usize::from(flow));
            prefetch(&self.links, usize::from(flow));
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

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        let mut all = self.collect(cx);
        while let Some(id) = all.pop(cx.pool) {
            // The note held the slot before it, not the arrival: the packet starts to wait anew.
            cx.pool.get_mut(id).note = cx.now_ns;
            out(class, id);
        }
    }

    fn report(&self) -> Report {
        let SfqSettings { limit, depth, flows, divisor, quantum_bytes, perturb_ns, .. } =
            self.settings;
        let mut settings = format!(
            "limit {limit}p quantum {} depth {depth} flows {flows} divisor {divisor}",
            Size(u64::from(quantum_bytes)),
        );
        if perturb_ns != 0 {
            settings += &format!(" perturb {}", Time(perturb_ns));
        }
        let active = self.flows.iter().filter(|flow| flow.packets > 0).count();
        Report::new("sfq", settings, self.counters, self.backlog)
            .gauge("active_flows", active as u64)
            .gauge("longest_packets", u64::from(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use crate::{SfqShape, Shape, testing::Bench};

    fn sfq(change: impl Fn(&mut u32, &mut u32, &mut bool)) -> Bench {
        let mut shape = Shape::sfq();
        if let Shape::Sfq(settings) = &mut shape {
            change(&mut settings.limit, &mut settings.depth, &mut settings.head_drop);
        }
        Bench::new(shape)
    }

    #[test]
    fn flows_take_turns_by_allotment() {
        let mut bench = Bench::new(Shape::sfq());
        for handle in 0..4 {
            bench.offer(0, handle, 1514, 1);
        }
        for handle in 10..14 {
            bench.offer(0, handle, 1514, 2);
        }
        assert_eq!(bench.take_all(0), [0, 10, 1, 11, 2, 12, 3, 13]);
    }

    #[test]
    fn short_packets_share_an_allotment() {
        let mut bench = Bench::new(Shape::sfq());
        for handle in 0..3 {
            bench.offer(0, handle, 757, 1);
        }
        for handle in 10..12 {
            bench.offer(0, handle, 1514, 2);
        }
        assert_eq!(bench.take_all(0), [0, 1, 10, 2, 11]);
    }

    #[test]
    fn overflow_drops_the_tail_of_the_longest_queue() {
        let mut bench = sfq(|limit, _, _| *limit = 4);
        for handle in 0..3 {
            bench.offer(0, handle, 1000, 1);
        }
        bench.offer(0, 10, 1000, 2);
        bench.offer(0, 11, 1000, 2);
        assert_eq!(bench.dropped_handles(), [2]);
        assert_eq!(bench.take_all(0), [0, 1, 10, 11].map(|h| h).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn with_head_drop_the_longest_queue_loses_its_oldest() {
        let mut bench = sfq(|limit, _, head_drop| (*limit, *head_drop) = (2, true));
        for handle in 0..3 {
            bench.offer(0, handle, 1000, 1);
        }
        assert_eq!(bench.dropped_handles(), [0]);
    }

    #[test]
    fn a_flow_no_longer_than_its_depth() {
        let mut bench = sfq(|_, depth, _| *depth = 2);
        for handle in 0..3 {
            bench.offer(0, handle, 1000, 1);
        }
        assert_eq!(bench.dropped_handles(), [2]);
    }

    #[test]
    fn an_emptied_flow_frees_its_place() {
        let mut bench = Bench::new(Shape::sfq());
        for round in 0..1000 {
            bench.offer(0, round, 100, round as u32);
            assert_eq!(bench.take_all(0), [round]);
        }
        assert!(bench.dropped_handles().is_empty());
    }

    #[test]
    fn hashing_anew_keeps_every_packet_and_each_flows_order() {
        let mut shape = Shape::sfq();
        if let Shape::Sfq(settings) = &mut shape {
            settings.perturb = crate::units::Time(1_000_000);
        }
        let mut bench = Bench::new(shape);
        for handle in 0..60 {
            bench.offer(handle * 100_000, handle, 500, handle as u32 % 3);
        }
        let out = bench.take_all(7_000_000);
        assert_eq!(out.len(), 60);
        for flow in 0..3 {
            let of_flow: Vec<u64> = out.iter().copied().filter(|h| h % 3 == flow).collect();
            assert!(of_flow.is_sorted());
        }
    }

    #[test]
    fn a_lone_packet_that_once_had_one_before_it_can_be_dropped() {
        let mut bench = Bench::new(Shape::Sfq(SfqShape { limit: 2, ..SfqShape::default() }));
        bench.offer(0, 1, 100, 1);
        bench.offer(0, 2, 100, 1);
        assert_eq!(bench.take_one(0), Some(1));
        bench.offer(0, 3, 100, 2);
        bench.offer(0, 4, 100, 3);
        assert_eq!(bench.dropped_handles(), [2]);
        assert_eq!(bench.take_all(0), [3, 4]);
        bench.offer(0, 5, 100, 1);
        assert_eq!(bench.take_all(0), [5]);
    }
}
