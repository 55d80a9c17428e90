//! How many packets each rule decided about: one set a worker, which alone writes it; any thread
//! reads.

use crate::Verdict;
use std::sync::atomic::{AtomicU64, Ordering};

/// One worker's counters of one list: 16 bytes a rule.
#[derive(Debug, Default)]
pub struct RuleCounters(Box<[[AtomicU64; 2]]>);

impl RuleCounters {
    /// For rules with numbers below `rules`; one more for packets that none fits.
    pub fn new(rules: usize) -> Self {
        Self((0..=rules).map(|_| Default::default()).collect())
    }

    /// One packet more of `bytes`.
    #[inline]
    pub fn add(&self, verdict: Verdict, bytes: u32) {
        let none = self.0.len() - 1;
        let number = verdict.number().map_or(none, |number| number as usize).min(none);
        for (counter, more) in self.0[number].iter().zip([1, u64::from(bytes)]) {
            // One thread writes: no other addition can come between.
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
    }

    /// Packets and bytes of a rule, by its number; the last ones are those that no rule fitted.
    pub fn read(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|[packets, bytes]| {
            (packets.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed))
        })
    }
}
