//! The leaves with real-time curves: of those that are eligible, whose deadline is least.
//!
//! ```text
//!   eligible:  soonest first ──▶ its time has come ──▶ ready: least deadline first ──▶ sent
//!                  ▲                  │
//!                  └──────────────────┘ at once, by when the next packet may go, should this one go by its deadline
//! ```
//!
//! A deadline is worked out when its leaf becomes ready, and with it when the next packet may go:
//! of most curves the same time. So what goes by link sharing touches nothing here; nor does a leaf
//! that becomes idle, or busy again: it stays in the heap by a time no later than its own, and is
//! looked at again when that has come. Time O(log leaves). Space 40 bytes a class.

use super::class::{Class, IDLE, RealTime};
use crate::least_heap::LeastHeap;

pub(super) struct Deadlines {
    /// By times no later than their `eligible_ns`: all that are busy and not ready, and some
    /// others.
    eligible: LeastHeap,
    /// By deadline.
    ready: LeastHeap,
}

impl Deadlines {
    pub(super) fn new(classes: usize) -> Self {
        Self { eligible: LeastHeap::new(classes), ready: LeastHeap::new(classes) }
    }

    /// A leaf becomes busy.
    pub(super) fn join(&mut self, leaf: u32, real_time: &mut RealTime, now_ns: u64) {
        // The curve is cut by one that starts here.
        real_time.deadline.restart(now_ns, real_time.served_bytes);
        self.wait(leaf, real_time);
    }

    /// A leaf's packet went by its deadline, others with it perhaps; so many bytes were expected.
    #[inline(always)]
    pub(super) fn served(
        &mut self,
        leaf: u32,
        real_time: &mut RealTime,
        bytes: u32,
        expected_bytes: u32,
    ) {
        real_time.served_bytes += u64::from(bytes);
        self.ready.remove_least();
        if bytes != expected_bytes {
            self.wait(leaf, real_time);
        } else if !self.eligible.has(leaf) {
            self.eligible.set(leaf, real_time.eligible_ns);
        }
    }

    /// Works out anew from when on a leaf is eligible.
    fn wait(&mut self, leaf: u32, real_time: &mut RealTime) {
        let before_ns = real_time.eligible_ns;
        real_time.eligible_ns = real_time.deadline.eligible_at(real_time.served_bytes);
        if real_time.eligible_ns < before_ns || !self.eligible.has(leaf) {
            self.eligible.set(leaf, real_time.eligible_ns);
        }
    }

    /// A leaf is emptied.
    pub(super) fn leave(&mut self, leaf: u32) {
        self.ready.remove(leaf);
    }

    /// Of the leaves that are eligible, the one whose deadline is least.
    #[inline(always)]
    pub(super) fn least(&mut self, classes: &mut [Class], now_ns: u64) -> Option<u32> {
        while let Some((leaf, _)) = self.first(classes, now_ns) {
            let class = &mut classes[leaf as usize];
            let Some(real_time) = &mut class.real_time else { break };
            let due_bytes = real_time.served_bytes + u64::from(class.head_bytes);
            let (due_ns, next_ns) = real_time.deadline.due_and_eligible_at(due_bytes);
            real_time.eligible_ns = next_ns;
            self.eligible.replace_least(next_ns);
            // The top value means no key; a deadline that far away is as good a nanosecond sooner.
            self.ready.set(leaf, due_ns.min(u64::MAX - 1));
        }
        self.ready.least().map(|(leaf, _)| leaf)
    }

    /// From when on the first is eligible, while none is.
    pub(super) fn soonest(&mut self, classes: &[Class]) -> Option<u64> {
        self.first(classes, u64::MAX).map(|(_, at_ns)| at_ns)
    }

    /// The first that waits to be eligible, if its time comes until then.
    #[inline(always)]
    fn first(&mut self, classes: &[Class], until_ns: u64) -> Option<(u32, u64)> {
        loop {
            let (leaf, at_ns) = self.eligible.least().filter(|&(_, at_ns)| at_ns <= until_ns)?;
            let class = &classes[leaf as usize];
            let real_time = class.real_time.as_ref()?;
            if class.head_bytes == IDLE || self.ready.has(leaf) {
                self.eligible.remove_least();
            } else if at_ns != real_time.eligible_ns {
                self.eligible.replace_least(real_time.eligible_ns);
            } else {
                return Some((leaf, at_ns));
            }
        }
    }
}
