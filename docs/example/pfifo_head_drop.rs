//! First in, first out, and when it is full the oldest packet goes: `pfifo_head_drop`, as Linux has
//! it.
//!
//! ```text
//!   enqueue ──▶ tail [ · · · · ] head ──▶ dequeue          full: the head is dropped, the new one waits
//! ```
//!
//! Time O(1). Space the slots alone.

use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::kind::Kind;
use crate::packet::DropReason;
use crate::plan::Plan;
use crate::pool::{Backlog, Context, Queue, Reuse, SlotId};
use crate::report::{Counters, Report};
use crate::settings::settings;
use crate::{ClassId, Error};

settings! {
    /// What `pfifo_head_drop` can be set to.
    pub struct PfifoHeadDropShape: "pfifo_head_drop" {
        /// The most packets that wait.
        limit: usual u32 = 1000, within(1, 1 << 24, "1 to 2^24");
    }
}

impl Plan for PfifoHeadDropShape {
    fn limit_packets(&self) -> u64 {
        u64::from(self.limit)
    }

    fn reuse(&self) -> Reuse {
        Reuse::InOrder
    }

    fn build(&self, _mtu_bytes: u32) -> Result<Kind, Error> {
        Ok(Kind::PfifoHeadDrop(Box::new(PfifoHeadDrop {
            limit: self.limit,
            queue: Queue::EMPTY,
            backlog: Backlog::default(),
            counters: Counters::default(),
        })))
    }
}

/// See the module.
pub(crate) struct PfifoHeadDrop {
    limit: u32,
    queue: Queue,
    backlog: Backlog,
    counters: Counters,
}

impl PfifoHeadDrop {
    fn pop<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<SlotId> {
        let id = self.queue.pop(cx.pool)?;
        self.backlog.remove(cx.length_bytes(id));
        Some(id)
    }
}

impl Discipline for PfifoHeadDrop {
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        if self.backlog.packets >= self.limit
            && let Some(oldest) = self.pop(cx)
        {
            self.counters.dropped += 1;
            cx.drop_packet(oldest, DropReason::QueueFull);
        }
        self.backlog.add(cx.length_bytes(id));
        self.queue.push(cx.pool, id);
        true
    }

    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        let Some(id) = self.pop(cx) else { return Step::Empty };
        self.counters.sent(cx.length_bytes(id));
        Step::Packet(id)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn own_backlog(&mut self) -> Option<&mut Backlog> {
        Some(&mut self.backlog)
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        while let Some(id) = self.pop(cx) {
            out(class, id);
        }
    }

    fn report(&self) -> Report {
        let settings = format!("limit {}p", self.limit);
        Report::new("pfifo_head_drop", settings, self.counters, self.backlog)
    }
}

#[cfg(test)]
mod tests {
    use crate::tc;
    use crate::testing::Bench;

    #[test]
    fn a_full_queue_loses_its_oldest_packet() {
        let script = "tc qdisc add dev p0 root pfifo_head_drop limit 2";
        let config = tc::read(script).unwrap().remove(0).1.unwrap();
        assert_eq!(config.root.kind(), "pfifo_head_drop");
        let mut bench = Bench::with(&config);
        for handle in 1..=3 {
            bench.offer(0, handle, 100, 0);
        }
        assert_eq!(bench.dropped_handles(), [1]);
        assert_eq!(bench.take_all(0), [2, 3]);
    }
}
