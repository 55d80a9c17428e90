//! Crafting IPv4, IPv6 and its extension headers.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Craft, Kind, Layer};
use crate::{
    checksum::{self, Sum},
    ip::protocol,
    ipv4,
    ipv6::{self, extension},
    options::END,
};

/// The layer named last is an IPv4 header.
#[derive(Clone, Debug)]
pub struct Ipv4;
/// The layer named last is an IPv6 header.
#[derive(Clone, Debug)]
pub struct Ipv6;
/// The layer named last is an IPv6 extension header.
#[derive(Clone, Debug)]
pub struct Extension;

/// TTL and hop limit of a crafted packet.
const HOPS: u8 = 64;

impl<L> Craft<L> {
    /// An IPv4 header with TTL 64.
    pub fn ipv4(
        self,
        source: impl Into<Ipv4Addr>,
        destination: impl Into<Ipv4Addr>,
    ) -> Craft<Ipv4> {
        let mut bytes = [0; ipv4::Header::LEN];
        let mut header = ipv4::HeaderMut::of(&mut bytes);
        header.set_version_ihl(0x45);
        header.set_ttl(HOPS);
        header.set_source(source.into().into());
        header.set_destination(destination.into().into());
        self.push(Kind::Ipv4, bytes.to_vec())
    }

    /// An IPv6 header with hop limit 64.
    pub fn ipv6(
        self,
        source: impl Into<Ipv6Addr>,
        destination: impl Into<Ipv6Addr>,
    ) -> Craft<Ipv6> {
        let mut bytes = [0; ipv6::Header::LEN];
        let mut header = ipv6::HeaderMut::of(&mut bytes);
        header.set_first_word(6 << 28);
        header.set_hop_limit(HOPS);
        header.set_source(source.into().into());
        header.set_destination(destination.into().into());
        self.push(Kind::Ipv6, bytes.to_vec())
    }

    /// An IPv6 hop-by-hop header with these options.
    pub fn hop_by_hop(self, options: &[u8]) -> Craft<Extension> {
        self.extension(protocol::HOP_BY_HOP, options)
    }

    /// An IPv6 destination header with these options.
    pub fn destination_options(self, options: &[u8]) -> Craft<Extension> {
        self.extension(protocol::DESTINATION_OPTIONS, options)
    }

    /// An IPv6 routing header: type, segments left, and the rest.
    pub fn routing(self, content: &[u8]) -> Craft<Extension> {
        self.extension(protocol::ROUTING, content)
    }

    /// An IPv6 fragment header; the offset is in octets and loses its low three bits.
    pub fn fragment_header(
        self,
        offset: usize,
        more: bool,
        identification: u32,
    ) -> Craft<Extension> {
        let mut bytes = [0; extension::Fragment::LEN];
        let mut header = extension::FragmentMut::of(&mut bytes);
        header.set_offset_bits(offset as u16 & 0xfff8 | u16::from(more));
        header.set_identification(identification);
        self.push(Kind::Extension(protocol::FRAGMENT), bytes.to_vec())
    }

    /// Any extension header that counts in eights; `content` is padded to the next full eight.
    pub fn extension(self, number: u8, content: &[u8]) -> Craft<Extension> {
        let len = (2 + content.len()).next_multiple_of(8);
        let mut bytes = vec![0, (len / 8 - 1) as u8];
        bytes.extend(content);
        pad_options(&mut bytes, len);
        self.push(Kind::Extension(number), bytes)
    }
}

/// Fills up with a PadN option, or Pad1 where one octet is missing (RFC 8200, 4.2).
fn pad_options(bytes: &mut Vec<u8>, len: usize) {
    let missing = len - bytes.len();
    if missing >= 2 {
        bytes.extend([1, missing as u8 - 2]);
    }
    bytes.resize(len, 0);
}

impl Craft<Ipv4> {
    /// Hops left.
    pub fn ttl(self, ttl: u8) -> Self {
        self.set(8, &[ttl])
    }

