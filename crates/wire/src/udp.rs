//! UDP (RFC 768; over IPv6: RFC 8200, 8.1).
//!
//! ```text
//!  0               2               4               6               8
//! ┌───────────────┬───────────────┬───────────────┬───────────────┬────────
//! │  source port  │  destination  │ length (≥ 8)  │   checksum    │ data …
//! └───────────────┴───────────────┴───────────────┴───────────────┴────────
//! ```

use crate::Error;

view! {
    /// A UDP header.
    Header, HeaderMut: 8 octets {
        /// Port it comes from.
        source_port, set_source_port: u16 = 0;
        /// Port it goes to, perhaps one of [`port`].
        destination_port, set_destination_port: u16 = 2;
        /// Octets of header and data.
        length, set_length: u16 = 4;
        /// Over pseudo header, header and data; 0 says "none", allowed over IPv4.
        checksum, set_checksum: u16 = 6;
    }
}

/// Well-known ports.
pub mod port {
    /// Domain names.
    pub const DNS: u16 = 53;
    /// DHCP, at the server.
    pub const DHCP_SERVER: u16 = 67;
    /// DHCP, at the client.
    pub const DHCP_CLIENT: u16 = 68;
    /// Network time.
    pub const NTP: u16 = 123;
    /// DHCP for IPv6, at the client.
    pub const DHCP6_CLIENT: u16 = 546;
    /// DHCP for IPv6, at the server.
    pub const DHCP6_SERVER: u16 = 547;
    /// Users' packets of mobile networks (3GPP TS 29.281).
    pub const GTP_U: u16 = 2152;
    /// Bidirectional forwarding detection.
    pub const BFD: u16 = 3784;
    /// Packets between locators (RFC 9300).
    pub const LISP_DATA: u16 = 4341;
    /// Where locators are told of (RFC 9301).
    pub const LISP_CONTROL: u16 = 4342;
    /// Frames in UDP (RFC 7348).
    pub const VXLAN: u16 = 4789;
    /// Frames in UDP, with options (RFC 8926).
    pub const GENEVE: u16 = 6081;
    /// First port that traceroute tries.
    pub const TRACEROUTE: u16 = 33434;
}

/// A datagram whose length passed its checks; the checksum needs the IP header and is the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The header.
    pub header: Header<'a>,
    /// The data, up to the length field.
    pub payload: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Checks that the length holds the header and lies within `bytes`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let header =
            Header::new(bytes).ok_or(Error::short("UDP header", Header::LEN, bytes.len()))?;
        let len = usize::from(header.length());
        if len < Header::LEN {
            return Err(Error::field("UDP length", header.length(), "at least 8"));
        }
        let datagram = bytes.get(..len).ok_or(Error::short("UDP datagram", len, bytes.len()))?;
        Ok(Self { header, payload: &datagram[Header::LEN..] })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{checksum, craft, ip::protocol};

    #[test]
    fn a_crafted_datagram_parses_and_its_checksum_holds() {
        let packet = craft::ipv4(1, 2).udp(1000, port::DNS).payload(b"abc").build();
        let datagram = Datagram::parse(&packet[20..]).unwrap();
        assert_eq!((datagram.header.source_port(), datagram.header.destination_port()), (1000, 53));
        assert_eq!(datagram.payload, b"abc");
        assert!(checksum::pseudo4(1, 2, protocol::UDP, 11).bytes(&packet[20..]).is_valid());
    }

    #[test]
    fn a_known_datagram_has_its_known_checksum() {
        // RFC 768 pseudo header worked by hand: 0a00+0001+0a00+0002+0011+000a + 1388+0035+000a+6869
        // = 904e.
        let packet = craft::ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(5000, 53).payload(b"hi").build();
        assert_eq!(Header::new(&packet[20..]).unwrap().checksum(), !0x904e);
    }

    #[test]
    fn a_length_that_lies_is_refused() {
        let packet = craft::ipv4(1, 2).udp(1, 2).length(7).payload(b"abc").build();
        assert!(matches!(Datagram::parse(&packet[20..]), Err(Error::Field { found: 7, .. })));
        let packet = craft::ipv4(1, 2).udp(1, 2).length(12).payload(b"abc").build();
        assert!(matches!(
            Datagram::parse(&packet[20..]),
            Err(Error::Short { needed: 12, have: 11, .. })
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_parse_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..32), short: bool) {
            let mut bytes = bytes;
            if short && bytes.len() > 4 {
                bytes[4] = 0;
            }
            if let Ok(datagram) = Datagram::parse(&bytes) {
                prop_assert_eq!(datagram.payload.len() + 8, usize::from(datagram.header.length()));
            }
        }
    }
}
