//! Packets of one stream in a row, put together into the large frame that they can be cut into
//! again (what Linux calls GRO).
//!
//! ```text
//!  │ headers │ 1 │   │ headers' │ 2 │   │ headers" │ 3 │      size 1 = size 2 >= size 3
//!  │ headers │ 1    │ 2    │ 3 │                              and headers differ where cutting makes them differ
//! ```
//! Nothing is lost: each packet's checksums are right, and all of its headers but the lengths, the
//! number (RFC 791, of no meaning where a packet may not be cut: RFC 6864), the sequence number,
//! the checksums and, in the last, PSH and FIN are those of the first.

use super::headers::Layer;
use super::{Cut, FLAGS, LAST_ALONE, SEQUENCE, TCP_SUM, Transport, word16, word32};
use crate::checksum;

/// Headers that are compared, at most: Ethernet, two tags, IPv6, TCP with all options.
const MOST_HEADERS: usize = 14 + 8 + 40 + 60;
/// Payload of the first: with less there is little to be won.
pub const LEAST_PAYLOAD: usize = 512;
/// The only flag of a packet in the midst of a stream.
const ACK: u8 = 0x10;
/// What an IP header can say of the length.
const MOST_PACKET: usize = u16::MAX as usize;

/// A large frame that grows. Its first packet stands at the begin of the room it grows in.
#[derive(Clone, Debug)]
pub struct Merge {
    cut: Cut,
    network: Layer,
    packets: usize,
    next_sequence: u32,
    is_over: bool,
}

impl Merge {
    /// Of a packet that others may follow, or none. Its checksums are not looked at yet.
    pub fn begin(first: &[u8]) -> Option<Self> {
        let mut cut = Cut::new(first, None, first.len()).filter(Cut::is_plain)?;
        let network = cut.found.network()?;
        let size = first.len() - cut.found.payload;
        let says = tcp_flags(&cut, first);
        let fits = cut.transport() == Transport::Tcp
            && size >= LEAST_PAYLOAD
            && cut.found.payload <= MOST_HEADERS
            && says == ACK
            && is_as_long(network, first);
        cut.size = size;
        let next_sequence = word32(first, cut.found.at + SEQUENCE).wrapping_add(size as u32);
        fits.then_some(Self { cut, network, packets: 1, next_sequence, is_over: false })
    }

    /// How the first packet is cut: into itself.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// How many packets it is.
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// Octets that it has.
    pub fn length(&self) -> usize {
        self.cut.length
    }

    /// Whether a packet goes on where this frame, which begins with `first`, ends. Its checksums
    /// are not looked at.
    pub fn is_followed_by(&self, first: &[u8], next: &[u8]) -> bool {
        let (at, payload) = (self.cut.found.at, self.cut.found.payload);
        let Some(rest) = next.len().checked_sub(payload).filter(|rest| *rest != 0) else {
            return false;
        };
        if self.is_over
            || rest > self.cut.size
            || self.cut.length + rest - network_at(self.network) > MOST_PACKET
            || word32(next, at + SEQUENCE) != self.next_sequence
            || !is_as_long(self.network, next)
            || !self.is_numbered(first, next)
        {
            return false;
        }
        let mut headers = [0; MOST_HEADERS];
        let headers = &mut headers[..payload];
        headers.copy_from_slice(&next[..payload]);
        let mut take = |from: usize, bytes: usize| {
            headers[from..from + bytes].copy_from_slice(&first[from..from + bytes]);
        };
        match self.network {
            // Length and number; checksum.
            Layer::Ip4(ip) => {
                take(ip + 2, 4);
                take(ip + 10, 2);
            }
            Layer::Ip6(ip) => take(ip + 4, 2),
            Layer::Udp(_) | Layer::Gre(_) => return false,
        }
        take(at + SEQUENCE, 4);
        take(at + TCP_SUM, 2);
        headers[at + FLAGS] &= !LAST_ALONE;
        let (before, behind) = (..at + FLAGS, at + FLAGS + 1..payload);
        headers[before] == first[before]
            && headers[behind.clone()] == first[behind]
            && headers[at + FLAGS] == ACK
    }

    /// Whether cutting numbers the next one as it is, or nobody looks at the number.
    fn is_numbered(&self, first: &[u8], next: &[u8]) -> bool {
        let Layer::Ip4(ip) = self.network else { return true };
        let may_not_be_cut = word16(next, ip + 6) & 0x4000 != 0;
        let number = word16(first, ip + 4).wrapping_add(self.packets as u16);
        may_not_be_cut || word16(next, ip + 4) == number
    }

