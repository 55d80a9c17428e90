//! A source and a sink without a device: for tests, benchmarks and demos.

use crate::{Burst, PacketBuf, PacketCache, RxQueue, TxQueue};
use std::sync::{Arc, Mutex, PoisonError};

/// Forwarding rewrites at most this much of a frame; behind it a replayed buffer is still good.
const HEADER_BYTES: usize = 128;

/// How often a source plays its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// Each packet once, in order.
    Once,
    /// In order, for ever.
    Forever,
}

/// Replays given packets. A buffer that comes back still holding its packet only has the header
/// bytes restored that forwarding may have changed.
pub struct MemorySource {
    templates: Arc<[Vec<u8>]>,
    next: usize,
    repeat: Repeat,
}

impl MemorySource {
    /// A source of these packets.
    pub fn new(templates: impl Into<Arc<[Vec<u8>]>>, repeat: Repeat) -> Self {
        Self { templates: templates.into(), next: 0, repeat }
    }

    fn remaining(&self) -> usize {
        match self.repeat {
            Repeat::Once => self.templates.len() - self.next,
            Repeat::Forever if self.templates.is_empty() => 0,
            Repeat::Forever => usize::MAX,
        }
    }
}

impl RxQueue for MemorySource {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let wanted = most.min(self.remaining());
        let first = into.len();
        if wanted == 0 || !cache.allocate(wanted, into) {
            return;
        }
        for packet in &mut into[first..] {
            packet.refill(&self.templates[self.next], self.next as u32 + 1, HEADER_BYTES);
            self.next += 1;
            if self.next == self.templates.len() && self.repeat == Repeat::Forever {
                self.next = 0;
            }
        }
    }
}

/// Frames that a recording sink saw, in order.
pub type Recorded = Arc<Mutex<Vec<Vec<u8>>>>;

/// Frees what it is sent; one that records keeps a copy first.
#[derive(Default)]
pub struct MemorySink {
    recorded: Option<Recorded>,
}

impl MemorySink {
    /// A sink that only frees.
    pub fn new() -> Self {
        Self::default()
    }

    /// A sink that copies each frame into `recorded`.
    pub fn recording(recorded: Recorded) -> Self {
        Self { recorded: Some(recorded) }
    }
}

impl TxQueue for MemorySink {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        if let Some(recorded) = &self.recorded {
            let mut frames = recorded.lock().unwrap_or_else(PoisonError::into_inner);
            frames.extend(packets.iter().map(|packet| packet.bytes().to_vec()));
        }
        cache.release(packets.take_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeapPool, Pool};

    fn drain(source: &mut MemorySource, pool: &HeapPool, wanted: usize) -> Vec<Vec<u8>> {
        let mut cache = pool.cache();
        let mut packets = Vec::new();
        source.receive(&mut *cache, wanted, &mut packets);
        let recorded = Recorded::default();
        MemorySink::recording(Arc::clone(&recorded)).send(&mut *cache, &mut packets);
        let frames = recorded.lock().unwrap();
        frames.clone()
    }

    #[test]
    fn a_source_plays_once_in_order_and_then_is_silent() {
        let pool = HeapPool::new(16, 64).unwrap();
        let mut source = MemorySource::new(vec![vec![1], vec![2, 2]], Repeat::Once);
        assert_eq!(drain(&mut source, &pool, 8), [vec![1], vec![2, 2]]);
        assert!(drain(&mut source, &pool, 8).is_empty());
    }

    #[test]
    fn a_repeating_source_restores_the_headers_that_forwarding_changed() {
        let pool = HeapPool::new(1, 2048).unwrap();
        let frame: Vec<u8> = (0..200).map(|n| n as u8).collect();
        let mut source = MemorySource::new(vec![frame.clone()], Repeat::Forever);
        for _ in 0..3 {
            let mut cache = pool.cache();
            let mut packets = Vec::new();
            source.receive(&mut *cache, 1, &mut packets);
            assert_eq!(packets[0].bytes(), frame);
            packets[0].bytes_mut()[..64].fill(0xee);
            cache.release(Burst::of(&mut packets));
        }
    }

    #[test]
    fn an_empty_pool_silences_the_source_without_losing_a_template() {
        let pool = HeapPool::new(1, 64).unwrap();
        let mut cache = pool.cache();
        let held = cache.copy_of(&[9]).unwrap();
        let mut source = MemorySource::new(vec![vec![7]], Repeat::Once);
        let mut packets = Vec::new();
        source.receive(&mut *cache, 1, &mut packets);
        assert!(packets.is_empty());
        cache.release_one(held);
        source.receive(&mut *cache, 1, &mut packets);
        assert_eq!(packets.len(), 1);
    }
}
