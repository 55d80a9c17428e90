//! Stochastic fair queueing (McKenney 1990) as Linux runs it: a queue for each flow, round robin by allotment.
//!
//! ```text
//!   hash ─▶ bucket ─▶ flow ─▶ slots          ring of flows:   ┌▶ f3 ─▶ f7 ─▶ f1 ─┐   each sends until its
//!                                            (tail ─▶ next)   └──────────────────┘   allotment is used up
//!   lengths:  longest ─▶ flows of that many packets             full: the tail of a longest queue is dropped
//! ```
//!
//! Time O(1), about five cache lines; every `perturb` one pass over the queued packets to hash them anew.
//! Space 48 bytes a flow, 4 a bucket and 4 a length.

use crate::ClassId;
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::hash;
use crate::packet::DropReason;
use crate::pool::{Backlog, Context, Queue, SlotId};
use crate::report::{Counters, Report};
use crate::units::{Size, Time};

const NIL: u32 = u32::MAX;

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

#[derive(Clone, Copy)]
struct Flow {
    head: SlotId,
    tail: SlotId,
    packets: u32,
    bytes: u32,
    bucket: u32,
    allotment: i32,
    /// The next flow of the ring.
    next: u32,
    /// Neighbours among the flows of the same number of packets.
    longer: u32,
    shorter: u32,
}

pub(crate) struct Sfq {
    settings: SfqSettings,
    flows: Vec<Flow>,
    buckets: Vec<u32>,
    /// First flow of each number of packets; those of 0 are free.
    of_length: Vec<u32>,
    longest: u32,
    /// The ring's last flow.
    tail: u32,
    backlog: Backlog,
    seed: u32,
    reseed_at_ns: u64,
    counters: Counters,
}

impl Sfq {
    pub(crate) fn new(settings: SfqSettings) -> Self {
        let flows = settings.flows;
        let free = |index: u32| Flow {
            head: SlotId::NIL,
            tail: SlotId::NIL,
            packets: 0,
            bytes: 0,
            bucket: 0,
            allotment: 0,
            next: NIL,
            longer: if index == 0 { NIL } else { index - 1 },
            shorter: if index + 1 == flows { NIL } else { index + 1 },
        };
        let mut of_length = vec![NIL; settings.depth as usize + 1];
        of_length[0] = 0;
        Self {
            settings,
            flows: (0..flows).map(free).collect(),
            buckets: vec![NIL; settings.divisor as usize],
            of_length,
            longest: 0,
            tail: NIL,
            backlog: Backlog::default(),
            seed: 0,
            reseed_at_ns: settings.perturb_ns,
            counters: Counters::default(),
        }
    }

    /// Moves the flow from the list of its length to the list of `packets`.
    fn set_length(&mut self, index: u32, packets: u32) {
        let Flow { longer: before, shorter: after, packets: old, .. } = self.flows[index as usize];
        match before {
            NIL => self.of_length[old as usize] = after,
            _ => self.flows[before as usize].shorter = after,
        }
        if after != NIL {
            self.flows[after as usize].longer = before;
        }
        let first = std::mem::replace(&mut self.of_length[packets as usize], index);
        if first != NIL {
            self.flows[first as usize].longer = index;
        }
        let flow = &mut self.flows[index as usize];
        (flow.longer, flow.shorter, flow.packets) = (NIL, first, packets);
        self.longest = self.longest.max(packets);
        while self.longest > 0 && self.of_length[self.longest as usize] == NIL {
            self.longest -= 1;
        }
    }

    fn push<T: Copy>(&mut self, cx: &mut Context<'_, T>, index: u32, id: SlotId) {
        let flow = &mut self.flows[index as usize];
        let slot = cx.pool.get_mut(id);
        slot.note = u64::from(flow.tail.0);
        slot.next = SlotId::NIL;
        let length_bytes = slot.length_bytes;
        if flow.head.is_nil() {
            flow.head = id;
        } else {
            let tail = flow.tail;
            cx.pool.get_mut(tail).next = id;
        }
        flow.tail = id;
        flow.bytes += length_bytes;
        self.backlog.add(length_bytes);
        let packets = flow.packets + 1;
        self.set_length(index, packets);
    }

    fn pop_head<T: Copy>(&mut self, cx: &mut Context<'_, T>, index: u32) -> SlotId {
        let flow = &mut self.flows[index as usize];
        let id = flow.head;
        let slot = cx.pool.get_mut(id);
        flow.head = slot.next;
        slot.next = SlotId::NIL;
        flow.bytes -= slot.length_bytes;
        self.backlog.remove(slot.length_bytes);
        if flow.head.is_nil() {
            flow.tail = SlotId::NIL;
        }
        let packets = flow.packets - 1;
        self.set_length(index, packets);
        id
    }

