//! Networks of endpoints (EIDs), told apart by instance.

use std::fmt;
use std::net::IpAddr;

/// Greatest number of an instance.
pub const MAX_INSTANCE: u32 = 0x00ff_ffff;

/// A network of endpoints in an instance; bits beyond its length are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Eid {
    instance: u32,
    address: IpAddr,
    length: u8,
}

impl Eid {
    /// The network that an address is in at a length; none where the family has no such length.
    pub fn new(instance: u32, address: IpAddr, length: u8) -> Option<Self> {
        (length <= bits(address)).then(|| Self {
            instance,
            address: masked(address, length),
            length,
        })
    }

    /// One address.
    pub fn host(instance: u32, address: IpAddr) -> Self {
        Self { instance, address, length: bits(address) }
    }

    /// The instance.
    pub fn instance(&self) -> u32 {
        self.instance
    }

    /// The network's address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Its length in bits.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// Whether all of another network is inside.
    pub fn contains(&self, other: &Self) -> bool {
        self.instance == other.instance
            && self.length <= other.length
            && self.address.is_ipv4() == other.address.is_ipv4()
            && masked(other.address, self.length) == self.address
    }

    /// Whether any address is in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.contains(other) || other.contains(self)
    }

    /// The same network at a shorter length.
    #[must_use]
    pub fn widened(&self, length: u8) -> Self {
        let length = length.min(self.length);
        Self { address: masked(self.address, length), length, ..*self }
    }
}

impl fmt::Display for Eid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instance {
            0 => write!(f, "{}/{}", self.address, self.length),
            instance => write!(f, "[{instance}] {}/{}", self.address, self.length),
        }
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eid(instance: u32, text: &str, length: u8) -> Eid {
        Eid::new(instance, text.parse().unwrap(), length).unwrap()
    }

    #[test]
    fn bits_beyond_the_length_are_cut_off_and_lengths_checked() {
        assert_eq!(eid(0, "10.1.2.3", 16), eid(0, "10.1.0.0", 16));
        assert_eq!(eid(7, "10.1.2.3", 0).to_string(), "[7] 0.0.0.0/0");
        assert_eq!(eid(0, "2001:db8::1", 32).to_string(), "2001:db8::/32");
        assert_eq!(Eid::new(0, [10, 0, 0, 1].into(), 33), None);
    }

    #[test]
    fn what_contains_what_is_told_by_instance_and_family_too() {
        let wide = eid(1, "10.0.0.0", 8);
        assert!(wide.contains(&eid(1, "10.9.0.0", 16)) && wide.contains(&wide));
        assert!(!wide.contains(&eid(1, "11.0.0.0", 16)) && !wide.contains(&eid(2, "10.0.0.0", 16)));
        assert!(!wide.contains(&eid(1, "0.0.0.0", 0)) && wide.overlaps(&eid(1, "0.0.0.0", 0)));
        assert!(!eid(1, "0.0.0.0", 0).contains(&eid(1, "::", 0)));
        assert_eq!(eid(1, "10.9.9.9", 32).widened(8), wide);
    }
}
