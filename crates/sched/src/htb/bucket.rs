//! A token bucket as a time: from when on it holds something again (ITU-T I.371's virtual
//! scheduling).
//!
//! ```text
//!     now - depth        due            now             tokens = now - due: time fills it, and nothing is to be done for that
//!   ─────┼────────────────┼──────────────┼─────▶        a cost moves `due` on; a full bucket's stands no earlier than `depth` ago
//! ```

use crate::rate::{HORIZON, Ticks};

pub(super) struct Bucket {
    due: Ticks,
    depth: Ticks,
}

impl Bucket {
    /// Full at time 0.
    pub(super) fn full(depth: Ticks) -> Self {
        Self { due: -depth, depth }
    }

    /// Whether what it holds, or owes, lets one more packet go.
    #[inline(always)]
    pub(super) fn is_open(&self, now: Ticks) -> bool {
        self.due <= now
    }

    /// From when on it is open.
    #[inline(always)]
    pub(super) fn due(&self) -> Ticks {
        self.due
    }

    /// What it holds; less than nothing where it owes.
    pub(super) fn tokens(&self, now: Ticks) -> Ticks {
        (now - self.due).min(self.depth)
    }

    /// Pays. No debt is deeper than the horizon.
    #[inline(always)]
    pub(super) fn pay(&mut self, cost: Ticks, now: Ticks) {
        self.due = (self.due.max(now - self.depth) + cost).min(now + HORIZON);
    }

    /// Gives back what was paid.
    pub(super) fn refund(&mut self, cost: Ticks) {
        self.due -= cost;
    }

    /// Takes out all that it holds: it may send one packet, and pays for it before the next.
    pub(super) fn empty(&mut self, now: Ticks) {
        self.due = self.due.max(now);
    }

    /// Times are told from another moment on, so much later.
    pub(super) fn rebase(&mut self, by: Ticks) {
        self.due = (self.due - by).max(-self.depth);
    }
}
