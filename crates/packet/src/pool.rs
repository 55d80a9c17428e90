//! Where packet buffers come from and go back to.

use crate::{Burst, PacketBuf};
use core::mem::MaybeUninit;

/// A store of packet buffers, shared by all threads.
pub trait Pool: Send + Sync {
    /// One thread's own end of the pool.
    fn cache(&self) -> Box<dyn PacketCache>;

    /// How full the pool is.
    fn usage(&self) -> PoolUsage;
}

/// One thread's end of a pool: takes and gives buffers without sharing a cache line per packet.
///
/// # Safety
/// `fill` keeps its promise: others read what it says it wrote.
pub unsafe trait PacketCache: Send {
    /// Fills every slot with a buffer that holds an empty frame and that nobody else holds, or
    /// none: false when the pool has too few left.
    fn fill(&mut self, slots: &mut [MaybeUninit<PacketBuf>]) -> bool;

    /// Gives up one reference on each buffer; those nobody else holds are free again.
    fn release(&mut self, packets: Burst<'_>);

    /// Appends so many empty buffers, or none: false when the pool has too few left.
    #[inline]
    fn allocate(&mut self, count: usize, into: &mut Vec<PacketBuf>) -> bool {
        into.reserve(count);
        let length = into.len();
        let enough = self.fill(&mut into.spare_capacity_mut()[..count]);
        if enough {
            // SAFETY: they were reserved, and `fill` has filled them.
            unsafe { into.set_len(length + count) };
        }
        enough
    }

    /// One empty buffer; `None` when the pool is empty.
    #[inline]
    fn allocate_one(&mut self) -> Option<PacketBuf> {
        let mut slot = [MaybeUninit::uninit()];
        // SAFETY: `fill` has filled it.
        self.fill(&mut slot).then(|| unsafe { slot[0].assume_init_read() })
    }

    /// Gives up one reference.
    #[inline]
    fn release_one(&mut self, packet: PacketBuf) {
        let packets = core::mem::ManuallyDrop::new([packet]);
        // SAFETY: the burst owns the packet: nobody looks at the array any more.
        self.release(unsafe { Burst::owning(&*packets) });
    }

    /// One buffer with a copy of `bytes`; `None` when the pool is empty or they do not fit.
    fn copy_of(&mut self, bytes: &[u8]) -> Option<PacketBuf> {
        let mut packet = self.allocate_one()?;
        if packet.fill(bytes) {
            return Some(packet);
        }
        self.release_one(packet);
        None
    }
}

/// Buffers of a pool, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUsage {
    /// Buffers in all.
    pub total: usize,
    /// Of them not in use (those in the threads' caches count as free where the pool can tell).
    pub free: usize,
    /// Bytes of memory that the pool takes.
    pub memory_bytes: usize,
}

/// Why a pool could not be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PoolError {
    /// Too large a frame for the 16-bit lengths of an mbuf.
    #[error("frames of {0} bytes do not fit a packet buffer (at most 65,000)")]
    FrameTooLarge(usize),
    /// The system gave no memory.
    #[error("no memory for {count} packet buffers ({bytes} bytes)")]
    OutOfMemory {
        /// Buffers asked for.
        count: usize,
        /// Bytes that they take.
        bytes: usize,
    },
}
