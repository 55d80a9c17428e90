//! Routes of a BGP table dump (RFC 6396, section 4.3: TABLE_DUMP_V2).
//!
//! ```text
//!   record   | time 4 | type 2 = 13 | subtype 2 | length 4 | body ... |
//!   subtype  1: the peers      2: IPv4 routes      4: IPv6 routes      others are passed over
//! ```
//!
//! Of the entries of a prefix the first counts. Records are cut out here, each by its own length,
//! so that a damaged one costs no more than itself; `table_dump` reads what is in them.

use std::io::{BufRead, Read};

use super::table_dump::{read_ipv4, read_ipv6, read_peers};
use super::{FileRoutes, Rules, unreadable};
use crate::FibError;

/// Bytes before a record's body.
pub(super) const HEADER_BYTES: usize = 12;
/// Longest body taken for one: an IPv4 record of 4,096 peers is far below it.
const MAX_BODY_BYTES: u32 = 16 << 20;
const TYPE_TABLE_DUMP_V2: u16 = 13;
const SUBTYPE_PEERS: u16 = 1;
const SUBTYPE_IPV4_UNICAST: u16 = 2;
const SUBTYPE_IPV6_UNICAST: u16 = 4;

/// Whether a file that begins so is a table dump.
pub(super) fn is_table_dump(head: &[u8]) -> bool {
    head.get(4..6) == Some(&TYPE_TABLE_DUMP_V2.to_be_bytes())
}

/// Reads records until the end.
pub(super) fn read(
    mut source: impl BufRead,
    rules: Rules,
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
            file.take(Err(wrong("a header of 12 bytes")), rules)?;
            return Ok(file);
        };
        let [_, _, _, _, t0, t1, s0, s1, length @ ..] = header;
        let (kind, subtype) = (u16::from_be_bytes([t0, t1]), u16::from_be_bytes([s0, s1]));
        let length = u32::from_be_bytes(length);
        let body = u64::from(length.min(MAX_BODY_BYTES));
        let read = source.by_ref().take(body).read_to_end(&mut record).map_err(unreadable)?;
        if read as u64 != u64::from(length) {
            // Where the next record begins is not known.
            file.take(Err(wrong("a body as long as its header says")), rules)?;
            return Ok(file);
        }
        let body = &record[HEADER_BYTES..];
        let outcome = match (kind, subtype) {
            (TYPE_TABLE_DUMP_V2, SUBTYPE_PEERS) => read_peers(body).map(|table| {
                peers = table;
                None
            }),
            (TYPE_TABLE_DUMP_V2, SUBTYPE_IPV4_UNICAST) => read_ipv4(body, &peers).map(Some),
            (TYPE_TABLE_DUMP_V2, SUBTYPE_IPV6_UNICAST) => read_ipv6(body, &peers).map(Some),
            _ => Ok(None),
        };
        if let Some(outcome) = outcome.map_err(wrong).transpose() {
            file.take(outcome, rules)?;
            report(file.routes.len());
        }
        offset += record.len() as u64;
    }
}
