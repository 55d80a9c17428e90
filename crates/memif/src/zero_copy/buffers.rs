//! Packet buffers in memory that peers map.

use crate::control::MAX_SHARED_BYTES;
use crate::region::Region;
use packet::{HEADROOM_BYTES, PacketBuf, PacketCache, Pool, PoolUsage, place_buffers};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Weak};

/// Bytes of a line of cache.
const LINE: u64 = 64;

/// Packet buffers that interfaces share with their peers, the same ones for all: what comes in by
/// one leaves by another without a copy. Cheap to clone. While a packet of theirs is out the memory
/// stays; who loses one keeps it for ever.
#[derive(Clone)]
pub struct SharedBuffers(Arc<Shared>);

/// The same, kept alive by others.
#[derive(Clone)]
pub struct WeakSharedBuffers(Weak<Shared>);

impl WeakSharedBuffers {
    /// The buffers, if somebody has them.
    pub fn upgrade(&self) -> Option<SharedBuffers> {
        self.0.upgrade().map(SharedBuffers)
    }
}

struct Shared {
    pool: Box<dyn Pool>,
    /// Taken out of it only to be kept for ever.
    region: Option<Region>,
    fd: OwnedFd,
    frame_bytes: u16,
    bytes: u64,
}

impl SharedBuffers {
    /// Moves all buffers of a pool, of which nobody has one yet, into memory that can be shared.
    /// Each has room for a frame of so many bytes, or a few more.
    pub fn new(pool: Box<dyn Pool>, frame_bytes: u16) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
        // From one to the next is an odd number of lines: see `shape`.
        let lines = (u64::from(frame_bytes) + HEADROOM_BYTES as u64).div_ceil(LINE) | 1;
        let each =
            u16::try_from(lines * LINE).map_err(|_| wrong("frames too long for a buffer"))?;
        let bytes = u64::from(each) * pool.usage().total as u64;
        if bytes == 0 || bytes > MAX_SHARED_BYTES / 2 {
            return Err(wrong("no buffers, or more than 512 MiB of them"));
        }
        let (region, fd) = Region::create(bytes)?;
        // SAFETY: the region is that long, nobody else here has it, and it is kept for as long as
        // the pool has not all of its buffers back.
        if !unsafe { place_buffers(&*pool, region.start(), each) } {
            // What was placed in there stays usable.
            std::mem::forget(region);
            return Err(wrong("a buffer of the pool is in use"));
        }
        let frame_bytes = each - HEADROOM_BYTES as u16;
        Ok(Self(Arc::new(Shared { pool, region: Some(region), fd, frame_bytes, bytes })))
    }

    /// How many of a memory of that size there can be, each with room for a frame of so many bytes.
    pub fn most(frame_bytes: u16) -> u32 {
        let each = (u64::from(frame_bytes) + HEADROOM_BYTES as u64).div_ceil(LINE) + 1;
        (MAX_SHARED_BYTES / 2 / (each * LINE)) as u32
    }

    /// The same, without keeping them alive.
    pub fn downgrade(&self) -> WeakSharedBuffers {
        WeakSharedBuffers(Arc::downgrade(&self.0))
    }

    /// Address of the memory.
    pub fn start(&self) -> usize {
        self.0.region.as_ref().map_or(0, |region| region.start().as_ptr() as usize)
    }

    /// Bytes of the memory.
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Longest frame that one buffer holds.
    pub fn frame_bytes(&self) -> u16 {
        self.0.frame_bytes
    }

    /// How many there are, how many are free, and what they take.
    pub fn usage(&self) -> PoolUsage {
        let usage = self.0.pool.usage();
        PoolUsage { memory_bytes: usage.memory_bytes + self.0.bytes as usize, ..usage }
    }

    /// A thread's way to them.
    pub fn cache(&self) -> Box<dyn PacketCache> {
        self.0.pool.cache()
    }

    /// The memory, to be handed to a peer.
    pub fn fd(&self) -> RawFd {
        self.0.fd.as_raw_fd()
    }

    /// Whether a packet lies in the memory.
    #[inline]
    pub fn has(&self, packet: &PacketBuf) -> bool {
        self.offset_of(packet).is_some()
    }

    /// Where in the memory a packet begins, if it lies there.
    #[inline]
    pub(crate) fn offset_of(&self, packet: &PacketBuf) -> Option<u32> {
        let offset = (packet.start() as usize).checked_sub(self.start())?;
        // A buffer lies in there whole or not at all; its bytes have room in four.
        ((offset as u64) < self.0.bytes).then_some(offset as u32)
    }

    /// The memory at an offset, to have it fetched: any offset will do.
    #[inline]
    pub(crate) fn at(&self, offset: u32) -> Option<*const u8> {
        Some(self.0.region.as_ref()?.part(offset, LINE as u32)?.cast_const())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let usage = self.pool.usage();
        if usage.free != usage.total {
            // Somebody has a packet in there.
            std::mem::forget(self.region.take());
        }
    }
}
