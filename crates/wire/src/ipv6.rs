//! IPv6 (RFC 8200, 3); its extension headers are in [`extension`].
//!
//! ```text
//! ┌───────┬───────────┬───┬───────────────────────────────────────┐
//! │version│   DSCP    │ECN│              flow label               │  0
//! ├───────┴───────────┴───┴───────┬───────────────┬───────────────┤
//! │        payload length         │  next header  │   hop limit   │  4
//! ├───────────────────────────────┴───────────────┴───────────────┤
//! │                    source address, 16 octets                  │  8
//! ├───────────────────────────────────────────────────────────────┤
//! │                 destination address, 16 octets                │ 24
//! └───────────────────────────────────────────────────────────────┘ 40
//! ```

pub mod extension;

use std::net::Ipv6Addr;

use crate::{Error, MacAddr};

view! {
    /// An IPv6 header.
    Header, HeaderMut: 40 octets {
        /// Version, traffic class and flow label in one.
        first_word, set_first_word: u32 = 0;
        /// Octets after this header, extension headers included.
        payload_len, set_payload_len: u16 = 4;
        /// What follows, one of [`crate::ip::protocol`].
        next_header, set_next_header: u8 = 6;
        /// Hops left.
        hop_limit, set_hop_limit: u8 = 7;
        /// Source address.
        source, set_source: u128 = 8;
        /// Destination address.
        destination, set_destination: u128 = 24;
    }
}

/// Octets that every link must carry in one packet.
pub const MIN_MTU: usize = 1280;

impl Header<'_> {
    /// Version; 6.
    #[inline]
    pub fn version(self) -> u8 {
        (self.first_word() >> 28) as u8
    }

    /// DSCP and ECN in one octet.
    #[inline]
    pub fn traffic_class(self) -> u8 {
        (self.first_word() >> 20) as u8
    }

    /// Differentiated services code point.
    #[inline]
    pub fn dscp(self) -> u8 {
        self.traffic_class() >> 2
    }

    /// Congestion bits, one of [`crate::ip::ecn`].
    #[inline]
    pub fn ecn(self) -> u8 {
        self.traffic_class() & 3
    }

    /// Flow label, 20 bits.
    #[inline]
    pub fn flow_label(self) -> u32 {
        self.first_word() & 0x000f_ffff
    }

    /// Source address, for people.
    #[inline]
    pub fn source_addr(self) -> Ipv6Addr {
        self.source().into()
    }

    /// Destination address, for people.
    #[inline]
    pub fn destination_addr(self) -> Ipv6Addr {
        self.destination().into()
    }
}

impl HeaderMut<'_> {
    /// One hop less. The hop limit must not be zero; it would wrap to 255.
    #[inline]
    pub fn decrement_hop_limit(&mut self) {
        self.set_hop_limit(self.view().hop_limit().wrapping_sub(1));
    }

    /// Other DSCP and ECN bits.
    #[inline]
    pub fn remark(&mut self, traffic_class: u8) {
        let word = self.view().first_word();
        self.set_first_word(word & 0xf00f_ffff | u32::from(traffic_class) << 20);
    }
}

/// A packet whose header passed all checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The header.
    pub header: Header<'a>,
    /// What follows it, up to the payload length: link padding is cut off.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Checks version and lengths.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let header =
            Header::new(bytes).ok_or(Error::short("IPv6 header", Header::LEN, bytes.len()))?;
        if header.version() != 6 {
            return Err(Error::field("IPv6 version", header.version(), "6"));
        }
        let len = Header::LEN + usize::from(header.payload_len());
        let packet = bytes.get(..len).ok_or(Error::short("IPv6 packet", len, bytes.len()))?;
        Ok(Self { header, payload: &packet[Header::LEN..] })
    }
}

/// Whether this is a group address, `ff00::/8`.
#[inline]
pub const fn is_multicast(address: u128) -> bool {
    address >> 120 == 0xff
}

/// Whether this is valid on one link only, `fe80::/10`.
#[inline]
pub const fn is_link_local(address: u128) -> bool {
    address >> 118 == 0xfe80 >> 6
}

/// The scope of a group address: 1 interface, 2 link, 5 site, 14 global (RFC 7346, 2).
#[inline]
pub const fn multicast_scope(group: u128) -> u8 {
    (group >> 112) as u8 & 0x0f
}

/// The group `ff02::1:ffXX:XXXX` on which the holder of an address hears solicitations (RFC 4291,
/// 2.7.1).
#[inline]
pub const fn solicited_node(address: u128) -> u128 {
    0xff02_0000_0000_0000_0000_0001_ff00_0000 | address & 0x00ff_ffff
}

