//! Packets of IPv6 as packets of IPv4, and back (RFC 7915, as RFC 6146 has it with ports of its
//! own).
//!
//! ```text
//!  │ IPv6 40, extensions │ TCP, UDP, ICMPv6 │ data │       what is behind the headers stays where it is,
//!               │ IPv4 20 │ TCP, UDP, ICMP   │ data │       its ports and checksum written anew
//!                └ Front: the new headers, and how many octets they stand for
//!  │ IPv6 │ ICMPv6 8 │ IPv6 │ of the packet in error │    of an error, the inner headers as well
//!            │ IPv4 │ ICMP 8 │ IPv4 │ of the packet … │
//! ```
//! Checksums of TCP, UDP and echoes change by what they cover (RFC 1624); a message that tells of
//! an error is summed anew, and refused if its sum was wrong.

mod back;
mod errors;
mod out;
mod prefix;
#[cfg(test)]
mod tests;

pub use back::{error_to6, to6};
pub use out::{error_to4, to4};
pub use prefix::Prefix64;

use crate::rewrite::{get, put};
use crate::tuple::Tuple;
use wire::checksum::{Sum, update_u16};
use wire::ip::protocol;
use wire::ipv6::extension::Fragment;
use wire::{icmp4, icmp6, ipv4, ipv6};

/// Octets of an ICMP header, of either family.
const ICMP: usize = icmp4::Header::LEN;
/// The most that the headers of a packet are: those of an error of ICMPv6 that tells of a piece.
const MOST: usize = 2 * ipv6::Header::LEN + ICMP + Fragment::LEN;

/// Why a packet is none of the other family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uncrossable {
    /// Its headers end too early, or say what cannot be.
    Broken,
    /// There is no such thing on the other side.
    Unsupported,
    /// The checksum that it needs can be made of the whole packet alone, and it is a piece.
    Unsummed,
}

/// Headers that take the place of a packet's own.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    bytes: [u8; MOST],
    length: usize,
    /// How many octets of the packet they stand for.
    pub replaces: usize,
    /// Where in the packet its last octet that counts ends.
    pub end: usize,
    /// It is too long for what any link of IPv6 takes, and may be cut: it is to be.
    pub is_cut: bool,
}

impl Front {
    fn new(replaces: usize, end: usize) -> Self {
        Self { bytes: [0; MOST], length: 0, replaces, end, is_cut: false }
    }

    fn add(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
            self.length = end;
        }
    }

    /// The new headers.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Octets of the whole packet with them.
    pub fn total(&self) -> usize {
        self.length + self.end - self.replaces
    }

    /// Writes the checksum of a message of ICMP whose header is at `at`; `rest` is what of the
    /// packet stays.
    fn sum_icmp(&mut self, at: usize, pseudo: Sum, rest: &[u8]) {
        let sum = pseudo.bytes(&self.bytes[at..self.length]).bytes(rest).checksum();
        put(&mut self.bytes, at + 2, sum);
    }
}

/// A header of IPv4.
struct Ip4Is {
    tos: u8,
    /// Octets behind it.
    behind: usize,
    identification: u16,
    fragment_bits: u16,
    ttl: u8,
    protocol: u8,
    source: u32,
    destination: u32,
}

impl Ip4Is {
    fn bytes(&self) -> [u8; ipv4::Header::LEN] {
        let mut bytes = [0; ipv4::Header::LEN];
        let mut header = ipv4::HeaderMut::of(&mut bytes);
        header.set_version_ihl(0x45);
        header.set_tos(self.tos);
        header.set_total_len((ipv4::Header::LEN + self.behind) as u16);
        header.set_identification(self.identification);
        header.set_fragment_bits(self.fragment_bits);
        header.set_ttl(self.ttl);
        header.set_protocol(self.protocol);
        header.set_source(self.source);
        header.set_destination(self.destination);
        let sum = wire::checksum::of(&bytes);
        ipv4::HeaderMut::of(&mut bytes).set_checksum(sum);
        bytes
    }
}

/// A header of IPv6, and a fragment header where it is a piece.
struct Ip6Is {
    traffic_class: u8,
    /// Octets behind both.
    behind: usize,
    hop_limit: u8,
    protocol: u8,
    source: u128,
    destination: u128,
    /// Offset and flag, and identification.
    piece: Option<(u16, u16)>,
}

