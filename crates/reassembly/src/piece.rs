//! A fragment, read.
//!
//! ```text
//!  IPv4   │ header, options │ payload │
//!  IPv6   │ header, extensions │ fragment header │ payload │
//!         └─────── head ──────────────────────────┘
//!                       ▲ named_at: the octet that names the fragment header
//! ```
//! RFC 791 section 3.2, RFC 8200 section 4.5.

use std::net::IpAddr;
use wire::ip::protocol;
use wire::ipv6::extension::{self, Fragment};
use wire::{ip, ipv4, ipv6};

/// Which datagram a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Whose addresses these are: a VRF's, or a link's.
    pub scope: u32,
    /// Sender.
    pub source: IpAddr,
    /// Whom it is for.
    pub destination: IpAddr,
    /// The protocol inside; 0 for IPv6, where pieces need not agree on it.
    pub protocol: u8,
    /// What the sender tells its datagrams apart by.
    pub identification: u32,
}

/// A fragment of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Its datagram.
    pub key: Key,
    pub(crate) head: &'a [u8],
    pub(crate) named_at: usize,
    pub(crate) offset: usize,
    pub(crate) more: bool,
    pub(crate) payload: &'a [u8],
}

/// Why a packet is no piece to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Headers end too early, it is no fragment, or there is nothing in it.
    Malformed,
    /// RFC 8200 section 4.5: more follow, but its length is not of whole eights.
    NotWholeEights,
    /// RFC 8200 section 4.5: it ends behind the longest packet.
    TooLong {
        /// Octets from the start of the packet to the offset that says so.
        at: usize,
    },
    /// RFC 8200 section 4.5: the first piece lacks headers of those up to the upper layer's.
    HeadersMissing,
}

/// Octets from the start of a fragment header to its offset.
const OFFSET_AT: usize = 2;
/// Longest payload.
const MOST_BYTES: usize = 65_535;

impl<'a> Piece<'a> {
    /// Reads a packet of either family, without link header or padding, whose IP header was checked
    /// before.
    pub fn of(packet: &'a [u8], scope: u32) -> Result<Self, Fault> {
        match ip::version(packet) {
            6 => Self::of_ip6(packet, scope),
            _ => Self::of_ip4(packet, scope).ok_or(Fault::Malformed),
        }
    }

    fn of_ip4(packet: &'a [u8], scope: u32) -> Option<Self> {
        let header = ipv4::Header::new(packet)?;
        let (head, payload) = packet.split_at_checked(header.header_len())?;
        let (offset, more) = (header.fragment_offset(), header.more_fragments());
        // Linux cuts to whole eights what is followed by more.
        let payload = if more { &payload[..payload.len() & !7] } else { payload };
        let key = Key {
            scope,
            source: header.source_addr().into(),
            destination: header.destination_addr().into(),
            protocol: header.protocol(),
            identification: header.identification().into(),
        };
        let is_piece = header.is_fragment() && !payload.is_empty();
        is_piece.then_some(Self { key, head, named_at: 0, offset, more, payload })
    }

    fn of_ip6(packet: &'a [u8], scope: u32) -> Result<Self, Fault> {
        let header = ipv6::Header::new(packet).ok_or(Fault::Malformed)?;
        let (named_at, at) = fragment_header(header, packet).ok_or(Fault::Malformed)?;
        let fragment = Fragment::new(&packet[at..]).ok_or(Fault::Malformed)?;
        let (head, payload) = packet.split_at(at + Fragment::LEN);
        let (offset, more) = (fragment.offset(), fragment.more_fragments());
        if more && payload.len() % 8 != 0 {
            return Err(Fault::NotWholeEights);
        }
        if offset + payload.len() > MOST_BYTES {
            return Err(Fault::TooLong { at: at + OFFSET_AT });
        }
        if fragment.is_atomic() || payload.is_empty() {
            return Err(Fault::Malformed);
        }
        if offset == 0 && !reaches_upper_layer(fragment.next_header(), payload) {
            return Err(Fault::HeadersMissing);
        }
        let key = Key {
            scope,
            source: header.source_addr().into(),
            destination: header.destination_addr().into(),
            protocol: 0,
            identification: fragment.identification(),
        };
        Ok(Self { key, head, named_at, offset, more, payload })
    }
}

/// Where the fragment header is named, and where it stands.
fn fragment_header(header: ipv6::Header<'_>, packet: &[u8]) -> Option<(usize, usize)> {
    /// Octets from the start of the IPv6 header to its next-header field.
    const NEXT_HEADER_AT: usize = 6;
    let (mut next, mut named_at, mut at) =
        (header.next_header(), NEXT_HEADER_AT, ipv6::Header::LEN);
    for _ in 0..=extension::MAX_HEADERS {
        let found = extension::header(next, packet.get(at..)?)?;
        if next == protocol::FRAGMENT {
            return Some((named_at, at));
        }
        (next, named_at, at) = (found[0], at, at + found.len());
    }
    None
}

/// Whether the header of the upper layer begins in these bytes, at least by the eight octets that
/// all have.
fn reaches_upper_layer(next_header: u8, payload: &[u8]) -> bool {
    const LEAST_BYTES: usize = 8;
    match extension::walk(next_header, payload) {
        Ok(upper) => {
            upper.protocol == protocol::NO_NEXT || payload.len() >= upper.offset + LEAST_BYTES
        }
        Err(_) => false,
    }
}
