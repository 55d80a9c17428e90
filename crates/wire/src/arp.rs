//! Address resolution of IPv4 over Ethernet (RFC 826).
//!
//! ```text
//!  0       2       4   5   6       8                 14        18               24        28
//! ┌───────┬───────┬───┬───┬───────┬─────────────────┬─────────┬────────────────┬─────────┐
//! │ hw 1  │ 0x0800│ 6 │ 4 │  oper │  sender MAC     │sender IP│  target MAC    │target IP│
//! └───────┴───────┴───┴───┴───────┴─────────────────┴─────────┴────────────────┴─────────┘
//! ```

use crate::{Error, MacAddr, ethernet::ethertype};

view! {
    /// An ARP packet of IPv4 over Ethernet.
    Packet, PacketMut: 28 octets {
        /// Kind of link; 1 is Ethernet.
        hardware_type, set_hardware_type: u16 = 0;
        /// Kind of address resolved; the EtherType of IPv4.
        protocol_type, set_protocol_type: u16 = 2;
        /// Octets of a link address; 6.
        hardware_len, set_hardware_len: u8 = 4;
        /// Octets of a protocol address; 4.
        protocol_len, set_protocol_len: u8 = 5;
        /// [`REQUEST`] or [`REPLY`].
        operation, set_operation: u16 = 6;
        /// The sender's link address.
        sender_mac, set_sender_mac: MacAddr = 8;
        /// The sender's IPv4 address.
        sender_ip, set_sender_ip: u32 = 14;
        /// The target's link address; means nothing in a request.
        target_mac, set_target_mac: MacAddr = 18;
        /// The target's IPv4 address.
        target_ip, set_target_ip: u32 = 24;
    }
}

/// Hardware type of Ethernet.
pub const HARDWARE_ETHERNET: u16 = 1;
/// Operation: who has the target address?
pub const REQUEST: u16 = 1;
/// Operation: the sender has the sender address.
pub const REPLY: u16 = 2;

impl<'a> Packet<'a> {
    /// Whether the four fields that say "IPv4 over Ethernet" say so: one compare.
    #[inline]
    pub fn is_ip4_over_ethernet(self) -> bool {
        self.bytes()[..6] == [0, 1, 0x08, 0x00, 6, 4]
    }

    /// Whether the sender announces its own address to all (RFC 5227, 3).
    #[inline]
    pub fn is_gratuitous(self) -> bool {
        self.sender_ip() == self.target_ip() && self.sender_ip() != 0
    }

    /// Whether the sender asks if an address is free before it takes it (RFC 5227, 2.1.1).
    #[inline]
    pub fn is_probe(self) -> bool {
        self.sender_ip() == 0
    }

    /// Over `bytes`, all fields checked: formats, operation, and a sender that can be a station.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let packet = Self::new(bytes).ok_or(Error::short("ARP packet", Self::LEN, bytes.len()))?;
        let check = |what, found: u16, wanted: u16, expected| {
            if found == wanted { Ok(()) } else { Err(Error::field(what, found, expected)) }
        };
        check("ARP hardware type", packet.hardware_type(), HARDWARE_ETHERNET, "1, Ethernet")?;
        check("ARP protocol type", packet.protocol_type(), ethertype::IPV4, "0x800, IPv4")?;
        check("ARP hardware length", packet.hardware_len().into(), 6, "6")?;
        check("ARP protocol length", packet.protocol_len().into(), 4, "4")?;
        if !matches!(packet.operation(), REQUEST | REPLY) {
            return Err(Error::field("ARP operation", packet.operation(), "1 or 2"));
        }
        // RFC 1812, 3.3.2: no group address may be learnt for a host.
        if !packet.sender_mac().is_unicast() {
            let found = packet.sender_mac().to_bits();
            return Err(Error::field("ARP sender MAC", found, "a unicast address"));
        }
        Ok(packet)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::craft;

    const HOST: [u8; 6] = [2, 0, 0, 0, 0, 1];

    fn request() -> Vec<u8> {
        let frame = craft::ethernet(HOST, MacAddr::BROADCAST)
            .arp_request(HOST, [10, 0, 0, 1], [10, 0, 0, 2])
            .build();
        frame[14..].to_vec()
    }

    #[test]
    fn a_request_has_the_octets_of_the_rfc() {
        let expected =
            [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2];
        assert_eq!(request(), expected);
        let bytes = request();
        let packet = Packet::parse(&bytes).unwrap();
        assert!(packet.is_ip4_over_ethernet() && !packet.is_gratuitous() && !packet.is_probe());
    }

    #[test]
    fn each_wrong_field_is_refused() {
        for (at, value) in [(1, 6), (2, 9), (4, 8), (5, 16), (7, 3), (8, 1)] {
            let mut bytes = request();
            bytes[at] = value;
            assert!(Packet::parse(&bytes).is_err(), "octet {at} as {value} was taken");
        }
        assert!(matches!(Packet::parse(&[0; 27]), Err(Error::Short { needed: 28, have: 27, .. })));
    }

    #[test]
    fn announcements_and_probes_are_told_apart() {
        let mut bytes = request();
        PacketMut::new(&mut bytes).unwrap().set_sender_ip(0x0a00_0002);
        assert!(Packet::parse(&bytes).unwrap().is_gratuitous());
        PacketMut::new(&mut bytes).unwrap().set_sender_ip(0);
        assert!(Packet::parse(&bytes).unwrap().is_probe());
    }

    proptest! {
        #[test]
        fn any_bytes_parse_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(packet) = Packet::parse(&bytes) {
                prop_assert!(packet.is_ip4_over_ethernet());
            }
        }
    }
}
