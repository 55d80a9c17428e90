//! A packet pool in ordinary memory, so that every node and graph runs without DPDK.
//!
//! ```text
//!  stride (an odd number of cache lines, so that headers spread over the cache's sets)
//!  ├ mbuf 128 ┼ private 64 ┼ headroom 128 ┼ frame room … ┤ ├ mbuf …
//! ```
//! Each thread's cache is a last-in first-out stack; the shared store behind it takes a lock once
//! in [`BATCH`] packets. The memory lives as long as the pool, its caches, and any packet of it:
//! who lost one keeps it for ever.

use crate::foreign::foreign_pool;
use crate::mbuf::{HEADROOM_BYTES, MBUF_HEADER_BYTES, Mbuf};
use crate::pool::{PacketCache, Pool, PoolError, PoolUsage};
use crate::private::{PRIVATE_BYTES, Private};
use crate::{Burst, PacketBuf, VECTOR};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Packets that move between a thread's cache and the shared store at once.
const BATCH: usize = VECTOR;
const LINE_BYTES: usize = 64;
/// A buffer with more room than this may have held a large frame.
const ORDINARY_BYTES: usize = 2048;
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A pool of packet buffers in anonymous memory (on huge pages where the system has them).
pub struct HeapPool {
    store: Arc<Store>,
}

struct Store {
    memory: NonNull<u8>,
    bytes: usize,
    /// From one buffer to the next.
    stride: usize,
    total: usize,
    /// Its buffers hold more than ordinary frames.
    is_large: bool,
    free: Mutex<Vec<PacketBuf>>,
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
        // SAFETY: so much was mapped, and is zero.
        let free = unsafe { format_buffers(memory, stride, count) };
        let cached = AtomicIsize::new(0);
        let store = Store {
            memory,
            bytes,
            stride,
            total: count,
            is_large: frame_bytes > ORDINARY_BYTES,
            free: Mutex::new(free),
            cached,
        };
        Ok(Self { store: Arc::new(store) })
    }

    /// Makes it as new, byte by byte, which takes less time than a new one. False, and nothing is
    /// done, while a cache of it is left or somebody has a buffer.
    pub fn renew(&mut self) -> bool {
        let Some(store) = Arc::get_mut(&mut self.store) else { return false };
        if !store.is_whole() {
            return false;
        }
        let (memory, stride, count) = (store.memory, store.stride, store.total);
        // SAFETY: the mapping is ours and has room for so many; each of its buffers is free here,
        // so that nobody looks into it.
        let free = unsafe {
            memory.write_bytes(0, stride * count);
            format_buffers(memory, stride, count)
        };
        *store.free.get_mut().unwrap_or_else(PoisonError::into_inner) = free;
        *store.cached.get_mut() = 0;
        true
    }
}

/// Makes idle buffers of the memory at `memory`, one behind the other.
///
/// # Safety
/// It has room for so many, is zero, and nobody looks into it.
unsafe fn format_buffers(memory: NonNull<u8>, stride: usize, count: usize) -> Vec<PacketBuf> {
    // SAFETY: index * stride + stride lies inside the memory: the caller's word.
    (0..count).map(|index| unsafe { format_buffer(memory.add(index * stride), stride) }).collect()
}

/// Makes the memory at `base` an idle buffer.
///
/// # Safety
/// `base` begins `stride` bytes of our own zeroed memory, aligned to a cache line.
unsafe fn format_buffer(base: NonNull<u8>, stride: usize) -> PacketBuf {
    let header_bytes = MBUF_HEADER_BYTES + PRIVATE_BYTES;
    let mbuf: NonNull<Mbuf> = base.cast();
    // SAFETY: the mapping is zeroed, and zeroes are a valid Mbuf; the range is the caller's word.
    unsafe {
        let header = &mut *mbuf.as_ptr();
        header.buf_addr = base.as_ptr().add(header_bytes);
        header.buf_len = (stride - header_bytes) as u16;
        header.data_off = HEADROOM_BYTES as u16;
        header.priv_size = PRIVATE_BYTES as u16;
        header.pool = foreign_pool();
        header.refcnt = AtomicU16::new(1);
        header.nb_segs = 1;
        base.as_ptr().add(MBUF_HEADER_BYTES).cast::<Private>().write(Private::default());
        PacketBuf::from_raw(mbuf)
    }
}

