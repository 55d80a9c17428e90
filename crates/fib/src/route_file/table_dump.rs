//! What stands in the records of a BGP table dump (RFC 6396, section 4.3).
//!
//! ```text
//!   peers   | collector 4 | n 2 | name n | count 2 | peers ... |
//!   peer    | type 1: 1 = IPv6, 2 = long AS | BGP id 4 | address 4 or 16 | AS 2 or 4 |
//!   routes  | sequence 4 | bits 1 | prefix, in whole bytes | count 2 | entries ... |
//!   entry   | peer 2 | time 4 | n 2 | path attributes n |
//! ```
//!
//! Every length is held against what is there before anything is taken, and no memory is set
//! aside for what a record only claims to hold.

use std::net::IpAddr;

use super::{FilePrefix, FileRoute, FileTarget};
use crate::Prefix;

/// What should have stood where a record goes wrong.
type Expected = &'static str;

const PEER_HAS_IPV6: u8 = 1;
const PEER_HAS_LONG_AS: u8 = 2;
/// RFC 4271, section 5.1.3.
const ATTRIBUTE_NEXT_HOP: u8 = 3;
/// RFC 4760, section 3; in a dump only the next hop is left of it (RFC 6396, section 4.3.4).
const ATTRIBUTE_MP_REACH: u8 = 14;
/// RFC 4271, section 4.3: the attribute's length has two bytes.
const FLAG_EXTENDED_LENGTH: u8 = 0x10;

/// Reads a table of peers: their addresses, by index.
pub(super) fn read_peers(body: &[u8]) -> Result<Vec<IpAddr>, Expected> {
    let mut body = Bytes(body);
    let count = body.peer_count().ok_or("a name as long as it says, and a count of peers")?;
    (0..count).map(|_| body.peer().ok_or("as many peers as are counted")).collect()
}

/// Reads the routes to an IPv4 prefix, of which the first counts.
pub(super) fn read_ipv4(body: &[u8], peers: &[IpAddr]) -> Result<FileRoute, Expected> {
    let expected = "an IPv4 prefix of 0 to 32 bits";
    let mut body = Bytes(body);
    let (address, bits) = body.prefix().ok_or(expected)?;
    let prefix = Prefix::new(u32::from_be_bytes(address), bits).map_err(|_| expected)?;
    Ok(FileRoute { prefix: FilePrefix::V4(prefix), target: body.first_target(peers)? })
}

/// The same of IPv6.
pub(super) fn read_ipv6(body: &[u8], peers: &[IpAddr]) -> Result<FileRoute, Expected> {
    let expected = "an IPv6 prefix of 0 to 128 bits";
    let mut body = Bytes(body);
    let (address, bits) = body.prefix().ok_or(expected)?;
    let prefix = Prefix::new(u128::from_be_bytes(address), bits).map_err(|_| expected)?;
    Ok(FileRoute { prefix: FilePrefix::V6(prefix), target: body.first_target(peers)? })
}

/// What of a record is not read yet; each of these takes from its front, or says that it is short.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn number(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// What stands before the peers.
    fn peer_count(&mut self) -> Option<u16> {
        self.take(4)?;
        let name_bytes = self.number()?;
        self.take(name_bytes.into())?;
        self.number()
    }

    fn peer(&mut self) -> Option<IpAddr> {
        let kind = self.byte()?;
        self.take(4)?;
        let address = match kind & PEER_HAS_IPV6 {
            0 => self.array::<4>()?.into(),
            _ => self.array::<16>()?.into(),
        };
        self.take(if kind & PEER_HAS_LONG_AS == 0 { 2 } else { 4 })?;
        Some(address)
    }

    /// An address of which only the bytes of the prefix are written, and its bits.
    fn prefix<const N: usize>(&mut self) -> Option<([u8; N], u8)> {
        self.take(4)?;
        let bits = self.byte()?;
        let mut address = [0; N];
        let written = usize::from(bits).div_ceil(8);
        address.get_mut(..written)?.copy_from_slice(self.take(written)?);
        Some((address, bits))
    }

    /// Of all entries, the first one's next hop, or else the peer that told it.
    fn first_target(&mut self, peers: &[IpAddr]) -> Result<FileTarget, Expected> {
        let count = self.number().ok_or("a count of routes")?;
        let mut first = None;
        for _ in 0..count {
            let entry = self.entry().ok_or("as many routes as are counted, each of its length")?;
            first.get_or_insert(entry);
        }
        let (peer, attributes) = first.ok_or("a route to the prefix")?;
        let address = match next_hop(attributes)? {
            Some(address) => address,
            None => *peers.get(usize::from(peer)).ok_or("a next hop, or a peer of the table")?,
        };
        Ok(FileTarget::Address(address))
    }

    /// The index of a peer, and path attributes.
    fn entry(&mut self) -> Option<(u16, &'a [u8])> {
        let peer = self.number()?;
        self.take(4)?;
        let length = self.number()?;
        Some((peer, self.take(length.into())?))
    }

    /// A path attribute: its type and value.
    fn attribute(&mut self) -> Option<(u8, &'a [u8])> {
        let [flags, kind] = self.array()?;
        let length = match flags & FLAG_EXTENDED_LENGTH {
            0 => u16::from(self.byte()?),
            _ => self.number()?,
        };
        Some((kind, self.take(length.into())?))
    }
}

