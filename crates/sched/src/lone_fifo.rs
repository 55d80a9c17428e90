//! `pfifo` or `bfifo` as the whole scheduler: with no tree to stand in it needs no slots, only a
//! ring.
//!
//! ```text
//!   enqueue ──▶ ring of packets ──▶ dequeue                 full: the packet that came last is dropped
//! ```
//!
//! Time O(1), half a cache line in and out, in the order of addresses. Space 32 bytes a packet, for
//! handles of 8 bytes.

use crate::fifo::Limit;
use crate::given_back::GivenBack;
use crate::handles::Handles;
use crate::packet::{Burst, DropReason, Dropped, Drops, Next, Packet, Sent, Verdict};
use crate::pool::Backlog;
use crate::report::{Counters, Report};
use crate::ring::Ring;
use crate::{ClassId, Scheduler};

/// A packet and when it came.
#[derive(Clone, Copy)]
struct Waiting<T> {
    packet: Packet<T>,
    arrived_ns: u64,
}

impl<T: Copy> Waiting<T> {
    #[inline(always)]
    fn sent(&self) -> Sent<T> {
        let Packet { handle, length_bytes, .. } = self.packet;
        Sent { handle, length_bytes, mark: false }
    }
}

pub(crate) struct LoneFifo<T> {
    ring: Ring<Waiting<T>>,
    waiting_bytes: u64,
    limit: Limit,
    given_back: GivenBack<T>,
    counters: Counters,
    /// What it is called.
    handles: Handles,
}

impl<T: Copy> LoneFifo<T> {
    /// Holds up to `limit`, and no more than `pool_packets`.
    pub(crate) fn new(pool_packets: u32, limit: Limit, handles: Handles) -> Self {
        Self {
            ring: Ring::new(pool_packets as usize),
            waiting_bytes: 0,
            limit,
            given_back: GivenBack::new(),
            counters: Counters::default(),
            handles,
        }
    }

    #[inline(always)]
    fn offer(&mut self, arrived_ns: u64, packet: &Packet<T>, drops: Drops<'_, T>) -> Verdict {
        let waiting = Waiting { packet: *packet, arrived_ns };
        let length_bytes = packet.length_bytes;
        if !self.limit.admits(self.ring.len() as u64, self.waiting_bytes, length_bytes) {
            return self.refuse(packet, DropReason::QueueFull, drops);
        }
        if self.ring.push(waiting).is_err() {
            return self.refuse(packet, DropReason::PoolExhausted, drops);
        }
        self.waiting_bytes += u64::from(length_bytes);
        Verdict::Queued
    }

    #[cold]
    fn refuse(&mut self, packet: &Packet<T>, reason: DropReason, drops: Drops<'_, T>) -> Verdict {
        self.counters.dropped += 1;
        drops(Dropped { handle: packet.handle, length_bytes: packet.length_bytes, reason });
        Verdict::Dropped
    }

    fn behind(&self) -> Backlog {
        Backlog { packets: self.ring.len() as u32, bytes: self.waiting_bytes }
    }
}

impl<T: Copy + Send> Scheduler<T> for LoneFifo<T> {
    fn enqueue(&mut self, now_ns: u64, packet: Packet<T>, drops: Drops<'_, T>) -> Verdict {
        self.offer(now_ns, &packet, drops)
    }

    fn enqueue_burst(&mut self, now_ns: u64, packets: &[Packet<T>], drops: Drops<'_, T>) {
        for packet in packets {
            let _: Verdict = self.offer(now_ns, packet, drops);
        }
    }

    fn adopt(
        &mut self,
        _: u64,
        arrived_ns: u64,
        packet: Packet<T>,
        drops: Drops<'_, T>,
    ) -> Verdict {
        self.offer(arrived_ns, &packet, drops)
    }

    fn dequeue(&mut self, _: u64, _: Drops<'_, T>) -> Next<T> {
        if let Some(sent) = self.given_back.take() {
            return Next::Packet(sent);
        }
        let Some(waiting) = self.ring.pop() else { return Next::Empty };
        let sent = waiting.sent();
        self.waiting_bytes -= u64::from(sent.length_bytes);
        self.counters.sent(sent.length_bytes);
        Next::Packet(sent)
    }

