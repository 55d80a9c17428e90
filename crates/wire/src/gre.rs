//! Generic routing encapsulation (RFC 2784; key and sequence number RFC 2890).
//!
//! ```text
//! ┌─┬─┬─┬─┬─────────────────┬─────┬───────────────────────────────┐
//! │C│0│K│S│    reserved     │ ver │   EtherType of the payload    │  0
//! ├─┴─┴─┴─┴─────────────────┴─────┼───────────────────────────────┤
//! │      checksum      (if C)     │          reserved             │
//! ├───────────────────────────────┴───────────────────────────────┤
//! │                          key (if K)                           │
//! ├───────────────────────────────────────────────────────────────┤
//! │                    sequence number (if S)                     │
//! └───────────────────────────────────────────────────────────────┘
//! ```

use crate::{Error, checksum, view::Octets};

view! {
    /// The four octets every GRE header has.
    Header, HeaderMut: 4 octets {
        /// Flags and version.
        flags, set_flags: u16 = 0;
        /// What is inside, one of [`crate::ethernet::ethertype`].
        ethertype, set_ethertype: u16 = 2;
    }
}

/// Flag: a checksum is there.
pub const CHECKSUM: u16 = 0x8000;
/// Flag: a key is there.
pub const KEY: u16 = 0x2000;
/// Flag: a sequence number is there.
pub const SEQUENCE: u16 = 0x1000;
/// Bits that must be zero to be understood: bit 1 and bits 4 and 5 (RFC 2784, 2.3), and the
/// version.
pub const MUST_BE_ZERO: u16 = 0x4c07;

impl Header<'_> {
    /// Octets of the whole header by its flags: 4 to 16.
    #[inline]
    pub fn header_len(self) -> usize {
        4 + 4 * (self.flags() & (CHECKSUM | KEY | SEQUENCE)).count_ones() as usize
    }
}

/// A GRE packet whose header passed all checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What is inside, one of [`crate::ethernet::ethertype`].
    pub ethertype: u16,
    /// Names the tunnel among those between two hosts.
    pub key: Option<u32>,
    /// Counts packets.
    pub sequence: Option<u32>,
    /// The packet inside.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Checks reserved bits, version, length, and the checksum if there is one.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let header =
            Header::new(bytes).ok_or(Error::short("GRE header", Header::LEN, bytes.len()))?;
        let flags = header.flags();
        if flags & MUST_BE_ZERO != 0 {
            return Err(Error::field("GRE flags", flags, "reserved bits and version zero"));
        }
        let len = header.header_len();
        let (head, payload) =
            bytes.split_at_checked(len).ok_or(Error::short("GRE header", len, bytes.len()))?;
        if flags & CHECKSUM != 0 && !checksum::is_valid(bytes) {
            let found = u16::read(head, 4);
            let expected = checksum::Sum::ZERO.bytes(bytes).u16(!found).checksum();
            return Err(Error::Checksum { what: "GRE", found, expected });
        }
        let mut at = if flags & CHECKSUM != 0 { 8 } else { 4 };
        let mut word_if = |flag| {
            (flags & flag != 0).then(|| {
                at += 4;
                u32::read(head, at - 4)
            })
        };
        let (key, sequence) = (word_if(KEY), word_if(SEQUENCE));
        Ok(Self { ethertype: header.ethertype(), key, sequence, payload })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{craft, ethernet::ethertype};

    #[test]
    fn a_plain_header_is_four_octets() {
        let packet = craft::ipv4(1, 2).gre().ipv4(3, 4).udp(5, 6).build();
        assert_eq!(packet[20..24], [0, 0, 8, 0]);
        let parsed = Packet::parse(&packet[20..]).unwrap();
        assert_eq!((parsed.ethertype, parsed.key, parsed.sequence), (ethertype::IPV4, None, None));
        assert_eq!(parsed.payload.len(), 28);
    }

    #[test]
    fn all_three_fields_are_found_in_their_order() {
        let packet = craft::ipv4(1, 2)
            .gre()
            .with_checksum()
            .key(7)
            .sequence(8)
            .ethernet([2; 6], [4; 6])
            .payload(b"abc")
            .build();
        let parsed = Packet::parse(&packet[20..]).unwrap();
        assert_eq!(
            (parsed.ethertype, parsed.key, parsed.sequence),
            (ethertype::TEB, Some(7), Some(8))
        );
        assert_eq!(parsed.payload.len(), 17);
        let mut damaged = packet;
        damaged[40] ^= 1;
        assert!(matches!(Packet::parse(&damaged[20..]), Err(Error::Checksum { what: "GRE", .. })));
    }

    #[test]
    fn routing_and_other_versions_are_refused() {
        for flags in [0x4000u16, 0x0800, 0x0400, 0x0001] {
            let [a, b] = flags.to_be_bytes();
            assert!(Packet::parse(&[a, b, 8, 0]).is_err(), "{flags:#x} was taken");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_parse_or_are_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..40), clear: bool) {
            if clear && bytes.len() > 2 {
                bytes[0] &= 0x30;
                bytes[1] = 0;
            }
            if let Ok(packet) = Packet::parse(&bytes) {
                prop_assert!(packet.payload.len() <= bytes.len() - 4);
            }
        }
    }
}
