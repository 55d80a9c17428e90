//! Whether workers still turn: a look at their counts of passes at each turn of the router.
//!
//! ```text
//!  looks        ─┬────┬────┬─ … ─┬─   each a little later
//!  passes        17   17   17    17   the same over LONG: the worker is stuck
//! ```
//! A machine that stood still for a while says nothing of a worker: of the time between two looks
//! [`STEP`] counts at most.

use crate::core::Core;
use crate::part::Part;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a worker may be without a pass; none takes more than milliseconds.
const LONG: Duration = Duration::from_secs(5);
/// Most that counts between two looks.
const STEP: Duration = Duration::from_millis(100);

/// One worker's.
#[derive(Debug, Default)]
struct Heartbeat {
    passes: u64,
    looked: Option<Instant>,
    without: Duration,
    is_stuck: bool,
}

/// What a look found that the one before did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// It passes no more.
    Stuck,
    /// It passes again.
    Turns,
}

impl Heartbeat {
    /// Its passes so far, as read at `now`.
    fn look(&mut self, passes: u64, now: Instant) -> Option<Finding> {
        let since = self.looked.replace(now).map_or(Duration::ZERO, |then| now - then);
        if passes != self.passes {
            (self.passes, self.without) = (passes, Duration::ZERO);
            return std::mem::take(&mut self.is_stuck).then_some(Finding::Turns);
        }
        self.without += since.min(STEP);
        if self.is_stuck || self.without < LONG {
            return None;
        }
        self.is_stuck = true;
        Some(Finding::Stuck)
    }
}

/// Those of all workers that turn by themselves.
#[derive(Default)]
pub(crate) struct Heartbeats(Vec<Heartbeat>);

impl Heartbeats {
    /// Whether all workers turn, as far as it is known.
    pub(crate) fn are_well(&self) -> bool {
        !self.0.iter().any(|heart| heart.is_stuck)
    }
}

impl Part for Heartbeats {
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        // A worker that we turn ourselves is where we are.
        let workers = if core.local.is_some() { 0 } else { core.workers() };
        self.0.resize_with(workers, Heartbeat::default);
        for (number, heart) in self.0.iter_mut().enumerate() {
            let Some(worker) = core.dataplane.worker(number) else { continue };
            let passes = worker.counters().loops.load(Ordering::Relaxed);
            match heart.look(passes, now) {
                Some(Finding::Stuck) => {
                    let seconds = LONG.as_secs();
                    tracing::error!(
                        fault = "worker-stuck",
                        worker = number,
                        seconds,
                        "a worker is stuck"
                    );
                }
                Some(Finding::Turns) => tracing::warn!(worker = number, "a worker turns again"),
                None => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_millis(20);

    #[test]
    fn a_worker_without_passes_is_stuck_until_it_turns_again() {
        let (mut heart, mut now) = (Heartbeat::default(), Instant::now());
        let mut look = |passes| {
            now += LOOK;
            (heart.look(passes, now), heart.is_stuck)
        };
        assert_eq!(look(17), (None, false));
        let looks = LONG.as_millis() / LOOK.as_millis();
        for _ in 1..looks {
            assert_eq!(look(17), (None, false));
        }
        assert_eq!(look(17), (Some(Finding::Stuck), true));
        assert_eq!(look(17), (None, true));
        assert_eq!(look(18), (Some(Finding::Turns), false));
        assert_eq!(look(18), (None, false));
    }

    #[test]
    fn a_machine_that_stood_still_says_nothing_of_a_worker() {
        let (mut heart, start) = (Heartbeat::default(), Instant::now());
        heart.look(17, start);
        assert_eq!(heart.look(17, start + Duration::from_secs(3600)), None);
        assert!(!heart.is_stuck);
    }
}
