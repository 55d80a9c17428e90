//! Addresses of IPv6 that stand for addresses of IPv4 (RFC 6052).
//!
//! ```text
//!  /96  │ prefix 96 ..................................... │ IPv4 32 │
//!  /64  │ prefix 64 ......... │ 0 │ IPv4 32 │ 0             octet 8 is always 0
//!  /40  │ prefix 40 │ IPv4 24 │ 0 │ 8 │ 0
//! ```

/// The octet that no address has anything in (RFC 6052 section 2.2).
const FREE_OCTET: usize = 8;

/// What all addresses that stand for others begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefix64 {
    first: u128,
    length: u8,
}

impl Prefix64 {
    /// The one that everybody may use: `64:ff9b::/96` (RFC 6052 section 2.1).
    pub const WELL_KNOWN: Self = Self { first: 0x0064_ff9b << 96, length: 96 };
    /// How long it may be.
    pub const LENGTHS: [u8; 6] = [32, 40, 48, 56, 64, 96];

    /// An address, and how many of its bits count; none where there can be no such prefix.
    pub fn new(address: u128, length: u8) -> Option<Self> {
        let is_free = address.to_be_bytes()[FREE_OCTET] == 0;
        let it = Self { first: address & mask(length), length };
        (Self::LENGTHS.contains(&length) && is_free).then_some(it)
    }

    /// Whether an address begins so.
    #[inline]
    pub fn has(&self, address: u128) -> bool {
        address & mask(self.length) == self.first
    }

    /// The address that another stands for, if it begins so.
    #[inline]
    pub fn ip4_of(&self, address: u128) -> Option<u32> {
        if !self.has(address) {
            return None;
        }
        if self.length == 96 {
            return Some(address as u32);
        }
        let octets = address.to_be_bytes();
        let mut found = [0; 4];
        for (octet, at) in found.iter_mut().zip(self.places()) {
            *octet = octets[at];
        }
        Some(u32::from_be_bytes(found))
    }

    /// The address that stands for another.
    #[inline]
    pub fn ip6_of(&self, address: u32) -> u128 {
        if self.length == 96 {
            return self.first | u128::from(address);
        }
        let mut octets = self.first.to_be_bytes();
        for (octet, at) in address.to_be_bytes().into_iter().zip(self.places()) {
            octets[at] = octet;
        }
        u128::from_be_bytes(octets)
    }

    /// Where the octets of the other address are.
    fn places(&self) -> impl Iterator<Item = usize> {
        let first = usize::from(self.length / 8);
        (first..first + 5).filter(|at| *at != FREE_OCTET)
    }
}

/// The first bits of an address.
#[inline]
fn mask(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn number(text: &str) -> u128 {
        text.parse::<Ipv6Addr>().unwrap().into()
    }

    #[test]
    fn the_examples_of_the_rfc_are_so() {
        // RFC 6052 section 2.4, all of 192.0.2.33.
        let address: u32 = Ipv4Addr::new(192, 0, 2, 33).into();
        for (prefix, length, stands_for_it) in [
            ("2001:db8::", 32, "2001:db8:c000:221::"),
            ("2001:db8:100::", 40, "2001:db8:1c0:2:21::"),
            ("2001:db8:122::", 48, "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100::"),
            ("2001:db8:122:344::", 96, "2001:db8:122:344::192.0.2.33"),
            ("64:ff9b::", 96, "64:ff9b::192.0.2.33"),
        ] {
            let prefix = Prefix64::new(number(prefix), length).unwrap();
            assert_eq!(prefix.ip6_of(address), number(stands_for_it), "/{length}");
            assert_eq!(prefix.ip4_of(number(stands_for_it)), Some(address), "/{length}");
        }
        assert_eq!(Prefix64::new(number("64:ff9b::"), 96), Some(Prefix64::WELL_KNOWN));
    }

    #[test]
    fn lengths_are_those_of_the_rfc_and_one_octet_is_free() {
        for length in 0..=128 {
            let is_one = Prefix64::LENGTHS.contains(&length);
            assert_eq!(Prefix64::new(number("2001:db8::"), length).is_some(), is_one, "{length}");
        }
        assert_eq!(Prefix64::new(number("2001:db8:1:2:300::"), 96), None);
        assert_eq!(Prefix64::WELL_KNOWN.ip4_of(number("64:ff9b:1::1")), None);
    }

    proptest! {
        #[test]
        fn what_stands_for_an_address_is_of_the_prefix(first: u128, which in 0..6usize, address: u32) {
            let length = Prefix64::LENGTHS[which];
            let first = first & !(0xff << 56);
            let prefix = Prefix64::new(first, length).unwrap();
            prop_assert!(prefix.has(prefix.ip6_of(address)));
            prop_assert_eq!(prefix.ip4_of(prefix.ip6_of(address)), Some(address));
        }
    }
}
