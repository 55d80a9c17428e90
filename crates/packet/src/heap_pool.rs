//! A packet pool in ordinary memory, so that every node and graph runs without DPDK.
//!
//! ```text
//!  stride (an odd number of cache lines, so that headers spread over the cache's sets)
//!  ├ mbuf 128 ┼ private 64 ┼ headroom 128 ┼ frame room … ┤ ├ mbuf …
//! ```
//! Each thread's cache is a last-in first-out stack; the shared store behind it takes a lock once
//! in [`BATCH`] packets.

use crate::mbuf::{HEADROOM_BYTES, MBUF_HEADER_BYTES, Mbuf};
use crate::pool::{PacketCache, Pool, PoolError, PoolUsage};
use crate::private::{PRIVATE_BYTES, Private};
use crate::{PacketPtr, VECTOR};
use core::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Packets that move between a thread's cache and the shared store at once.
const BATCH: usize = VECTOR;
const LINE_BYTES: usize = 64;
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A pool of packet buffers in anonymous memory (on huge pages where the system has them).
pub struct HeapPool {
    store: Arc<Store>,
}

struct Store {
    memory: NonNull<u8>,
    bytes: usize,
    total: usize,
    free: Mutex<Vec<PacketPtr>>,
    /// Buffers in the threads' caches, as of each cache's last visit here.
    cached: AtomicIsize,
}

// SAFETY: the memory is owned by the store; buffers are handed out one holder at a time through
// the mutex, and the counters are atomic.
unsafe impl Send for Store {}
// SAFETY: as above.
unsafe impl Sync for Store {}

impl HeapPool {
    /// A pool of `count` buffers with room for frames of `frame_bytes`.
    pub fn new(count: usize, frame_bytes: usize) -> Result<Self, PoolError> {
        if frame_bytes > 65_000 {
            return Err(PoolError::FrameTooLarge(frame_bytes));
        }
        let before_frame = MBUF_HEADER_BYTES + PRIVATE_BYTES + HEADROOM_BYTES;
        let lines = (before_frame + frame_bytes).div_ceil(LINE_BYTES) | 1;
        let stride = lines * LINE_BYTES;
        let bytes = (stride * count.max(1)).next_multiple_of(HUGE_PAGE_BYTES);
        let memory = map_memory(bytes).ok_or(PoolError::OutOfMemory { count, bytes })?;
        let free = (0..count)
            .map(|index| {
                // SAFETY: index * stride + stride lies inside the mapping.
                unsafe { format_buffer(memory.add(index * stride), stride) }
            })
            .collect();
        let cached = AtomicIsize::new(0);
        let store = Store { memory, bytes, total: count, free: Mutex::new(free), cached };
        Ok(Self { store: Arc::new(store) })
    }
}

/// Makes the memory at `base` an idle buffer.
///
/// # Safety
/// `base` begins `stride` bytes of our own zeroed memory, aligned to a cache line.
unsafe fn format_buffer(base: NonNull<u8>, stride: usize) -> PacketPtr {
    let header_bytes = MBUF_HEADER_BYTES + PRIVATE_BYTES;
    let mbuf: NonNull<Mbuf> = base.cast();
    // SAFETY: the mapping is zeroed, and zeroes are a valid Mbuf; the range is the caller's word.
    unsafe {
        let header = &mut *mbuf.as_ptr();
        header.buf_addr = base.as_ptr().add(header_bytes);
        header.buf_len = (stride - header_bytes) as u16;
        header.data_off = HEADROOM_BYTES as u16;
        header.priv_size = PRIVATE_BYTES as u16;
        header.refcnt = 1;
        header.nb_segs = 1;
        base.as_ptr().add(MBUF_HEADER_BYTES).cast::<Private>().write(Private::default());
        PacketPtr::new(mbuf)
    }
}

