//! A counter with one writer: no atomic addition is needed, and anyone may read it at any time.

use core::sync::atomic::{AtomicU64, Ordering};

/// Adds to a counter of which this thread is the only writer.
#[inline(always)]
pub fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
}
