//! First in, first out, with a limit in packets or in bytes: `pfifo` and `bfifo`.
//!
//! ```text
//!   enqueue ──▶ tail [ · · · · ] head ──▶ dequeue          full: the packet that came last is dropped
//! ```
//!
//! Time O(1): the slot's cache line and its predecessor's. Space 72 bytes and the slots.

use crate::ClassId;
use crate::discipline::{Accepted, Discipline, Drained, Peek, Step};
use crate::packet::DropReason;
use crate::pool::{Backlog, Context, Queue, SlotId};
use crate::report::{Counters, Report};

pub(crate) struct Fifo {
    queue: Queue,
    backlog: Backlog,
    limit_packets: u32,
    limit_bytes: u64,
    counters: Counters,
}

impl Fifo {
    pub(crate) fn of_packets(limit_packets: u32) -> Self {
        Self::new(limit_packets, u64::MAX)
    }

    pub(crate) fn of_bytes(limit_bytes: u64) -> Self {
        Self::new(u32::MAX, limit_bytes)
    }

    fn new(limit_packets: u32, limit_bytes: u64) -> Self {
        Self {
            queue: Queue::EMPTY,
            backlog: Backlog::default(),
            limit_packets,
            limit_bytes,
            counters: Counters::default(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.backlog.packets == 0
    }
}

impl Discipline for Fifo {
    #[inline]
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        let length_bytes = cx.length_bytes(id);
        if self.backlog.packets >= self.limit_packets
            || self.backlog.bytes + u64::from(length_bytes) > self.limit_bytes
        {
            self.counters.dropped += 1;
            cx.drop_packet(id, DropReason::QueueFull);
            return false;
        }
        self.backlog.add(length_bytes);
        self.queue.push(cx.pool, id);
        true
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        let Some(id) = self.queue.pop(cx.pool) else { return Step::Empty };
        let length_bytes = cx.length_bytes(id);
        self.backlog.remove(length_bytes);
        self.counters.sent(length_bytes);
        Step::Packet(id)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        while let Some(id) = self.queue.pop(cx.pool) {
            out(class, id);
        }
        self.backlog = Backlog::default();
    }

    fn report(&self) -> Report {
        let (kind, limit) = match self.limit_bytes {
            u64::MAX => ("pfifo", format!("limit {}p", self.limit_packets)),
            bytes => ("bfifo", format!("limit {}", crate::units::Size(bytes))),
        };
        Report::new(kind, limit, self.counters, self.backlog)
    }

    #[inline]
    fn peek<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<Peek> {
        let head = self.queue.head;
        Some(if head.is_nil() { Peek::Empty } else { Peek::Length(cx.length_bytes(head)) })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Shape, testing::Bench};

    #[test]
    fn packets_leave_in_the_order_they_came() {
        let mut bench = Bench::new(Shape::pfifo(10));
        for handle in 0..5 {
            bench.offer(0, handle, 100, 0);
        }
        assert_eq!(bench.take_all(0), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_packet_over_the_limit_is_the_one_dropped() {
        let mut bench = Bench::new(Shape::pfifo(2));
        for handle in 0..4 {
            bench.offer(0, handle, 100, 0);
        }
        assert_eq!(bench.dropped_handles(), [2, 3]);
        assert_eq!(bench.take_all(0), [0, 1]);
    }

    #[test]
    fn a_byte_limit_counts_bytes() {
        let mut bench = Bench::with(&Config::of(Shape::bfifo(250)));
        for handle in 0..3 {
            bench.offer(0, handle, 100, 0);
        }
        bench.offer(0, 3, 50, 0);
        assert_eq!(bench.dropped_handles(), [2]);
        assert_eq!(bench.take_all(0), [0, 1, 3]);
    }
}
