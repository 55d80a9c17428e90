//! IPv4 (RFC 791, 3.1; checks of RFC 1812, 5.2.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! ┌───────┬───────┬───────────┬───┬───────────────────────────────┐
//! │version│  IHL  │   DSCP    │ECN│          total length         │  0
//! ├───────┴───────┴───────────┴───┼─────┬─────────────────────────┤
//! │        identification         │0 D M│  fragment offset (x 8)  │  4
//! ├───────────────┬───────────────┼─────┴─────────────────────────┤
//! │      TTL      │   protocol    │        header checksum        │  8
//! ├───────────────┴───────────────┴───────────────────────────────┤
//! │                        source address                         │ 12
//! ├───────────────────────────────────────────────────────────────┤
//! │                      destination address                      │ 16
//! ├───────────────────────────────────────────────────────────────┤
//! │                 options, up to 40 octets …                    │ 20
//! └───────────────────────────────────────────────────────────────┘
//! ```

use std::net::Ipv4Addr;

use crate::{Error, checksum, options::Options};

view! {
    /// The fixed part of an IPv4 header.
    Header, HeaderMut: 20 octets {
        /// Version and header length in one octet; 0x45 for a plain header.
        version_ihl, set_version_ihl: u8 = 0;
        /// DSCP and ECN in one octet.
        tos, set_tos: u8 = 1;
        /// Octets of header and payload.
        total_len, set_total_len: u16 = 2;
        /// Tells the fragments of one packet from those of another.
        identification, set_identification: u16 = 4;
        /// Flags and fragment offset in one.
        fragment_bits, set_fragment_bits: u16 = 6;
        /// Hops left.
        ttl, set_ttl: u8 = 8;
        /// What follows, one of [`crate::ip::protocol`].
        protocol, set_protocol: u8 = 9;
        /// Header checksum.
        checksum, set_checksum: u16 = 10;
        /// Source address.
        source, set_source: u32 = 12;
        /// Destination address.
        destination, set_destination: u32 = 16;
    }
}

/// Octets of the longest header.
pub const MAX_HEADER_LEN: usize = 60;
/// Fragment bits: this bit must be zero.
pub const RESERVED_FLAG: u16 = 0x8000;
/// Fragment bits: do not fragment.
pub const DONT_FRAGMENT: u16 = 0x4000;
/// Fragment bits: more fragments follow.
pub const MORE_FRAGMENTS: u16 = 0x2000;
/// Fragment bits: the offset, in units of eight octets.
pub const OFFSET_MASK: u16 = 0x1fff;

impl Header<'_> {
    /// Version; 4.
    #[inline]
    pub fn version(self) -> u8 {
        self.version_ihl() >> 4
    }

    /// Whether it is of version 4 and claims no fewer octets than it has.
    #[inline]
    pub fn is_sound(self) -> bool {
        self.version() == 4 && self.header_len() >= Self::LEN
    }

    /// Octets of the header, options included, as it says: 0 to 60, valid from 20.
    #[inline]
    pub fn header_len(self) -> usize {
        usize::from(self.version_ihl() & 0x0f) * 4
    }

    /// Differentiated services code point.
    #[inline]
    pub fn dscp(self) -> u8 {
        self.tos() >> 2
    }

    /// Congestion bits, one of [`crate::ip::ecn`].
    #[inline]
    pub fn ecn(self) -> u8 {
        self.tos() & 3
    }

    /// Whether no router may fragment it.
    #[inline]
    pub fn dont_fragment(self) -> bool {
        self.fragment_bits() & DONT_FRAGMENT != 0
    }

    /// Whether more fragments follow.
    #[inline]
    pub fn more_fragments(self) -> bool {
        self.fragment_bits() & MORE_FRAGMENTS != 0
    }

    /// Where in the whole packet's payload this fragment begins, in octets.
    #[inline]
    pub fn fragment_offset(self) -> usize {
        usize::from(self.fragment_bits() & OFFSET_MASK) * 8
    }

    /// Whether it is a piece of a packet.
    #[inline]
    pub fn is_fragment(self) -> bool {
        self.fragment_bits() & (MORE_FRAGMENTS | OFFSET_MASK) != 0
    }

    /// Source address, for people.
    #[inline]
    pub fn source_addr(self) -> Ipv4Addr {
        self.source().into()
    }

    /// Destination address, for people.
    #[inline]
    pub fn destination_addr(self) -> Ipv4Addr {
        self.destination().into()
    }
}

