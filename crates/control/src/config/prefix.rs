//! Address prefixes, and addresses that bring their prefix along.
//!
//! ```text
//! 192.0.2.9/24  InterfaceAddress: a host, and the network it is on
//! 192.0.2.0/24  Prefix: a network; no bit set right of the length
//! ```

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

/// Why a text is no prefix or interface address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PrefixError {
    /// No address before the slash.
    #[error("`{0}` is not an IP address")]
    Address(String),
    /// No slash.
    #[error("`{0}` has no prefix length")]
    NoLength(String),
    /// Length no number or too long.
    #[error("`/{0}` is not a prefix length from 0 to {1}")]
    Length(String, u8),
    /// Bits right of the length.
    #[error("`{0}` has bits set beyond its prefix length")]
    HostBits(InterfaceAddress),
}

/// A network: address and length, host bits zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

/// An interface's address with the length of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceAddress {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The network that `address` is in at `length`; lengths beyond the family's are cut to it.
    pub fn of(address: IpAddr, length: u8) -> Self {
        let length = length.min(bits(address));
        Self { address: masked(address, length), length }
    }

    /// The network address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The length in bits.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// Whether the address is inside.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && masked(address, self.length) == self.address
    }

    /// Whether any address is in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.contains(other.address) || other.contains(self.address)
    }

    /// The all-ones address of an IPv4 network that has one (RFC 3021: /31 and /32 have none).
    pub fn broadcast(&self) -> Option<IpAddr> {
        match self.address {
            IpAddr::V4(network) if self.length < 31 => {
                Some(Ipv4Addr::from(u32::from(network) | (u32::MAX >> self.length)).into())
            }
            _ => None,
        }
    }
}

impl InterfaceAddress {
    /// An address in a network; lengths beyond the family's are cut to it.
    pub fn new(address: IpAddr, length: u8) -> Self {
        Self { address, length: length.min(bits(address)) }
    }

    /// The address itself.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The connected network.
    pub fn prefix(&self) -> Prefix {
        Prefix::of(self.address, self.length)
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            Ipv4Addr::from(u32::from(v4) & mask).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            Ipv6Addr::from(u128::from(v6) & mask).into()
        }
    }
}

impl FromStr for InterfaceAddress {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr =
            address.parse().map_err(|_| PrefixError::Address(address.to_owned()))?;
        let length = length.ok_or_else(|| PrefixError::NoLength(text.to_owned()))?;
        let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        match length.parse() {
            Ok(bits_wanted) if digits && bits_wanted <= bits(address) => {
                Ok(Self { address, length: bits_wanted })
            }
            _ => Err(PrefixError::Length(length.to_owned(), bits(address))),
        }
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        if text == "default" {
            return Ok(Self { address: Ipv4Addr::UNSPECIFIED.into(), length: 0 });
        }
        let inside: InterfaceAddress = text.parse()?;
        let prefix = inside.prefix();
        if prefix.address != inside.address {
            return Err(PrefixError::HostBits(inside));
        }
        Ok(prefix)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_reads_back_what_it_prints() {
        for text in ["0.0.0.0/0", "10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32", "::/0"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("default".parse::<Prefix>().unwrap().to_string(), "0.0.0.0/0");
    }

    #[test]
    fn host_bits_bad_lengths_and_bad_addresses_are_refused() {
        for text in ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0", "10.0.0/8", "::/129"] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
    }

    #[test]
    fn overlap_is_containment_either_way_and_never_across_families() {
        let prefix = |text: &str| text.parse::<Prefix>().unwrap();
        assert!(prefix("10.0.0.0/8").overlaps(&prefix("10.1.0.0/16")));
        assert!(prefix("10.1.0.0/16").overlaps(&prefix("10.0.0.0/8")));
        assert!(!prefix("10.1.0.0/16").overlaps(&prefix("10.2.0.0/16")));
        assert!(!prefix("0.0.0.0/0").overlaps(&prefix("::/0")));
    }

    #[test]
    fn small_networks_have_no_broadcast_address() {
        let broadcast = |text: &str| text.parse::<Prefix>().unwrap().broadcast();
        assert_eq!(broadcast("192.0.2.0/24"), Some("192.0.2.255".parse().unwrap()));
        assert_eq!(broadcast("0.0.0.0/0"), Some("255.255.255.255".parse().unwrap()));
        assert_eq!(broadcast("192.0.2.0/31"), None);
    }
}
