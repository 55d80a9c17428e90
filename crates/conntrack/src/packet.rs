//! Packets as connections see them.
//!
//! ```text
//!  IPv4 ─┬─ TCP, UDP, a question of ICMP or its answer ─▶ flow: tuple, flags
//!        ├─ ICMP that tells of an error ─────────────────▶ the packet that it tells of (RFC 5508)
//!        └─ a piece that is not the first ───────────────▶ which packet's piece it is
//! ```

use crate::tuple::Tuple;
use wire::ip::protocol;
use wire::ipv6::extension;
use wire::{icmp4, icmp6, ipv4, ipv6, tcp};

/// Octets of a UDP header, and of one of ICMP.
const SHORT: usize = 8;

/// What of a segment counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// The flags of TCP.
    Tcp(u8),
    /// A question of ICMP: what may begin a connection.
    Question,
    /// Anything else.
    Other,
}

/// The packet that an error tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inner {
    /// As it was sent.
    pub tuple: Tuple,
    /// Where in the outer packet its IP header is.
    pub at: usize,
}

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Read {
    /// One of a connection.
    Flow {
        /// Who speaks with whom.
        tuple: Tuple,
        /// What of it counts.
        seen: Seen,
        /// Which packet's pieces are told by it, if it is the first of several.
        pieces: Option<Tuple>,
    },
    /// A piece that is not the first: whose.
    Piece(Tuple),
    /// It tells of an error.
    Error(Inner),
    /// It ends before what counts, or says what cannot be.
    Broken,
}

/// Reads a packet from its IPv4 header on.
#[inline]
pub fn read4(packet: &[u8], zone: u16) -> Read {
    whole4(packet, zone).unwrap_or(Read::Broken)
}

#[inline]
fn whole4(packet: &[u8], zone: u16) -> Option<Read> {
    let header = ipv4::Header::new(packet).filter(|header| header.is_sound())?;
    let behind = packet.get(header.header_len()..usize::from(header.total_len()))?;
    let (source, destination) = (header.source(), header.destination());
    let protocol = header.protocol();
    let whose = || Tuple::pieces4(source, destination, header.identification(), protocol, zone);
    if header.fragment_offset() != 0 {
        return Some(Read::Piece(whose()));
    }
    let pieces = header.more_fragments().then(whose);
    let flow = |ports: (u16, u16), seen| {
        let tuple = Tuple::ip4((source, ports.0), (destination, ports.1), protocol, zone);
        Some(Read::Flow { tuple, seen, pieces })
    };
    match protocol {
        protocol::TCP => {
            let header = tcp::Header::new(behind)?;
            let ports = (header.source_port(), header.destination_port());
            flow(ports, Seen::Tcp(header.flags()))
        }
        protocol::UDP => flow(ports(behind)?, Seen::Other),
        protocol::ICMP4 => {
            let message = icmp4::Header::new(behind)?;
            let kind = message.message_type();
            if message.is_error() {
                let at = header.header_len() + SHORT;
                let tuple = inner4(&behind[SHORT..], zone)?;
                return Some(Read::Error(Inner { tuple, at }));
            }
            let has_id = has_id4(kind);
            let id = if has_id { message.identifier() } else { 0 };
            let asks =
                matches!(kind, icmp4::message::ECHO_REQUEST | icmp4::message::TIMESTAMP_REQUEST);
            let seen = if asks { Seen::Question } else { Seen::Other };
            flow((id, u16::from(kind) << 8 | u16::from(message.code())), seen)
        }
        _ => flow((0, 0), Seen::Other),
    }
}

fn has_id4(kind: u8) -> bool {
    use icmp4::message::{ECHO_REPLY, ECHO_REQUEST, TIMESTAMP_REPLY, TIMESTAMP_REQUEST};
    matches!(kind, ECHO_REPLY | ECHO_REQUEST | TIMESTAMP_REPLY | TIMESTAMP_REQUEST)
}

/// The packet that an error tells of: its header and eight octets at the least (RFC 792); not an
/// error itself, and not a later piece, of which nobody knows whose it is.
fn inner4(packet: &[u8], zone: u16) -> Option<Tuple> {
    let header = ipv4::Header::new(packet).filter(|header| header.is_sound())?;
    let behind = packet.get(header.header_len()..).filter(|rest| rest.len() >= SHORT)?;
    if header.fragment_offset() != 0 {
        return None;
    }
    let ports = match header.protocol() {
        protocol::TCP | protocol::UDP => ports(behind)?,
        protocol::ICMP4 => {
            let message = icmp4::Header::new(behind)?;
            let kind = message.message_type();
            if !has_id4(kind) {
                return None;
            }
            (message.identifier(), u16::from(kind) << 8 | u16::from(message.code()))
        }
        _ => (0, 0),
    };
    let (from, to) = (header.source(), header.destination());
    Some(Tuple::ip4((from, ports.0), (to, ports.1), header.protocol(), zone))
}

