//! What queues did: one worker writes, anybody reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one queue, one way.
#[derive(Default)]
pub struct Counts {
    pub(crate) packets: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) large: AtomicU64,
    pub(crate) wrong: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) no_buffers: AtomicU64,
}

/// What a queue did, or several, since the port was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Large frames among them, or that became them.
    pub large: u64,
    /// Received frames that cannot be; packets that the kernel refused.
    pub wrong: u64,
    /// Received frames of which the kernel kept a part alone.
    pub lost: u64,
    /// Received frames for which there was no buffer.
    pub no_buffers: u64,
}

/// One more, or some, of which this queue's worker is the only writer.
#[inline]
pub(crate) fn add(counter: &AtomicU64, count: u64) {
    counter.store(counter.load(Ordering::Relaxed) + count, Ordering::Relaxed);
}

impl Counts {
    /// What they are now.
    pub fn told(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            packets: read(&self.packets),
            bytes: read(&self.bytes),
            large: read(&self.large),
            wrong: read(&self.wrong),
            lost: read(&self.lost),
            no_buffers: read(&self.no_buffers),
        }
    }
}

impl core::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.large += other.large;
        self.wrong += other.wrong;
        self.lost += other.lost;
        self.no_buffers += other.no_buffers;
    }
}
