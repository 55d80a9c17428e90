//! From IPv4 to IPv6 (RFC 7915 section 4).

use super::out::pseudo_of4;
use super::{Front, ICMP, Ip6Is, Uncrossable, errors, number6, rewrite};
use crate::rewrite::{get, put};
use crate::tuple::Tuple;
use wire::checksum::{Sum, is_valid, pseudo4, pseudo6};
use wire::ip::protocol;
use wire::ipv4::{self, MORE_FRAGMENTS, OFFSET_MASK, option};
use wire::ipv6::MIN_MTU;
use wire::options::Options;
use wire::{icmp4, icmp6, ipv6};

/// Where the checksum of UDP is.
const UDP_SUM: usize = 6;

/// The header of IPv6 in place of one of IPv4, with `behind` octets behind it.
fn ip6(header: ipv4::Header<'_>, behind: usize, source: u128, destination: u128) -> Ip6Is {
    let bits = header.fragment_bits();
    // RFC 7915 section 4.1: where routers may cut it, it is cut here if it has to be.
    let is_cut = !header.dont_fragment() && ipv6::Header::LEN + behind > MIN_MTU;
    let is_piece = header.is_fragment() || is_cut;
    let more = u16::from(bits & MORE_FRAGMENTS != 0);
    Ip6Is {
        traffic_class: header.tos(),
        behind,
        hop_limit: header.ttl(),
        protocol: number6(header.protocol()),
        source,
        destination,
        piece: is_piece.then_some(((bits & OFFSET_MASK) << 3 | more, header.identification())),
    }
}

/// What of a pseudo header is in the checksum of a packet of IPv6.
fn pseudo_of6(protocol: u8, source: u128, destination: u128, behind: usize) -> Sum {
    match protocol {
        protocol::ICMP4 => pseudo6(source, destination, protocol::ICMP6, behind as u32),
        _ => Sum::ZERO.u128(source).u128(destination),
    }
}

/// RFC 7915 section 4.1: options go, but for a way that is not gone yet.
fn has_way_to_go(options: &[u8]) -> bool {
    Options::new(options).flatten().any(|it| {
        let is_way = matches!(it.kind, option::LOOSE_SOURCE_ROUTE | option::STRICT_SOURCE_ROUTE);
        // The pointer counts from the option's own start, and from one.
        is_way && it.data.first().is_some_and(|next| usize::from(*next) <= it.data.len() + 2)
    })
}

/// Makes a packet, from its IPv4 header on, the one of a tuple of IPv6: what is behind its header
/// in place, the headers as they are to be. Those of a packet that is to be cut have a fragment
/// header.
pub fn to6(packet: &mut [u8], to: &Tuple) -> Result<Front, Uncrossable> {
    let header = ipv4::Header::new(packet).filter(|it| it.is_sound()).ok_or(Uncrossable::Broken)?;
    let (length, end) = (header.header_len(), usize::from(header.total_len()));
    let behind = packet.get(length..end).ok_or(Uncrossable::Broken)?;
    // What was damaged on its way would not show any more.
    if !is_valid(&packet[..length]) {
        return Err(Uncrossable::Broken);
    }
    if has_way_to_go(&packet[ipv4::Header::LEN..length]) {
        return Err(Uncrossable::Unsupported);
    }
    let (source, destination) = (header.source(), header.destination());
    let (protocol, is_later) = (header.protocol(), header.fragment_offset() != 0);
    // RFC 768: none was computed. IPv6 needs one (RFC 7915 section 4.5).
    let lacks_sum = protocol == protocol::UDP && !is_later && get(behind, UDP_SUM) == Some(0);
    match protocol {
        protocol::TCP => {}
        protocol::UDP if lacks_sum && header.is_fragment() => return Err(Uncrossable::Unsummed),
        protocol::UDP => {}
        protocol::ICMP4 if header.is_fragment() => return Err(Uncrossable::Unsummed),
        protocol::ICMP4 => {}
        _ => return Err(Uncrossable::Unsupported),
    }
    let (new_source, new_destination) = (to.source6(), to.destination6());
    let mut front = Front::new(length, end);
    ip6(header, behind.len(), new_source, new_destination).add_to(&mut front);
    front.is_cut = !header.dont_fragment() && front.total() > MIN_MTU;
    if is_later {
        return Ok(front);
    }
    let behind = &mut packet[length..end];
    if lacks_sum {
        let pseudo = pseudo4(source, destination, protocol, behind.len() as u16);
        let sum = pseudo.bytes(behind).udp_checksum();
        put(behind, UDP_SUM, sum);
    }
    let old = pseudo_of4(protocol, source, destination);
    let new = pseudo_of6(protocol, new_source, new_destination, behind.len());
    rewrite(behind, protocol, to, old, new);
    Ok(front)
}