#[inline]
fn ports(behind: &[u8]) -> Option<(u16, u16)> {
    let &[a, b, c, d, _, _, _, _] = behind.first_chunk::<SHORT>()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

/// Reads a packet from its IPv6 header on. Pieces of packets are not told apart: none but the first
/// can be read.
pub fn read6(packet: &[u8], zone: u16) -> Read {
    whole6(packet, zone).unwrap_or(Read::Broken)
}

/// The same; of a packet in pieces the first one is read, of the others is told whose they are.
pub fn read6_in_pieces(packet: &[u8], zone: u16) -> Read {
    match (pieces6(packet, zone), read6(packet, zone)) {
        (Some((whose, true)), _) => Read::Piece(whose),
        (Some((whose, false)), Read::Flow { tuple, seen, .. }) => {
            Read::Flow { tuple, seen, pieces: Some(whose) }
        }
        (_, read) => read,
    }
}

/// Whose piece it is, if it is one, and whether it is not the first (RFC 8200 section 4.5).
fn pieces6(packet: &[u8], zone: u16) -> Option<(Tuple, bool)> {
    let header = ipv6::Header::new(packet).filter(|header| header.version() == 6)?;
    if !extension::is_extension(header.next_header()) {
        return None;
    }
    let end = ipv6::Header::LEN + usize::from(header.payload_len());
    let upper = extension::walk(header.next_header(), packet.get(ipv6::Header::LEN..end)?).ok()?;
    let piece = upper.fragment.filter(|piece| !piece.is_atomic())?;
    let (id, protocol) = (piece.identification(), piece.next_header());
    let whose = Tuple::pieces6(header.source(), header.destination(), id, protocol, zone);
    Some((whose, piece.offset() != 0))
}

fn whole6(packet: &[u8], zone: u16) -> Option<Read> {
    let (tuple, seen, at) = flow6(packet, zone, true)?;
    if tuple.protocol() == protocol::ICMP6 && icmp6::is_error((tuple.destination_port() >> 8) as u8)
    {
        let at = at + SHORT;
        let (tuple, ..) = flow6(packet.get(at..)?, zone, false)?;
        let kind = (tuple.destination_port() >> 8) as u8;
        if tuple.protocol() == protocol::ICMP6 && icmp6::is_error(kind) {
            return None;
        }
        return Some(Read::Error(Inner { tuple, at }));
    }
    Some(Read::Flow { tuple, seen, pieces: None })
}

/// The tuple, what of it counts, and where the upper header is.
fn flow6(packet: &[u8], zone: u16, is_whole: bool) -> Option<(Tuple, Seen, usize)> {
    let header = ipv6::Header::new(packet).filter(|header| header.version() == 6)?;
    let end = ipv6::Header::LEN + usize::from(header.payload_len());
    let end = if is_whole { end } else { end.min(packet.len()) };
    let payload = packet.get(ipv6::Header::LEN..end)?;
    let upper = extension::walk(header.next_header(), payload).ok()?;
    if upper.fragment.is_some_and(|fragment| fragment.offset() != 0) {
        return None;
    }
    let behind = payload.get(upper.offset..)?;
    let (ports, seen) = match upper.protocol {
        protocol::TCP if is_whole => {
            let header = tcp::Header::new(behind)?;
            ((header.source_port(), header.destination_port()), Seen::Tcp(header.flags()))
        }
        protocol::TCP | protocol::UDP => (ports(behind)?, Seen::Other),
        protocol::ICMP6 => {
            let message = icmp6::Header::new(behind.get(..SHORT)?)?;
            let kind = message.message_type();
            let is_echo = matches!(kind, icmp6::message::ECHO_REQUEST | icmp6::message::ECHO_REPLY);
            let id = if is_echo { u16::from_be_bytes([behind[4], behind[5]]) } else { 0 };
            let asks = kind == icmp6::message::ECHO_REQUEST;
            let seen = if asks { Seen::Question } else { Seen::Other };
            ((id, u16::from(kind) << 8 | u16::from(message.code())), seen)
        }
        _ => ((0, 0), Seen::Other),
    };
    let (from, to) = (header.source(), header.destination());
    let tuple = Tuple::ip6((from, ports.0), (to, ports.1), upper.protocol, zone);
    Some((tuple, seen, ipv6::Header::LEN + upper.offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::craft;
    use wire::tcp::flag;

    const US: [u8; 4] = [10, 0, 0, 1];
    const THEM: [u8; 4] = [192, 0, 2, 7];

    fn n(address: [u8; 4]) -> u32 {
        u32::from_be_bytes(address)
    }

    #[test]
    fn ports_and_flags_of_tcp_and_udp() {
        let sent = craft::ipv4(US, THEM).tcp(1000, 80).flags(flag::SYN).build();
        let tuple = Tuple::ip4((n(US), 1000), (n(THEM), 80), protocol::TCP, 3);
        let read = Read::Flow { tuple, seen: Seen::Tcp(flag::SYN), pieces: None };
        assert_eq!(read4(&sent, 3), read);
        let sent = craft::ipv4(US, THEM).udp(1000, 53).payload_len(5).build();
        let tuple = Tuple::ip4((n(US), 1000), (n(THEM), 53), protocol::UDP, 0);
        assert_eq!(read4(&sent, 0), Read::Flow { tuple, seen: Seen::Other, pieces: None });
        let six = craft::ipv6([1; 16], [2; 16]).destination_options(&[]).udp(7, 8).build();
        let one = |byte| u128::from_be_bytes([byte; 16]);
        let tuple = Tuple::ip6((one(1), 7), (one(2), 8), protocol::UDP, 0);
        assert_eq!(read6(&six, 0), Read::Flow { tuple, seen: Seen::Other, pieces: None });
    }

    #[test]
    fn an_echo_has_its_identifier_and_its_type() {
        let sent = craft::ipv4(US, THEM).icmp_echo(77, 1).build();
        let tuple = Tuple::ip4((n(US), 77), (n(THEM), 8 << 8), protocol::ICMP4, 0);
        assert_eq!(read4(&sent, 0), Read::Flow { tuple, seen: Seen::Question, pieces: None });
        let back = craft::ipv4(THEM, US).icmp_echo_reply(77, 1).build();
        let read = Read::Flow { tuple: tuple.inverse(), seen: Seen::Other, pieces: None };
        assert_eq!(read4(&back, 0), read);
    }

    #[test]
    fn an_error_tells_of_a_packet() {
        let sent = craft::ipv4(US, THEM).udp(1000, 53).payload_len(9).build();
        let tuple = Tuple::ip4((n(US), 1000), (n(THEM), 53), protocol::UDP, 0);
        let error = |sent: &[u8]| {
            let error = craft::ipv4(THEM, US).icmp4(3, 3, [0; 4]).payload(sent).build();
            read4(&error, 0)
        };
        assert_eq!(error(&sent), Read::Error(Inner { tuple, at: 28 }));
        assert_eq!(error(&sent[..28]), Read::Error(Inner { tuple, at: 28 }));
        assert_eq!(error(&sent[..27]), Read::Broken);
        let of_error = craft::ipv4(THEM, US).icmp4(3, 3, [0; 4]).payload(&sent).build();
        assert_eq!(error(&of_error), Read::Broken);
    }

    #[test]
    fn the_first_piece_tells_of_the_others() {
        let piece = |offset, more| {
            let first = craft::ipv4(US, THEM).identification(9).fragment(offset, more);
            read4(&first.udp(1000, 53).payload_len(16).build(), 0)
        };
        let Read::Flow { pieces: Some(whose), .. } = piece(0, true) else { panic!() };
        assert_eq!(piece(24, false), Read::Piece(whose));
        assert_eq!(piece(48, true), Read::Piece(whose));
    }

    #[test]
    fn the_first_piece_of_ip6_tells_of_the_others_where_that_is_asked() {
        let piece = |offset, more| {
            let first = craft::ipv6([1; 16], [2; 16]).fragment_header(offset, more, 0x1_0009);
            first.udp(1000, 53).payload_len(16).build()
        };
        let read = |offset, more| read6_in_pieces(&piece(offset, more), 0);
        let Read::Flow { pieces: Some(whose), tuple, .. } = read(0, true) else { panic!() };
        assert_eq!((read(24, false), read(48, true)), (Read::Piece(whose), Read::Piece(whose)));
        let Read::Flow { pieces: None, tuple: whole, .. } = read(0, false) else { panic!() };
        assert_eq!(whole, tuple);
        let other = craft::ipv6([1; 16], [2; 16]).fragment_header(24, false, 9);
        assert_ne!(read6_in_pieces(&other.udp(1, 2).build(), 0), Read::Piece(whose));
    }

    #[test]
    fn what_is_cut_short_is_broken() {
        let sent = craft::ipv4(US, THEM).tcp(1000, 80).build();
        for length in 0..sent.len() {
            assert_eq!(read4(&sent[..length], 0), Read::Broken, "{length}");
        }
        let tiny = craft::ipv4(US, THEM).fragment(0, true).protocol(6).payload_len(16).build();
        assert_eq!(read4(&tiny, 0), Read::Broken);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_harm(mut octets: Vec<u8>, four: bool) {
            if let Some(first) = octets.first_mut() {
                *first = if four { 0x45 } else { 0x60 };
            }
            read4(&octets, 0);
            read6(&octets, 0);
            read6_in_pieces(&octets, 0);
        }
    }
}