    /// DSCP and ECN in one octet.
    pub fn tos(self, tos: u8) -> Self {
        self.set(1, &[tos])
    }

    /// Differentiated services code point.
    pub fn dscp(self, dscp: u8) -> Self {
        self.edit(|layer| layer.bytes[1] = layer.bytes[1] & 3 | dscp << 2)
    }

    /// Congestion bits.
    pub fn ecn(self, ecn: u8) -> Self {
        self.edit(|layer| layer.bytes[1] = layer.bytes[1] & 0xfc | ecn & 3)
    }

    /// What tells the fragments of one packet from those of another.
    pub fn identification(self, identification: u16) -> Self {
        self.set(4, &identification.to_be_bytes())
    }

    /// Sets the "do not fragment" flag.
    pub fn dont_fragment(self) -> Self {
        self.edit(|layer| layer.bytes[6] |= 0x40)
    }

    /// A piece at this offset in octets, whose low three bits are lost; `more` follow or not.
    pub fn fragment(self, offset: usize, more: bool) -> Self {
        let bits = (offset / 8) as u16 & ipv4::OFFSET_MASK;
        let bits = if more { bits | ipv4::MORE_FRAGMENTS } else { bits };
        self.set(6, &bits.to_be_bytes())
    }

    /// All flags and the offset at once.
    pub fn fragment_bits(self, bits: u16) -> Self {
        self.set(6, &bits.to_be_bytes())
    }

    /// Appends an option, padded to a full word; the header length follows unless it was set after.
    pub fn option(self, kind: u8, data: &[u8]) -> Self {
        self.raw_options(&[&[kind, (data.len() + 2) as u8], data].concat())
    }

    /// Appends octets to the options as they are, padded to a full word.
    pub fn raw_options(self, octets: &[u8]) -> Self {
        self.edit(|layer| {
            layer.bytes.extend(octets);
            layer.bytes.resize(layer.bytes.len().next_multiple_of(4), END);
            // Options beyond 40 octets do not fit the field; the header then lies.
            layer.bytes[0] = layer.bytes[0] & 0xf0 | (layer.bytes.len() / 4) as u8 & 0x0f;
        })
    }

    /// Version, whatever the rest is.
    pub fn version(self, version: u8) -> Self {
        self.edit(|layer| layer.bytes[0] = layer.bytes[0] & 0x0f | version << 4)
    }

    /// Header length in words, whatever it really is.
    pub fn ihl(self, words: u8) -> Self {
        self.edit(|layer| layer.bytes[0] = layer.bytes[0] & 0xf0 | words & 0x0f)
    }

    /// Total length, whatever it really is.
    pub fn length(self, total_len: u16) -> Self {
        self.set_len(2, &total_len.to_be_bytes())
    }

    /// Protocol, whatever follows.
    pub fn protocol(self, protocol: u8) -> Self {
        self.set_next(9, &[protocol])
    }

    /// Header checksum, right or wrong.
    pub fn checksum(self, checksum: u16) -> Self {
        self.set_checksum(10, checksum)
    }
}

impl Craft<Ipv6> {
    /// Hops left.
    pub fn hop_limit(self, hop_limit: u8) -> Self {
        self.set(7, &[hop_limit])
    }

    /// DSCP and ECN in one octet.
    pub fn traffic_class(self, class: u8) -> Self {
        self.edit(|layer| {
            layer.bytes[0] = layer.bytes[0] & 0xf0 | class >> 4;
            layer.bytes[1] = layer.bytes[1] & 0x0f | class << 4;
        })
    }

    /// Flow label, 20 bits.
    pub fn flow_label(self, label: u32) -> Self {
        self.edit(|layer| {
            let [_, high, middle, low] = label.to_be_bytes();
            layer.bytes[1] = layer.bytes[1] & 0xf0 | high & 0x0f;
            layer.put(2, &[middle, low]);
        })
    }

    /// Version, whatever the rest is.
    pub fn version(self, version: u8) -> Self {
        self.edit(|layer| layer.bytes[0] = layer.bytes[0] & 0x0f | version << 4)
    }

