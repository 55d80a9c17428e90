//! A clock that packets move: when the next one of a rate is due, to 1/256 ns.

use crate::rate::{Price, TICKS_PER_NS};

/// So far behind the time it may be: a worker that was kept from its core makes good for no more.
const BEHIND_NS: u64 = 20_000_000;

/// See the module.
pub(super) struct Clock {
    price: Price,
    due_ns: u64,
    /// 1/256 ns.
    fraction: u64,
}

impl Clock {
    pub(super) fn new(price: Price) -> Self {
        Self { price, due_ns: 0, fraction: 0 }
    }

    /// When the next packet may go.
    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Time that nobody used is gone: from now on.
    pub(super) fn begin(&mut self, now_ns: u64) {
        if self.due_ns < now_ns {
            (self.due_ns, self.fraction) = (now_ns, 0);
        }
    }

    /// A packet goes.
    #[inline]
    pub(super) fn charge(&mut self, now_ns: u64, length_bytes: u32) {
        self.begin(now_ns.saturating_sub(BEHIND_NS));
        let ticks = self.price.of(length_bytes).max(0) as u64 + self.fraction;
        self.due_ns += ticks / TICKS_PER_NS as u64;
        self.fraction = ticks % TICKS_PER_NS as u64;
    }
}
