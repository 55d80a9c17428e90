//! CoDel (RFC 8289): one FIFO whose head is dropped or marked when packets have waited too long for too long.
//!
//! ```text
//!   enqueue ──▶ tail [ · · · · ] head ──▶ codel_law ──▶ dequeue
//!                                            └──▶ dropped, or marked CE
//! ```
//!
//! Time O(1) a packet sent and O(1) a packet dropped; space 200 bytes and the slots.

use crate::ClassId;
use crate::codel_law::{CodelCounters, CodelSettings, CodelState};
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::packet::DropReason;
use crate::pool::{Backlog, Context, Queue, SlotId};
use crate::report::{Counters, Report};
use crate::units::Time;

pub(crate) struct Codel {
    queue: Queue,
    backlog: Backlog,
    limit: u32,
    settings: CodelSettings,
    state: CodelState,
    law: CodelCounters,
    over_limit: u64,
    counters: Counters,
}

impl Codel {
    pub(crate) fn new(limit: u32, settings: CodelSettings) -> Self {
        Self {
            queue: Queue::EMPTY,
            backlog: Backlog::default(),
            limit,
            settings,
            state: CodelState::NEW,
            law: CodelCounters::default(),
            over_limit: 0,
            counters: Counters::default(),
        }
    }
}

impl Discipline for Codel {
    #[inline]
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        if self.backlog.packets >= self.limit {
            self.over_limit += 1;
            cx.drop_packet(id, DropReason::QueueFull);
            return false;
        }
        self.backlog.add(cx.length_bytes(id));
        self.queue.push(cx.pool, id);
        true
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        let Self { queue, backlog, settings, state, law, .. } = self;
        let next = state.next(settings, law, cx, |cx| {
            let id = queue.pop(cx.pool)?;
            backlog.remove(cx.length_bytes(id));
            Some((id, backlog.bytes))
        });
        let Some(id) = next else { return Step::Empty };
        self.counters.sent(cx.length_bytes(id));
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
        let settings = format!("limit {}p {}", self.limit, describe(&self.settings));
        let counters = Counters {
            dropped: self.law.dropped + self.over_limit,
            marked: self.law.marked + self.law.marked_threshold,
            ..self.counters
        };
        Report::new("codel", settings, counters, self.backlog)
            .gauge("drop_overlimit", self.over_limit)
            .gauge("ecn_mark", self.law.marked)
            .gauge("ce_mark", self.law.marked_threshold)
            .gauge("count", u64::from(self.state.count))
            .gauge("dropping", u64::from(self.state.dropping))
    }
}

/// CoDel's settings as `tc` shows them.
pub(crate) fn describe(set: &CodelSettings) -> String {
    let mut text =
        format!("target {} interval {}", Time(set.target << 10), Time(set.interval << 10));
    if let Some(threshold) = set.ce_threshold {
        text += &format!(" ce_threshold {}", Time(threshold << 10));
    }
    if set.ecn {
        text += " ecn";
    }
    text
}
