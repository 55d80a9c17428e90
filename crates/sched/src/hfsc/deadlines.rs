//! The leaves with real-time curves: of those that are eligible, whose deadline is least.
//!
//! ```text
//!   waiting:  by day ──▶ its time has come ──▶ ready: least deadline first ──▶ sent
//!               ▲                                                               │
//!               └───────────────── the next packet may not go yet ◀─────────────┴─▶ it may: ready again
//! ```
//!
//! A deadline is worked out when its leaf becomes ready, and with it when the next packet may go:
//! of most curves the same time. So what goes by link sharing touches nothing here; nor does a leaf
//! that becomes idle: it stays in the calendar, and is found idle when its time has come. On a busy
//! link a leaf is eligible up to a day of the calendar late, 256 ns. Time O(log of those ready).
//! Space 32 bytes a class.

use super::class::{Class, IDLE};
use crate::calendar::Calendar;
use crate::least_heap::LeastHeap;

pub(super) struct Deadlines {
    /// All that are busy and not ready, by their `eligible_ns`, and some that are idle.
    waiting: Calendar,
    /// By deadline.
    ready: LeastHeap,
    /// Those whose time has come, while they are dealt with.
    due: Vec<u32>,
}

impl Deadlines {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            waiting: Calendar::new(classes),
            ready: LeastHeap::new(classes),
            due: Vec::with_capacity(classes),
        }
    }

    /// A leaf becomes busy.
    pub(super) fn join(&mut self, leaf: u32, class: &mut Class, now_ns: u64) {
        let Some(real_time) = &mut class.real_time else { return };
        // The curve is cut by one that starts here.
        real_time.deadline.restart(now_ns, real_time.served_bytes);
        real_time.eligible_ns = real_time.deadline.eligible_at(real_time.served_bytes);
        self.place(leaf, class, now_ns);
    }

    /// A leaf's packet went by its deadline, others with it perhaps; so many bytes were expected.
    /// What stands at the head of the leaf now is known.
    #[inline(always)]
    pub(super) fn served(
        &mut self,
        leaf: u32,
        class: &mut Class,
        bytes: u32,
        expected_bytes: u32,
        now_ns: u64,
    ) {
        let Some(real_time) = &mut class.real_time else { return };
        real_time.served_bytes += u64::from(bytes);
        if bytes != expected_bytes {
            real_time.eligible_ns = real_time.deadline.eligible_at(real_time.served_bytes);
        }
        self.ready.remove_least();
        if class.head_bytes != IDLE {
            self.place(leaf, class, now_ns);
        }
    }

    /// A busy leaf becomes ready, or waits until it may.
    #[inline(always)]
    fn place(&mut self, leaf: u32, class: &mut Class, now_ns: u64) {
        let Some(real_time) = &mut class.real_time else { return };
        if real_time.eligible_ns > now_ns {
            // It may wait already: by a time no later, as curves only move on.
            return self.waiting.wait(leaf, real_time.eligible_ns);
        }
        let due_bytes = real_time.served_bytes + u64::from(class.head_bytes);
        let (due_ns, next_ns) = real_time.deadline.due_and_eligible_at(due_bytes);
        real_time.eligible_ns = next_ns;
        // The top value means no key; a deadline that far away is as good a nanosecond sooner.
        self.ready.set(leaf, due_ns.min(u64::MAX - 1));
    }

    /// A leaf is emptied.
    pub(super) fn leave(&mut self, leaf: u32) {
        self.ready.remove(leaf);
    }

    /// Of the leaves that are eligible, the one whose deadline is least.
    #[inline(always)]
    pub(super) fn least(&mut self, classes: &mut [Class], now_ns: u64) -> Option<u32> {
        if self.waiting.may_be_due(now_ns) {
            self.waiting.take_due(now_ns, &mut self.due);
            self.place_due(classes, now_ns);
        }
        self.ready.least().map(|(leaf, _)| leaf)
    }

    /// The same to the nanosecond, for when there is nothing else to send.
    pub(super) fn least_today(&mut self, classes: &mut [Class], now_ns: u64) -> Option<u32> {
        self.waiting.take_today(now_ns, &mut self.due);
        self.place_due(classes, now_ns);
        self.ready.least().map(|(leaf, _)| leaf)
    }

    #[inline(never)]
    fn place_due(&mut self, classes: &mut [Class], now_ns: u64) {
        while let Some(leaf) = self.due.pop() {
            let class = &mut classes[leaf as usize];
            if class.head_bytes != IDLE {
                self.place(leaf, class, now_ns);
            }
        }
    }

    /// When the first may be eligible, while none is.
    pub(super) fn soonest(&self, classes: &[Class]) -> Option<u64> {
        self.waiting.soonest(|leaf| {
            let real_time = classes[leaf as usize].real_time.as_ref();
            real_time.map_or(u64::MAX, |real_time| real_time.eligible_ns)
        })
    }
}
