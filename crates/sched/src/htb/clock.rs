//! The time as buckets count it: finer than nanoseconds, so from a moment that is not long ago.

use crate::rate::{TICKS_PER_NS, Ticks};

/// Half of what a time may be away from the moment that it is told from: 104 days.
const LONGEST_NS: u64 = 1 << 53;

#[derive(Default)]
pub(super) struct Clock {
    from_ns: u64,
    pub(super) now_ns: u64,
    /// The same.
    pub(super) now: Ticks,
}

impl Clock {
    /// It never goes back. Tells where times must be told from a later moment on, and by how much.
    #[inline(always)]
    pub(super) fn set(&mut self, now_ns: u64) -> Option<Ticks> {
        if now_ns <= self.now_ns {
            return None;
        }
        let rebased = (now_ns - self.from_ns > LONGEST_NS).then(|| self.rebase(now_ns));
        self.now_ns = now_ns;
        self.now = (now_ns - self.from_ns) as Ticks * TICKS_PER_NS;
        rebased
    }

    #[cold]
    fn rebase(&mut self, now_ns: u64) -> Ticks {
        // Further than twice the longest is as good as that.
        let by_ns = (now_ns - self.from_ns).min(2 * LONGEST_NS);
        self.from_ns = now_ns;
        by_ns as Ticks * TICKS_PER_NS
    }

    /// The nanosecond at which a time has come.
    #[inline(always)]
    pub(super) fn ns_of(&self, time: Ticks) -> u64 {
        self.from_ns + (time.max(0) as u64).div_ceil(TICKS_PER_NS as u64)
    }
}
