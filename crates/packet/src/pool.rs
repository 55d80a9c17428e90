//! Where packet buffers come from and go back to.

use crate::PacketPtr;

/// A store of packet buffers, shared by all threads.
pub trait Pool: Send + Sync {
    /// One thread's own end of the pool.
    fn cache(&self) -> Box<dyn PacketCache>;

    /// How full the pool is.
    fn usage(&self) -> PoolUsage;
}

/// One thread's end of a pool: takes and gives buffers without sharing a cache line per packet.
pub trait PacketCache: Send {
    /// Fills every slot with a buffer that holds an empty frame, or none: false when the pool has
    /// too few left.
    fn allocate(&mut self, slots: &mut [Option<PacketPtr>]) -> bool;

    /// Gives up one reference on each buffer; those nobody else holds are free again.
    fn release(&mut self, packets: &[PacketPtr]);

    /// One buffer with a copy of `bytes`; `None` when the pool is empty or they do not fit.
    fn copy_of(&mut self, bytes: &[u8]) -> Option<PacketPtr> {
        let mut slot = [None];
        if !self.allocate(&mut slot) {
            return None;
        }
        let mut packet = slot[0]?;
        if packet.fill(bytes) {
            return Some(packet);
        }
        self.release(&[packet]);
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
