//! How many packets got each colour: one set a worker, which alone writes it; any thread reads.

use crate::Colour;
use std::sync::atomic::{AtomicU64, Ordering};

/// One worker's counters of one policer: a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct ColourCounters([[AtomicU64; 2]; 3]);

impl ColourCounters {
    /// One packet more of `bytes`.
    #[inline]
    pub fn add(&self, colour: Colour, bytes: u32) {
        for (counter, more) in self.0[colour as usize].iter().zip([1, u64::from(bytes)]) {
            // One thread writes: no other addition can come between.
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        }
    }

    /// Packets and bytes of each colour, in the order of [`Colour::ALL`].
    pub fn read(&self) -> [(u64, u64); 3] {
        self.0.each_ref().map(|[packets, bytes]| {
            (packets.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed))
        })
    }
}
