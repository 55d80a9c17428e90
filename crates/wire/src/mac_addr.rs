//! The 48-bit MAC address: its text form and its kinds.
//!
//! ```text
//! octet 0                    1   2    3   4   5
//! ┌─────────────────┬─┬─┐  ┌───────┬───────────┐
//! │ x x x x x x     │U│M│  │  OUI  │ interface │   M: 1 = group (multicast), U: 1 = locally administered
//! └─────────────────┴─┴─┘  └───────┴───────────┘   (IEEE 802-2014, 8.2)
//! ```

use std::{fmt, str::FromStr};

use crate::Error;

/// A MAC address, octets in the order of the wire.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// `ff:ff:ff:ff:ff:ff`.
    pub const BROADCAST: Self = Self([0xff; 6]);
    /// `00:00:00:00:00:00`: no address.
    pub const ZERO: Self = Self([0; 6]);

    /// The address an IPv4 multicast group is sent to (RFC 1112, 6.4): `01:00:5e` and the group's
    /// low 23 bits.
    pub const fn of_ip4_group(group: u32) -> Self {
        let [_, b, c, d] = group.to_be_bytes();
        Self([0x01, 0x00, 0x5e, b & 0x7f, c, d])
    }

    /// The address an IPv6 multicast group is sent to (RFC 2464, 7): `33:33` and the group's low 32
    /// bits.
    pub const fn of_ip6_group(group: u128) -> Self {
        let [a, b, c, d] = (group as u32).to_be_bytes();
        Self([0x33, 0x33, a, b, c, d])
    }

    /// The octets.
    #[inline]
    pub const fn octets(self) -> [u8; 6] {
        self.0
    }

    /// The low 48 bits of `bits`, most significant octet first.
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        let [_, _, a, b, c, d, e, f] = bits.to_be_bytes();
        Self([a, b, c, d, e, f])
    }

    /// As a number below 2^48, most significant octet first.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        // Two loads and two swaps; one array of eight octets becomes shuffles.
        (u32::from_be_bytes([a, b, c, d]) as u64) << 16 | u16::from_be_bytes([e, f]) as u64
    }

    /// Whether this is the broadcast address.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == Self::BROADCAST
    }

    /// Whether this names a group of stations; broadcast is one such group.
    #[inline]
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// Whether this can name one station: neither a group nor zero.
    #[inline]
    pub fn is_unicast(self) -> bool {
        !self.is_multicast() && self != Self::ZERO
    }

    /// Whether it was chosen locally and not by a vendor.
    #[inline]
    pub const fn is_local(self) -> bool {
        self.0[0] & 2 != 0
    }
}

impl From<[u8; 6]> for MacAddr {
    fn from(octets: [u8; 6]) -> Self {
        Self(octets)
    }
}

impl From<MacAddr> for [u8; 6] {
    fn from(address: MacAddr) -> Self {
        address.0
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MacAddr {
    type Err = Error;

    /// Six pairs of hex digits between colons or between hyphens, either case.
    fn from_str(text: &str) -> Result<Self, Error> {
        octets_of(text).map(Self).ok_or_else(|| Error::MacAddr(text.to_owned()))
    }
}

fn octets_of(text: &str) -> Option<[u8; 6]> {
    let separator = if text.contains('-') { '-' } else { ':' };
    let mut parts = text.split(separator);
    let mut octets = [0; 6];
    for octet in &mut octets {
        let part = parts.next()?;
        // from_str_radix alone would take "+1" and "1".
        if part.len() != 2 || !part.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        *octet = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(octets)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_with_colons_or_hyphens_in_either_case_is_read() {
        let expected = MacAddr([0x02, 0xab, 0xcd, 0, 0, 0x0f]);
        for text in ["02:ab:cd:00:00:0f", "02-AB-CD-00-00-0F"] {
            assert_eq!(text.parse::<MacAddr>().unwrap(), expected);
        }
    }

    #[test]
    fn text_that_is_not_six_octets_is_refused() {
        for text in [
            "",
            "02",
            "02:ab:cd:00:00",
            "02:ab:cd:00:00:0f:01",
            "2:ab:cd:0:0:f",
            "02:ab-cd:00:00:0f",
            "+2:ab:cd:00:00:0f",
            "0g:ab:cd:00:00:0f",
            " 02:ab:cd:00:00:0f",
        ] {
            assert!(text.parse::<MacAddr>().is_err(), "{text:?} was taken");
        }
    }

    #[test]
    fn kinds_follow_the_low_bits_of_the_first_octet() {
        assert!(MacAddr::BROADCAST.is_broadcast() && MacAddr::BROADCAST.is_multicast());
        assert!(MacAddr([2, 0, 0, 0, 0, 1]).is_unicast() && MacAddr([2, 0, 0, 0, 0, 1]).is_local());
        assert!(!MacAddr::ZERO.is_unicast() && !MacAddr::ZERO.is_multicast());
    }

    #[test]
    fn groups_map_to_the_addresses_of_the_rfcs() {
        assert_eq!(MacAddr::of_ip4_group(0xe080_0005).to_string(), "01:00:5e:00:00:05");
        assert_eq!(MacAddr::of_ip6_group(0xff02 << 112 | 1).to_string(), "33:33:00:00:00:01");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(octets: [u8; 6]) {
            let address = MacAddr(octets);
            prop_assert_eq!(address.to_string().parse::<MacAddr>().unwrap(), address);
            prop_assert_eq!(MacAddr::from_bits(address.to_bits()), address);
        }

        #[test]
        fn any_text_is_taken_or_refused_without_panic(text: String) {
            let _ = text.parse::<MacAddr>();
        }
    }
}
