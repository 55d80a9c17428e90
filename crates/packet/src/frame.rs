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

use crate::split::{Avx512, Kernel, Scalar, Selection, Splitter};
use crate::{Mbuf, PacketPtr, PacketView, prefetch_read, prefetch_write};
use core::ptr;

/// Packets in a full frame.
pub const VECTOR: usize = 256;

/// Slots behind the last packet that a SIMD kernel may scribble on.
pub const SLACK: usize = 32;

pub(crate) const SLOTS: usize = VECTOR + SLACK;

/// How many packets before its turn a packet's header is asked for.
const AHEAD: usize = 8;

/// Lists the arrays that travel with a packet once, so that no copy can forget one.
macro_rules! travelling {
    ($($name:ident: $type:ty = $empty:expr;)*) => {
        /// A vector of packets with what is known of each. See the module.
        #[repr(C, align(64))]
        pub struct Frame {
            pub(crate) count: usize,
            pub(crate) traced: bool,
            $(pub(crate) $name: [$type; SLOTS],)*
            pub(crate) cause: [u16; SLOTS],
        }

        impl Frame {
            /// An empty frame, on the heap: it is some 9 KiB.
            pub fn new() -> Box<Self> {
                let cause = [0; SLOTS];
                Box::new(Self { count: 0, traced: false, $($name: [$empty; SLOTS],)* cause })
            }

            /// Moves `other`'s packets behind this frame's own. The caller checked [`Frame::room`];
            /// what does not fit stays in `other`'s slots and is lost to it.
            pub fn append(&mut self, other: &mut Frame) {
                debug_assert!(other.count <= self.room());
                let (at, count) = (self.count, other.count.min(self.room()));
                $(self.$name[at..at + count].copy_from_slice(&other.$name[..count]);)*
                self.count += count;
                self.traced |= other.traced;
                other.count = 0;
            }

            #[inline(always)]
            fn gather_with<K: Kernel>(&mut self, from: &Frame, selected: &Selection) {
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

// SAFETY: the frame's holder is the only user of its packets (see PacketPtr).
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

    /// Forgets the packets: their holder is someone else now.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
        self.traced = false;
    }

    /// True when some packet of the frame may be followed by a trace.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// Says that some packet of the frame is followed by a trace.
    pub fn mark_traced(&mut self) {
        self.traced = true;
    }

    /// Adds the slots of `from` that `selected` marks, in order. `from` is left as it is: the
    /// caller gives each slot to exactly one frame, and checked [`Frame::room`].
    #[inline]
    pub fn gather(&mut self, from: &Frame, selected: &Selection, splitter: Splitter) {
        assert!(selected.len() <= self.room(), "the caller checks the room");
        match splitter {
            Splitter::Scalar => self.gather_with::<Scalar>(from, selected),
            // SAFETY: `Splitter::detect` gave this value because the processor has the features.
            Splitter::Avx512 => unsafe { self.gather_avx512(from, selected) },
        }
        self.count += selected.len();
        self.traced |= from.traced;
    }

    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")
    )]
    /// # Safety
    /// The processor has these features.
    unsafe fn gather_avx512(&mut self, from: &Frame, selected: &Selection) {
        self.gather_with::<Avx512>(from, selected);
    }

    /// Adds one packet that starts at its buffer's frame, received by interface `rx`.
    pub fn push(&mut self, packet: PacketPtr, rx: u16) {
        self.push_burst(&[Some(packet)], rx);
    }

    /// Adds received packets. True if one of them is a chain of several buffers, which the router
    /// does not take: its slot then shows the first part only.
    #[inline]
    pub fn push_burst(&mut self, burst: &[Option<PacketPtr>], rx: u16) -> bool {
        const MBUF_AHEAD: usize = 16;
        const DATA_AHEAD: usize = 8;
        let count = burst.len().min(self.room());
        let at = self.count;
        for packet in burst.iter().take(MBUF_AHEAD).flatten() {
            prefetch_read(packet.as_ptr());
        }
        let mut chained = 0;
        for index in 0..count {
            if let Some(Some(ahead)) = burst.get(index + MBUF_AHEAD) {
                prefetch_read(ahead.as_ptr());
            }
            if let Some(Some(ahead)) = burst.get(index + DATA_AHEAD) {
                prefetch_read(ahead.start());
            }
            let Some(packet) = burst[index] else { break };
            let (slot, mbuf) = (self.count, packet.mbuf());
            self.packet[slot] = packet.as_ptr();
            self.header[slot] = packet.start();
            self.length[slot] = u32::from(mbuf.data_len);
            chained |= mbuf.nb_segs ^ 1;
            self.count += 1;
        }
        self.consumed[at..self.count].fill(0);
        self.rx[at..self.count].fill(rx);
        chained != 0
    }

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
            prefetch_read(self.header[index + AHEAD]);
            look(PacketView { frame: self, index });
        }
    }

    /// Whether `look` says yes to every packet: asked in order, its header prefetched, until a no.
    #[inline(always)]
    pub fn all(&mut self, mut look: impl FnMut(PacketView<'_>) -> bool) -> bool {
        for index in 0..self.count {
            prefetch_read(self.header[index + AHEAD]);
            if !look(PacketView { frame: self, index }) {
                return false;
            }
        }
        true
    }

    /// Moves every packet's header over `bytes`; false, and none moved, when one is shorter.
    #[inline]
    pub fn advance(&mut self, bytes: u16) -> bool {
        let count = self.count;
        let shortest = self.length[..count].iter().fold(u32::MAX, |least, &n| least.min(n));
        let deepest = self.consumed[..count].iter().fold(0, |most, &n| most.max(n));
        if shortest < u32::from(bytes) || deepest > u16::MAX - bytes {
            return false;
        }
        for header in &mut self.header[..count] {
            // SAFETY: no packet is shorter, so that the new header is at most its frame's end.
            *header = unsafe { header.add(usize::from(bytes)) };
        }
        self.length[..count].iter_mut().for_each(|length| *length -= u32::from(bytes));
        self.consumed[..count].iter_mut().for_each(|consumed| *consumed += bytes);
        true
    }

    /// Puts `bytes` bytes that were consumed in front of every packet's header again; false, and
    /// none moved, where fewer were.
    #[inline]
    pub fn give_back(&mut self, bytes: u16) -> bool {
        let count = self.count;
        let least = self.consumed[..count].iter().fold(u16::MAX, |least, &n| least.min(n));
        if least < bytes {
            return false;
        }
        for header in &mut self.header[..count] {
            // SAFETY: of each packet so many were consumed, so that the new header is its frame's
            // own.
            *header = unsafe { header.sub(usize::from(bytes)) };
        }
        self.length[..count].iter_mut().for_each(|length| *length += u32::from(bytes));
        self.consumed[..count].iter_mut().for_each(|consumed| *consumed -= bytes);
        true
    }

    /// Cuts each packet behind so many bytes from its header, if it is longer.
    #[inline]
    pub fn truncate(&mut self, lengths: &[u32]) {
        for (length, &most) in self.length[..self.count].iter_mut().zip(lengths) {
            *length = (*length).min(most);
        }
    }

    /// The buffers, for who takes them over.
    #[inline]
    pub fn packets(&self) -> &[PacketPtr] {
        // SAFETY: PacketPtr is a transparent non-null pointer, and slots below the count are live.
        unsafe { core::slice::from_raw_parts(self.packet.as_ptr().cast(), self.count) }
    }

    /// Writes each packet's start and length into its buffer header, as drivers expect them.
    #[inline]
    pub fn commit(&mut self) {
        for index in 0..self.count {
            prefetch_write(self.packet[index + AHEAD]);
            let packet = self.packets()[index];
            // SAFETY: the frame's promise: header .. header + length lies in the buffer.
            unsafe { packet.commit(self.header[index], self.length[index]) };
        }
    }

    /// Sets the cause of the packets from slot `from` on: why they took the edge to this node.
    pub fn fill_cause(&mut self, from: usize, cause: u16) {
        self.cause[from..self.count].fill(cause);
    }

    /// First bytes of the headers; each is good for its `lengths` entry.
    #[inline]
    pub fn headers(&self) -> &[*mut u8] {
        &self.header[..self.count]
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
mod tests {
    use super::*;
    use crate::{HeapPool, Pool};

    /// A frame of packets of these lengths.
    fn frame(lengths: &[usize]) -> (HeapPool, Box<Frame>) {
        let pool = HeapPool::new(8, 256).unwrap();
        let mut frame = Frame::new();
        for length in lengths {
            frame.push(pool.cache().copy_of(&vec![7; *length]).unwrap(), 0);
        }
        (pool, frame)
    }

    #[test]
    fn all_headers_move_or_none() {
        let (_pool, mut frame) = frame(&[60, 14, 20]);
        assert!(!frame.advance(15));
        assert_eq!(frame.lengths(), [60, 14, 20]);
        assert_eq!(frame.view(1).consumed(), 0);
        assert!(frame.advance(14));
        assert_eq!(frame.lengths(), [46, 0, 6]);
        assert_eq!((frame.view(2).consumed(), frame.view(2).whole().len()), (14, 20));
        frame.view(0).advance(2);
        assert!(!frame.give_back(15) && frame.give_back(14));
        assert_eq!(frame.lengths(), [58, 14, 20]);
        assert_eq!(frame.view(0).consumed(), 2);
    }

    #[test]
    fn packets_are_cut_and_never_lengthened() {
        let (_pool, mut frame) = frame(&[60, 14]);
        frame.truncate(&[28, 15]);
        assert_eq!(frame.lengths(), [28, 14]);
    }

    #[test]
    fn asking_all_ends_at_the_first_no() {
        let (_pool, mut frame) = frame(&[1, 2, 3]);
        let mut asked = 0;
        let mut up_to = |most| {
            frame.all(|packet| {
                asked += 1;
                packet.length() <= most
            })
        };
        assert!(up_to(3) && !up_to(1));
        assert_eq!(asked, 3 + 2);
    }
}