    /// Whether a packet that begins such a frame, or goes on, has right checksums.
    pub fn is_right(&self, packet: &[u8]) -> bool {
        let sum = self.cut.pseudo(packet).bytes(&packet[self.cut.found.at..]);
        let network_is_right = match self.network {
            Layer::Ip4(ip) => checksum::is_valid(&packet[ip..self.cut.found.at]),
            _ => true,
        };
        network_is_right && sum.is_valid()
    }

    /// Puts a packet that follows, and is right, behind what there is; false where the room, or
    /// what can be cut, is at its end.
    pub fn append(&mut self, room: &mut [u8], next: &[u8]) -> bool {
        let (payload, from) = (self.cut.found.payload, self.cut.length);
        let Some(rest) = next.get(payload..) else { return false };
        let Some(place) = room.get_mut(from..from + rest.len()) else { return false };
        if self.packets == super::MOST_PACKETS {
            return false;
        }
        place.copy_from_slice(rest);
        let last = tcp_flags(&self.cut, next) & LAST_ALONE;
        room[self.cut.found.at + FLAGS] |= last;
        self.is_over = last != 0 || rest.len() < self.cut.size;
        self.next_sequence = self.next_sequence.wrapping_add(rest.len() as u32);
        self.packets += 1;
        self.cut.length += rest.len();
        true
    }

    /// Makes it say what it is: how it is to be cut.
    pub fn finish(self, frame: &mut [u8]) -> Cut {
        if frame.len() == self.cut.length {
            self.cut.found.say_lengths(frame, 0);
            self.cut.leave_out(frame);
        }
        self.cut
    }
}

fn tcp_flags(cut: &Cut, packet: &[u8]) -> u8 {
    packet.get(cut.found.at + FLAGS).copied().unwrap_or_default()
}

fn network_at(network: Layer) -> usize {
    match network {
        Layer::Ip4(at) | Layer::Ip6(at) | Layer::Udp(at) | Layer::Gre(at) => at,
    }
}

