//! An address prefix of either family, always with its host bits clear.
//!
//! ```text
//!  10.1.2.0/23   0000 1010 0000 0001 0000 001|0 0000 0000
//!                <------- 23 bits kept ------>  always zero
//! ```

use std::fmt;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::str::FromStr;

use crate::FibError;

/// An IP address as a plain integer in host order: `u32` or `u128`.
pub trait Address:
    Copy
    + Ord
    + Hash
    + fmt::Debug
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Send
    + Sync
    + 'static
{
    /// Bits of an address.
    const BITS: u8;

    /// The `length` leading ones; `length` is at most [`Self::BITS`].
    fn mask(length: u8) -> Self;

    /// Leading zero bits.
    fn leading_zeros(self) -> u8;

    /// As the standard library writes it.
    fn to_ip(self) -> IpAddr;

    /// From the standard library's address, if it is of this family.
    fn from_ip(address: IpAddr) -> Option<Self>;
}

impl Address for u32 {
    const BITS: u8 = 32;

    #[inline]
    fn mask(length: u8) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)
    }

    #[inline]
    fn leading_zeros(self) -> u8 {
        u32::leading_zeros(self) as u8
    }

    fn to_ip(self) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(self))
    }

    fn from_ip(address: IpAddr) -> Option<u32> {
        match address {
            IpAddr::V4(address) => Some(address.to_bits()),
            IpAddr::V6(_) => None,
        }
    }
}

impl Address for u128 {
    const BITS: u8 = 128;

    #[inline]
    fn mask(length: u8) -> u128 {
        u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
    }

    #[inline]
    fn leading_zeros(self) -> u8 {
        u128::leading_zeros(self) as u8
    }

    fn to_ip(self) -> IpAddr {
        IpAddr::V6(Ipv6Addr::from_bits(self))
    }

    fn from_ip(address: IpAddr) -> Option<u128> {
        match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some(address.to_bits()),
        }
    }
}

/// The addresses that share their first `length` bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix<A> {
    address: A,
    length: u8,
}

/// An IPv4 prefix.
pub type Ip4Prefix = Prefix<u32>;
/// An IPv6 prefix.
pub type Ip6Prefix = Prefix<u128>;

impl<A: Address> Prefix<A> {
    /// The prefix that holds `address`; host bits are cleared.
    pub fn new(address: A, length: u8) -> Result<Prefix<A>, FibError> {
        if length > A::BITS {
            return Err(FibError::PrefixLength { length, bits: A::BITS });
        }
        Ok(Prefix { address: address & A::mask(length), length })
    }

    /// The prefix of this one address.
    pub fn host(address: A) -> Prefix<A> {
        Prefix { address, length: A::BITS }
    }

    /// The prefix of all addresses.
    pub fn all() -> Prefix<A> {
        Prefix { address: A::mask(0), length: 0 }
    }

    /// The lowest address.
    #[inline]
    pub fn address(self) -> A {
        self.address
    }

    /// How many bits its addresses share.
    #[inline]
    pub fn length(self) -> u8 {
        self.length
    }

    /// Whether `address` is one of its addresses.
    #[inline]
    pub fn contains(self, address: A) -> bool {
        address & A::mask(self.length) == self.address
    }

    /// Whether every address of `other` is one of its addresses.
    #[inline]
    pub fn covers(self, other: Prefix<A>) -> bool {
        self.length <= other.length && self.contains(other.address)
    }

    /// The prefix one bit shorter, if there is one.
    #[inline]
    pub fn parent(self) -> Option<Prefix<A>> {
        let length = self.length.checked_sub(1)?;
        Some(Prefix { address: self.address & A::mask(length), length })
    }
}

impl<A: Address> fmt::Display for Prefix<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address.to_ip(), self.length)
    }
}

impl<A: Address> fmt::Debug for Prefix<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<A: Address> FromStr for Prefix<A> {
    type Err = FibError;

    /// Reads `ADDRESS/LENGTH` or a bare `ADDRESS`; host bits must be zero, so that a mistyped
    /// length is found here and not by the packets that go astray.
    fn from_str(text: &str) -> Result<Prefix<A>, FibError> {
        let wrong = |expected| FibError::PrefixText { text: text.to_owned(), expected };
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => {
                let digits = length.bytes().all(|byte| byte.is_ascii_digit());
                let length = length.parse().ok().filter(|_| digits);
                (address, length.ok_or_else(|| wrong("a length follows the `/`"))?)
            }
            None => (text, A::BITS),
        };
        let address: IpAddr = address
            .parse()
            .map_err(|_| wrong("ADDRESS/LENGTH, as 192.0.2.0/24 or 2001:db8::/32"))?;
        let address = A::from_ip(address).ok_or_else(|| wrong("an address of the other family"))?;
        let prefix = Prefix::new(address, length)?;
        if prefix.address != address {
            return Err(wrong("the bits after the length are zero"));
        }
        Ok(prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_there_and_back() {
        for text in ["0.0.0.0/0", "10.1.2.0/23", "192.0.2.1/32"] {
            assert_eq!(text.parse::<Ip4Prefix>().unwrap().to_string(), text);
        }
        for text in ["::/0", "2001:db8::/32", "fe80::1/128"] {
            assert_eq!(text.parse::<Ip6Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("192.0.2.1".parse::<Ip4Prefix>().unwrap().length(), 32);
    }

    #[test]
    fn wrong_text_is_named_in_the_error() {
        for text in
            ["", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/24", "10.0.0/24", "::/0", "1.2.3.4/+8"]
        {
            let error = text.parse::<Ip4Prefix>().unwrap_err().to_string();
            assert!(error.contains(text) || error.contains("33"), "{error}");
        }
    }

    #[test]
    fn covering_and_parents_follow_the_bits() {
        let eight: Ip4Prefix = "10.0.0.0/8".parse().unwrap();
        let nine: Ip4Prefix = "10.128.0.0/9".parse().unwrap();
        assert!(eight.covers(nine) && !nine.covers(eight) && eight.covers(eight));
        assert_eq!(nine.parent(), Some(eight));
        assert_eq!(Ip4Prefix::all().parent(), None);
        assert!(Ip6Prefix::all().contains(7) && !Ip6Prefix::host(7).contains(6));
    }
}
