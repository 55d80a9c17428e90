//! Packets and octets by next hop, counted where they are to be.
//!
//! ```text
//!  ip4_rewrite, ip6_rewrite ── adjacency, octets ──▶ this worker's cells ◀── read at any time
//! ```
//! One set a worker, which alone writes it: 16 octets a next hop, of memory that is there once a
//! packet was counted in it. What a cell holds never goes back; whoever shows it takes off what
//! stood there when the next hop began.

use fib::FibError;
use fib::pages::{PageSize, PagedArray};
use graph::add;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one worker counts.
#[derive(Debug)]
pub struct NextHopCounters(PagedArray<[AtomicU64; 2]>);

impl NextHopCounters {
    /// For so many next hops.
    pub fn new(next_hops: usize) -> Result<Self, FibError> {
        PagedArray::filled("the counters of next hops", next_hops, PageSize::Small).map(Self)
    }

    /// A packet left by this adjacency.
    #[inline]
    pub fn add(&self, adjacency: u32, octets: usize) {
        if let Some([packets, all]) = self.0.get(adjacency as usize) {
            add(packets, 1);
            add(all, octets as u64);
        }
    }

    /// Packets and octets that left by it.
    pub fn read(&self, adjacency: u32) -> [u64; 2] {
        let cell = self.0.get(adjacency as usize);
        cell.map_or([0; 2], |cell| cell.each_ref().map(|count| count.load(Ordering::Relaxed)))
    }

    /// Bytes that have memory.
    pub fn bytes(&self) -> usize {
        self.0.resident_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_read_and_what_is_not_there_is_nothing() {
        let counters = NextHopCounters::new(2).unwrap();
        counters.add(1, 100);
        counters.add(1, 28);
        counters.add(u32::MAX, 7);
        assert_eq!([0, 1, u32::MAX].map(|id| counters.read(id)), [[0, 0], [2, 128], [0, 0]]);
    }
}
