//! What queues did: one worker writes, anybody reads.

use std::sync::atomic::{AtomicU64, Ordering};

/// What one burst did.
#[derive(Default)]
pub(crate) struct Worked {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Descriptors that cannot be.
    pub(crate) wrong: u64,
    /// Packets of ours that do not fit.
    pub(crate) errors: u64,
}

/// What a queue did.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) packets: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) wrong: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) no_buffers: AtomicU64,
}

impl Counts {
    #[inline]
    pub(crate) fn add(&self, counter: &AtomicU64, count: u64) {
        // The queue's worker is the one who writes.
        counter.store(counter.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn note(&self, worked: &Worked) {
        self.add(&self.packets, worked.packets);
        self.add(&self.bytes, worked.bytes);
        if worked.wrong + worked.errors != 0 {
            self.add(&self.wrong, worked.wrong);
            self.add(&self.errors, worked.errors);
        }
    }

    /// As it stands now.
    pub(crate) fn told(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            packets: read(&self.packets),
            bytes: read(&self.bytes),
            wrong: read(&self.wrong),
            errors: read(&self.errors),
            no_buffers: read(&self.no_buffers),
        }
    }
}

/// What a queue did, or all of them, since the interface was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets received, or buffers to send by, that cannot be: the other side's fault.
    pub wrong: u64,
    /// Packets not sent as they do not fit.
    pub errors: u64,
    /// Bursts for which there was no buffer.
    pub no_buffers: u64,
}

impl core::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.wrong += other.wrong;
        self.errors += other.errors;
        self.no_buffers += other.no_buffers;
    }
}