#[cfg(not(miri))]
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

/// # Safety
/// The memory is from [`map_memory`], and nobody has a pointer into it.
#[cfg(not(miri))]
unsafe fn unmap_memory(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's word.
    unsafe { libc::munmap(memory.as_ptr().cast(), bytes) };
}

/// For ever: somebody may have a packet in there.
#[cfg(not(miri))]
fn keep_memory(_: NonNull<u8>) {}

/// Miri knows no huge pages; of Rust's own memory it tells what is used and no more.
#[cfg(miri)]
fn map_memory(bytes: usize) -> Option<NonNull<u8>> {
    let layout = std::alloc::Layout::from_size_align(bytes, LINE_BYTES).ok()?;
    // SAFETY: a layout of some size.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })
}

/// # Safety
/// As above.
#[cfg(miri)]
unsafe fn unmap_memory(memory: NonNull<u8>, bytes: usize) {
    if let Ok(layout) = std::alloc::Layout::from_size_align(bytes, LINE_BYTES) {
        // SAFETY: the layout that it was allocated with; the caller's word.
        unsafe { std::alloc::dealloc(memory.as_ptr(), layout) };
    }
}

/// As above, and says so: else Miri calls it a leak.
#[cfg(miri)]
fn keep_memory(memory: NonNull<u8>) {
    struct Kept(#[expect(dead_code, reason = "it is only kept")] NonNull<u8>);
    // SAFETY: nobody looks into it from here.
    unsafe impl Send for Kept {}
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(Kept(memory));
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.is_whole() {
            // SAFETY: the mapping is ours, and a buffer that is free here is nowhere else.
            unsafe { unmap_memory(self.memory, self.bytes) };
        } else {
            keep_memory(self.memory);
        }
    }
}

