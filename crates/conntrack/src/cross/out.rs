//! From IPv6 to IPv4 (RFC 7915 section 5).

use super::{Front, ICMP, Ip4Is, Uncrossable, errors, number4, rewrite};
use crate::rewrite::get;
use crate::tuple::Tuple;
use wire::checksum::{Sum, pseudo6};
use wire::ip::protocol;
use wire::ipv4::{self, DONT_FRAGMENT, MORE_FRAGMENTS};
use wire::ipv6::extension::{Fragment, header as extension};
use wire::{icmp4, icmp6, ipv6};

/// RFC 7915 section 5.1: longer packets must not be cut on their way; of others it cannot be said
/// whether their sender could make them shorter.
const LONGEST_TO_CUT: usize = 1260;

/// RFC 1812 section 4.3.2.3: as long as an error may be.
const LONGEST_ERROR: usize = 576;

/// What a packet of IPv6 has in front of what it carries.
struct Headers<'a> {
    ip: ipv6::Header<'a>,
    /// Octets of all of them.
    length: usize,
    protocol: u8,
    piece: Option<Fragment<'a>>,
}

impl<'a> Headers<'a> {
    /// RFC 7915 section 5.1: hop-by-hop and destination options go, as do routing headers that are
    /// done with.
    fn of(packet: &'a [u8]) -> Result<Self, Uncrossable> {
        let ip = ipv6::Header::new(packet).ok_or(Uncrossable::Broken)?;
        let mut it =
            Self { ip, length: ipv6::Header::LEN, protocol: ip.next_header(), piece: None };
        // A packet of at most 64 KiB has an end.
        loop {
            let kind = it.protocol;
            let is_option = matches!(kind, protocol::HOP_BY_HOP | protocol::DESTINATION_OPTIONS);
            let is_passed = is_option || kind == protocol::ROUTING || kind == protocol::FRAGMENT;
            if !is_passed || it.is_later() {
                return Ok(it);
            }
            // What else is counted as part of the pieces would make their places others.
            if it.piece.is_some() {
                return Err(Uncrossable::Unsupported);
            }
            let rest = packet.get(it.length..).ok_or(Uncrossable::Broken)?;
            let found = extension(kind, rest).ok_or(Uncrossable::Broken)?;
            match kind {
                protocol::FRAGMENT => it.piece = Fragment::new(found),
                // Segments left: it is to go elsewhere.
                protocol::ROUTING if found[3] != 0 => return Err(Uncrossable::Unsupported),
                _ => {}
            }
            it.protocol = found[0];
            it.length += found.len();
        }
    }

    fn is_later(&self) -> bool {
        self.piece.is_some_and(|piece| piece.offset() != 0)
    }

    /// One of several.
    fn is_piece(&self) -> bool {
        self.piece.is_some_and(|piece| !piece.is_atomic())
    }

    /// The header of IPv4 in place of these, with `behind` octets behind it.
    fn ip4(
        &self,
        behind: usize,
        source: u32,
        destination: u32,
        identification: impl FnOnce() -> u16,
    ) -> Ip4Is {
        let (identification, fragment_bits) = match self.piece {
            Some(piece) => {
                let more = if piece.more_fragments() { MORE_FRAGMENTS } else { 0 };
                (piece.identification() as u16, more | (piece.offset() / 8) as u16)
            }
            None if ipv4::Header::LEN + behind <= LONGEST_TO_CUT => (identification(), 0),
            None => (0, DONT_FRAGMENT),
        };
        Ip4Is {
            tos: self.ip.traffic_class(),
            behind,
            identification,
            fragment_bits,
            ttl: self.ip.hop_limit(),
            protocol: number4(self.protocol),
            source,
            destination,
        }
    }

    /// What of a pseudo header is in the checksum of what it carries, `behind` octets.
    fn pseudo(&self, behind: usize) -> Sum {
        match self.protocol {
            protocol::ICMP6 => {
                pseudo6(self.ip.source(), self.ip.destination(), self.protocol, behind as u32)
            }
            _ => Sum::ZERO.u128(self.ip.source()).u128(self.ip.destination()),
        }
    }
}

/// What of a pseudo header is in the checksum of a packet of IPv4.
pub(super) fn pseudo_of4(protocol: u8, source: u32, destination: u32) -> Sum {
    match protocol {
        protocol::ICMP4 | protocol::ICMP6 => Sum::ZERO,
        _ => Sum::ZERO.u32(source).u32(destination),
    }
}

