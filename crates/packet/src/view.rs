//! One packet of a frame: what a node sees. Every method keeps the frame's promise, so node files
//! need no `unsafe`.
//!
//! ```text
//!  │ headroom │←─ consumed ─→│←──── length ────→│
//!             frame start    header             end
//! ```
//! A packet that others hold, too ([`PacketView::share`]), leaves as it is: it is looked at like
//! any other, its header moves, and what is written goes aside, where nobody sends it. Such packets
//! are only led to nodes that write nothing; the rest is for when a configuration changes while
//! they are on their way.

use crate::frame;
use crate::mbuf::Mbuf;
use crate::private::{Private, end_of, told_of};
use crate::{Frame, PacketBuf, PacketCache, SLACK, prefetch_read};
use core::net::IpAddr;
use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;

/// References of one buffer, at most: far from where their count would end.
const MOST_REFERENCES: u16 = 1 << 14;

/// Copies bytes. Hardly ever done, but it stands in the loops of all nodes that write: a call there
/// would have every packet's registers saved around it (two cycles a packet of `ip4-rewrite`).
///
/// # Safety
/// So many bytes can be read and written, and do not overlap.
#[inline(always)]
unsafe fn copy_without_a_call(from: *const u8, to: *mut u8, count: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the caller's word; the direction flag is clear between instructions of Rust.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rcx") count => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: the caller's word.
    unsafe {
        core::ptr::copy_nonoverlapping(from, to, count);
    }
}

/// One packet, borrowed. There is one view of a frame's packets at a time:
///
/// ```compile_fail,E0499
/// let mut frame = packet::Frame::new();
/// let mut one = frame.view(0);
/// let mut other = frame.view(0); // the frame is borrowed
/// one.header_mut().swap_with_slice(other.header_mut());
/// ```
///
/// ```compile_fail,E0502
/// let mut frame = packet::Frame::new();
/// let mut packet = frame.view(0);
/// let header = packet.header();
/// packet.advance(14); // the header is looked at
/// assert_eq!(header.len(), 14);
/// ```
///
/// and none outlives the packets that it shows:
///
/// ```compile_fail,E0499
/// use packet::{HeapPool, Pool};
/// let mut frame = packet::Frame::new();
/// let packet = frame.view(0);
/// HeapPool::new(1, 64).unwrap().cache().release(frame.take_all());
/// packet.header(); // given back
/// ```
pub struct PacketView<'f> {
    frame: &'f mut Frame,
    index: usize,
}

