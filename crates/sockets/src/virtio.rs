//! What Linux says of a frame, in front of it: `struct virtio_net_hdr` (virtio 1.3 section 5.1.6).
//!
//! ```text
//!   0       1          2             4      6              8
//!   ├ flags ┼ GSO type ┼ header's end ┼ size ┼ checksum from ┼ and behind that ┤   as the machine has them
//! ```
//! A frame is one of three: whole; without its checksum, of which the pseudo header's part is
//! there; or several packets in one, without it. The second kind is finished here. Who says it may
//! be anybody: a header that its frame does not bear out makes the frame none.

use wire::cut::{Cut, Transport, complete};

/// Octets of a header.
pub const HEADER_BYTES: usize = 10;

/// The checksum was left out.
const NEEDS_SUM: u8 = 1;

const NONE: u8 = 0;
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
/// The first packet alone says that the window was reduced.
const ECN: u8 = 0x80;
/// That flag of TCP, and where it is.
const CWR: (usize, u8) = (13, 0x80);

/// A header's octets.
pub type Header = [u8; HEADER_BYTES];

/// What a frame turned out to be.
#[derive(Debug)]
pub enum Came {
    /// One packet, whole.
    Ordinary,
    /// Several, to be cut some time.
    Large(Cut),
}

fn word(header: &Header, at: usize) -> u16 {
    u16::from_ne_bytes([header[at], header[at + 1]])
}

/// Makes of a frame what its header says that it is; `shift` octets were put in front of what the
/// places in the header are about. None if it cannot be that.
pub fn take_in(header: &Header, frame: &mut [u8], shift: usize) -> Option<Came> {
    if header[..2] == [0, NONE] {
        return Some(Came::Ordinary);
    }
    let start = (header[0] & NEEDS_SUM != 0).then(|| usize::from(word(header, 6)) + shift);
    let (size, offset) = (usize::from(word(header, 4)), usize::from(word(header, 8)));
    let (transport, is_ip6) = match header[1] & !ECN {
        NONE => {
            let whole = start.is_none_or(|start| complete(frame, start, offset));
            return whole.then_some(Came::Ordinary);
        }
        TCP4 => (Transport::Tcp, Some(false)),
        TCP6 => (Transport::Tcp, Some(true)),
        UDP => (Transport::Udp, None),
        _ => return None,
    };
    let cut = Cut::new(frame, start, size)?;
    let told = cut.transport() == transport
        && is_ip6.is_none_or(|is_ip6| is_ip6 == cut.is_ip6())
        && start.is_none_or(|_| offset == transport.sum_at());
    told.then(|| cut_or_whole(cut, frame))
}

/// The same for a driver that says of a frame of several packets no more than how much payload each
/// of them has.
pub fn take_in_pieces(size: u16, frame: &mut [u8]) -> Option<Came> {
    Cut::new(frame, None, size.into()).map(|cut| cut_or_whole(cut, frame))
}

fn cut_or_whole(cut: Cut, frame: &mut [u8]) -> Came {
    if cut.packets() == 1 {
        cut.finish(frame);
        return Came::Ordinary;
    }
    cut.leave_out(frame);
    Came::Large(cut)
}

/// Whether the first packet alone of a large frame of TCP says that the window was reduced.
pub fn says_reduced(cut: &Cut, frame: &[u8]) -> bool {
    let (at, bit) = CWR;
    let flags = frame.get(cut.transport_at() + at).copied().unwrap_or_default();
    cut.transport() == Transport::Tcp && flags & bit != 0
}