    fn dequeue_burst(
        &mut self,
        _: u64,
        limit: usize,
        out: &mut Vec<Sent<T>>,
        _: Drops<'_, T>,
    ) -> Burst {
        out.reserve(limit);
        let full = out.len() + limit;
        self.given_back.take_into(out, full);
        let (first, second) = self.ring.pop_many(full - out.len());
        let mut bytes = 0;
        for some in [first, second] {
            bytes += some.iter().map(|it| u64::from(it.packet.length_bytes)).sum::<u64>();
            out.extend(some.iter().map(Waiting::sent));
        }
        self.counters.sent_packets += (first.len() + second.len()) as u64;
        self.counters.sent_bytes += bytes;
        self.waiting_bytes -= bytes;
        if out.len() < full { Burst::Empty } else { Burst::More }
    }

    fn give_back(&mut self, sent: Sent<T>) -> Result<(), Sent<T>> {
        self.given_back.put(sent)
    }

    fn take_given_back(&mut self) -> Option<Sent<T>> {
        self.given_back.take()
    }

    fn spend(&mut self, _now_ns: u64) {}

    fn drain(&mut self, _: u64, out: &mut dyn FnMut(u64, Packet<T>)) {
        while let Some(Waiting { packet, arrived_ns }) = self.ring.pop() {
            out(arrived_ns, Packet { class: ClassId::NONE, ..packet });
        }
        self.waiting_bytes = 0;
    }

    fn waiting_packets(&self) -> u32 {
        self.ring.len() as u32 + self.given_back.len()
    }

    fn backlog(&self) -> Backlog {
        self.given_back.backlog(self.behind())
    }

    fn report(&self) -> Report {
        let (kind, limit) = self.limit.described();
        let mut report = Report::new(kind, limit, self.counters, self.behind());
        self.given_back.add_to(&mut report);
        self.handles.name(&mut report);
        report
    }
}

#[cfg(test)]
mod tests {
    use crate::{Burst, Config, DropReason, Next, Packet, Sent, Shape, build, testing::Bench};

    #[test]
    fn a_pool_smaller_than_the_limit_is_the_limit() {
        let mut bench =
            Bench::with(&Config { pool_packets: Some(3), ..Config::of(Shape::pfifo(10)) });
        (0..5).for_each(|handle| _ = bench.offer(0, handle, 100, 0));
        let reasons: Vec<_> = bench.dropped.iter().map(|drop| (drop.handle, drop.reason)).collect();
        assert_eq!(reasons, [(3, DropReason::PoolExhausted), (4, DropReason::PoolExhausted)]);
        assert_eq!(bench.take_all(0), [0, 1, 2]);
        assert_eq!(bench.report().counters.dropped, 2);
    }

    #[test]
    fn bursts_keep_the_order_and_count_as_single_packets_do() {
        let (mut fifo, drops) = (build(&Config::of(Shape::pfifo(100))).unwrap(), &mut |_| {});
        let (mut next, mut out, mut taken) = (0u64, Vec::new(), 0u64);
        for round in 0..200 {
            let packets: Vec<_> = (next..next + 40)
                .map(|handle| Packet::new(handle, 60 + handle as u32 % 7, 0))
                .collect();
            fifo.enqueue_burst(0, &packets, drops);
            next += 40;
            out.clear();
            let burst = fifo.dequeue_burst(0, 33 + round % 8, &mut out, drops);
            assert_eq!(burst, Burst::More);
            let handles: Vec<u64> = out.iter().map(|sent| sent.handle).collect();
            assert!(handles.is_sorted());
            taken += handles.len() as u64;
        }
        while let Next::Packet(_) = fifo.dequeue(0, drops) {
            taken += 1;
        }
        let report = fifo.report();
        assert_eq!(report.counters.sent_packets, taken);
        assert_eq!(report.counters.sent_packets + report.counters.dropped, next);
        assert_eq!((report.backlog.packets, report.backlog.bytes), (0, 0));
    }

    #[test]
    fn what_was_given_back_comes_first_and_is_in_the_backlog() {
        let (mut fifo, drops) = (build(&Config::of(Shape::pfifo(10))).unwrap(), &mut |_| {});
        for handle in 0..4u64 {
            fifo.enqueue(0, Packet::new(handle, 100, 0), drops);
        }
        let mut out = Vec::new();
        assert_eq!(fifo.dequeue_burst(0, 2, &mut out, drops), Burst::More);
        for sent in out.drain(..).rev() {
            fifo.give_back(sent).unwrap();
        }
        assert_eq!((fifo.backlog().packets, fifo.backlog().bytes), (4, 400));
        assert_eq!(fifo.dequeue_burst(0, 9, &mut out, drops), Burst::Empty);
        let order: Vec<u64> = out.iter().map(|&Sent { handle, .. }| handle).collect();
        assert_eq!(order, [0, 1, 2, 3]);
        assert_eq!(fifo.report().counters.requeues, 2);
    }
}
