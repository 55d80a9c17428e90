//! Up to 256 packets as arrays: what nodes borrow and the engine moves.
//!
//! ```text
//!  slot      0     1     2   …  255 │ 32 slack slots for kernels that write 16 at once
//!  packet    ▪     ▪     ▪          │ the buffer
//!  header    ▪     ▪     ▪          │ first byte of the header being looked at
//!  length    ▪     ▪     ▪          │ bytes from there to the frame's end
//!  consumed  ▪     ▪     ▪          │ bytes between the frame's start and that header
//!  adjacency, rx, tx                │ what the lookup found, where it came from and goes to
//!  cause                            │ why it came here: written by the edge, see `fill_cause`
//! ```
//! Between `port_rx` and `port_tx` these arrays are the truth and the mbuf is not touched: its line
//! would cost more than the forwarding (docs/adr/0002-frames.md).
//!
//! The promise that every method keeps: a slot below the count is a live buffer of which the frame
//! holds one reference, `header .. header + length` and `consumed` bytes before lie in its frame,
//! or in its room; or the slot is empty, its packet taken: no buffer, no length.

use crate::compress::Kernel;
use crate::slots::{SLOTS, Selection, VECTOR};
use crate::{Burst, Groups, Mbuf, PacketBuf, prefetch_read, prefetch_write, vectorized};
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;

/// How many packets before its turn a packet's header is asked for.
pub(crate) const AHEAD: usize = 8;

/// The longest packet that a slot can have.
const MOST_BYTES: usize = 1 << 16;

/// Lists the arrays that travel with a packet once, so that no copy can forget one.
macro_rules! travelling {
    ($($name:ident: $type:ty = $empty:expr;)*) => {
        /// A vector of packets with what is known of each. See the module.
        #[repr(C, align(64))]
        pub struct Frame {
            // First, so that each begins a cache line.
            $(pub(crate) $name: [$type; SLOTS],)*
            pub(crate) cause: [u16; SLOTS],
            pub(crate) count: usize,
            /// Packets that were here when all left together.
            left: usize,
            pub(crate) traced: bool,
            /// Some buffer may have other holders, too.
            pub(crate) shared: bool,
            /// Some slot may be empty.
            pub(crate) holes: bool,
            /// Where changes of a shared packet go: see [`crate::PacketView::header_mut`].
            pub(crate) aside: Vec<u8>,
        }

        impl Frame {
            /// An empty frame, on the heap: it is some 9 KiB.
            pub fn new() -> Box<Self> {
                Box::new(Self {
                    count: 0,
                    left: 0,
                    traced: false,
                    shared: false,
                    holes: false,
                    $($name: [$empty; SLOTS],)*
                    cause: [0; SLOTS],
                    aside: Vec::new(),
                })
            }

            /// Moves `other`'s packets behind this frame's own. The caller checked [`Frame::room`]:
            /// what does not fit is lost.
            pub fn append(&mut self, other: &mut Frame) {
                debug_assert!(other.count <= self.room());
                let (at, count) = (self.count, other.count.min(self.room()));
                $(self.$name[at..at + count].copy_from_slice(&other.$name[..count]);)*
                self.count += count;
                self.mark_like(other);
                other.count = 0;
            }

            /// # Safety
            /// The processor has the kernel's features, and there is room for the selected slots.
            #[inline(always)]
            pub(crate) unsafe fn gather_with<K: Kernel>(&mut self, from: &Frame, selected: &Selection) {
                let at = self.count;
                // SAFETY: the caller chose a kernel this processor has; the selection names only
                // slots below VECTOR, there is room for them, and the slack takes the overshoot.
                unsafe { $(K::compress(&from.$name, selected, &mut self.$name[at..]);)* }
            }
        }
    };
}

travelling! {
    packet: *mut Mbuf = ptr::null_mut();
    header: *mut u8 = ptr::null_mut();
    length: u32 = 0;
    adjacency: u32 = 0;
    consumed: u16 = 0;
    rx: u16 = 0;
    tx: u16 = 0;
}