/// Whether nothing is behind a packet, and nothing lacks.
fn is_as_long(network: Layer, packet: &[u8]) -> bool {
    let (at, header, says_at) = match network {
        Layer::Ip4(at) => (at, 0, 2),
        Layer::Ip6(at) => (at, 40, 4),
        Layer::Udp(_) | Layer::Gre(_) => return false,
    };
    packet.len() >= at + 6
        && at + header + usize::from(word16(packet, at + says_at)) == packet.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft;
    use proptest::prelude::*;

    const SIZE: usize = 600;

    /// Packet `number` of a stream, with so much payload.
    #[derive(Clone, Debug)]
    struct Piece {
        number: usize,
        bytes: usize,
        flags: u8,
    }

    fn piece(number: usize, bytes: usize) -> Piece {
        Piece { number, bytes, flags: ACK }
    }

    impl Piece {
        fn payload(&self) -> Vec<u8> {
            (0..self.bytes).map(|at| (((self.number * SIZE + at) * 7) >> 3) as u8).collect()
        }

        fn made(&self, is_ip6: bool) -> Vec<u8> {
            let link = craft::ethernet([2; 6], [4; 6]).vlan(9);
            let sequence = (u32::MAX - 700).wrapping_add((self.number * SIZE) as u32);
            let tcp = if is_ip6 {
                link.ipv6([1; 16], [2; 16]).tcp(1000, 80)
            } else {
                let number = 65_530u16.wrapping_add(self.number as u16);
                link.ipv4([10, 0, 0, 1], [10, 0, 0, 2]).identification(number).tcp(1000, 80)
            };
            tcp.sequence(sequence).flags(self.flags).payload(&self.payload()).build()
        }
    }

    /// How many of these packets are put together, and what they are cut into again.
    fn together(packets: &[Vec<u8>]) -> (usize, Vec<Vec<u8>>) {
        let Some(mut merge) = Merge::begin(&packets[0]) else { return (0, Vec::new()) };
        assert_eq!((merge.cut().packets(), merge.packets()), (1, 1));
        let mut room = vec![0; 70_000];
        room[..packets[0].len()].copy_from_slice(&packets[0]);
        for next in &packets[1..] {
            let follows = merge.is_followed_by(&packets[0], next) && merge.is_right(next);
            if !follows || !merge.append(&mut room, next) {
                break;
            }
        }
        let count = merge.packets();
        room.truncate(merge.length());
        let told = merge.finish(&mut room);
        let cut = Cut::new(&room, Some(told.transport_at()), told.size()).unwrap();
        assert_eq!((cut.packets(), cut.longest()), (told.packets(), told.longest()));
        let again = |number| {
            let mut packet = vec![0; cut.longest()];
            let length = cut.write(&room, number, &mut packet).unwrap();
            packet.truncate(length);
            packet
        };
        (count, (0..count).map(again).collect())
    }

    fn made(pieces: &[Piece], is_ip6: bool) -> Vec<Vec<u8>> {
        pieces.iter().map(|it| it.made(is_ip6)).collect()
    }

    #[test]
    fn packets_of_a_stream_are_one_and_are_cut_into_themselves_again() {
        for is_ip6 in [false, true] {
            let mut pieces: Vec<_> = (0..20).map(|number| piece(number, SIZE)).collect();
            pieces.push(Piece { flags: ACK | LAST_ALONE, ..piece(20, 77) });
            pieces.push(piece(21, SIZE));
            let packets = made(&pieces, is_ip6);
            assert_eq!(together(&packets), (21, packets[..21].to_vec()));
        }
    }

    #[test]
    fn what_does_not_go_on_stays_apart() {
        let first = piece(0, SIZE);
        for is_ip6 in [false, true] {
            let good = made(&[first.clone(), piece(1, SIZE)], is_ip6);
            let ip = 18;
            let tcp = ip + if is_ip6 { 40 } else { 20 };
            // Whatever octet of the headers is another, or of the payload without its checksum.
            for at in 0..good[1].len() {
                let mut other = good[1].clone();
                other[at] ^= 1;
                let count = together(&[good[0].clone(), other]).0;
                assert_eq!(count, 1, "octet {at}, TCP at {tcp}");
            }
            let apart = [
                piece(2, SIZE),
                piece(1, SIZE + 1),
                Piece { flags: ACK | 0x40, ..piece(1, SIZE) },
                Piece { flags: 0x14, ..piece(1, SIZE) },
                piece(1, 0),
            ];
            for other in apart {
                assert_eq!(
                    together(&made(&[first.clone(), other.clone()], is_ip6)).0,
                    1,
                    "{other:?}"
                );
            }
            // Nothing goes on behind what is shorter, or the last.
            for second in [piece(1, SIZE - 1), Piece { flags: ACK | 8, ..piece(1, SIZE) }] {
                let pieces = [first.clone(), second, piece(2, SIZE)];
                assert_eq!(together(&made(&pieces, is_ip6)).0, 2);
            }
            // What cannot be the first.
            for wrong in [
                piece(0, LEAST_PAYLOAD - 1),
                Piece { flags: ACK | 8, ..first.clone() },
                Piece { flags: ACK | 2, ..first.clone() },
                Piece { flags: ACK | 0x80, ..first.clone() },
            ] {
                assert!(Merge::begin(&wrong.made(is_ip6)).is_none(), "{wrong:?}");
            }
            let mut padded = first.made(is_ip6);
            padded.push(0);
            assert!(Merge::begin(&padded).is_none());
        }
    }

    #[test]
    fn numbers_matter_where_a_packet_may_be_cut() {
        let numbered = |number: u32, dont_fragment: bool| {
            let packet = craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]);
            let packet = packet.identification(0);
            let packet = if dont_fragment { packet.dont_fragment() } else { packet };
            let packet = packet.tcp(1, 2);
            packet.sequence(number * 600).flags(ACK).payload(&[7; 600]).build()
        };
        for (dont_fragment, count) in [(false, 1), (true, 2)] {
            let both = [0, 1].map(|number| numbered(number, dont_fragment));
            assert_eq!(together(&both).0, count);
        }
    }

    #[test]
    fn it_grows_as_long_as_a_packet_can_be() {
        let size = 1448u32;
        let packets: Vec<_> = (0..60u32)
            .map(|number| {
                let link = craft::ethernet([2; 6], [4; 6]).ipv6([1; 16], [2; 16]).tcp(1, 2);
                link.sequence(number * size).flags(ACK).payload(&[7; 1448]).build()
            })
            .collect();
        let (count, again) = together(&packets);
        assert_eq!(count, 45);
        assert!(again == packets[..45]);
    }

    proptest! {
        #[test]
        fn whatever_bytes_follow_are_taken_or_not(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            at in 0usize..700,
            cut_off in 0usize..700,
            is_ip6 in any::<bool>(),
        ) {
            let mut packets = made(&[piece(0, SIZE), piece(1, SIZE)], is_ip6);
            let next = &mut packets[1];
            for (place, byte) in next.iter_mut().skip(at).zip(&bytes) {
                *place = *byte;
            }
            let length = next.len().saturating_sub(cut_off);
            next.truncate(length);
            let (count, again) = together(&packets);
            prop_assert!(again == packets[..count]);
            let _ = Merge::begin(&bytes);
        }
    }
}
