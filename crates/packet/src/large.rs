//! Large frames: what several packets of one flow have in common, in one buffer, and how long each
//! of them may be.
//!
//! ```text
//!  │ headroom │ Ethernet · IP │ TCP │ payload ................................. │   up to 64 KiB
//!              start           transport  payload │ size │ size │ size │ rest │
//! ```
//! Linux hands such frames from link to link as they are, and cuts them where one cannot take them
//! (virtio 1.3 section 5.1.6; what Linux calls GSO). Where the transport header and the payload
//! begin is kept as places in the buffer, not in the frame: whoever puts headers in front or takes
//! some off need not know of it. Who writes another packet into the buffer need not either: where
//! such a frame leaves, its headers are read again, and it is large only if they say so.
//!
//! The frame's own lengths (IP, UDP) are those of the whole, as far as they can be; its transport
//! checksum is left out.

use crate::mbuf::Mbuf;
use crate::{PacketBuf, PacketView};

/// DPDK's flag of a TCP frame that a card is to cut; ours of any: a driver of DPDK's is given one
/// as it wants it, in the last moment.
pub(crate) const LARGE: u64 = 1 << 50;

/// How a large frame is cut. Places count from its first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Large {
    /// Where its TCP or UDP header begins.
    pub transport: u16,
    /// Where its payload begins.
    pub payload: u16,
    /// Payload of each packet but the last.
    pub size: u16,
}

impl Large {
    /// As the buffer keeps it: places from the buffer's start on.
    fn kept(self, start: u16) -> Option<u64> {
        let place = |at: u16| at.checked_add(start).map(u64::from);
        Some(place(self.transport)? | place(self.payload)? << 16 | u64::from(self.size) << 32)
    }

    fn told(kept: u64, start: u16) -> Option<Self> {
        let word = |number: u32| (kept >> (16 * number)) as u16;
        let place = |at: u16| at.checked_sub(start);
        Some(Self { transport: place(word(0))?, payload: place(word(1))?, size: word(2) })
    }

    fn of(mbuf: &Mbuf, start: u16) -> Option<Self> {
        (mbuf.ol_flags & LARGE != 0).then(|| Self::told(mbuf.tx_offload, start)).flatten()
    }
}

impl PacketBuf {
    /// Whether somebody said that it is a large frame. One look at the buffer header.
    #[inline]
    pub fn may_be_large(&self) -> bool {
        self.mbuf().ol_flags & LARGE != 0
    }

    /// How it is to be cut, if somebody said that it is large, and no more headers were taken off
    /// it than it had then. It is for who sends it to see whether it still is what was said.
    pub fn large(&self) -> Option<Large> {
        Large::of(self.mbuf(), self.mbuf().data_off)
    }

    /// Says that it is large, or is not. False, and nothing said, while others hold the buffer, or
    /// for places that are not in it.
    pub fn set_large(&mut self, large: Option<Large>) -> bool {
        if self.is_shared() {
            return false;
        }
        let kept = match large.map(|large| large.kept(self.mbuf().data_off)) {
            Some(None) => return false,
            kept => kept.flatten(),
        };
        // SAFETY: nobody else holds it, and neither field says where its frame is.
        let mbuf = unsafe { self.mbuf_mut() };
        mbuf.ol_flags = mbuf.ol_flags & !LARGE | if kept.is_some() { LARGE } else { 0 };
        mbuf.tx_offload = kept.unwrap_or(0);
        true
    }
}

impl PacketView<'_> {
    /// Whether none of the packets that it is cut into has more than `most` bytes from the header
    /// on. For who found it too long: an ordinary packet has what its length says.
    #[cold]
    #[inline(never)]
    pub fn is_cut_to(&self, most: usize) -> bool {
        let Some((mbuf, start)) = self.place() else { return false };
        // A header that was taken off is not there to be cut.
        let large = u16::try_from(start).ok().and_then(|start| Large::of(mbuf, start));
        large.is_some_and(|large| usize::from(large.payload) + usize::from(large.size) <= most)
    }
}

impl PacketView<'_> {
    /// How the whole frame is to be cut, headers already consumed included.
    pub(crate) fn large_whole(&self) -> Option<Large> {
        let (mbuf, header) = self.place()?;
        let start = u16::try_from(header.checked_sub(self.consumed())?).ok()?;
        Large::of(mbuf, start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, HeapPool, Pool};

    const LARGE_ONE: Large = Large { transport: 34, payload: 54, size: 1000 };

    #[test]
    fn places_stay_where_they_are_when_headers_come_and_go() {
        let pool = HeapPool::new(4, 9000).unwrap();
        let mut cache = pool.cache();
        let mut packet = cache.copy_of(&[7; 5000]).unwrap();
        assert_eq!((packet.may_be_large(), packet.large()), (false, None));
        assert!(packet.set_large(Some(LARGE_ONE)));
        assert_eq!((packet.may_be_large(), packet.large()), (true, Some(LARGE_ONE)));
        let mut frame = Frame::new();
        frame.push(packet, 0);
        let mut view = frame.view(0);
        assert!(view.is_cut_to(1054) && !view.is_cut_to(1053));
        assert!(view.advance(14));
        assert!(view.is_cut_to(1040) && !view.is_cut_to(1039));
        view.start_here();
        assert!(view.prepend(50));
        assert!(view.is_cut_to(1090) && !view.is_cut_to(1089));
        frame.commit();
        let packet = frame.take_all().pop().unwrap();
        let moved = Large { transport: 70, payload: 90, size: 1000 };
        assert_eq!(packet.large(), Some(moved));
        cache.release_one(packet);
    }

    #[test]
    fn what_is_ordinary_is_cut_to_nothing_and_headers_that_are_gone_are_not_found() {
        let pool = HeapPool::new(4, 9000).unwrap();
        let mut cache = pool.cache();
        let mut frame = Frame::new();
        let mut large = cache.copy_of(&[7; 5000]).unwrap();
        assert!(large.set_large(Some(LARGE_ONE)));
        frame.push(large, 0);
        frame.push(cache.copy_of(&[7; 5000]).unwrap(), 0);
        assert!(!frame.view(1).is_cut_to(5000));
        assert!(frame.view(0).advance(35));
        assert!(!frame.view(0).is_cut_to(5000), "half of the transport header is gone");
        cache.release(frame.take_all());
    }

    #[test]
    fn a_buffer_that_was_given_back_is_ordinary_and_a_shared_one_stays_as_it_is() {
        let pool = HeapPool::new(1, 60_000).unwrap();
        let mut cache = pool.cache();
        let mut packet = cache.copy_of(&[7; 100]).unwrap();
        assert!(packet.set_large(Some(LARGE_ONE)));
        assert!(!packet.set_large(Some(Large { payload: u16::MAX, ..LARGE_ONE })));
        assert_eq!(packet.large(), Some(LARGE_ONE));
        let mut frame = Frame::new();
        frame.push(packet, 0);
        let mut other = frame.view(0).share(1).next().unwrap();
        assert!(!other.set_large(None) && other.large().is_some());
        cache.release_one(other);
        cache.release(frame.take_all());
        let packet = cache.copy_of(&[7; 100]).unwrap();
        assert!(!packet.may_be_large());
        cache.release_one(packet);
    }
}