// SAFETY: the frame owns its packets, as a list of PacketBuf would.
unsafe impl Send for Frame {}

impl Frame {
    /// Packets in the frame.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many more packets fit.
    #[inline]
    pub fn room(&self) -> usize {
        VECTOR - self.count
    }

    /// How many packets were in it when they left together ([`Frame::take_all`], [`Frame::offer`]).
    #[inline]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Makes it as new. Packets that are still in it are lost.
    #[inline]
    pub fn clear(&mut self) {
        (self.count, self.left) = (0, 0);
        (self.traced, self.shared, self.holes) = (false, false, false);
    }

    #[inline]
    pub(crate) fn mark_like(&mut self, other: &Frame) {
        self.traced |= other.traced;
        self.holes |= other.holes;
        if other.shared {
            self.mark_shared();
        }
    }

    /// Some buffer has other holders from now on: there is a place for what is written to it.
    #[cold]
    pub(crate) fn mark_shared(&mut self) {
        self.shared = true;
        if self.aside.is_empty() {
            self.aside = vec![0; MOST_BYTES];
        }
    }

    /// True when some packet of the frame may be followed by a trace.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// Says that some packet of the frame is followed by a trace.
    pub fn mark_traced(&mut self) {
        self.traced = true;
    }

    /// Adds one packet that starts at its buffer's frame, received by interface `rx`. The caller
    /// checked [`Frame::room`]: one too many is lost.
    #[inline]
    pub fn push(&mut self, packet: PacketBuf, rx: u16) {
        let slot = self.count;
        if slot < VECTOR {
            self.put(slot, packet);
            self.rx[slot] = rx;
            self.count += 1;
        }
    }

    /// Puts a packet into a slot whose own, if it has one, is lost.
    pub(crate) fn put(&mut self, slot: usize, packet: PacketBuf) {
        self.header[slot] = packet.start();
        self.length[slot] = u32::from(packet.mbuf().data_len);
        self.consumed[slot] = 0;
        if packet.is_shared() {
            self.mark_shared();
        }
        self.packet[slot] = packet.into_raw().as_ptr();
    }