fn map_memory(bytes: usize) -> Option<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping touches nobody's memory; the advice is a hint.
    unsafe {
        let address = libc::mmap(core::ptr::null_mut(), bytes, protection, flags, -1, 0);
        if address == libc::MAP_FAILED {
            return None;
        }
        libc::madvise(address, bytes, libc::MADV_HUGEPAGE);
        NonNull::new(address.cast())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours; caches hold an Arc on the store, so no buffer is in use.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

impl Store {
    fn lock(&self) -> MutexGuard<'_, Vec<PacketPtr>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool for HeapPool {
    fn cache(&self) -> Box<dyn PacketCache> {
        let stack = Vec::with_capacity(4 * BATCH);
        Box::new(HeapCache { store: Arc::clone(&self.store), stack, settled: 0 })
    }

    fn usage(&self) -> PoolUsage {
        let cached = self.store.cached.load(Ordering::Relaxed).max(0) as usize;
        let free = (self.store.lock().len() + cached).min(self.store.total);
        PoolUsage { total: self.store.total, free, memory_bytes: self.store.bytes }
    }
}

struct HeapCache {
    store: Arc<Store>,
    stack: Vec<PacketPtr>,
    /// The stack's depth when the store last heard of it.
    settled: usize,
}

impl HeapCache {
    fn refill(&mut self, wanted: usize) -> bool {
        let mut free = self.store.lock();
        let take = (wanted + BATCH).min(free.len());
        let rest = free.len() - take;
        self.stack.extend(free.drain(rest..));
        drop(free);
        self.settle();
        self.stack.len() >= wanted
    }

    #[cold]
    fn spill(&mut self) {
        let rest = self.stack.len() - 2 * BATCH;
        let mut free = self.store.lock();
        free.extend(self.stack.drain(rest..));
        drop(free);
        self.settle();
    }

    /// Tells the store how many buffers this cache holds now.
    fn settle(&mut self) {
        let change = self.stack.len() as isize - self.settled as isize;
        self.store.cached.fetch_add(change, Ordering::Relaxed);
        self.settled = self.stack.len();
    }
}

impl PacketCache for HeapCache {
    fn allocate(&mut self, slots: &mut [Option<PacketPtr>]) -> bool {
        if self.stack.len() < slots.len() && !self.refill(slots.len()) {
            return false;
        }
        let rest = self.stack.len() - slots.len();
        for (slot, packet) in slots.iter_mut().zip(self.stack.drain(rest..).rev()) {
            *slot = Some(packet);
        }
        true
    }

    #[inline]
    fn release(&mut self, packets: &[PacketPtr]) {
        for &packet in packets {
            if unreference(packet) {
                self.stack.push(packet);
            }
        }
        if self.stack.len() > 3 * BATCH {
            self.spill();
        }
    }
}

/// Gives up one reference; true if it was the last, and the buffer then looks new.
#[inline]
fn unreference(mut packet: PacketPtr) -> bool {
    if packet.mbuf().refcnt != 1 {
        let mbuf = packet.as_ptr();
        // SAFETY: the buffer is live; its count is only ever changed atomically while shared.
        let count = unsafe { AtomicU16::from_ptr(&raw mut (*mbuf).refcnt) };
        if count.fetch_sub(1, Ordering::AcqRel) != 1 {
            return false;
        }
        count.store(1, Ordering::Relaxed);
    }
    packet.mbuf_mut().data_off = HEADROOM_BYTES as u16;
    true
}

impl Drop for HeapCache {
    fn drop(&mut self) {
        self.store.lock().append(&mut self.stack);
        self.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_gives_every_buffer_once_and_refuses_the_next() {
        let pool = HeapPool::new(600, 1518).unwrap();
        let mut cache = pool.cache();
        let mut slots = vec![None; 600];
        assert!(cache.allocate(&mut slots));
        let mut packets: Vec<_> = slots.into_iter().flatten().collect();
        packets.sort_by_key(|p| p.as_ptr());
        packets.dedup();
        assert_eq!(packets.len(), 600);
        assert!(!cache.allocate(&mut [None]));
        cache.release(&packets);
        assert!(cache.allocate(&mut [None]));
    }

    #[test]
    fn a_buffer_comes_back_when_its_last_holder_lets_go() {
        let pool = HeapPool::new(1, 64).unwrap();
        let mut cache = pool.cache();
        let mut packet = cache.copy_of(&[1, 2, 3]).unwrap();
        assert_eq!(packet.bytes(), [1, 2, 3]);
        packet.mbuf_mut().refcnt = 2;
        cache.release(&[packet]);
        assert!(cache.copy_of(&[4]).is_none());
        cache.release(&[packet]);
        assert_eq!(cache.copy_of(&[4]).unwrap().bytes(), [4]);
    }

    #[test]
    fn buffers_freed_by_one_thread_serve_another() {
        let pool = HeapPool::new(2000, 64).unwrap();
        let (mut here, mut there) = (pool.cache(), pool.cache());
        for _ in 0..20 {
            let mut slots = [None; 256];
            assert!(here.allocate(&mut slots));
            there.release(&slots.map(|slot| slot.unwrap()));
        }
        drop((here, there));
        assert_eq!(pool.usage().free, 2000);
    }

    #[test]
    fn a_frame_too_large_for_a_buffer_is_refused() {
        let pool = HeapPool::new(4, 60).unwrap();
        assert!(pool.cache().copy_of(&[0; 4000]).is_none());
        assert_eq!(HeapPool::new(4, 70_000).err(), Some(PoolError::FrameTooLarge(70_000)));
    }
}