    /// Payload length, whatever it really is.
    pub fn length(self, payload_len: u16) -> Self {
        self.set_len(4, &payload_len.to_be_bytes())
    }

    /// Next header, whatever follows.
    pub fn next_header(self, next_header: u8) -> Self {
        self.set_next(6, &[next_header])
    }
}

impl Craft<Extension> {
    /// Next header, whatever follows.
    pub fn next_header(self, next_header: u8) -> Self {
        self.set_next(0, &[next_header])
    }

    /// Length in eights beyond the first, whatever it really is.
    pub fn length(self, eights: u8) -> Self {
        self.set(1, &[eights])
    }
}

/// The pseudo header by the nearest IP header outside; of nothing if there is none.
///
/// With a routing header the sum must be over the last destination, which only the caller knows:
/// set it then.
pub(super) fn pseudo_header<'a>(
    mut outer: impl Iterator<Item = &'a Layer>,
    protocol: u8,
    len: usize,
) -> Sum {
    let nearest = outer.find(|layer| matches!(layer.kind, Kind::Ipv4 | Kind::Ipv6));
    let Some(layer) = nearest else { return Sum::ZERO };
    match (ipv4::Header::new(&layer.bytes), ipv6::Header::new(&layer.bytes)) {
        (_, Some(ip)) if layer.kind == Kind::Ipv6 => {
            checksum::pseudo6(ip.source(), ip.destination(), protocol, len as u32)
        }
        (Some(ip), _) => checksum::pseudo4(ip.source(), ip.destination(), protocol, len as u16),
        _ => Sum::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use crate::{craft, ip::protocol, ipv4, ipv6};

    #[test]
    fn every_ipv4_field_can_be_set() {
        let packet = craft::ipv4(1, 2)
            .version(5)
            .ihl(15)
            .tos(0xff)
            .dscp(46)
            .ecn(1)
            .identification(0x1234)
            .dont_fragment()
            .ttl(3)
            .protocol(99)
            .length(1)
            .checksum(2)
            .build();
        assert_eq!(packet[..12], [0x5f, 0xb9, 0, 1, 0x12, 0x34, 0x40, 0, 3, 99, 0, 2]);
        let piece = craft::ipv4(1, 2).fragment(1480, true).build();
        assert_eq!(ipv4::Header::new(&piece).unwrap().fragment_offset(), 1480);
        let bits = craft::ipv4(1, 2).fragment_bits(0xffff).build();
        assert_eq!(ipv4::Header::new(&bits).unwrap().fragment_bits(), 0xffff);
    }

    #[test]
    fn every_ipv6_field_can_be_set() {
        let packet = craft::ipv6(1, 2)
            .version(7)
            .traffic_class(0xb9)
            .flow_label(0x12345)
            .length(9)
            .next_header(99)
            .hop_limit(3)
            .build();
        assert_eq!(packet[..8], [0x7b, 0x91, 0x23, 0x45, 0, 9, 99, 3]);
    }

    #[test]
    fn extension_headers_are_chained_and_padded() {
        let packet = craft::ipv6(1, 2).hop_by_hop(&[5, 2, 0, 0]).destination_options(&[]).build();
        assert_eq!(packet[6], protocol::HOP_BY_HOP);
        assert_eq!(packet[40..56], [60, 0, 5, 2, 0, 0, 1, 0, 59, 0, 1, 4, 0, 0, 0, 0]);
        let lie = craft::ipv6(1, 2).routing(&[0; 6]).next_header(17).length(9).build();
        assert_eq!(lie[40..42], [17, 9]);
        assert_eq!(ipv6::Header::new(&packet).unwrap().payload_len(), 16);
    }

    #[test]
    fn an_option_of_odd_length_is_padded_to_a_word() {
        let packet = craft::ipv4(1, 2).option(ipv4::option::RECORD_ROUTE, &[4; 5]).build();
        assert_eq!((packet.len(), packet[0]), (28, 0x47));
        assert!(ipv4::Packet::parse(&packet).is_ok());
    }
}
