//! A packet's buffer, owned.
//!
//! ```text
//!  pool ─▶ PacketBuf ─▶ frame ─▶ PacketBuf ─▶ pool       moved, never copied: a buffer has one owner,
//!                         └▶ share: more references       or owners that only read, as many as it counts
//! ```
//! What is written is written by an only owner: whoever holds a buffer that others hold too, may
//! read it, send it and give it back. Every method keeps to that, so that safe code cannot break
//! it.

use crate::mbuf::{HEADROOM_BYTES, Mbuf};
use crate::private::Private;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;

/// A packet's buffer, or one of the references that share it. It belongs to a pool and goes back
/// there by [`crate::PacketCache`], or leaves by a port's [`crate::TxQueue`]: dropping it only
/// loses it to its pool.
///
/// It cannot be used twice, and not after it was given back:
///
/// ```compile_fail,E0382
/// use packet::{HeapPool, Pool};
/// let pool = HeapPool::new(1, 64).unwrap();
/// let packet = pool.cache().copy_of(b"one").unwrap();
/// let twin = packet;
/// assert_eq!(packet.bytes(), twin.bytes()); // moved
/// ```
///
/// ```compile_fail,E0599
/// use packet::{HeapPool, Pool};
/// let pool = HeapPool::new(1, 64).unwrap();
/// let packet = pool.cache().copy_of(b"one").unwrap();
/// let twin = packet.clone(); // there is no such method
/// ```
///
/// ```compile_fail,E0382
/// use packet::{HeapPool, Pool};
/// let mut cache = HeapPool::new(1, 64).unwrap().cache();
/// let packet = cache.copy_of(b"one").unwrap();
/// cache.release_one(packet);
/// cache.release_one(packet); // given back twice
/// ```
///
/// ```compile_fail,E0382
/// use packet::{HeapPool, Pool};
/// let mut cache = HeapPool::new(1, 64).unwrap().cache();
/// let packet = cache.copy_of(b"one").unwrap();
/// cache.release_one(packet);
/// packet.bytes(); // used after it was given back
/// ```
///
/// Nor are there two ways to its bytes while one of them writes:
///
/// ```compile_fail,E0502
/// use packet::{HeapPool, Pool};
/// let mut packet = HeapPool::new(1, 64).unwrap().cache().copy_of(b"one").unwrap();
/// let read = packet.bytes();
/// packet.bytes_mut()[0] = 0;
/// assert_eq!(read, b"one");
/// ```
#[repr(transparent)]
#[must_use = "a buffer that nobody gives back is lost to its pool"]
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct PacketBuf(NonNull<Mbuf>);

// SAFETY: a buffer is plain memory with no tie to a thread. What several may do at once with their
// references of one buffer is reading, and counting, which is atomic.
unsafe impl Send for PacketBuf {}

impl PacketBuf {
    /// Takes a buffer, or a reference of one, over.
    ///
    /// # Safety
    /// `mbuf` is a live buffer of a pool made with [`crate::PRIVATE_BYTES`] private bytes, its
    /// frame lies inside it, and the caller hands over the ownership of one of the references that
    /// it counts.
    #[inline]
    pub unsafe fn from_raw(mbuf: NonNull<Mbuf>) -> Self {
        Self(mbuf)
    }

    /// Hands it over as an address. Who drops that has lost the buffer, no more.
    #[inline]
    pub fn into_raw(self) -> NonNull<Mbuf> {
        self.0
    }

    /// The buffer's address.
    #[inline]
    pub fn as_ptr(&self) -> *mut Mbuf {
        self.0.as_ptr()
    }

    /// The buffer header, read.
    #[inline]
    pub fn mbuf(&self) -> &Mbuf {
        // SAFETY: live while we hold a reference; what is written while others hold one, too, is
        // the count alone, an atomic.
        unsafe { self.0.as_ref() }
    }

    /// The buffer header, to change.
    ///
    /// # Safety
    /// Nobody else holds the buffer ([`PacketBuf::is_shared`]), and what `from_raw` asks for is
    /// true afterwards.
    #[inline]
    pub unsafe fn mbuf_mut(&mut self) -> &mut Mbuf {
        // SAFETY: the caller's word.
        unsafe { self.0.as_mut() }
    }