/// Makes a packet, from its IPv6 header on, the one of a tuple of IPv4: what is behind its headers
/// in place, the headers as they are to be.
pub fn to4(
    packet: &mut [u8],
    to: &Tuple,
    identification: impl FnOnce() -> u16,
) -> Result<Front, Uncrossable> {
    let headers = Headers::of(packet)?;
    let end = ipv6::Header::LEN + usize::from(headers.ip.payload_len());
    let behind = packet.get(headers.length..end).ok_or(Uncrossable::Broken)?;
    let (length, protocol) = (headers.length, headers.protocol);
    let is_later = headers.is_later();
    match protocol {
        protocol::TCP => {}
        // RFC 8200 section 8.1: there is always one.
        protocol::UDP if !is_later && get(behind, 6) == Some(0) => return Err(Uncrossable::Broken),
        protocol::UDP => {}
        // Its checksum has the whole packet's length in it.
        protocol::ICMP6 if headers.is_piece() => return Err(Uncrossable::Unsummed),
        protocol::ICMP6 => {}
        _ => return Err(Uncrossable::Unsupported),
    }
    let (source, destination) = (to.source4(), to.destination4());
    let ip4 = headers.ip4(behind.len(), source, destination, identification).bytes();
    let old = headers.pseudo(behind.len());
    let mut front = Front::new(length, end);
    front.add(&ip4);
    if !is_later {
        let new = pseudo_of4(protocol, source, destination);
        rewrite(&mut packet[length..end], protocol, to, old, new);
    }
    Ok(front)
}

/// Makes an error of ICMPv6, from its IPv6 header on, one of ICMP from `source` to `destination`,
/// that tells at `at` of a packet of this tuple of IPv4.
pub fn error_to4(
    packet: &mut [u8],
    at: usize,
    (source, destination): (u32, u32),
    inner: &Tuple,
    identification: impl FnOnce() -> u16,
) -> Result<Front, Uncrossable> {
    let outer = Headers::of(packet)?;
    let end = ipv6::Header::LEN + usize::from(outer.ip.payload_len());
    let message = packet.get(outer.length..end).ok_or(Uncrossable::Broken)?;
    let header = icmp6::Header::new(message).ok_or(Uncrossable::Broken)?;
    if !outer.pseudo(message.len()).bytes(message).is_valid() {
        return Err(Uncrossable::Broken);
    }
    let (kind, code, rest) = errors::of6((header.message_type(), header.code(), header.rest()))?;
    let within = Headers::of(packet.get(at..end).ok_or(Uncrossable::Broken)?)?;
    let replaces = at + within.length;
    let most = LONGEST_ERROR - 2 * ipv4::Header::LEN - ICMP;
    let end = told_end(end, at, header.rest(), header.message_type()).min(replaces + most);
    let behind = end.checked_sub(replaces).ok_or(Uncrossable::Broken)?;
    // As long as it was, not as much of it as is there.
    let of_options = within.length - ipv6::Header::LEN;
    let told = usize::from(within.ip.payload_len()).saturating_sub(of_options);
    let (inner_source, inner_destination) = (inner.source4(), inner.destination4());
    let mut front = Front::new(replaces, end);
    let length = ICMP + ipv4::Header::LEN + behind;
    front.add(&outer.ip4(length, source, destination, identification).bytes());
    let mut icmp = [0; ICMP];
    let mut header = icmp4::HeaderMut::of(&mut icmp);
    header.set_message_type(kind);
    header.set_code(code);
    header.set_rest(rest);
    front.add(&icmp);
    front.add(&within.ip4(told, inner_source, inner_destination, || 0).bytes());
    let (protocol, old) = (within.protocol, within.pseudo(told));
    if !within.is_later() {
        let new = pseudo_of4(protocol, inner_source, inner_destination);
        rewrite(&mut packet[replaces..end], protocol, inner, old, new);
    }
    front.sum_icmp(ipv4::Header::LEN, Sum::ZERO, &packet[replaces..end]);
    Ok(front)
}

/// RFC 4884 section 4: some say how long the packet is that they tell of, for something is behind
/// it, which is left out.
fn told_end(end: usize, at: usize, rest: u32, kind: u8) -> usize {
    let eights = match kind {
        icmp6::message::UNREACHABLE | icmp6::message::TIME_EXCEEDED => rest >> 24,
        _ => 0,
    };
    match eights {
        0 => end,
        eights => end.min(at + 8 * eights as usize),
    }
}
