//! Token buckets that several threads take from, a word each.
//!
//! ```text
//!  all that the rate ever earned, byte by byte
//!  ├──────────────┬──────────────────────────┬────────────────
//!  0            spent ◀─ what is in it ─▶ earned + burst
//!  a bucket that was full lost what came meanwhile: spent is never below earned
//! ```
//! Atomics are relaxed: nothing but the word itself is agreed upon.

use crate::PoliceError;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest burst: more than any link sends in a second.
const MOST_BYTES: u64 = 1 << 40;

/// A bucket that a rate fills.
#[derive(Debug)]
pub(crate) struct Bucket {
    burst_bytes: u64,
    spent: AtomicU64,
}

/// What came of taking from a bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taken {
    /// There was enough in it.
    pub(crate) fits: bool,
    /// What it lost since somebody last took from it, because it was full.
    pub(crate) lost_bytes: u64,
}

impl Bucket {
    /// A full one.
    pub(crate) fn new(burst_bytes: u64) -> Result<Self, PoliceError> {
        Ok(Self { burst_bytes: check(burst_bytes)?, spent: AtomicU64::new(0) })
    }

    /// Takes `bytes`, all or none, now that the rate has earned `earned` in all.
    #[inline]
    pub(crate) fn take(&self, earned: u64, bytes: u64) -> Taken {
        let most = earned.saturating_add(self.burst_bytes);
        let mut spent = self.spent.load(Ordering::Relaxed);
        loop {
            // Another thread's clock may be ahead of ours: then nothing was lost.
            let from = spent.max(earned);
            let until = from.saturating_add(bytes);
            let taken = Taken { fits: until <= most, lost_bytes: from - spent };
            let now = if taken.fits { until } else { from };
            match self.replace(spent, now) {
                Ok(()) => return taken,
                Err(other) => spent = other,
            }
        }
    }

    /// What [`Bucket::take`] would say.
    pub(crate) fn would_take(&self, earned: u64, bytes: u64) -> Taken {
        let spent = self.spent.load(Ordering::Relaxed);
        let from = spent.max(earned);
        let most = earned.saturating_add(self.burst_bytes);
        Taken { fits: from.saturating_add(bytes) <= most, lost_bytes: from - spent }
    }

    /// What [`Bucket::take`] could take of it, and what it lost since somebody last took.
    pub(crate) fn held(&self, earned: u64) -> (u64, u64) {
        let spent = self.spent.load(Ordering::Relaxed);
        let from = spent.max(earned);
        (earned.saturating_add(self.burst_bytes).saturating_sub(from), from - spent)
    }

    /// From now on so much is in it, or all that it holds.
    pub(crate) fn hold(&self, earned: u64, bytes: u64) {
        let missing = self.burst_bytes.saturating_sub(bytes);
        self.spent.store(earned.saturating_add(missing), Ordering::Relaxed);
    }

    #[inline]
    fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        if old == new {
            return Ok(());
        }
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        self.spent.compare_exchange_weak(old, new, success, failure).map(|_| ())
    }
}

/// A bucket that another one's overflow fills (RFC 2697 section 3).
#[derive(Debug)]
pub(crate) struct Excess {
    burst_bytes: u64,
    held: AtomicU64,
}

impl Excess {
    /// A full one.
    pub(crate) fn new(burst_bytes: u64) -> Result<Self, PoliceError> {
        Ok(Self { burst_bytes: check(burst_bytes)?, held: AtomicU64::new(burst_bytes) })
    }

    /// Puts `bytes` in, as many as there is room for.
    #[inline]
    pub(crate) fn fill(&self, bytes: u64) {
        if bytes > 0 {
            self.update(|held| Some(held.saturating_add(bytes).min(self.burst_bytes)));
        }
    }

    /// Takes `bytes`, all or none; true if there were so many.
    #[inline]
    pub(crate) fn take(&self, bytes: u64) -> bool {
        self.update(|held| held.checked_sub(bytes))
    }

    /// Whether there would be `bytes` after `lost` were put in.
    pub(crate) fn would_take(&self, bytes: u64, lost: u64) -> bool {
        self.held(lost) >= bytes
    }

    /// What is in it once `lost` were put in.
    pub(crate) fn held(&self, lost: u64) -> u64 {
        self.held.load(Ordering::Relaxed).saturating_add(lost).min(self.burst_bytes)
    }

    /// From now on so much is in it, or all that it holds.
    pub(crate) fn hold(&self, bytes: u64) {
        self.held.store(bytes.min(self.burst_bytes), Ordering::Relaxed);
    }

    #[inline]
    fn update(&self, change: impl FnMut(u64) -> Option<u64>) -> bool {
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_ok()
    }
}

fn check(burst_bytes: u64) -> Result<u64, PoliceError> {
    match burst_bytes {
        1..=MOST_BYTES => Ok(burst_bytes),
        bytes => Err(PoliceError::Burst { bytes, most: MOST_BYTES }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_gives_its_burst_and_then_what_is_earned() {
        let bucket = Bucket::new(100).unwrap();
        let fits = |earned, bytes| bucket.take(earned, bytes).fits;
        assert!(fits(5000, 60) && fits(5000, 40) && !fits(5000, 1));
        assert!(!fits(5009, 10) && fits(5010, 10) && !fits(5010, 1));
    }

    #[test]
    fn what_a_full_bucket_loses_is_told_once() {
        let bucket = Bucket::new(100).unwrap();
        assert_eq!(bucket.take(30, 10), Taken { fits: true, lost_bytes: 30 });
        assert_eq!(bucket.take(35, 200), Taken { fits: false, lost_bytes: 0 });
        assert_eq!(bucket.take(45, 200), Taken { fits: false, lost_bytes: 5 });
        assert_eq!(bucket.take(45, 200), Taken { fits: false, lost_bytes: 0 });
    }

    #[test]
    fn a_clock_that_is_behind_takes_nothing_back() {
        let bucket = Bucket::new(100).unwrap();
        assert!(bucket.take(1000, 50).fits);
        assert_eq!(bucket.take(990, 41), Taken { fits: false, lost_bytes: 0 });
        assert_eq!(bucket.take(990, 40), Taken { fits: true, lost_bytes: 0 });
    }

    #[test]
    fn threads_together_take_no_more_than_there_is() {
        let (bucket, excess) = (Bucket::new(10_000).unwrap(), Excess::new(5_000).unwrap());
        let count = |take: &(dyn Fn() -> bool + Sync)| {
            let taken = || (0..20_000).filter(|_| take()).count();
            std::thread::scope(|scope| {
                let threads = [(); 3].map(|()| scope.spawn(taken));
                threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
            })
        };
        assert_eq!(count(&|| bucket.take(7, 1).fits), 10_000);
        assert_eq!(count(&|| excess.take(1)), 5_000);
    }

    #[test]
    fn an_empty_or_endless_bucket_is_none() {
        assert!(Bucket::new(0).is_err() && Excess::new(MOST_BYTES + 1).is_err());
    }
}
