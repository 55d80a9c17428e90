//! A handle on one packet buffer.

use crate::mbuf::{HEADROOM_BYTES, Mbuf};
use crate::private::Private;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU16, Ordering};

/// A packet buffer, by address. Copying the handle copies no packet; who may use it is a matter of
/// ownership: a frame, a queue or a pool holds each buffer once.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PacketPtr(NonNull<Mbuf>);

// SAFETY: a buffer is plain memory with no tie to a thread; at any time one holder uses it.
unsafe impl Send for PacketPtr {}

impl PacketPtr {
    /// Wraps a buffer's address.
    ///
    /// # Safety
    /// `mbuf` is a live buffer of a pool made with [`crate::PRIVATE_BYTES`] private bytes, and the
    /// caller hands over its ownership.
    pub unsafe fn new(mbuf: NonNull<Mbuf>) -> Self {
        Self(mbuf)
    }

    /// The buffer's address.
    pub fn as_ptr(self) -> *mut Mbuf {
        self.0.as_ptr()
    }

    /// The buffer header, read.
    pub fn mbuf(&self) -> &Mbuf {
        // SAFETY: a PacketPtr is a live buffer (see `new`).
        unsafe { self.0.as_ref() }
    }

    /// The buffer header, to change.
    pub fn mbuf_mut(&mut self) -> &mut Mbuf {
        // SAFETY: as in `mbuf`; the holder is the only user.
        unsafe { self.0.as_mut() }
    }

    /// Our private words.
    pub fn private(&self) -> &Private {
        // SAFETY: each pool reserves the private area right behind the header.
        unsafe { &*self.0.as_ptr().add(1).cast::<Private>() }
    }

    /// Our private words, to change.
    pub fn private_mut(&mut self) -> &mut Private {
        // SAFETY: as in `private`; the holder is the only user.
        unsafe { &mut *self.0.as_ptr().add(1).cast::<Private>() }
    }

    /// Address of the frame's first byte.
    pub fn start(&self) -> *mut u8 {
        let mbuf = self.mbuf();
        // SAFETY: data_off lies inside the buffer.
        unsafe { mbuf.buf_addr.add(usize::from(mbuf.data_off)) }
    }

    /// The frame's bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: data_off + data_len lies inside the buffer, and the holder alone writes it.
        unsafe { core::slice::from_raw_parts(self.start(), usize::from(self.mbuf().data_len)) }
    }

    /// The frame's bytes, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let length = usize::from(self.mbuf().data_len);
        // SAFETY: as in `bytes`.
        unsafe { core::slice::from_raw_parts_mut(self.start(), length) }
    }

    /// Most bytes a frame can have in this buffer behind the standard headroom.
    pub fn capacity_bytes(&self) -> usize {
        usize::from(self.mbuf().buf_len).saturating_sub(HEADROOM_BYTES)
    }

    /// Replaces the frame by `bytes`, behind the standard headroom. False if they do not fit.
    pub fn fill(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() > self.capacity_bytes() {
            return false;
        }
        let mbuf = self.mbuf_mut();
        mbuf.data_off = HEADROOM_BYTES as u16;
        mbuf.data_len = bytes.len() as u16;
        mbuf.pkt_len = bytes.len() as u32;
        self.private_mut().template = 0;
        self.bytes_mut().copy_from_slice(bytes);
        true
    }

    /// Adds holders: each of them, and the one there is, gives up one reference in the end. While
    /// there are several, nobody changes the buffer.
    pub fn add_holders(self, count: u16) {
        // SAFETY: the buffer is live; its count is only ever changed atomically while shared.
        let references = unsafe { AtomicU16::from_ptr(&raw mut (*self.0.as_ptr()).refcnt) };
        references.fetch_add(count, Ordering::Relaxed);
    }

    /// Makes the buffer hold `template` again, cut to its room. Of a buffer that still holds it, as
    /// `number` (not 0) says, only the first `header_bytes` are written: all that forwarding
    /// changes.
    #[inline]
    pub fn refill(&mut self, template: &[u8], number: u32, header_bytes: usize) {
        let length = template.len().min(self.capacity_bytes());
        let fresh = self.private().template != number;
        let stale = if fresh { length } else { length.min(header_bytes) };
        let mbuf = self.mbuf_mut();
        mbuf.data_off = HEADROOM_BYTES as u16;
        mbuf.data_len = length as u16;
        mbuf.pkt_len = length as u32;
        self.private_mut().template = number;
        self.bytes_mut()[..stale].copy_from_slice(&template[..stale]);
    }

    /// Sets where the frame starts and how long it is, as the frame arrays say.
    ///
    /// # Safety
    /// `start .. start + length` lies inside this buffer.
    #[inline]
    pub unsafe fn commit(self, start: *const u8, length: u32) {
        let mbuf = self.0.as_ptr();
        // SAFETY: the buffer is live; the caller vouches for the range.
        unsafe {
            (*mbuf).data_off = start.offset_from((*mbuf).buf_addr) as u16;
            (*mbuf).data_len = length as u16;
            (*mbuf).pkt_len = length;
        }
    }
}