impl Ip6Is {
    fn add_to(&self, front: &mut Front) {
        let mut bytes = [0; ipv6::Header::LEN];
        let mut header = ipv6::HeaderMut::of(&mut bytes);
        let of_piece = self.piece.map_or(0, |_| Fragment::LEN);
        header.set_first_word(6 << 28 | u32::from(self.traffic_class) << 20);
        header.set_payload_len((of_piece + self.behind) as u16);
        header.set_next_header(self.piece.map_or(self.protocol, |_| protocol::FRAGMENT));
        header.set_hop_limit(self.hop_limit);
        header.set_source(self.source);
        header.set_destination(self.destination);
        front.add(&bytes);
        if let Some((offset_bits, identification)) = self.piece {
            let mut bytes = [0; Fragment::LEN];
            let mut header = ipv6::extension::FragmentMut::of(&mut bytes);
            header.set_next_header(self.protocol);
            header.set_offset_bits(offset_bits);
            header.set_identification(identification.into());
            front.add(&bytes);
        }
    }
}

/// Writes ports, or the kind and identifier of an echo, into what is behind a packet's IP headers,
/// and into its checksum what they and the pseudo header change: as far as it is there.
fn rewrite(behind: &mut [u8], protocol: u8, to: &Tuple, mut old: Sum, mut new: Sum) {
    let (places, sum_at) = match protocol {
        protocol::TCP => ([0, 2], 16),
        protocol::UDP => ([0, 2], 6),
        protocol::ICMP4 | protocol::ICMP6 => ([4, 0], 2),
        _ => return,
    };
    for (at, word) in places.into_iter().zip([to.source_port(), to.destination_port()]) {
        let Some(was) = get(behind, at) else { continue };
        put(behind, at, word);
        (old, new) = (old.u16(was), new.u16(word));
    }
    let Some(sum) = get(behind, sum_at) else { return };
    if protocol == protocol::UDP && sum == 0 {
        return;
    }
    let sum = match update_u16(sum, !old.checksum(), !new.checksum()) {
        0 if protocol == protocol::UDP => 0xffff,
        sum => sum,
    };
    put(behind, sum_at, sum);
}

/// Protocols are numbered alike, but for ICMP.
fn number4(protocol: u8) -> u8 {
    if protocol == protocol::ICMP6 { protocol::ICMP4 } else { protocol }
}

fn number6(protocol: u8) -> u8 {
    if protocol == protocol::ICMP4 { protocol::ICMP6 } else { protocol }
}

impl Tuple {
    /// The same between hosts of IPv4; of an echo, with their kind. None of what they have no kind
    /// for.
    pub fn across4(&self, source: u32, destination: u32) -> Option<Self> {
        let to = self.crossed_port()?;
        let (from, protocol) = (self.source_port(), number4(self.protocol()));
        Some(Self::ip4((source, from), (destination, to), protocol, self.zone()))
    }

    /// The same between hosts of IPv6.
    pub fn across6(&self, source: u128, destination: u128) -> Option<Self> {
        let to = self.crossed_port()?;
        let (from, protocol) = (self.source_port(), number6(self.protocol()));
        Some(Self::ip6((source, from), (destination, to), protocol, self.zone()))
    }

    /// The same to another port; of an echo, with another identifier.
    #[must_use]
    pub fn to_inner_port(self, port: u16) -> Self {
        match self.is_echo() {
            true => Self { key: u64::from(port) << 48 | self.key & 0xffff_ffff_ffff, ..self },
            false => self.to_port(port),
        }
    }

    /// The port that it goes to; of an echo what it is called on the other side.
    fn crossed_port(&self) -> Option<u16> {
        use icmp4::message as four;
        use icmp6::message as six;
        let to = self.destination_port();
        let kind = match (self.protocol(), (to >> 8) as u8) {
            (protocol::TCP | protocol::UDP, _) => return Some(to),
            (protocol::ICMP4, four::ECHO_REQUEST) => six::ECHO_REQUEST,
            (protocol::ICMP4, four::ECHO_REPLY) => six::ECHO_REPLY,
            (protocol::ICMP6, six::ECHO_REQUEST) => four::ECHO_REQUEST,
            (protocol::ICMP6, six::ECHO_REPLY) => four::ECHO_REPLY,
            _ => return None,
        };
        Some(u16::from(kind) << 8 | to & 0xff)
    }
}