/// Makes an error of ICMP, from its IPv4 header on, one of ICMPv6 from `source` to `destination`,
/// that tells at `at` of a packet of this tuple of IPv6.
pub fn error_to6(
    packet: &mut [u8],
    at: usize,
    (source, destination): (u128, u128),
    inner: &Tuple,
) -> Result<Front, Uncrossable> {
    let outer = ipv4::Header::new(packet).filter(|it| it.is_sound()).ok_or(Uncrossable::Broken)?;
    let end = usize::from(outer.total_len());
    let message = packet.get(outer.header_len()..end).ok_or(Uncrossable::Broken)?;
    let header = icmp4::Header::new(message).filter(|_| is_valid(message));
    let header = header.ok_or(Uncrossable::Broken)?;
    if !is_valid(&packet[..outer.header_len()]) {
        return Err(Uncrossable::Broken);
    }
    let within = packet.get(at..end).and_then(ipv4::Header::new).filter(|it| it.is_sound());
    let within = within.ok_or(Uncrossable::Broken)?;
    let said = (header.message_type(), header.code(), header.rest());
    let (kind, code, rest) = errors::of4(said, within.total_len())?;
    let replaces = at + within.header_len();
    let (inner_source, inner_destination) = (inner.source6(), inner.destination6());
    let told = usize::from(within.total_len()).saturating_sub(within.header_len());
    let mut front = Front::new(replaces, end);
    let mut of_inner = ip6(within, told, inner_source, inner_destination);
    // What was sent was no piece, long as it may have been.
    of_inner.piece = of_inner.piece.filter(|_| within.is_fragment());
    let of_piece = of_inner.piece.map_or(0, |_| ipv6::extension::Fragment::LEN);
    let most = MIN_MTU - 2 * ipv6::Header::LEN - ICMP - of_piece;
    front.end = told_end(end, at, said).min(replaces + most);
    let behind = front.end.checked_sub(replaces).ok_or(Uncrossable::Broken)?;
    let length = ICMP + ipv6::Header::LEN + of_piece + behind;
    Ip6Is { piece: None, ..ip6(outer, length, source, destination) }.add_to(&mut front);
    let mut icmp = [0; ICMP];
    let mut header = icmp6::HeaderMut::of(&mut icmp);
    header.set_message_type(kind);
    header.set_code(code);
    header.set_rest(rest);
    front.add(&icmp);
    of_inner.add_to(&mut front);
    let (protocol, is_later) = (within.protocol(), within.fragment_offset() != 0);
    let old = pseudo_of4(protocol, within.source(), within.destination());
    let rest = &mut packet[replaces..front.end];
    if !is_later {
        let new = pseudo_of6(protocol, inner_source, inner_destination, told);
        rewrite(rest, protocol, inner, old, new);
    }
    let pseudo = pseudo6(source, destination, protocol::ICMP6, length as u32);
    front.sum_icmp(ipv6::Header::LEN, pseudo, rest);
    Ok(front)
}

/// RFC 4884 section 4: some say how long the packet is that they tell of, for something is behind
/// it, which is left out.
fn told_end(end: usize, at: usize, (kind, _, rest): errors::Message) -> usize {
    use icmp4::message::{PARAMETER_PROBLEM, TIME_EXCEEDED, UNREACHABLE};
    let words = match kind {
        UNREACHABLE | TIME_EXCEEDED | PARAMETER_PROBLEM => rest >> 16 & 0xff,
        _ => 0,
    };
    match words {
        0 => end,
        words => end.min(at + 4 * words as usize),
    }
}