    /// Whether others hold this buffer, too. Then nobody changes it.
    #[inline]
    pub fn is_shared(&self) -> bool {
        // Acquire: what those who let go had read of it, they had read before we write.
        self.mbuf().refcnt.load(Ordering::Acquire) != 1
    }

    /// Our private words.
    #[inline]
    pub(crate) fn private(&self) -> &Private {
        // SAFETY: each pool reserves the private area right behind the header; it is written by
        // only owners.
        unsafe { &*self.0.as_ptr().add(1).cast::<Private>() }
    }

    /// Our private words, to change.
    ///
    /// # Safety
    /// Nobody else holds the buffer.
    #[inline]
    pub(crate) unsafe fn private_mut(&mut self) -> &mut Private {
        // SAFETY: as in `private`, and the caller's word.
        unsafe { &mut *self.0.as_ptr().add(1).cast::<Private>() }
    }

    /// Number of the trace that follows it; 0: none. Meaningful while tracing is on.
    #[inline]
    pub fn trace(&self) -> u32 {
        self.private().trace
    }

    /// Has a trace follow it, or none. Nothing while others hold the buffer.
    #[inline]
    pub fn set_trace(&mut self, trace: u32) {
        if !self.is_shared() {
            // SAFETY: nobody else holds it.
            unsafe { self.private_mut() }.trace = trace;
        }
    }

    /// The interface that it came in by, when it was taken out of its frame.
    #[inline]
    pub fn rx(&self) -> u16 {
        self.private().rx
    }

    /// The interface that it was to leave by, when it was taken out of its frame.
    #[inline]
    pub fn tx(&self) -> u16 {
        self.private().tx
    }

    /// Address of the frame's first byte.
    #[inline]
    pub fn start(&self) -> *mut u8 {
        let mbuf = self.mbuf();
        // SAFETY: data_off lies inside the buffer.
        unsafe { mbuf.buf_addr.add(usize::from(mbuf.data_off)) }
    }