    /// Adds received packets, as many as there is room for; they are in `burst` no more. True if
    /// one of them is a chain of several buffers, which the router does not take: its slot then
    /// shows the first part only.
    #[inline]
    pub fn push_burst(&mut self, burst: &mut Vec<PacketBuf>, rx: u16) -> bool {
        const MBUF_AHEAD: usize = 16;
        const DATA_AHEAD: usize = 8;
        let at = self.count;
        let (mut chained, mut held) = (0, 0);
        let mut add = |burst: &mut Burst<'_>| {
            let coming = burst.take_front(self.room());
            for packet in coming.iter().take(MBUF_AHEAD) {
                prefetch_read(packet.as_ptr());
            }
            for (index, packet) in coming.iter().enumerate() {
                if let Some(ahead) = coming.get(index + MBUF_AHEAD) {
                    prefetch_read(ahead.as_ptr());
                }
                if let Some(ahead) = coming.get(index + DATA_AHEAD) {
                    prefetch_read(ahead.start());
                }
                let (slot, mbuf) = (at + index, packet.mbuf());
                self.packet[slot] = packet.as_ptr();
                self.header[slot] = packet.start();
                self.length[slot] = u32::from(mbuf.data_len);
                chained |= mbuf.nb_segs ^ 1;
                held |= mbuf.refcnt.load(Ordering::Relaxed) ^ 1;
            }
            self.count += coming.len();
        };
        Burst::offer(burst, &mut add);
        self.consumed[at..self.count].fill(0);
        self.rx[at..self.count].fill(rx);
        if held != 0 {
            self.mark_shared();
        }
        chained != 0
    }

    /// Moves every packet's header over `bytes`; false, and none moved, when one is shorter.
    #[inline]
    pub fn advance(&mut self, bytes: u16) -> bool {
        let count = self.count;
        let (headers, lengths) = (&mut self.header[..count], &mut self.length[..count]);
        let consumed = &mut self.consumed[..count];
        vectorized(|| {
            let shortest = lengths.iter().fold(u32::MAX, |least, &n| least.min(n));
            let deepest = consumed.iter().fold(0, |most, &n| most.max(n));
            if shortest < u32::from(bytes) || deepest > u16::MAX - bytes {
                return false;
            }
            for header in headers {
                // SAFETY: no packet is shorter, so that the new header is at most its frame's end.
                *header = unsafe { header.add(usize::from(bytes)) };
            }
            lengths.iter_mut().for_each(|length| *length -= u32::from(bytes));
            consumed.iter_mut().for_each(|consumed| *consumed += bytes);
            true
        })
    }

    /// Puts `bytes` bytes that were consumed in front of every packet's header again; false, and
    /// none moved, where fewer were.
    #[inline]
    pub fn give_back(&mut self, bytes: u16) -> bool {
        let count = self.count;
        let (headers, lengths) = (&mut self.header[..count], &mut self.length[..count]);
        let consumed = &mut self.consumed[..count];
        vectorized(|| {
            if consumed.iter().fold(u16::MAX, |least, &n| least.min(n)) < bytes {
                return false;
            }
            for header in headers {
                // SAFETY: of each packet so many were consumed, so that the new header is its
                // frame's own.
                *header = unsafe { header.sub(usize::from(bytes)) };
            }
            lengths.iter_mut().for_each(|length| *length += u32::from(bytes));
            consumed.iter_mut().for_each(|consumed| *consumed -= bytes);
            true
        })
    }

    /// Puts `bytes` bytes in front of every packet's header, and forgets what was consumed there.
    /// False, and nothing moved, where a buffer has no room for them, or others may hold it.
    #[inline]
    pub fn prepend(&mut self, bytes: u16) -> bool {
        if self.holes | self.shared {
            return false;
        }
        let mut least_room = usize::MAX;
        for slot in 0..self.count {
            prefetch_read(self.packet[slot + AHEAD]);
            // SAFETY: no slot is empty, and each has a live buffer.
            let start = unsafe { (*self.packet[slot]).buf_addr };
            least_room = least_room.min(self.header[slot] as usize - start as usize);
        }
        if least_room < usize::from(bytes) {
            return false;
        }
        let count = self.count;
        let (headers, lengths) = (&mut self.header[..count], &mut self.length[..count]);
        vectorized(|| {
            for header in headers {
                // SAFETY: so many bytes before it are its buffer's.
                *header = unsafe { header.sub(usize::from(bytes)) };
            }
            lengths.iter_mut().for_each(|length| *length += u32::from(bytes));
        });
        self.consumed[..count].fill(0);
        true
    }

    /// Cuts each packet behind so many bytes from its header, if it is longer.
    #[inline]
    pub fn truncate(&mut self, lengths: &[u32]) {
        let own = &mut self.length[..self.count];
        vectorized(|| {
            own.iter_mut().zip(lengths).for_each(|(length, &most)| *length = (*length).min(most));
        });
    }

    /// The first so many slots as handles.
    ///
    /// # Safety
    /// They are not empty, and whoever gets the handles does not use them beside the frame.
    #[inline]
    unsafe fn handles<'a>(&self, count: usize) -> &'a [PacketBuf] {
        // SAFETY: a PacketBuf is an address that is not null. The arrays stay where they are while
        // the frame is lent to whom the callers give this.
        unsafe { core::slice::from_raw_parts(self.packet.as_ptr().cast(), count) }
    }

    /// Takes all packets: the frame is empty then.
    #[inline]
    pub fn take_all(&mut self) -> Burst<'_> {
        let mut count = self.count;
        (self.count, self.left) = (0, self.left + count);
        if self.holes {
            count = self.close_holes(count);
        }
        // SAFETY: the frame counts them no more, and is lent as long as the burst lives.
        unsafe { Burst::owning(self.handles(count)) }
    }

    /// Moves what is there of the first so many buffers together.
    #[cold]
    fn close_holes(&mut self, count: usize) -> usize {
        let mut there = 0;
        for slot in 0..count {
            let packet = self.packet[slot];
            self.packet[there] = packet;
            there += usize::from(!packet.is_null());
        }
        there
    }

    /// Offers all packets, as they are committed, to `take`, which takes from the front what it
    /// wants. If it wants all, the frame is empty then; else the slots of what it took are.
    #[inline]
    pub fn offer(&mut self, mut take: impl FnMut(&mut Burst<'_>)) {
        let count = self.count;
        if self.holes {
            return self.offer_groups(&[0; VECTOR], |_, burst| take(burst));
        }
        // Should `take` panic, all are lost.
        self.count = 0;
        // SAFETY: the frame counts no packet while the burst lives, and afterwards those alone that
        // are left in it.
        let handles = unsafe { self.handles(count) };
        // SAFETY: as said.
        let mut burst = unsafe { Burst::owning(handles) };
        take(&mut burst);
        let taken = count - burst.left_of(handles.as_ptr(), count);
        if taken == count {
            self.left += count;
        } else {
            self.count = count;
            (0..taken).for_each(|slot| self.empty(slot));
        }
    }

    /// The same group by group: `of` says of what group the packet in each slot is, `take` gets the
    /// packets of one at a time, in order.
    pub fn offer_groups(&mut self, of: &[u16], mut take: impl FnMut(u16, &mut Burst<'_>)) {
        let of = &of[..self.count];
        // Should `take` panic, all are lost.
        let count = core::mem::take(&mut self.count);
        let mut chosen = [const { MaybeUninit::<PacketBuf>::uninit() }; VECTOR];
        let mut kept = Selection::default();
        let mut groups = Groups::all();
        while let Some((its, group)) = groups.next(of) {
            let (slots, mut there) = (group.slots(count), 0);
            slots.each(|slot| {
                if let Some(packet) = NonNull::new(self.packet[slot]) {
                    // SAFETY: a live buffer's reference, which the frame counts no more.
                    chosen[there].write(unsafe { PacketBuf::from_raw(packet) });
                    there += 1;
                }
            });
            if there == 0 {
                continue;
            }
            // SAFETY: so many were written.
            let handles = unsafe { core::slice::from_raw_parts(chosen.as_ptr().cast(), there) };
            // SAFETY: afterwards the frame counts those alone that are left in it.
            let mut burst = unsafe { Burst::owning(handles) };
            take(its, &mut burst);
            let taken = there - burst.left_of(handles.as_ptr(), there);
            if taken < there {
                let here = |slot: &usize| !self.packet[*slot].is_null();
                slots.slots().filter(here).skip(taken).for_each(|slot| kept.insert(slot));
            }
        }
        if kept.is_empty() {
            self.left += count;
            return;
        }
        self.count = count;
        let mut gone = Selection::first(count);
        gone.remove(&kept);
        gone.slots().for_each(|slot| self.empty(slot));
    }

    /// Whether the packet of a slot was taken.
    #[inline]
    pub fn is_taken(&self, slot: usize) -> bool {
        self.packet[..self.count].get(slot).is_none_or(|packet| packet.is_null())
    }

    /// Makes a slot empty: nothing is in it that could be looked at.
    #[inline]
    pub(crate) fn empty(&mut self, slot: usize) {
        self.packet[slot] = ptr::null_mut();
        (self.length[slot], self.consumed[slot]) = (0, 0);
        self.holes = true;
    }

    /// Writes each packet's start and length into its buffer header, as drivers expect them.
    #[inline]
    pub fn commit(&mut self) {
        if self.holes | self.shared {
            return (0..self.count).for_each(|slot| self.commit_with_care(slot));
        }
        for slot in 0..self.count {
            prefetch_write(self.packet[slot + AHEAD]);
            // SAFETY: no slot is empty, and no buffer is shared.
            unsafe { self.commit_slot(slot) };
        }
    }

    /// # Safety
    /// The slot is not empty, and nobody else holds its buffer.
    #[inline]
    pub(crate) unsafe fn commit_slot(&mut self, slot: usize) {
        let mbuf = self.packet[slot];
        // SAFETY: the caller's word, and the frame's promise: the header lies in the buffer.
        unsafe {
            (*mbuf).data_off = self.header[slot].offset_from((*mbuf).buf_addr) as u16;
            (*mbuf).data_len = self.length[slot] as u16;
            (*mbuf).pkt_len = self.length[slot];
        }
    }

    /// The same, but a shared buffer stays as it was when it was shared.
    #[cold]
    fn commit_with_care(&mut self, slot: usize) {
        if self.is_alone(slot) {
            // SAFETY: there is one, and nobody else holds it.
            unsafe { self.commit_slot(slot) };
        }
    }

    /// Whether there is a packet in the slot, in a buffer that nobody else holds. Reads the buffer
    /// header.
    #[inline(always)]
    pub(crate) fn is_alone(&self, slot: usize) -> bool {
        // SAFETY: the frame counts it.
        slot < self.count && unsafe { self.own_mbuf(slot) }.is_some()
    }

    /// The buffer header of the packet in the slot, if there is one and nobody else holds it.
    ///
    /// # Safety
    /// The slot is below the count.
    #[inline(always)]
    pub(crate) unsafe fn own_mbuf(&self, slot: usize) -> Option<&Mbuf> {
        debug_assert!(slot < self.count, "a slot of the frame");
        // SAFETY: a live buffer or, of an empty slot, null.
        let mbuf = unsafe { self.packet[slot].as_ref() }?;
        // Acquire: as in `PacketBuf::is_shared`.
        (mbuf.refcnt.load(Ordering::Acquire) == 1).then_some(mbuf)
    }

    /// Sets the cause of the packets from slot `from` on: why they took the edge to this node.
    pub fn fill_cause(&mut self, from: usize, cause: u16) {
        self.cause[from..self.count].fill(cause);
    }

    /// Bytes from each header to its frame's end.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.length[..self.count]
    }

    /// Interfaces that the packets came in by.
    #[inline]
    pub fn rx(&self) -> &[u16] {
        &self.rx[..self.count]
    }

    /// The same, to set.
    #[inline]
    pub fn rx_mut(&mut self) -> &mut [u16] {
        &mut self.rx[..self.count]
    }

    /// Interfaces that the packets leave by.
    #[inline]
    pub fn tx(&self) -> &[u16] {
        &self.tx[..self.count]
    }

    /// The same, to set.
    #[inline]
    pub fn tx_mut(&mut self) -> &mut [u16] {
        &mut self.tx[..self.count]
    }

    /// Why the packets came here, where the edges to this node say so.
    #[inline]
    pub fn causes(&self) -> &[u16] {
        &self.cause[..self.count]
    }

    /// Bytes of the longest packet, from its header on; 0 where there is none.
    #[inline(always)]
    pub fn longest(&self) -> u32 {
        let lengths = self.lengths();
        vectorized(|| lengths.iter().fold(0, |longest, &length| longest.max(length)))
    }

    /// Bytes of the shortest packet, from its header on; [`u32::MAX`] where there is none.
    #[inline(always)]
    pub fn shortest(&self) -> u32 {
        let lengths = self.lengths();
        vectorized(|| lengths.iter().fold(u32::MAX, |shortest, &length| shortest.min(length)))
    }

    /// What the lookup found.
    #[inline]
    pub fn adjacencies(&self) -> &[u32] {
        &self.adjacency[..self.count]
    }

    /// The same, to set.
    #[inline]
    pub fn adjacencies_mut(&mut self) -> &mut [u32] {
        &mut self.adjacency[..self.count]
    }
}

#[cfg(test)]
mod tests;
