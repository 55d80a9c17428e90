//! One packet of a frame: what a node sees. Every method keeps the frame's promise, so node files
//! need no `unsafe`.
//!
//! ```text
//!  │ headroom │←─ consumed ─→│←──── length ────→│
//!             frame start    header             end
//! ```

use crate::mbuf::MBUF_HEADER_BYTES;
use crate::{Frame, PacketPtr, SLACK};

/// One packet, borrowed.
pub struct PacketView<'f> {
    pub(crate) frame: &'f mut Frame,
    pub(crate) index: usize,
}

impl PacketView<'_> {
    /// Its slot in the frame.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The `N` bytes consumed last, right in front of the header; none where fewer were.
    #[inline]
    pub fn consumed_last<const N: usize>(&self) -> Option<&[u8; N]> {
        if self.consumed() < N {
            return None;
        }
        // SAFETY: `consumed` bytes before the header are the frame's own (kept by every method).
        Some(unsafe { &*self.frame.header[self.index].sub(N).cast() })
    }

    /// Bytes from the header to the frame's end.
    #[inline]
    pub fn length(&self) -> usize {
        self.frame.length[self.index] as usize
    }

    /// Bytes between the frame's start and the header.
    #[inline]
    pub fn consumed(&self) -> usize {
        usize::from(self.frame.consumed[self.index])
    }

    /// From the header to the frame's end.
    #[inline]
    pub fn header(&self) -> &[u8] {
        // SAFETY: the frame's promise.
        unsafe { core::slice::from_raw_parts(self.frame.header[self.index], self.length()) }
    }

    /// The same, to change.
    #[inline]
    pub fn header_mut(&mut self) -> &mut [u8] {
        let length = self.length();
        // SAFETY: the frame's promise; the frame's holder alone uses the packet.
        unsafe { core::slice::from_raw_parts_mut(self.frame.header[self.index], length) }
    }

    /// The whole frame from its start, headers already consumed included.
    pub fn whole(&self) -> &[u8] {
        let (consumed, length) = (self.consumed(), self.length());
        // SAFETY: `consumed` bytes before the header are the frame's own (kept by every method).
        unsafe {
            let start = self.frame.header[self.index].sub(consumed);
            core::slice::from_raw_parts(start, consumed + length)
        }
    }

    /// Moves the header over `bytes`; false, and nothing moved, when the packet is shorter.
    #[inline]
    pub fn advance(&mut self, bytes: usize) -> bool {
        if bytes > self.length() || self.consumed() + bytes > usize::from(u16::MAX) {
            return false;
        }
        // SAFETY: the new header is at most the frame's end.
        let header = unsafe { self.frame.header[self.index].add(bytes) };
        self.frame.header[self.index] = header;
        self.frame.length[self.index] -= bytes as u32;
        self.frame.consumed[self.index] += bytes as u16;
        true
    }

    /// Puts `bytes` bytes in front of the header: consumed ones first, then headroom. False, and
    /// nothing moved, when the buffer has no room for them.
    #[inline]
    pub fn prepend(&mut self, bytes: usize) -> bool {
        let consumed = self.consumed();
        if bytes > consumed && bytes - consumed > self.headroom() {
            return false;
        }
        // SAFETY: the bytes were consumed from this frame or are headroom of its buffer.
        let header = unsafe { self.frame.header[self.index].sub(bytes) };
        self.frame.header[self.index] = header;
        self.frame.length[self.index] += bytes as u32;
        self.frame.consumed[self.index] = consumed.saturating_sub(bytes) as u16;
        true
    }

    /// Forgets what was consumed: the header is the frame's start now, as after decapsulation.
    pub fn start_here(&mut self) {
        self.frame.consumed[self.index] = 0;
    }

    /// Bytes free in front of the frame's start. Reads the buffer header.
    fn headroom(&self) -> usize {
        let start = self.frame.header[self.index] as usize - self.consumed();
        start - self.packet().mbuf().buf_addr as usize
    }

    /// Cuts the packet behind `bytes` bytes from its header, if it is longer.
    #[inline]
    pub fn truncate(&mut self, bytes: usize) {
        let length = &mut self.frame.length[self.index];
        *length = (*length).min(bytes.min(u32::MAX as usize) as u32);
    }

    /// Lengthens the packet by `bytes` (of any content) at its end; false when the buffer is full.
    pub fn extend(&mut self, bytes: usize) -> bool {
        let mbuf = self.packet();
        let end = self.frame.header[self.index] as usize + self.length();
        let limit = mbuf.mbuf().buf_addr as usize + usize::from(mbuf.mbuf().buf_len);
        debug_assert!(limit - MBUF_HEADER_BYTES > mbuf.as_ptr() as usize);
        if bytes > limit - end {
            return false;
        }
        self.frame.length[self.index] += bytes as u32;
        true
    }

    /// The interface it came in by.
    #[inline]
    pub fn rx(&self) -> u16 {
        self.frame.rx[self.index]
    }

    /// Makes it look as if it had come in by `interface`.
    #[inline]
    pub fn set_rx(&mut self, interface: u16) {
        self.frame.rx[self.index] = interface;
    }

    /// The interface it leaves by.
    #[inline]
    pub fn tx(&self) -> u16 {
        self.frame.tx[self.index]
    }

    /// Sets the interface it leaves by.
    #[inline]
    pub fn set_tx(&mut self, interface: u16) {
        self.frame.tx[self.index] = interface;
    }

    /// What the lookup found.
    #[inline]
    pub fn adjacency(&self) -> u32 {
        self.frame.adjacency[self.index]
    }

    /// What the lookup found for the packet that comes `AHEAD` slots later; anything behind the
    /// last.
    #[inline]
    pub fn adjacency_ahead<const AHEAD: usize>(&self) -> u32 {
        const { assert!(AHEAD <= SLACK) };
        self.frame.adjacency[self.index + AHEAD]
    }

    /// Sets what the lookup found.
    #[inline]
    pub fn set_adjacency(&mut self, adjacency: u32) {
        self.frame.adjacency[self.index] = adjacency;
    }

    /// Why it came to this node, where the edge says so.
    #[inline]
    pub fn cause(&self) -> u16 {
        self.frame.cause[self.index]
    }

    /// Writes start and length into the buffer header and hands the buffer out. The node then
    /// names the exit "taken": the frame forgets the packet.
    pub fn take(mut self) -> PacketPtr {
        self.leave()
    }

    /// The same, where the view is needed once more: to name an exit after all.
    pub fn leave(&mut self) -> PacketPtr {
        let mut packet = self.packet();
        let private = packet.private_mut();
        (private.rx, private.tx) = (self.rx(), self.tx());
        // SAFETY: the frame's promise.
        unsafe { packet.commit(self.frame.header[self.index], self.frame.length[self.index]) };
        packet
    }

    /// Has `count` more hold the buffer, each with the packet from its header on. The holders must
    /// not change it: this is for frames that leave by several ports as they are.
    pub fn share(&mut self, count: u16) -> PacketPtr {
        let packet = self.packet();
        // SAFETY: the frame's promise.
        unsafe { packet.commit(self.frame.header[self.index], self.frame.length[self.index]) };
        packet.add_holders(count);
        packet
    }

    /// The buffer, for the engine's slow paths.
    pub fn packet(&self) -> PacketPtr {
        self.frame.packets()[self.index]
    }
}