/// The next hop among path attributes, if it is there.
fn next_hop(attributes: &[u8]) -> Result<Option<IpAddr>, Expected> {
    let mut attributes = Bytes(attributes);
    while !attributes.0.is_empty() {
        let (kind, value) = attributes.attribute().ok_or("attributes as long as they say")?;
        match (kind, value) {
            (ATTRIBUTE_NEXT_HOP, &[a, b, c, d]) => return Ok(Some([a, b, c, d].into())),
            (ATTRIBUTE_NEXT_HOP, _) => return Err("a next hop of 4 bytes"),
            // The global address comes first, a link-local one may follow.
            (ATTRIBUTE_MP_REACH, [16 | 32, addresses @ ..]) => {
                let global = addresses.first_chunk::<16>().ok_or("a next hop of its length")?;
                return Ok(Some((*global).into()));
            }
            (ATTRIBUTE_MP_REACH, _) => return Err("an IPv6 next hop of 16 or 32 bytes"),
            _ => {}
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A collector, the name "v", and two peers: IPv4 with a short AS, IPv6 with a long one.
    const PEERS: [u8; 45] = {
        let mut body = [0; 45];
        (body[5], body[6], body[8]) = (1, b'v', 2);
        (body[14], body[15], body[16], body[17]) = (10, 0, 0, 1);
        (body[20], body[25], body[26], body[40]) = (3, 0xfe, 0x80, 9);
        body
    };
    /// 192.0.2.0/24: from peer 1 with the next hop 10.0.0.9 behind an origin, then from peer 0.
    const ROUTES: [u8; 38] = [
        0, 0, 0, 7, 24, 192, 0, 2, 0, 2, // the prefix, and two entries
        0, 1, 0, 0, 0, 0, 0, 12, 0x40, 1, 1, 0, 0x50, 3, 0, 4, 10, 0, 0, 9, // the first
        0, 0, 0, 0, 0, 0, 0, 0, // the second
    ];

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn peers_of_both_families_and_sizes_of_as_numbers_stand_in_one_table() {
        assert_eq!(read_peers(&PEERS).unwrap(), [address("10.0.0.1"), address("fe80::9")]);
    }

    #[test]
    fn the_first_routes_next_hop_counts() {
        let route = read_ipv4(&ROUTES, &[]).unwrap();
        assert_eq!(route.prefix, "192.0.2.0/24".parse().unwrap());
        assert_eq!(route.target, FileTarget::Address(address("10.0.0.9")));
    }

    #[test]
    fn a_table_cut_anywhere_is_refused() {
        for length in 0..PEERS.len() {
            assert!(read_peers(&PEERS[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn routes_cut_anywhere_are_refused() {
        for length in 0..ROUTES.len() {
            assert!(read_ipv4(&ROUTES[..length], &[]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_length_that_lies_is_told_as_what_it_is() {
        let with = |place: usize, byte: u8| {
            let mut body = ROUTES;
            body[place] = byte;
            read_ipv4(&body, &[]).unwrap_err()
        };
        assert_eq!(with(4, 33), "an IPv4 prefix of 0 to 32 bits");
        assert_eq!(with(8, 255), "as many routes as are counted, each of its length");
        assert_eq!(with(9, 0), "a route to the prefix");
        assert_eq!(with(17, 13), "as many routes as are counted, each of its length");
        assert_eq!(with(17, 11), "attributes as long as they say");
        assert_eq!(with(20, 200), "attributes as long as they say");
        assert_eq!(with(25, 3), "a next hop of 4 bytes");
        // The second has no next hop: were it the first, a peer would be asked for.
        assert_eq!(with(23, 9), "a next hop, or a peer of the table");
    }

    #[test]
    fn more_peers_than_there_are_take_no_memory() {
        let mut table = PEERS;
        (table[7], table[8]) = (255, 255);
        assert_eq!(read_peers(&table).unwrap_err(), "as many peers as are counted");
    }

    #[test]
    fn an_ipv6_next_hop_may_be_followed_by_a_link_local_one() {
        let mut value = vec![32];
        value.extend([0x20; 16]);
        value.extend([0xfe; 16]);
        let mut body = vec![0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 36, 0x80, 14, 33];
        body.extend(&value);
        let read = |body: &[u8]| read_ipv6(body, &[]);
        assert_eq!(read(&body).unwrap().target, FileTarget::Address([0x20; 16].into()));
        body[18] = 33;
        assert_eq!(read(&body).unwrap_err(), "an IPv6 next hop of 16 or 32 bytes");
        body[4] = 129;
        assert_eq!(read(&body).unwrap_err(), "an IPv6 prefix of 0 to 128 bits");
    }
}
