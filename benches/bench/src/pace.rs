//! How much of the processor a sample had, told by work that is always the same.
//!
//! Virtual processors share a core with neighbours that come and go, and with them the same code
//! takes up to twice as long. A probe before and behind each sample fills the core's arithmetic
//! units and touches no memory: what it takes more than in its best moment, somebody else had.
//! A sample that another thread interrupted is told by the kernel.

use std::fs;
use std::hint::black_box;

/// A sample beside which the probe took at most so much longer than in its best moment is quiet.
const QUIET: f64 = 1.1;

const CHAINS: usize = 8;
/// Some 20 microseconds in all.
const STEPS: usize = 8192;

/// What was seen of the processor beside one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pace {
    /// The sample had the processor; cycles of the slower probe.
    Whole(u64),
    /// Another thread had it meanwhile.
    Interrupted,
}

impl Pace {
    /// True if the sample may count, where `best` is the best of the run.
    pub(crate) fn is_quiet(self, best: Self) -> bool {
        match (self, best) {
            (Self::Whole(cycles), Self::Whole(best)) => cycles as f64 <= best as f64 * QUIET,
            _ => false,
        }
    }

    /// Does `work` and looks at the processor before and after.
    pub(crate) fn beside<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let (interrupted, before) = (interruptions(), probe());
        let done = work();
        let slower = before.max(probe());
        let whole = interruptions() == interrupted;
        (done, if whole { Self::Whole(slower) } else { Self::Interrupted })
    }
}

/// How often this thread had to leave its processor so far, where the kernel tells.
fn interruptions() -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let count = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    count?.trim().parse().ok()
}

/// Cycles that the probe takes now.
fn probe() -> u64 {
    let mut chains: [u64; CHAINS] = black_box(std::array::from_fn(|n| n as u64 + 1));
    let start = graph::tsc();
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = (*chain ^ *chain << 13).wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
    }
    black_box(chains);
    graph::tsc() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_or_interrupted_sample_is_not_quiet() {
        let best = Pace::Whole(1000);
        assert!(Pace::Whole(1000).is_quiet(best) && Pace::Whole(1100).is_quiet(best));
        assert!(!Pace::Whole(1101).is_quiet(best) && !Pace::Interrupted.is_quiet(best));
        assert!(
            Pace::Whole(1) < Pace::Interrupted,
            "the best of a run is never an interrupted one"
        );
    }

    #[test]
    fn a_thread_that_was_made_to_wait_is_told() {
        let before = interruptions().expect("Linux tells");
        let (done, pace) = Pace::beside(|| 7);
        assert_eq!(done, 7);
        assert!(
            matches!(pace, Pace::Whole(cycles) if cycles > 0) || interruptions() > Some(before)
        );
    }
}