    fn pop_tail<T: Copy>(&mut self, cx: &mut Context<'_, T>, index: u32) -> SlotId {
        let flow = &mut self.flows[index as usize];
        let id = flow.tail;
        let slot = cx.pool.get(id);
        // A lone packet's note may name one that has left from before it.
        flow.tail = if flow.packets == 1 { SlotId::NIL } else { SlotId(slot.note as u32) };
        flow.bytes -= slot.length_bytes;
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

    /// Appends the flow to the ring: the new flow waits its turn, or new flows alone would be served.
    fn join_ring(&mut self, index: u32) {
        let next = match self.tail {
            NIL => index,
            tail => std::mem::replace(&mut self.flows[tail as usize].next, index),
        };
        self.flows[index as usize].next = next;
        self.tail = index;
    }

    /// Takes the ring's first flow, now empty, out of it and out of its bucket.
    fn retire_first(&mut self) {
        let first = self.flows[self.tail as usize].next;
        let Flow { next, bucket, .. } = self.flows[first as usize];
        self.buckets[bucket as usize] = NIL;
        if first == self.tail {
            self.tail = NIL;
        } else {
            self.flows[self.tail as usize].next = next;
        }
    }

    /// Drops one packet of a longest queue: its last, or its first with `head_drop`. Returns its flow.
    fn drop_longest<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> u32 {
        let index = if self.longest > 1 {
            self.of_length[self.longest as usize]
        } else {
            // Every flow has one packet: the flow whose turn it is loses its own.
            let first = self.flows[self.tail as usize].next;
            self.retire_first();
            first
        };
        let id = if self.settings.head_drop {
            self.pop_head(cx, index)
        } else {
            self.pop_tail(cx, index)
        };
        self.counters.dropped += 1;
        cx.drop_packet(id, DropReason::LongestQueue);
        index
    }

    /// Finds the flow of a packet, or gives it a free one.
    fn flow_of(&mut self, flow_hash: u32) -> Option<u32> {
        let bucket = hash::bucket(flow_hash ^ self.seed, self.settings.divisor);
        match self.buckets[bucket as usize] {
            NIL => {
                let free = self.of_length[0];
                if free == NIL {
                    return None;
                }
                self.buckets[bucket as usize] = free;
                self.flows[free as usize].bucket = bucket;
                Some(free)
            }
            index => Some(index),
        }
    }

    /// Takes every packet out, flow after flow, each flow in its order.
    fn collect<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Queue {
        let mut all = Queue::EMPTY;
        while self.tail != NIL {
            let first = self.flows[self.tail as usize].next;
            while !self.flows[first as usize].head.is_nil() {
                let id = self.pop_head(cx, first);
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
    fn admit<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId) -> Option<u32> {
        let Some(index) = self.flow_of(cx.pool.get(id).flow_hash) else {
            self.counters.dropped += 1;
            cx.drop_packet(id, DropReason::QueueFull);
            return None;
        };
        let packets = self.flows[index as usize].packets;
        if packets >= self.settings.depth {
            self.counters.dropped += 1;
            if !self.settings.head_drop {
                cx.drop_packet(id, DropReason::QueueFull);
                return None;
            }
            let head = self.pop_head(cx, index);
            cx.drop_packet(head, DropReason::QueueFull);
        }
        self.push(cx, index, id);
        if packets == 0 {
            self.join_ring(index);
            self.flows[index as usize].allotment = self.settings.quantum_bytes as i32;
        }
        Some(index)
    }
}

impl Discipline for Sfq {
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        if self.settings.perturb_ns != 0 && cx.now_ns >= self.reseed_at_ns {
            self.reseed(cx);
        }
        let Some(index) = self.admit(cx, id) else { return false };
        if self.backlog.packets <= self.settings.limit {
            return true;
        }
        // The arrival stands at the tail of its flow: it is the one dropped when that flow is a longest.
        self.drop_longest(cx) != index || self.settings.head_drop
    }

    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        if self.tail == NIL {
            return Step::Empty;
        }
        let quantum = self.settings.quantum_bytes as i32;
        let index = loop {
            let first = self.flows[self.tail as usize].next;
            let flow = &mut self.flows[first as usize];
            if flow.allotment > 0 {
                break first;
            }
            flow.allotment += quantum;
            self.tail = first;
        };
        let id = self.pop_head(cx, index);
        let length_bytes = cx.length_bytes(id);
        if self.flows[index as usize].packets == 0 {
            self.retire_first();
        } else {
            self.flows[index as usize].allotment -= length_bytes as i32;
        }
        self.counters.sent(length_bytes);
        Step::Packet(id)
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
