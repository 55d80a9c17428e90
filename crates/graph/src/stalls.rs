//! When a worker was away: passes over the graph that took much longer than work explains.
//!
//! ```text
//!  end of pass   │ │ │ │                      │ │ │      rest      │ │
//!                └─┴─┴─┴──── over 200 us ─────┴─┴─┴─┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┴─┴─
//!                            and 4 us a packet:     not counted
//!                            a stall
//! ```
//! A host that gives the core to somebody else shows here and nowhere else in the worker. A packet
//! takes some tens of ns, but one that is sent by a kernel device microseconds: there the system
//! call does the far end's work as well. Costs a multiplication and a comparison a pass.

use crate::clock::tsc_hz;
use crate::counter::add;
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// Passes that take longer are stalls, but for the time of their packets.
const LIMIT_US: u64 = 200;
const PACKET_US: u64 = 4;

/// The times between one worker's ends of passes.
pub(crate) struct StallWatch {
    limit_cycles: u64,
    packet_cycles: u64,
    /// The end of the pass before; at the start, and after a rest, the end of time.
    last_tsc: u64,
}

impl StallWatch {
    pub(crate) fn new() -> Self {
        let cycles_per_us = tsc_hz() / 1_000_000;
        Self::with_limits(cycles_per_us * LIMIT_US, cycles_per_us * PACKET_US)
    }

    fn with_limits(limit_cycles: u64, packet_cycles: u64) -> Self {
        Self { limit_cycles, packet_cycles, last_tsc: u64::MAX }
    }

    /// A pass has ended that received so many packets.
    #[inline(always)]
    pub(crate) fn passed(&mut self, now_tsc: u64, received: usize, counters: &StallCounters) {
        let cycles = now_tsc.saturating_sub(self.last_tsc);
        self.last_tsc = now_tsc;
        if cycles > self.limit_cycles + received as u64 * self.packet_cycles {
            counters.count(Stall { ended_tsc: now_tsc, cycles });
        }
    }

    /// The worker rests: the time until its next pass is its own choice.
    pub(crate) fn rests(&mut self) {
        self.last_tsc = u64::MAX;
    }
}

/// How often a worker was away between two of its passes, and for how long.
pub struct StallCounters {
    /// How often.
    pub stalls: AtomicU64,
    /// TSC cycles of all of them.
    pub cycles: AtomicU64,
    /// TSC cycles of the longest.
    pub longest_cycles: AtomicU64,
    /// The latest: stall number n stands at n modulo their number.
    latest: Box<[LatestStall]>,
}

impl Default for StallCounters {
    fn default() -> Self {
        Self {
            stalls: AtomicU64::new(0),
            cycles: AtomicU64::new(0),
            longest_cycles: AtomicU64::new(0),
            latest: (0..LATEST_STALLS).map(|_| LatestStall::default()).collect(),
        }
    }
}

const LATEST_STALLS: usize = 128;

#[derive(Default)]
struct LatestStall {
    ended_tsc: AtomicU64,
    cycles: AtomicU64,
}

/// A time at which a worker was away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When the pass ended, by the TSC.
    pub ended_tsc: u64,
    /// TSC cycles that it took.
    pub cycles: u64,
}

impl StallCounters {
    /// Counts a stall: for the worker alone.
    #[cold]
    fn count(&self, stall: Stall) {
        let number = self.stalls.load(Ordering::Relaxed);
        let latest = &self.latest[number as usize % LATEST_STALLS];
        latest.ended_tsc.store(stall.ended_tsc, Ordering::Relaxed);
        latest.cycles.store(stall.cycles, Ordering::Relaxed);
        add(&self.cycles, stall.cycles);
        self.longest_cycles.fetch_max(stall.cycles, Ordering::Relaxed);
        self.stalls.store(number + 1, Ordering::Release);
    }

    /// The latest stalls, oldest first: up to 127, for of 128 one may just be written over.
    pub fn latest(&self) -> Vec<Stall> {
        let known = self.stalls.load(Ordering::Acquire);
        let first = known.saturating_sub(LATEST_STALLS as u64 - 1);
        let stalls = (first..known).map(|number| {
            let latest = &self.latest[number as usize % LATEST_STALLS];
            let (ended_tsc, cycles) = (&latest.ended_tsc, &latest.cycles);
            Stall {
                ended_tsc: ended_tsc.load(Ordering::Relaxed),
                cycles: cycles.load(Ordering::Relaxed),
            }
        });
        let stalls: Vec<Stall> = stalls.collect();
        fence(Ordering::Acquire);
        let came = self.stalls.load(Ordering::Relaxed) - known;
        stalls[stalls.len().min(came as usize)..].to_vec()
    }
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
        let (mut watch, counters) = (StallWatch::with_limits(100, 10), StallCounters::default());
        for end in [5_000, 5_100, 5_301, 5_302, 5_452, 5_453] {
            watch.passed(end, 0, &counters);
        }
        assert_eq!(told(&counters), [2, 201 + 150, 201]);
        let stall = |(ended_tsc, cycles)| Stall { ended_tsc, cycles };
        assert_eq!(counters.latest(), [(5_301, 201), (5_452, 150)].map(stall));
    }

    #[test]
    fn the_latest_are_told_with_their_times() {
        let (mut watch, counters) = (StallWatch::with_limits(100, 10), StallCounters::default());
        for pass in 0..=150 {
            watch.passed(1_000 * pass, 0, &counters);
        }
        let latest = counters.latest();
        assert_eq!((latest.len(), told(&counters)[0]), (127, 150));
        let ended: Vec<u64> = latest.iter().map(|stall| stall.ended_tsc).collect();
        assert!(ended.iter().copied().eq((24..=150).map(|pass| 1_000 * pass)), "{ended:?}");
    }

    #[test]
    fn packets_take_their_time() {
        let (mut watch, counters) = (StallWatch::with_limits(100, 10), StallCounters::default());
        for (end, received) in [(1_000, 0), (1_300, 20), (1_600, 19)] {
            watch.passed(end, received, &counters);
        }
        assert_eq!(told(&counters), [1, 300, 300]);
    }

    #[test]
    fn a_rest_is_no_stall_and_what_follows_it_is_watched_again() {
        let (mut watch, counters) = (StallWatch::with_limits(100, 10), StallCounters::default());
        watch.passed(1_000, 0, &counters);
        watch.rests();
        watch.passed(9_000, 0, &counters);
        assert_eq!(told(&counters), [0, 0, 0]);
        watch.passed(9_500, 0, &counters);
        assert_eq!(told(&counters), [1, 500, 500]);
    }

    #[test]
    fn a_counter_that_goes_back_a_little_is_no_stall() {
        let (mut watch, counters) = (StallWatch::with_limits(100, 10), StallCounters::default());
        watch.passed(1_000, 0, &counters);
        watch.passed(990, 0, &counters);
        assert_eq!(told(&counters), [0, 0, 0]);
    }
}
