//! Packet buffers in DPDK's memory.
//!
//! ```text
//!  thread's cache (512) ◀─▶ ring shared by all threads      each buffer:
//!                                      ▲ drivers, too       ├ mbuf 128 ┼ private 64 ┼ headroom 128 ┼ frame …
//! ```

use crate::{Eal, Error, error, ffi, large_pool, log, shared_pool, thread};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use packet::{Burst, HEADROOM_BYTES, Mbuf, PRIVATE_BYTES, PacketBuf, PacketCache, Pool, PoolUsage};
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// Buffers a thread keeps for itself: DPDK's most, and at most this part of the pool, as what lies
/// in one thread's cache is out of the others' reach.
const CACHE: u32 = 512;
const CACHE_PART: u32 = 64;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A pool of packet buffers. Cheap to clone; ports, caches and packets keep it alive: whoever loses
/// a packet keeps its memory for ever.
#[derive(Clone)]
pub struct DpdkPool(Arc<Shared>);

struct Shared {
    mempool: NonNull<ffi::Mempool>,
    total: usize,
    memory_bytes: usize,
    frame_bytes: u16,
    eal: Eal,
}

// SAFETY: a mempool is made to be used by all threads at once.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl DpdkPool {
    /// A pool of `count` buffers with room for frames of `frame_bytes`.
    pub fn new(eal: &Eal, count: u32, frame_bytes: u16) -> Result<Self, Error> {
        Self::with_cache(eal, count, frame_bytes, CACHE.min(count / CACHE_PART))
    }

    /// The same, of whose buffers a thread keeps so many for itself.
    pub(crate) fn with_cache(
        eal: &Eal,
        count: u32,
        frame_bytes: u16,
        cache: u32,
    ) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Pool { count, frame_bytes, reason };
        let room = frame_bytes
            .checked_add(HEADROOM_BYTES as u16)
            .ok_or_else(|| refuse("a buffer has at most 65,407 bytes".to_owned()))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("volley_pool_{number}"))
            .map_err(|error| refuse(error.to_string()))?;
        let since = log::mark();
        // SAFETY: DPDK runs (`eal`); the name outlives the call.
        let mempool = unsafe {
            ffi::volley_pool_create(name.as_ptr(), count, cache, PRIVATE_BYTES as u16, room)
        };
        let mempool = NonNull::new(mempool)
            .ok_or_else(|| refuse(error::reason(ffi::volley_errno(), since)))?;
        let (mut total, mut memory_bytes) = (0, 0);
        // SAFETY: a live pool; both results are ours.
        unsafe { ffi::volley_pool_facts(mempool.as_ptr(), &mut total, &mut memory_bytes) };
        let (total, memory_bytes) = (total as usize, memory_bytes as usize);
        let eal = eal.clone();
        Ok(Self(Arc::new(Shared { mempool, total, memory_bytes, frame_bytes, eal })))
    }

    pub(crate) fn eal(&self) -> &Eal {
        &self.0.eal
    }

    /// Longest frame that a buffer is sure to hold.
    pub(crate) fn frame_bytes(&self) -> u16 {
        self.0.frame_bytes
    }

    pub(crate) fn downgrade(&self) -> WeakPool {
        WeakPool(Arc::downgrade(&self.0))
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::Mempool {
        self.0.mempool.as_ptr()
    }
}

/// The pools that ports have beside the one that they are given, as far as some are open that want
/// them: what they are for, and how full they are.
pub fn pools_of_ports() -> impl Iterator<Item = (&'static str, PoolUsage)> {
    let large = large_pool::there().map(|pool| ("buffers for large frames", pool.usage()));
    let shared = shared_pool::there().map(|pool| ("buffers that memif peers see", pool.usage()));
    large.into_iter().chain(shared)
}

/// A pool that others keep alive.
pub(crate) struct WeakPool(Weak<Shared>);

impl WeakPool {
    pub(crate) fn upgrade(&self) -> Option<DpdkPool> {
        self.0.upgrade().map(DpdkPool)
    }
}

impl Pool for DpdkPool {
    fn cache(&self) -> Box<dyn PacketCache> {
        Box::new(DpdkCache { pool: self.clone() })
    }

    fn usage(&self) -> PoolUsage {
        // SAFETY: a live pool.
        let free = unsafe { ffi::rte_mempool_avail_count(self.as_ptr()) } as usize;
        PoolUsage { total: self.0.total, free, memory_bytes: self.0.memory_bytes }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: a live pool.
        let home = unsafe { ffi::rte_mempool_avail_count(self.mempool.as_ptr()) };
        if home as usize == self.total {
            // SAFETY: no cache and no port of this pool is left, and no packet is anywhere else.
            unsafe { ffi::rte_mempool_free(self.mempool.as_ptr()) };
        }
    }
}

/// The cache itself is DPDK's, found by the calling thread's number.
struct DpdkCache {
    pool: DpdkPool,
}

// SAFETY: DPDK fills all slots with live buffers of our pool, whose count is one, or none of them.
unsafe impl PacketCache for DpdkCache {
    #[inline]
    fn fill(&mut self, slots: &mut [MaybeUninit<PacketBuf>]) -> bool {
        thread::register();
        let out = slots.as_mut_ptr().cast::<*mut Mbuf>();
        // SAFETY: a PacketBuf is a pointer to an mbuf. All slots are written with live buffers of a
        // pool with our private bytes, or none is.
        unsafe { ffi::volley_pool_alloc(self.pool.as_ptr(), out, slots.len() as u32) == 0 }
    }

    /// What is too long for a buffer gets a large one, if a port has some.
    fn copy_of(&mut self, bytes: &[u8]) -> Option<PacketBuf> {
        let mut packet = self.allocate_one()?;
        if packet.fill(bytes) {
            return Some(packet);
        }
        self.release_one(packet);
        large_pool::copy_of(bytes)
    }

    #[inline]
    fn release(&mut self, packets: Burst<'_>) {
        thread::register();
        let list = packets.as_ptr().cast::<*mut Mbuf>().cast_mut();
        // SAFETY: a PacketBuf is a pointer to a live mbuf whose ownership comes with the burst;
        // DPDK reads the list only.
        unsafe { ffi::rte_pktmbuf_free_bulk(list, packets.len() as u32) };
    }
}
