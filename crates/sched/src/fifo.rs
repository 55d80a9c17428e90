//! First in, first out, with a limit in packets or in bytes: `pfifo` and `bfifo`.
//!
//! ```text
//!   enqueue ──▶ tail [ · · · · ] head ──▶ dequeue          full: the packet that came last is dropped
//! ```
//!
//! Time O(1): the slot's cache line and its predecessor's. Space 64 bytes and the slots.

use crate::discipline::{Accepted, Discipline, Drained, Peek, Step};
use crate::kind::Kind;
use crate::packet::DropReason;
use crate::plan::Plan;
use crate::pool::{Backlog, Context, Pool, Queue, Reuse, SlotId};
use crate::report::{Counters, Report};
use crate::settings::settings;
use crate::units::Size;
use crate::{ClassId, Error};

/// In the order of use, so that but for `dropped` it shares a cache line with the word before it.
#[repr(C)]
pub(crate) struct Fifo {
    queue: Queue,
    /// All that was let in, ever: less what was sent, it is what waits. One count to keep in place
    /// of two.
    let_in: Sum,
    sent: Sum,
    pub(crate) limit: Limit,
    dropped: u64,
}

/// How much may wait in a FIFO.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    packets: u32,
    unit: Unit,
    bytes: u64,
}

#[derive(Clone, Copy)]
enum Unit {
    Packets,
    Bytes,
}

impl Limit {
    pub(crate) fn of_packets(packets: u32) -> Self {
        Self { packets, unit: Unit::Packets, bytes: u64::MAX }
    }

    pub(crate) fn of_bytes(bytes: u64) -> Self {
        Self { packets: u32::MAX, unit: Unit::Bytes, bytes }
    }

    /// Whether a packet of this length may come to so many packets and bytes.
    #[inline(always)]
    pub(crate) fn admits(&self, packets: u64, bytes: u64, length_bytes: u32) -> bool {
        packets < u64::from(self.packets) && bytes + u64::from(length_bytes) <= self.bytes
    }

    /// The name of a FIFO of this limit, and the limit as `tc` shows it.
    /// The most packets, where it is of packets.
    pub(crate) fn packets(&self) -> u64 {
        u64::from(self.packets)
    }

    pub(crate) fn described(&self) -> (&'static str, String) {
        match self.unit {
            Unit::Packets => ("pfifo", format!("limit {}p", self.packets)),
            Unit::Bytes => ("bfifo", format!("limit {}b", self.bytes)),
        }
    }
}

/// Packets and bytes, counted up.
#[derive(Clone, Copy, Default)]
struct Sum {
    packets: u64,
    bytes: u64,
}

impl Sum {
    #[inline]
    fn add(&mut self, length_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(length_bytes);
    }
}

impl Fifo {
    pub(crate) fn new(limit: Limit) -> Self {
        Self {
            queue: Queue::EMPTY,
            let_in: Sum::default(),
            sent: Sum::default(),
            limit,
            dropped: 0,
        }
    }

    #[inline]
    pub(crate) fn head<T: Copy>(&self, cx: &Context<'_, T>) -> Peek {
        let head = self.queue.head;
        if head.is_nil() { Peek::Empty } else { Peek::Length(cx.length_bytes(head)) }
    }

    /// The next packet and its length.
    #[inline(always)]
    pub(crate) fn take<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<(SlotId, u32)> {
        let (id, slot) = self.queue.pop_slot(cx.pool)?;
        self.sent.add(slot.length_bytes);
        Some((id, slot.length_bytes))
    }

    #[cold]
    fn refuse<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId) -> Accepted {
        self.dropped += 1;
        cx.drop_packet(id, DropReason::QueueFull);
        false
    }

    pub(crate) fn limit_packets(&self) -> u64 {
        self.limit.packets()
    }

    /// Asks for what `take` will touch.
    #[inline(always)]
    pub(crate) fn prefetch_head<T: Copy>(&self, pool: &Pool<T>) {
        pool.prefetch(self.queue.head);
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.head.is_nil()
    }
}

impl Discipline for Fifo {
    #[inline]
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        let length_bytes = cx.length_bytes(id);
        let packets = self.let_in.packets - self.sent.packets;
        let bytes = self.let_in.bytes - self.sent.bytes;
        if !self.limit.admits(packets, bytes, length_bytes) {
            return self.refuse(cx, id);
        }
        self.let_in.add(length_bytes);
        self.queue.push(cx.pool, id);
        true
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        self.take(cx).map_or(Step::Empty, |(id, _)| Step::Packet(id))
    }

    fn backlog(&self) -> Backlog {
        Backlog {
            packets: (self.let_in.packets - self.sent.packets) as u32,
            bytes: self.let_in.bytes - self.sent.bytes,
        }
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        while let Some(id) = self.queue.pop(cx.pool) {
            out(class, id);
        }
        self.let_in = self.sent;
    }

    fn report(&self) -> Report {
        let (kind, limit) = self.limit.described();
        let Sum { packets: sent_packets, bytes: sent_bytes } = self.sent;
        let dropped = self.dropped;
        let counters = Counters { sent_packets, sent_bytes, dropped, ..Counters::default() };
        Report::new(kind, limit, counters, self.backlog())
    }

    #[inline]
    fn peek<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<Peek> {
        Some(self.head(cx))
    }
}

settings! {
    /// What `pfifo` can be set to.
    pub struct PfifoShape: "pfifo" {
        /// Its name, as in `1:`; one is found if not given.
        handle: maybe ClassId, its_name();
        /// The most packets that wait.
        limit: usual u32 = 1000, within(1, 1 << 24, "1 to 2^24");
    }
}

impl Plan for PfifoShape {
    fn handle(&self) -> Option<ClassId> {
        self.handle
    }

    fn limit_packets(&self) -> u64 {
        u64::from(self.limit)
    }

    fn reuse(&self) -> Reuse {
        Reuse::InOrder
    }

    fn build(&self, _: u32) -> Result<Kind, Error> {
        Ok(Kind::Fifo(Fifo::new(Limit::of_packets(self.limit))))
    }
}

settings! {
    /// What `bfifo` can be set to.
    pub struct BfifoShape: "bfifo" {
        /// Its name, as in `1:`; one is found if not given.
        handle: maybe ClassId, its_name();
        /// The most bytes that wait.
        limit: needed Size, within(64, 1 << 32, "64 bytes to 4 GiB");
    }
}

impl Plan for BfifoShape {
    fn handle(&self) -> Option<ClassId> {
        self.handle
    }

    fn limit_packets(&self) -> u64 {
        self.limit.0 / 60
    }

    fn reuse(&self) -> Reuse {
        Reuse::InOrder
    }

    fn build(&self, _: u32) -> Result<Kind, Error> {
        Ok(Kind::Fifo(Fifo::new(Limit::of_bytes(self.limit.0))))
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