impl HeaderMut<'_> {
    /// One hop less, checksum updated (RFC 1624). The TTL must not be zero; it would wrap to 255.
    #[inline]
    pub fn decrement_ttl(&mut self) {
        let (ttl, checksum) = (self.view().ttl(), self.view().checksum());
        self.set_ttl(ttl.wrapping_sub(1));
        self.set_checksum(checksum::after_ttl_decrement(checksum));
    }

    /// Other DSCP and ECN bits, checksum updated.
    #[inline]
    pub fn remark(&mut self, tos: u8) {
        let (version_ihl, checksum) = (self.view().version_ihl(), self.view().checksum());
        let old = u16::from_be_bytes([version_ihl, self.view().tos()]);
        let new = u16::from_be_bytes([version_ihl, tos]);
        self.set_tos(tos);
        self.set_checksum(checksum::update_u16(checksum, old, new));
    }
}

/// A packet whose header passed all checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The fixed part of the header.
    pub header: Header<'a>,
    /// Octets of the options.
    pub options: &'a [u8],
    /// What follows the header, up to the total length: link padding is cut off.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Checks lengths, version and checksum (RFC 1812, 5.2.2, rules 1 to 5).
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let header =
            Header::new(bytes).ok_or(Error::short("IPv4 header", Header::LEN, bytes.len()))?;
        if header.version() != 4 {
            return Err(Error::field("IPv4 version", header.version(), "4"));
        }
        let header_len = header.header_len();
        if header_len < Header::LEN {
            return Err(Error::field("IPv4 header length", header_len as u64, "at least 20"));
        }
        let total_len = usize::from(header.total_len());
        if total_len < header_len {
            return Err(Error::field(
                "IPv4 total length",
                header.total_len(),
                "at least the header length",
            ));
        }
        let packet =
            bytes.get(..total_len).ok_or(Error::short("IPv4 packet", total_len, bytes.len()))?;
        let (head, payload) = packet.split_at(header_len);
        if !checksum::is_valid(head) {
            let found = header.checksum();
            let expected = checksum::Sum::ZERO.bytes(head).u16(!found).checksum();
            return Err(Error::Checksum { what: "IPv4 header", found, expected });
        }
        Ok(Self { header, options: &head[Header::LEN..], payload })
    }

    /// Walks the options.
    pub fn options(&self) -> Options<'a> {
        Options::new(self.options)
    }
}

/// Option kinds (IANA registry "IP Option Numbers").
pub mod option {
    /// Record the addresses passed.
    pub const RECORD_ROUTE: u8 = 7;
    /// Record times of passing.
    pub const TIMESTAMP: u8 = 68;
    /// Loose source route.
    pub const LOOSE_SOURCE_ROUTE: u8 = 131;
    /// Strict source route.
    pub const STRICT_SOURCE_ROUTE: u8 = 137;
    /// Routers should look closer (RFC 2113).
    pub const ROUTER_ALERT: u8 = 148;
    /// Kind bit: every fragment carries the option.
    pub const COPIED: u8 = 0x80;
}

/// Whether this is a group address, 224.0.0.0/4.
#[inline]
pub const fn is_multicast(address: u32) -> bool {
    address >> 28 == 0xe
}

/// Whether this is in the reserved network 240.0.0.0/4 (RFC 1112, 4), the broadcast address aside.
#[inline]
pub const fn is_class_e(address: u32) -> bool {
    address >> 28 == 0xf && address != u32::MAX
}

/// Whether no packet on a wire may come from here (RFC 1812, 5.3.7): 0/8, 127/8, groups, class E,
/// broadcast.
#[inline]
pub const fn is_martian_source(address: u32) -> bool {
    let net = address >> 24;
    net == 0 || net == 127 || net >= 224
}

