//! How many packets each rule decided about: one set a worker, which alone writes it; any thread
//! reads.

use crate::Verdict;
use std::sync::atomic::{AtomicU64, Ordering};

/// Packets and bytes.
type Counter = [AtomicU64; 2];

/// One worker's counters of one list: 16 bytes a rule.
#[derive(Debug, Default)]
pub struct RuleCounters {
    rules: Box<[Counter]>,
    /// What passed before rules were asked.
    unasked: Counter,
}

impl RuleCounters {
    /// For rules with numbers below `rules`; one more for packets that none fits.
    pub fn new(rules: usize) -> Self {
        Self {
            rules: (0..=rules).map(|_| Default::default()).collect(),
            unasked: Counter::default(),
        }
    }

    /// One packet more of `bytes`.
    #[inline]
    pub fn add(&self, verdict: Verdict, bytes: u32) {
        // The number of none is above all others.
        let number = (verdict.place() as usize).min(self.rules.len() - 1);
        count(&self.rules[number], bytes);
    }

    /// One packet more of `bytes` that passed before rules were asked.
    #[inline]
    pub fn add_unasked(&self, bytes: u32) {
        count(&self.unasked, bytes);
    }

    /// Packets and bytes that passed before rules were asked.
    pub fn unasked(&self) -> (u64, u64) {
        read(&self.unasked)
    }

    /// Packets and bytes of the rule of this number; above all numbers, of packets that no rule
    /// fitted.
    pub fn of(&self, number: usize) -> (u64, u64) {
        read(&self.rules[number.min(self.rules.len() - 1)])
    }

    /// Packets and bytes of a rule, by its number; the last ones are those that no rule fitted.
    pub fn read(&self) -> impl Iterator<Item = (u64, u64)> {
        self.rules.iter().map(read)
    }
}

#[inline]
fn count(counter: &Counter, bytes: u32) {
    for (counter, more) in counter.iter().zip([1, u64::from(bytes)]) {
        // One thread writes: no other addition can come between.
        counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }
}

fn read([packets, bytes]: &Counter) -> (u64, u64) {
    (packets.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed))
}
