//! When a worker was away: passes over the graph that took much longer than work explains.
//!
//! ```text
//!  end of pass   │ │ │ │                      │ │ │      rest      │ │
//!                └─┴─┴─┴──── over 200 us ─────┴─┴─┴─┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┴─┴─
//!                            a stall                not counted
//! ```
//! A host that gives the core to somebody else shows here and nowhere else in the worker. A pass of full vectors over
//! a few ports takes up to some tens of us. Costs a subtraction and a comparison a pass.

use crate::clock::tsc_hz;
use crate::counters::{StallCounters, add};
use core::sync::atomic::Ordering;

/// Passes that take longer are stalls.
const LIMIT_US: u64 = 200;

/// The times between one worker's ends of passes.
pub(crate) struct StallWatch {
    limit_cycles: u64,
    /// The end of the pass before; at the start, and after a rest, the end of time.
    last_tsc: u64,
}

impl StallWatch {
    pub(crate) fn new() -> Self {
        Self::with_limit(tsc_hz() / 1_000_000 * LIMIT_US)
    }

    fn with_limit(limit_cycles: u64) -> Self {
        Self { limit_cycles, last_tsc: u64::MAX }
    }

    /// A pass has ended.
    #[inline(always)]
    pub(crate) fn passed(&mut self, now_tsc: u64, counters: &StallCounters) {
        let cycles = now_tsc.saturating_sub(self.last_tsc);
        self.last_tsc = now_tsc;
        if cycles > self.limit_cycles {
            count(cycles, counters);
        }
    }

    /// The worker rests: the time until its next pass is its own choice.
    pub(crate) fn rests(&mut self) {
        self.last_tsc = u64::MAX;
    }
}

#[cold]
fn count(cycles: u64, counters: &StallCounters) {
    add(&counters.stalls, 1);
    add(&counters.cycles, cycles);
    counters.longest_cycles.fetch_max(cycles, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(counters: &StallCounters) -> [u64; 3] {
        [&counters.stalls, &counters.cycles, &counters.longest_cycles]
            .map(|counter| counter.load(Ordering::Relaxed))
    }

    #[test]
    fn only_passes_over_the_limit_count_and_the_longest_is_kept() {
        let (mut watch, counters) = (StallWatch::with_limit(100), StallCounters::default());
        for end in [5_000, 5_100, 5_301, 5_302, 5_452, 5_453] {
            watch.passed(end, &counters);
        }
        assert_eq!(told(&counters), [2, 201 + 150, 201]);
    }

    #[test]
    fn a_rest_is_no_stall_and_what_follows_it_is_watched_again() {
        let (mut watch, counters) = (StallWatch::with_limit(100), StallCounters::default());
        watch.passed(1_000, &counters);
        watch.rests();
        watch.passed(9_000, &counters);
        assert_eq!(told(&counters), [0, 0, 0]);
        watch.passed(9_500, &counters);
        assert_eq!(told(&counters), [1, 500, 500]);
    }

    #[test]
    fn a_counter_that_goes_back_a_little_is_no_stall() {
        let (mut watch, counters) = (StallWatch::with_limit(100), StallCounters::default());
        watch.passed(1_000, &counters);
        watch.passed(990, &counters);
        assert_eq!(told(&counters), [0, 0, 0]);
    }
}