/// Whether no packet on a wire may go there to be forwarded: 0/8, 127/8, class E, broadcast.
#[inline]
pub const fn is_martian_destination(address: u32) -> bool {
    let net = address >> 24;
    net == 0 || net == 127 || net >= 240
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{craft, options::Entry};

    fn packet() -> Vec<u8> {
        craft::ipv4([10, 0, 0, 1], [10, 0, 1, 2]).ttl(9).udp(1, 2).payload(b"hello").build()
    }

    #[test]
    fn every_field_of_a_known_header_is_read() {
        let bytes = [
            0x45, 0xb9, 0x00, 0x14, 0x12, 0x34, 0x60, 0x02, 0x40, 0x11, 0xb7, 0x48, 192, 168, 0, 1,
            192, 168, 0, 199,
        ];
        let header = Header::of(&bytes);
        assert_eq!((header.version(), header.header_len()), (4, 20));
        assert_eq!((header.dscp(), header.ecn(), header.total_len()), (46, 1, 20));
        assert_eq!((header.identification(), header.fragment_offset()), (0x1234, 16));
        assert!(header.dont_fragment() && header.more_fragments() && header.is_fragment());
        assert_eq!((header.ttl(), header.protocol(), header.checksum()), (64, 17, 0xb748));
        assert_eq!(header.source_addr(), Ipv4Addr::new(192, 168, 0, 1));
        assert_eq!(header.destination(), 0xc0a8_00c7);
    }

    #[test]
    fn padding_of_the_link_is_not_payload() {
        let mut bytes = packet();
        bytes.extend([0; 13]);
        assert_eq!(Packet::parse(&bytes).unwrap().payload.len(), 13);
    }

    #[test]
    fn each_lie_of_the_header_is_refused() {
        for (at, value) in [(0, 0x65), (0, 0x44), (0, 0x4f), (2, 1), (3, 19), (8, 10), (16, 11)] {
            let mut bytes = packet();
            bytes[at] = value;
            assert!(Packet::parse(&bytes).is_err(), "octet {at} as {value} was taken");
        }
        assert!(Packet::parse(&packet()[..19]).is_err());
    }

    #[test]
    fn a_wrong_checksum_is_told_with_the_right_one() {
        let mut bytes = packet();
        let right = Header::new(&bytes).unwrap().checksum();
        HeaderMut::new(&mut bytes).unwrap().set_checksum(right ^ 0x0101);
        match Packet::parse(&bytes) {
            Err(Error::Checksum { expected, .. }) => assert_eq!(expected, right),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_are_walked() {
        let bytes = craft::ipv4([10, 0, 0, 1], [10, 0, 1, 2])
            .option(option::ROUTER_ALERT, &[0, 0])
            .udp(1, 2)
            .build();
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!(packet.header.header_len(), 24);
        let found: Vec<_> = packet.options().map(Result::unwrap).collect();
        assert_eq!(found, [Entry { kind: option::ROUTER_ALERT, data: &[0, 0], offset: 0 }]);
    }

    #[test]
    fn martians_are_those_of_rfc_1812() {
        for address in
            [[0, 0, 0, 1], [127, 0, 0, 1], [240, 0, 0, 1], [255; 4]].map(u32::from_be_bytes)
        {
            assert!(is_martian_source(address) && is_martian_destination(address));
        }
        let group = u32::from_be_bytes([224, 0, 0, 5]);
        assert!(is_martian_source(group) && !is_martian_destination(group) && is_multicast(group));
        assert!(!is_martian_source(u32::from_be_bytes([223, 255, 255, 255])));
    }

    proptest! {
        #[test]
        fn a_decremented_or_remarked_packet_is_still_valid(ttl in 1u8.., source: u32, tos: u8) {
            let mut bytes = craft::ipv4(source, 1).ttl(ttl).udp(1, 2).build();
            HeaderMut::new(&mut bytes).unwrap().decrement_ttl();
            HeaderMut::new(&mut bytes).unwrap().remark(tos);
            let header = Packet::parse(&bytes).unwrap().header;
            prop_assert_eq!((header.ttl(), header.tos()), (ttl - 1, tos));
        }

        #[test]
        fn any_bytes_parse_or_are_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..80), plain: bool) {
            if plain && bytes.len() >= 20 {
                bytes[..4].copy_from_slice(&[0x46, 0, 0, 30]);
                bytes[10..12].fill(0);
                let sum = checksum::of(&bytes[..bytes.len().min(24)]);
                bytes[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            if let Ok(packet) = Packet::parse(&bytes) {
                prop_assert_eq!(packet.header.header_len(), 20 + packet.options.len());
                prop_assert!(packet.options().count() <= 40);
            }
        }
    }
}