impl Store {
    /// Whether each of its buffers is here. Without caches, which hold an Arc on it, it is free
    /// then and nobody has it.
    fn is_whole(&self) -> bool {
        let memory = self.memory.as_ptr() as usize;
        let ours = memory..memory + self.bytes;
        self.lock().iter().filter(|it| ours.contains(&(it.as_ptr() as usize))).count() == self.total
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PacketBuf>> {
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
    stack: Vec<PacketBuf>,
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

// SAFETY: `fill` writes every slot, or says that it did not; what is free is held by nobody else.
unsafe impl PacketCache for HeapCache {
    fn fill(&mut self, slots: &mut [MaybeUninit<PacketBuf>]) -> bool {
        if self.stack.len() < slots.len() && !self.refill(slots.len()) {
            return false;
        }
        let rest = self.stack.len() - slots.len();
        for (slot, packet) in slots.iter_mut().zip(self.stack.drain(rest..).rev()) {
            slot.write(packet);
        }
        true
    }

    #[inline]
    fn release(&mut self, mut packets: Burst<'_>) {
        if self.store.is_large {
            forget_large(&packets);
        }
        self.take_back(&mut packets);
        while let Some(chain) = packets.pop() {
            self.take_back_chain(chain);
            self.take_back(&mut packets);
        }
        if self.stack.len() > 3 * BATCH {
            self.spill();
        }
    }
}

impl HeapCache {
    /// Takes back what comes before the first chain. Room is made for all at once: pushed one by
    /// one, each would wait for the length that the one before had written.
    #[inline]
    fn take_back(&mut self, packets: &mut Burst<'_>) {
        self.stack.reserve(packets.len());
        let (length, places) = (self.stack.len(), self.stack.spare_capacity_mut());
        let mut back = 0;
        while let Some(packet) = packets.pop_if(|packet| packet.mbuf().nb_segs == 1) {
            if let Some(packet) = unreference(packet) {
                places[back].write(packet);
                back += 1;
            }
        }
        // SAFETY: so many were written behind the others.
        unsafe { self.stack.set_len(length + back) };
    }

    #[cold]
    fn take_back_chain(&mut self, packet: PacketBuf) {
        let Some(mut packet) = unreference(packet) else { return };
        // SAFETY: nobody else holds it. What hangs behind is owned by the chain
        // (`PacketBuf::chain`), and is freed once: the buffer looks new then.
        unsafe {
            let mbuf = packet.mbuf_mut();
            mbuf.nb_segs = 1;
            let rest = core::mem::replace(&mut mbuf.next, core::ptr::null_mut());
            if let Some(rest) = NonNull::new(rest) {
                self.release_one(PacketBuf::from_raw(rest));
            }
        }
        self.stack.push(packet);
    }
}

/// What is given back is to look new.
#[cold]
fn forget_large(packets: &[PacketBuf]) {
    for packet in packets.iter().filter(|packet| packet.may_be_large() && !packet.is_shared()) {
        // SAFETY: nobody else holds it, and the burst, which owns it, is not looked at meanwhile.
        unsafe { (*packet.as_ptr()).ol_flags = 0 };
    }
}

/// Gives up one reference; of the last the buffer comes back, and looks new.
#[inline]
fn unreference(mut packet: PacketBuf) -> Option<PacketBuf> {
    if packet.is_shared() {
        let references = &packet.mbuf().refcnt;
        if references.fetch_sub(1, Ordering::AcqRel) != 1 {
            return None;
        }
        references.store(1, Ordering::Relaxed);
        // SAFETY: nobody else holds it any more.
        unsafe { packet.mbuf_mut() }.ol_flags = 0;
    }
    // SAFETY: nobody else holds it, and the frame becomes one of no bytes.
    unsafe {
        let mbuf = packet.mbuf_mut();
        (mbuf.data_off, mbuf.data_len) = (HEADROOM_BYTES as u16, 0);
    }
    Some(packet)
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

    fn all(cache: &mut dyn PacketCache, count: usize) -> Vec<PacketBuf> {
        let mut packets = Vec::new();
        assert!(cache.allocate(count, &mut packets));
        packets
    }

    #[test]
    fn a_pool_gives_every_buffer_once_and_refuses_the_next() {
        let pool = HeapPool::new(600, 1518).unwrap();
        let mut cache = pool.cache();
        let mut packets = all(&mut *cache, 600);
        packets.sort_by_key(|packet| packet.as_ptr());
        packets.dedup_by_key(|packet| packet.as_ptr());
        assert_eq!(packets.len(), 600);
        assert!(cache.allocate_one().is_none());
        cache.release(Burst::of(&mut packets));
        packets = all(&mut *cache, 600);
        cache.release(Burst::of(&mut packets));
    }

    #[test]
    fn a_buffer_comes_back_when_its_last_holder_lets_go_and_nobody_writes_it_before() {
        let pool = HeapPool::new(1, 64).unwrap();
        let mut cache = pool.cache();
        let mut frame = crate::Frame::new();
        frame.push(cache.copy_of(&[1, 2, 3]).unwrap(), 0);
        let mut twin = frame.view(0).share(1).next().unwrap();
        assert!(twin.is_shared() && twin.bytes_mut().is_empty() && !twin.fill(&[4]));
        cache.release(frame.take_all());
        assert!(cache.allocate_one().is_none());
        assert!(!twin.is_shared() && twin.bytes_mut() == [1, 2, 3]);
        cache.release_one(twin);
        let again = cache.allocate_one().unwrap();
        assert!(again.bytes().is_empty(), "a new buffer shows nothing of the packet before");
        cache.release_one(again);
    }

    #[test]
    fn a_frame_grows_at_its_end_as_long_as_there_is_room_and_nobody_reads_it() {
        let pool = HeapPool::new(1, 64).unwrap();
        let mut cache = pool.cache();
        let mut packet = cache.copy_of(b"one").unwrap();
        packet.append(3).unwrap().copy_from_slice(b"two");
        assert_eq!(packet.bytes(), b"onetwo");
        let room = usize::from(packet.mbuf().buf_len) - HEADROOM_BYTES - 6;
        assert!(packet.append(room + 1).is_none());
        assert_eq!(packet.append(room).map(|room| room.len()), Some(room));
        packet.mbuf().refcnt.store(2, Ordering::Relaxed);
        assert!(packet.append(0).is_none());
        packet.mbuf().refcnt.store(1, Ordering::Relaxed);
        cache.release_one(packet);
    }

    #[test]
    fn a_chain_comes_back_whole() {
        let pool = HeapPool::new(3, 64).unwrap();
        let mut cache = pool.cache();
        let mut packets = all(&mut *cache, 3);
        let (mut first, second, third) = (packets.remove(0), packets.remove(0), packets.remove(0));
        first.chain(second).unwrap();
        let third = first.chain(third).unwrap_err();
        cache.release_one(first);
        cache.release_one(third);
        let mut packets = all(&mut *cache, 3);
        assert!(packets.iter().all(|packet| packet.mbuf().nb_segs == 1));
        cache.release(Burst::of(&mut packets));
    }

    #[test]
    fn buffers_freed_by_one_thread_serve_another() {
        // Few under Miri: one refill and one spill is what it is to see.
        let (count, turns) = if cfg!(miri) { (1100, 4) } else { (2000, 20) };
        let pool = HeapPool::new(count, 64).unwrap();
        let (mut here, mut there) = (pool.cache(), pool.cache());
        for _ in 0..turns {
            there.release(Burst::of(&mut all(&mut *here, 256)));
        }
        drop((here, there));
        assert_eq!(pool.usage().free, count);
    }

    #[test]
    fn a_packet_outlives_its_pool() {
        let pool = HeapPool::new(2, 64).unwrap();
        let mut packet = pool.cache().copy_of(b"still here").unwrap();
        drop(pool);
        packet.bytes_mut()[0] = b'S';
        assert_eq!(packet.bytes(), b"Still here");
        // Its own pool is gone: it serves another, which will not count it as one of its own.
        let other = HeapPool::new(1, 64).unwrap();
        let mut cache = other.cache();
        cache.release_one(packet);
        let mine = cache.copy_of(b"mine").unwrap();
        assert!(cache.copy_of(b"borrowed").is_some());
        drop((cache, other));
        assert_eq!(mine.bytes(), b"mine");
    }

    #[test]
    fn a_pool_that_is_whole_becomes_as_new_and_another_stays() {
        let mut pool = HeapPool::new(3, 64).unwrap();
        let mut cache = pool.cache();
        let addresses = |packets: &[PacketBuf]| -> Vec<_> {
            packets.iter().map(|packet| packet.as_ptr()).collect()
        };
        let mut packets = all(&mut *cache, 3);
        let first = addresses(&packets);
        packets.reverse();
        assert!(packets[0].fill(b"of before"));
        assert!(!pool.renew(), "a cache is left");
        let kept = packets.pop().unwrap();
        cache.release(Burst::of(&mut packets));
        drop(cache);
        assert!(!pool.renew(), "somebody has a buffer");
        assert_eq!(kept.bytes(), b"");
        pool.cache().release_one(kept);
        assert!(pool.renew());
        let mut cache = pool.cache();
        let mut packets = all(&mut *cache, 3);
        assert_eq!(addresses(&packets), first, "in the order of a new one");
        for packet in &mut packets {
            assert_eq!(packet.append(9).map(|room| &*room), Some(&[0; 9][..]));
        }
        cache.release(Burst::of(&mut packets));
        drop(cache);
        assert_eq!(pool.usage().free, 3);
    }

    #[test]
    fn a_frame_too_large_for_a_buffer_is_refused() {
        let pool = HeapPool::new(4, 60).unwrap();
        assert!(pool.cache().copy_of(&[0; 4000]).is_none());
        assert_eq!(pool.usage().free, 4);
        assert_eq!(HeapPool::new(4, 70_000).err(), Some(PoolError::FrameTooLarge(70_000)));
    }
}