/// The link-local address that a MAC makes: `fe80::/64` and the MAC as a modified EUI-64 (RFC 2464,
/// 5).
#[inline]
pub const fn link_local_of(mac: MacAddr) -> u128 {
    let [a, b, c, d, e, f] = mac.octets();
    let eui64 = u64::from_be_bytes([a ^ 0x02, b, c, 0xff, 0xfe, d, e, f]);
    0xfe80 << 112 | eui64 as u128
}

/// Whether this stands for an IPv4 address, `::ffff:0:0/96`: inside hosts, never on a wire.
#[inline]
pub const fn is_ip4_mapped(address: u128) -> bool {
    address >> 32 == 0xffff
}

/// The group of all nodes on the link, `ff02::1`.
pub const ALL_NODES: u128 = 0xff02 << 112 | 1;
/// The group of all routers on the link, `ff02::2`.
pub const ALL_ROUTERS: u128 = 0xff02 << 112 | 2;

/// Whether no packet on a wire may come from here: groups, loopback, IPv4 addresses. `::` may, in
/// neighbour discovery.
#[inline]
pub const fn is_martian_source(address: u128) -> bool {
    is_multicast(address) || address == 1 || is_ip4_mapped(address)
}

/// Whether no packet on a wire may go there: `::`, loopback, and groups of interface scope or less.
#[inline]
pub const fn is_martian_destination(address: u128) -> bool {
    address <= 1 || (is_multicast(address) && multicast_scope(address) <= 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::craft;

    fn address(text: &str) -> u128 {
        text.parse::<Ipv6Addr>().unwrap().into()
    }

    #[test]
    fn every_field_of_a_known_header_is_read() {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&[0x6b, 0x91, 0x23, 0x45, 0x00, 0x08, 58, 64]);
        bytes[8..10].copy_from_slice(&[0xfe, 0x80]);
        bytes[23] = 1;
        bytes[24..26].copy_from_slice(&[0xff, 0x02]);
        bytes[39] = 2;
        let header = Header::of(&bytes);
        assert_eq!((header.version(), header.dscp(), header.ecn()), (6, 46, 1));
        assert_eq!((header.flow_label(), header.payload_len()), (0x12345, 8));
        assert_eq!((header.next_header(), header.hop_limit()), (58, 64));
        assert_eq!(header.source_addr().to_string(), "fe80::1");
        assert_eq!(header.destination(), ALL_ROUTERS);
    }

    #[test]
    fn each_lie_of_the_header_is_refused() {
        for (at, value) in [(0, 0x45), (4, 1), (5, 14)] {
            let mut bytes = craft::ipv6(1, 2).udp(1, 2).payload(b"hello").build();
            bytes[at] = value;
            assert!(Packet::parse(&bytes).is_err(), "octet {at} as {value} was taken");
        }
        assert!(Packet::parse(&[0x60; 39]).is_err());
    }

    #[test]
    fn address_kinds_are_those_of_the_rfcs() {
        assert!(is_link_local(address("fe80::1")) && is_link_local(address("febf::1")));
        assert!(!is_link_local(address("fec0::1")));
        assert!(is_multicast(address("ff02::1")) && !is_multicast(address("fe80::1")));
        assert_eq!(multicast_scope(address("ff1e::1")), 14);
        assert_eq!(solicited_node(address("2001:db8::1:2345:6789")), address("ff02::1:ff45:6789"));
        let mac = MacAddr([0x02, 0x11, 0x22, 0x33, 0x44, 0x55]);
        assert_eq!(link_local_of(mac), address("fe80::11:22ff:fe33:4455"));
        assert!(is_ip4_mapped(address("::ffff:1.2.3.4")) && !is_ip4_mapped(address("::1.2.3.4")));
        assert_eq!((ALL_NODES, ALL_ROUTERS), (address("ff02::1"), address("ff02::2")));
        assert!(is_martian_source(1) && is_martian_source(ALL_NODES) && !is_martian_source(0));
        assert!(is_martian_destination(0) && is_martian_destination(address("ff01::1")));
        assert!(!is_martian_destination(ALL_NODES));
    }

    proptest! {
        #[test]
        fn remarking_leaves_version_and_flow_label(word: u32, class: u8) {
            let mut bytes = [0; 40];
            let mut header = HeaderMut::of(&mut bytes);
            header.set_first_word(word);
            header.remark(class);
            prop_assert_eq!(header.view().traffic_class(), class);
            prop_assert_eq!(header.view().first_word() & 0xf00f_ffff, word & 0xf00f_ffff);
        }

        #[test]
        fn any_bytes_parse_or_are_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..100), plain: bool) {
            if plain && bytes.len() > 5 {
                bytes[0] = 0x60;
                bytes[4] = 0;
            }
            if let Ok(packet) = Packet::parse(&bytes) {
                prop_assert_eq!(packet.payload.len(), usize::from(packet.header.payload_len()));
            }
        }
    }
}