    /// The frame's bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: data_off + data_len lies inside the buffer, and only an only owner writes it.
        unsafe { core::slice::from_raw_parts(self.start(), usize::from(self.mbuf().data_len)) }
    }

    /// The frame's bytes, to change; none of them while others hold the buffer.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let length = if self.is_shared() { 0 } else { usize::from(self.mbuf().data_len) };
        // SAFETY: as in `bytes`, and we are the only owner where there is a byte.
        unsafe { core::slice::from_raw_parts_mut(self.start(), length) }
    }

    /// Most bytes a frame can have in this buffer behind the standard headroom.
    #[inline]
    pub fn capacity_bytes(&self) -> usize {
        usize::from(self.mbuf().buf_len).saturating_sub(HEADROOM_BYTES)
    }

    /// Replaces the frame by `bytes`, behind the standard headroom. False if they do not fit, or
    /// others hold the buffer.
    pub fn fill(&mut self, bytes: &[u8]) -> bool {
        self.fill_behind(HEADROOM_BYTES, bytes)
    }

    /// The same, with so many bytes free in front.
    pub fn fill_behind(&mut self, headroom_bytes: usize, bytes: &[u8]) -> bool {
        let room = usize::from(self.mbuf().buf_len).saturating_sub(headroom_bytes);
        if bytes.len() > room || self.is_shared() {
            return false;
        }
        // SAFETY: nobody else holds it, and they fit.
        unsafe { self.restart(headroom_bytes, bytes.len(), 0).copy_from_slice(bytes) };
        true
    }

    /// Replaces the frame by bytes that others may write meanwhile: each is what it was at some
    /// moment. False if they do not fit, or others hold the buffer.
    ///
    /// # Safety
    /// So many bytes may be read there, none of them in this buffer.
    #[inline]
    pub unsafe fn fill_from(&mut self, bytes: *const u8, length: usize) -> bool {
        if length > self.capacity_bytes() || self.is_shared() {
            return false;
        }
        // SAFETY: nobody else holds it, they fit, and the caller's word.
        unsafe {
            let room = self.restart(HEADROOM_BYTES, length, 0).as_mut_ptr();
            core::ptr::copy_nonoverlapping(bytes, room, length);
        }
        true
    }

    /// Has `write` write behind the standard headroom, anywhere in the room there is, and makes the
    /// frame the so many bytes that it says, at most all. False, and nobody asked, while others
    /// hold the buffer.
    pub fn fill_by(&mut self, write: impl FnOnce(&mut [u8]) -> usize) -> bool {
        if self.is_shared() {
            return false;
        }
        let room = self.capacity_bytes();
        // SAFETY: nobody else holds it, and a buffer has its room. Whatever is in there are bytes:
        // pools make their memory zeroes.
        let written = write(unsafe { self.restart(HEADROOM_BYTES, room, 0) }).min(room);
        // SAFETY: as above.
        unsafe { self.restart(HEADROOM_BYTES, written, 0) };
        true
    }

    /// So many bytes more at the end of the frame, to be written: what is in them is not said. None
    /// if they do not fit, or others hold the buffer.
    #[inline]
    pub fn append(&mut self, length: usize) -> Option<&mut [u8]> {
        let mbuf = self.mbuf();
        let (start, held) = (usize::from(mbuf.data_off), usize::from(mbuf.data_len));
        let room = usize::from(mbuf.buf_len).checked_sub(start + held)?;
        if length > room || self.is_shared() {
            return None;
        }
        // SAFETY: nobody else holds it, and there is room for all of it.
        unsafe { self.restart(start, held + length, 0).get_mut(held..) }
    }

    /// Makes the buffer hold `template` again, cut to its room. Of a buffer that still holds it, as
    /// `number` (not 0) says, only the first `header_bytes` are written: all that forwarding
    /// changes. Nothing is written while others hold the buffer.
    #[inline]
    pub fn refill(&mut self, template: &[u8], number: u32, header_bytes: usize) {
        if self.is_shared() {
            return;
        }
        let length = template.len().min(self.capacity_bytes());
        let fresh = self.private().template != number;
        let stale = if fresh { length } else { length.min(header_bytes) };
        // SAFETY: nobody else holds it, and it was cut to fit.
        let bytes = unsafe { self.restart(HEADROOM_BYTES, length, number) };
        bytes[..stale].copy_from_slice(&template[..stale]);
    }

    /// Makes it a frame of so many bytes behind a headroom, and remembers which.
    ///
    /// # Safety
    /// Nobody else holds the buffer, and it has so many bytes.
    #[inline]
    unsafe fn restart(&mut self, headroom: usize, length: usize, template: u32) -> &mut [u8] {
        debug_assert!(headroom + length <= self.mbuf().buf_len.into() && !self.is_shared());
        // SAFETY: the caller's word.
        unsafe {
            let mbuf = self.mbuf_mut();
            mbuf.data_off = headroom as u16;
            mbuf.data_len = length as u16;
            mbuf.pkt_len = length as u32;
            self.private_mut().template = template;
            core::slice::from_raw_parts_mut(self.start(), length)
        }
    }

    /// Hangs `rest` behind this buffer: one frame in several. False, and both as they were, where
    /// one of them is a chain already, or shared. The router itself makes no chains, and drops
    /// those that it is sent.
    pub fn chain(&mut self, mut rest: PacketBuf) -> Result<(), PacketBuf> {
        let is_sole = |packet: &Self| packet.mbuf().nb_segs == 1 && !packet.is_shared();
        if !is_sole(self) || !is_sole(&rest) {
            return Err(rest);
        }
        // SAFETY: both are ours alone; the chain is what its first buffer says.
        unsafe {
            let length = rest.mbuf_mut().pkt_len;
            let mbuf = self.mbuf_mut();
            mbuf.pkt_len += length;
            mbuf.nb_segs = 2;
            mbuf.next = rest.into_raw().as_ptr();
        }
        Ok(())
    }
}
