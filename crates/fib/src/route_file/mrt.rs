//! Routes of a BGP table dump (RFC 6396, section 4.3: TABLE_DUMP_V2).
//!
//! ```text
//!   record   | time 4 | type 2 = 13 | subtype 2 | length 4 | body ... |
//!   subtype  1: the peers      2: IPv4 routes      4: IPv6 routes      others are passed over
//! ```
//!
//! Of the entries of a prefix the first counts. Records are cut out here, each by its own length,
//! so that a damaged one costs no more than itself; what is in them is the library's to parse.

use std::io::{BufRead, Cursor, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use mrt_rs::Record;
use mrt_rs::tabledump::{PeerEntry, RIB_AFI, TABLE_DUMP_V2};

use super::{FilePrefix, FileRoute, FileRoutes, FileTarget, OnWrong, unreadable};
use crate::{FibError, Prefix};

/// Bytes before a record's body.
pub(super) const HEADER_BYTES: usize = 12;
/// Longest body taken for one: an IPv4 record of 4,096 peers is far below it.
const MAX_BODY_BYTES: u32 = 16 << 20;
const TYPE_TABLE_DUMP_V2: u16 = 13;
const SUBTYPE_PEERS: u16 = 1;
const SUBTYPE_IPV4_UNICAST: u16 = 2;
const SUBTYPE_IPV6_UNICAST: u16 = 4;
/// RFC 4271, section 5.1.3.
const ATTRIBUTE_NEXT_HOP: u8 = 3;
/// RFC 4760, section 3; in a dump only the next hop is left of it (RFC 6396, section 4.3.4).
const ATTRIBUTE_MP_REACH: u8 = 14;
/// RFC 4271, section 4.3: the attribute's length has two bytes.
const FLAG_EXTENDED_LENGTH: u8 = 0x10;

/// Whether a file that begins so is a table dump.
pub(super) fn is_table_dump(head: &[u8]) -> bool {
    head.get(4..6) == Some(&TYPE_TABLE_DUMP_V2.to_be_bytes())
}

/// Reads records until the end.
pub(super) fn read(
    mut source: impl BufRead,
    on_wrong: OnWrong,
    report: &mut dyn FnMut(usize),
) -> Result<FileRoutes, FibError> {
    let mut file = FileRoutes::default();
    let mut peers = Vec::new();
    let mut offset = 0;
    let mut record = Vec::new();
    loop {
        record.clear();
        source.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut record).map_err(unreadable)?;
        if record.is_empty() {
            return Ok(file);
        }
        let wrong = |expected| FibError::RouteRecord { offset, expected };
        let Ok(header) = <[u8; HEADER_BYTES]>::try_from(&record[..]) else {
            file.take(Err(wrong("a header of 12 bytes")), on_wrong)?;
            return Ok(file);
        };
        let [_, _, _, _, t0, t1, s0, s1, length @ ..] = header;
        let (kind, subtype) = (u16::from_be_bytes([t0, t1]), u16::from_be_bytes([s0, s1]));
        let length = u32::from_be_bytes(length);
        let body = u64::from(length.min(MAX_BODY_BYTES));
        let read = source.by_ref().take(body).read_to_end(&mut record).map_err(unreadable)?;
        if read as u64 != u64::from(length) {
            // Where the next record begins is not known.
            file.take(Err(wrong("a body as long as its header says")), on_wrong)?;
            return Ok(file);
        }
        match (kind, subtype) {
            (TYPE_TABLE_DUMP_V2, SUBTYPE_PEERS) => match parse(&record) {
                Some(TABLE_DUMP_V2::PEER_INDEX_TABLE(table)) => peers = table.peer_entries,
                _ => file.take(Err(wrong("a table of peers")), on_wrong)?,
            },
            (TYPE_TABLE_DUMP_V2, SUBTYPE_IPV4_UNICAST | SUBTYPE_IPV6_UNICAST) => {
                let route = route_of(&record, &peers);
                file.take(route.ok_or_else(|| wrong("a prefix and its routes")), on_wrong)?;
                report(file.routes.len());
            }
            _ => {}
        }
        offset += record.len() as u64;
    }
}

fn parse(record: &[u8]) -> Option<TABLE_DUMP_V2> {
    match mrt_rs::read(&mut Cursor::new(record)).ok()?? {
        (_, Record::TABLE_DUMP_V2(dump)) => Some(dump),
        _ => None,
    }
}

fn route_of(record: &[u8], peers: &[PeerEntry]) -> Option<FileRoute> {
    // The body: a sequence number of 4 bytes, then the prefix's length. The library does not
    // expect one beyond the address's.
    if *record.get(HEADER_BYTES + 4)? > 128 {
        return None;
    }
    match parse(record)? {
        TABLE_DUMP_V2::RIB_IPV4_UNICAST(routes) => {
            let address = u32::from_be_bytes(padded(&routes.prefix)?);
            let prefix = FilePrefix::V4(Prefix::new(address, routes.prefix_length).ok()?);
            Some(FileRoute { prefix, target: target_of(&routes, peers)? })
        }
        TABLE_DUMP_V2::RIB_IPV6_UNICAST(routes) => {
            let address = u128::from_be_bytes(padded(&routes.prefix)?);
            let prefix = FilePrefix::V6(Prefix::new(address, routes.prefix_length).ok()?);
            Some(FileRoute { prefix, target: target_of(&routes, peers)? })
        }
        _ => None,
    }
}

/// An address of which only the bytes of the prefix were written.
fn padded<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let mut address = [0; N];
    address.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(address)
}

/// The next hop of the first entry, or the peer that told it.
fn target_of(routes: &RIB_AFI, peers: &[PeerEntry]) -> Option<FileTarget> {
    let entry = routes.entries.first()?;
    let told = Attributes(&entry.attributes).find_map(|(kind, value)| next_hop_of(kind, value));
    let peer = || peers.get(usize::from(entry.peer_index)).map(|peer| peer.peer_ip_address);
    told.or_else(peer).map(FileTarget::Address)
}

fn next_hop_of(kind: u8, value: &[u8]) -> Option<IpAddr> {
    match kind {
        ATTRIBUTE_NEXT_HOP => {
            let address: [u8; 4] = value.try_into().ok()?;
            Some(Ipv4Addr::from(address).into())
        }
        // The global address comes first, a link-local one may follow.
        ATTRIBUTE_MP_REACH => {
            let address: [u8; 16] = value.get(1..)?.first_chunk().copied()?;
            Some(Ipv6Addr::from(address).into())
        }
        _ => None,
    }
}

/// Path attributes: type and value.
struct Attributes<'a>(&'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = match *self.0 {
            [flags, _, high, low, ref rest @ ..] if flags & FLAG_EXTENDED_LENGTH != 0 => {
                (u16::from_be_bytes([high, low]), rest)
            }
            [_, _, length, ref rest @ ..] => (u16::from(length), rest),
            _ => return None,
        };
        let kind = self.0[1];
        let (value, rest) = rest.split_at_checked(usize::from(length))?;
        self.0 = rest;
        Some((kind, value))
    }
}