/// The header of a large frame that is in no tunnel, as [`take_in`] left it.
pub fn told_of(cut: &Cut, frame: &[u8]) -> Header {
    let kind = match (cut.transport(), cut.is_ip6()) {
        (Transport::Udp, _) => UDP,
        (Transport::Tcp, true) => TCP6,
        (Transport::Tcp, false) => TCP4,
    };
    let reduced = says_reduced(cut, frame);
    let words = [cut.payload_at(), cut.size(), cut.transport_at(), cut.transport().sum_at()];
    let mut header = [NEEDS_SUM, kind | if reduced { ECN } else { 0 }, 0, 0, 0, 0, 0, 0, 0, 0];
    for (place, word) in header[2..].as_chunks_mut().0.iter_mut().zip(words) {
        *place = (word as u16).to_ne_bytes();
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::craft;

    fn tcp(payload: usize) -> Vec<u8> {
        craft::ethernet([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2])
            .tcp(1, 2)
            .payload(&vec![7; payload])
            .build()
    }

    fn header(flags: u8, kind: u8, words: [u16; 4]) -> Header {
        let mut header = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        for (place, word) in header[2..].as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_ne_bytes();
        }
        header
    }

    #[test]
    fn a_checksum_that_was_left_out_is_there_afterwards() {
        let right = tcp(100);
        for shift in [0, 4] {
            let mut frame = right.clone();
            Cut::new(&frame, None, 100).unwrap().leave_out(&mut frame);
            let told = header(NEEDS_SUM, NONE, [0, 0, 34 - shift, 16]);
            assert!(matches!(take_in(&told, &mut frame, shift.into()), Some(Came::Ordinary)));
            assert_eq!(frame, right);
        }
    }

    #[test]
    fn a_large_frame_is_told_as_it_came() {
        let mut frame = tcp(5000);
        frame[34 + 13] |= 0x80;
        let told = header(NEEDS_SUM, TCP4 | ECN, [54, 1000, 34, 16]);
        let Some(Came::Large(cut)) = take_in(&told, &mut frame, 0) else { unreachable!() };
        assert_eq!((cut.packets(), cut.longest()), (5, 1054));
        assert_eq!(told_of(&cut, &frame), told);
        // One packet of it alone is whole at once.
        let right = tcp(1000);
        let mut frame = right.clone();
        frame[50] = 0;
        assert!(matches!(take_in(&told, &mut frame, 0), Some(Came::Ordinary)));
        assert_eq!(frame, right);
    }

    #[test]
    fn a_frame_of_which_the_size_of_its_packets_alone_is_told_is_the_same_one() {
        let mut frame = tcp(5000);
        let Some(Came::Large(cut)) = take_in_pieces(1000, &mut frame) else { unreachable!() };
        assert_eq!((cut.packets(), cut.size(), cut.network_at()), (5, 1000, Some(14)));
        let mut other = tcp(5000);
        let told = header(NEEDS_SUM, TCP4, [54, 1000, 34, 16]);
        assert!(matches!(take_in(&told, &mut other, 0), Some(Came::Large(_))) && frame == other);
        let mut whole = tcp(1000);
        whole[50] = 0;
        assert!(matches!(take_in_pieces(1000, &mut whole), Some(Came::Ordinary)));
        assert_eq!(whole, tcp(1000));
        for (size, bytes) in [(0, 4000), (1, 4000)] {
            assert!(take_in_pieces(size, &mut tcp(bytes)).is_none());
        }
        assert!(take_in_pieces(1000, &mut [7; 3000]).is_none());
    }

    #[test]
    fn what_the_frame_does_not_bear_out_is_no_frame() {
        let wrong = [
            header(NEEDS_SUM, NONE, [0, 0, 5000, 16]),
            header(NEEDS_SUM, NONE, [0, 0, 34, 9000]),
            header(NEEDS_SUM, NONE, [0, 0, 0xffff, 0xffff]),
            header(NEEDS_SUM, TCP4, [54, 0, 34, 16]),
            header(NEEDS_SUM, TCP4, [54, 1, 34, 16]),
            header(NEEDS_SUM, TCP4, [54, 1000, 35, 16]),
            header(NEEDS_SUM, TCP4, [54, 1000, 34, 6]),
            header(NEEDS_SUM, TCP6, [54, 1000, 34, 16]),
            header(NEEDS_SUM, UDP, [54, 1000, 34, 6]),
            header(NEEDS_SUM, 3, [54, 1000, 34, 6]),
            header(0, 0x7f, [0; 4]),
        ];
        for told in wrong {
            assert!(take_in(&told, &mut tcp(4000), 0).is_none(), "{told:?}");
        }
    }

    proptest! {
        #[test]
        fn any_header_in_front_of_any_frame_is_taken_in_or_refused(
            told in any::<Header>(),
            length in 0usize..3000,
            shift in 0usize..5,
            real in any::<bool>(),
        ) {
            let mut frame = if real { tcp(length) } else { vec![0x45; length] };
            let before = frame.len();
            if let Some(Came::Large(cut)) = take_in(&told, &mut frame, shift) {
                prop_assert!(cut.packets() > 1 && cut.longest() <= before);
            }
            prop_assert_eq!(frame.len(), before);
        }
    }
}