impl Frame {
    /// One packet.
    #[inline]
    pub fn view(&mut self, index: usize) -> PacketView<'_> {
        assert!(index < self.count, "slot {index} of a frame of {}", self.count);
        PacketView { frame: self, index }
    }

    /// Looks at each packet in order, its header prefetched.
    #[inline(always)]
    pub fn each(&mut self, mut look: impl FnMut(PacketView<'_>)) {
        for index in 0..self.count {
            // Slots behind the count hold stale or null addresses: a prefetch may name any.
            prefetch_read(self.header[index + frame::AHEAD]);
            look(PacketView { frame: self, index });
        }
    }

    /// The same of those in some slots.
    #[inline(always)]
    pub fn each_of(&mut self, slots: Range<usize>, mut look: impl FnMut(PacketView<'_>)) {
        for index in slots.start..slots.end.min(self.count) {
            prefetch_read(self.header[index + frame::AHEAD]);
            look(PacketView { frame: self, index });
        }
    }

    /// Shows eight octets of each packet's header from an offset on, as a number in network order:
    /// [`u64::from_be_bytes`]. Says no, and shows nothing, where a packet has fewer.
    #[inline(always)]
    pub fn each_word(&self, offset: usize, mut show: impl FnMut(usize, u64)) -> bool {
        if (self.shortest() as usize) < offset + 8 {
            return false;
        }
        for index in 0..self.count {
            prefetch_read(self.header[index + frame::AHEAD]);
            // SAFETY: no packet is shorter, nor taken: that one would have no length.
            let word = unsafe { self.header[index].add(offset).cast::<u64>().read_unaligned() };
            show(index, u64::from_be(word));
        }
        true
    }

    /// Shows the first `N` octets of each packet, from its header on. Says no, and shows nothing,
    /// where a packet has fewer.
    #[inline(always)]
    pub fn each_front<const N: usize>(&self, mut show: impl FnMut(usize, &[u8; N])) -> bool {
        let Some(fronts) = self.fronts_of(0..self.count) else { return false };
        for (index, front) in fronts {
            show(index, front);
        }
        true
    }

    /// The same of those in some slots, with their slots; none where any of the frame has fewer.
    #[inline(always)]
    pub fn fronts_of<const N: usize>(
        &self,
        slots: Range<usize>,
    ) -> Option<impl Iterator<Item = (usize, &[u8; N])>> {
        const { assert!(N > 0) };
        if (self.shortest() as usize) < N {
            return None;
        }
        Some((slots.start..slots.end.min(self.count)).map(|index| {
            prefetch_read(self.header[index + frame::AHEAD]);
            // SAFETY: no packet is shorter, nor taken: that one would have no length.
            (index, unsafe { &*self.header[index].cast() })
        }))
    }

    /// The same, to change, with what the lookup found for the packet. Says no, too, where others
    /// may hold a packet.
    #[inline(always)]
    pub fn each_front_mut<const N: usize>(
        &mut self,
        mut change: impl FnMut(usize, u32, &mut [u8; N]),
    ) -> bool {
        const { assert!(N > 0) };
        if (self.shortest() as usize) < N || self.shared {
            return false;
        }
        for index in 0..self.count {
            // SAFETY: as above, and nobody else holds a packet.
            change(index, self.adjacency[index], unsafe { &mut *self.header[index].cast() });
        }
        true
    }

    /// Whether `look` says yes to every packet: asked in order, its header prefetched, until a no.
    #[inline(always)]
    pub fn all(&mut self, mut look: impl FnMut(PacketView<'_>) -> bool) -> bool {
        for index in 0..self.count {
            prefetch_read(self.header[index + frame::AHEAD]);
            if !look(PacketView { frame: self, index }) {
                return false;
            }
        }
        true
    }
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

    /// The same, to change; of a packet that others hold too, a copy that nobody sends.
    #[inline]
    pub fn header_mut(&mut self) -> &mut [u8] {
        let length = self.length();
        let header = match self.frame.shared {
            false => self.frame.header[self.index],
            true => self.header_of_shared(),
        };
        // SAFETY: the frame's promise, and nobody else holds these bytes.
        unsafe { core::slice::from_raw_parts_mut(header, length) }
    }

    /// Where a packet of a frame that is marked as shared is written. Cold, so that the usual
    /// packet does not jump over it; in line nevertheless, see [`copy_without_a_call`].
    #[cold]
    #[inline(always)]
    fn header_of_shared(&mut self) -> *mut u8 {
        let (header, length) = (self.frame.header[self.index], self.length());
        if self.frame.is_alone(self.index) {
            return header;
        }
        let aside = self.frame.aside.as_mut_ptr();
        debug_assert!(length <= self.frame.aside.len());
        // SAFETY: the frame's promise; a frame that is marked as shared has a place for the longest
        // packet there is (`Frame::mark_shared`).
        unsafe { copy_without_a_call(header, aside, length) };
        aside
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
        if bytes > consumed && !self.has_headroom(bytes - consumed) {
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

    /// Its buffer's header, if there is a packet here and nobody else holds it.
    #[inline(always)]
    fn own_mbuf(&self) -> Option<&Mbuf> {
        // SAFETY: a view is of a slot below the count, which does not change while it lives.
        unsafe { self.frame.own_mbuf(self.index) }
    }

    /// The buffer's header, and how far into the buffer the packet's header is; none of an empty
    /// slot.
    pub(crate) fn place(&self) -> Option<(&Mbuf, usize)> {
        // SAFETY: a live buffer or, of an empty slot, null; lent with the frame.
        let mbuf = unsafe { self.frame.packet[self.index].as_ref() }?;
        let header = self.frame.header[self.index] as usize;
        Some((mbuf, header.checked_sub(mbuf.buf_addr as usize)?))
    }

    /// Whether so many bytes are free in front of the frame's start. Reads the buffer header.
    #[inline(always)]
    fn has_headroom(&self, bytes: usize) -> bool {
        let start = self.frame.header[self.index] as usize - self.consumed();
        self.own_mbuf().is_some_and(|mbuf| start - mbuf.buf_addr as usize >= bytes)
    }

    /// Cuts the packet behind `bytes` bytes from its header, if it is longer.
    #[inline]
    pub fn truncate(&mut self, bytes: usize) {
        let length = &mut self.frame.length[self.index];
        *length = (*length).min(bytes.min(u32::MAX as usize) as u32);
    }

    /// Lengthens the packet by `bytes` (of any content) at its end; false when the buffer is full.
    pub fn extend(&mut self, bytes: usize) -> bool {
        let end = self.frame.header[self.index] as usize + self.length();
        let limit = |mbuf: &Mbuf| mbuf.buf_addr as usize + usize::from(mbuf.buf_len);
        if bytes > self.own_mbuf().map_or(0, |mbuf| limit(mbuf) - end) {
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

    /// Takes the packet out of its frame, from its header on: what is left is an empty slot, and
    /// the node names the exit "taken". None where it was taken before, or where others hold it,
    /// too: such a packet leaves as it is, or not at all.
    #[inline]
    pub fn take(&mut self) -> Option<PacketBuf> {
        let packet = NonNull::new(self.frame.packet[self.index])?;
        if self.frame.shared && !self.frame.is_alone(self.index) {
            return None;
        }
        let (rx, tx) = (self.rx(), self.tx());
        // SAFETY: nobody else holds it; its reference moves from the slot to the handle.
        let packet = unsafe {
            self.frame.commit_slot(self.index);
            let mut packet = PacketBuf::from_raw(packet);
            let private = packet.private_mut();
            (private.rx, private.tx) = (rx, tx);
            packet
        };
        self.frame.empty(self.index);
        Some(packet)
    }

    /// Puts a packet that was taken into its slot again: the node names another exit after all.
    /// What else may be in the slot is lost.
    pub fn put_back(&mut self, packet: PacketBuf) {
        self.frame.put(self.index, packet);
    }

    /// Gives the buffer back; the node names the exit "taken".
    #[inline]
    pub fn release(&mut self, cache: &mut dyn PacketCache) {
        if let Some(packet) = NonNull::new(self.frame.packet[self.index]) {
            self.frame.empty(self.index);
            // SAFETY: its reference moves from the slot to the handle.
            cache.release_one(unsafe { PacketBuf::from_raw(packet) });
        }
    }

    /// Makes `count` references more of the buffer, each of the packet from its header on as it is
    /// now: for frames that leave by several ports as they are.
    pub fn share(&mut self, count: u16) -> References {
        let slot = self.index;
        let none = References { packet: NonNull::dangling(), left: 0 };
        let Some(packet) = NonNull::new(self.frame.packet[slot]) else { return none };
        if self.frame.is_alone(slot) {
            // SAFETY: there is a packet, and nobody else holds it.
            unsafe { self.frame.commit_slot(slot) };
        } else if !self.is_committed() {
            return none;
        }
        // SAFETY: a live buffer.
        let references = unsafe { &(*packet.as_ptr()).refcnt };
        if references.load(Ordering::Relaxed).saturating_add(count) > MOST_REFERENCES {
            return none;
        }
        references.fetch_add(count, Ordering::Relaxed);
        self.frame.mark_shared();
        References { packet, left: count }
    }

    /// Whether the buffer header says what the frame's arrays say, of a packet that is there.
    fn is_committed(&self) -> bool {
        // SAFETY: a live buffer, lent with the frame.
        let mbuf = unsafe { &*self.frame.packet[self.index] };
        let start = mbuf.buf_addr as usize + usize::from(mbuf.data_off);
        start == self.frame.header[self.index] as usize
            && usize::from(mbuf.data_len) == self.length()
    }

    /// Whether it came in several buffers. Reads the buffer header.
    pub fn is_chain(&self) -> bool {
        let packet = self.frame.packet[self.index];
        // SAFETY: a live buffer, lent with the frame.
        !packet.is_null() && unsafe { (*packet).nb_segs } != 1
    }

    /// A copy of the whole frame, headers already consumed included; a large one stays one. None
    /// where there is no buffer for it.
    pub fn copy(&self, cache: &mut dyn PacketCache) -> Option<PacketBuf> {
        let mut copy = cache.copy_of(self.whole())?;
        if let Some(large) = self.large_whole()
            && !copy.set_large(Some(large))
        {
            cache.release_one(copy);
            return None;
        }
        Some(copy)
    }

    /// Number of the trace that follows it; 0: none. Reads the buffer's second line.
    pub fn trace(&self) -> u32 {
        // SAFETY: a live buffer, only looked at: the handle goes nowhere.
        NonNull::new(self.frame.packet[self.index])
            .map_or(0, |packet| unsafe { PacketBuf::from_raw(packet) }.trace())
    }

    /// The queue that it is to wait in, if that was said in the pass of the graph that began at
    /// `now_tsc`. Reads the buffer's second line.
    pub fn queue(&self, now_tsc: u64) -> Option<u32> {
        let packet = NonNull::new(self.frame.packet[self.index])?;
        // SAFETY: a live buffer, only looked at: the handle goes nowhere.
        let packet = unsafe { PacketBuf::from_raw(packet) };
        let private = packet.private();
        (private.queue_tsc == now_tsc).then_some(private.queue)
    }

    /// Says which queue it is to wait in, for nodes behind in this pass. Nothing where others hold
    /// the packet, too.
    pub fn set_queue(&mut self, queue: u32, now_tsc: u64) {
        if let Some(packet) = NonNull::new(self.frame.packet[self.index]) {
            // SAFETY: a live buffer; the handle goes nowhere.
            let mut packet = unsafe { PacketBuf::from_raw(packet) };
            if !packet.is_shared() {
                // SAFETY: nobody else holds it.
                let private = unsafe { packet.private_mut() };
                (private.queue, private.queue_tsc) = (queue, now_tsc);
            }
        }
    }

    /// The other end of its tunnel, as it was told last: of a tunnel alone whose packets each have
    /// their own. Reads the buffer's second line.
    pub fn remote(&self) -> Option<IpAddr> {
        end_of(self.told(|told| told.remote)?)
    }

    /// Our end of its tunnel, likewise.
    pub fn local(&self) -> Option<IpAddr> {
        end_of(self.told(|told| told.local)?)
    }

    /// Tells the other end of its tunnel, or that nobody said any. Nothing where others hold the
    /// packet, too.
    pub fn set_remote(&mut self, remote: Option<IpAddr>) {
        self.tell(|told| told.remote = told_of(remote));
    }

    /// Tells our end of its tunnel, likewise.
    pub fn set_local(&mut self, local: Option<IpAddr>) {
        self.tell(|told| told.local = told_of(local));
    }

    fn told<T>(&self, read: impl FnOnce(&Private) -> T) -> Option<T> {
        let packet = NonNull::new(self.frame.packet[self.index])?;
        // SAFETY: a live buffer, only looked at: the handle goes nowhere.
        Some(read(unsafe { PacketBuf::from_raw(packet) }.private()))
    }

    fn tell(&mut self, tell: impl FnOnce(&mut Private)) {
        if let Some(packet) = NonNull::new(self.frame.packet[self.index]) {
            // SAFETY: a live buffer; the handle goes nowhere.
            let mut packet = unsafe { PacketBuf::from_raw(packet) };
            if !packet.is_shared() {
                // SAFETY: nobody else holds it.
                tell(unsafe { packet.private_mut() });
            }
        }
    }

    /// Has a trace follow it, or none. Nothing where others hold the packet, too.
    pub fn set_trace(&mut self, trace: u32) {
        if let Some(packet) = NonNull::new(self.frame.packet[self.index]) {
            // SAFETY: a live buffer; the handle goes nowhere.
            unsafe { PacketBuf::from_raw(packet) }.set_trace(trace);
        }
    }
}

/// References of one buffer that [`PacketView::share`] made. Those that nobody fetches keep it from
/// its pool.
#[must_use = "a reference that nobody gives back keeps the buffer from its pool"]
pub struct References {
    packet: NonNull<Mbuf>,
    left: u16,
}

impl Iterator for References {
    type Item = PacketBuf;

    #[inline]
    fn next(&mut self) -> Option<PacketBuf> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: one of the references that were counted for us; none was handed out twice.
        Some(unsafe { PacketBuf::from_raw(self.packet) })
    }
}

#[cfg(test)]
mod tests;
