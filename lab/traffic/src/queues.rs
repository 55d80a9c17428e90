//! Several receive queues of a port as one, each frame's queue counted.
//!
//! ```text
//! device's thread 0 ─▶ queue 0 ─┐
//! device's thread 1 ─▶ queue 1 ─┴▶ one after the other ─▶ receiver
//! ```
//! Of shared memory each thread of a switch has a queue of its own to send by. A flow stays in one
//! queue as long as one thread sends it, and in order there. Of frames in different queues nobody
//! can say which came first: what looks reordered while several queues brought frames may be the
//! order in which they were looked at. Loss and duplicates are exact anyway.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use packet::{PacketBuf, PacketCache, RxQueue};

/// Frames that each queue brought.
pub type QueueCounts = Arc<[AtomicU64]>;

/// The queues, from the next that is looked at.
pub struct Several<Q> {
    queues: Vec<Q>,
    next: usize,
    counts: QueueCounts,
}

impl<Q: RxQueue> Several<Q> {
    /// All of these.
    pub fn new(queues: Vec<Q>) -> Self {
        let counts = queues.iter().map(|_| AtomicU64::new(0)).collect();
        Self { queues, next: 0, counts }
    }

    /// Where the frames of each queue are counted.
    pub fn counts(&self) -> QueueCounts {
        self.counts.clone()
    }
}

impl<Q: RxQueue> RxQueue for Several<Q> {
    #[inline]
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let mut left = most;
        // Each in turn is the first: one that is always full keeps none of the others waiting.
        for _ in 0..self.queues.len() {
            let at = self.next;
            self.next = (at + 1) % self.queues.len();
            let first = into.len();
            self.queues[at].receive(cache, left, into);
            let count = into.len() - first;
            self.counts[at].fetch_add(count as u64, Ordering::Relaxed);
            left -= count.min(left);
            if left == 0 {
                break;
            }
        }
    }
}

/// What each queue brought until now.
pub fn counted(counts: &QueueCounts) -> Vec<u64> {
    counts.iter().map(|count| count.load(Ordering::Relaxed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Burst, HeapPool, Pool};

    /// A queue of so many frames of one octet.
    struct Holds {
        octet: u8,
        left: usize,
    }

    impl RxQueue for Holds {
        fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
            let (first, count) = (into.len(), self.left.min(most));
            assert!(cache.allocate(count, into));
            for packet in &mut into[first..] {
                packet.refill(&[self.octet; 60], 1 + u32::from(self.octet), 60);
            }
            self.left -= count;
        }
    }

    #[test]
    fn every_queue_has_its_turn_and_is_counted() {
        let pool = HeapPool::new(64, 60).unwrap();
        let mut cache = pool.cache();
        let mut several =
            Several::new(vec![Holds { octet: 0, left: 40 }, Holds { octet: 1, left: 3 }]);
        let counts = several.counts();
        let mut order = Vec::new();
        loop {
            let mut packets = Vec::new();
            several.receive(&mut *cache, 8, &mut packets);
            assert!(packets.len() <= 8);
            if packets.is_empty() {
                break;
            }
            order.extend(packets.iter().map(|packet| packet.bytes()[0]));
            cache.release(Burst::of(&mut packets));
        }
        assert_eq!(counted(&counts), [40, 3]);
        // The first fills the burst; then it is the other's turn.
        assert_eq!(order[..12], [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0]);
        assert_eq!(order.len(), 43);
    }
}
