//! Values as bytes, lowest first; reading believes nothing.

use crate::Wrong;

/// The longest name.
pub const MOST_NAME: usize = 255;

/// Appends values.
pub trait Put {
    /// One byte.
    fn u8(&mut self, value: u8);
    /// Two.
    fn u16(&mut self, value: u16);
    /// Four.
    fn u32(&mut self, value: u32);
    /// Eight.
    fn u64(&mut self, value: u64);
    /// A short text: what is longer is cut, which no name of ours is.
    fn name(&mut self, value: &str);
}

impl Put for Vec<u8> {
    fn u8(&mut self, value: u8) {
        self.push(value);
    }

    fn u16(&mut self, value: u16) {
        self.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.extend(value.to_le_bytes());
    }

    fn name(&mut self, value: &str) {
        let mut length = value.len().min(MOST_NAME);
        while !value.is_char_boundary(length) {
            length -= 1;
        }
        self.push(length as u8);
        self.extend(&value.as_bytes()[..length]);
    }
}

/// Takes values from the front.
#[derive(Clone, Copy, Debug)]
pub struct Take<'a>(&'a [u8]);

impl<'a> Take<'a> {
    /// From these.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether there is no more.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// So many bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Wrong::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Wrong> {
        self.bytes::<1>().map(|[byte]| byte)
    }

    /// Two.
    pub fn u16(&mut self) -> Result<u16, Wrong> {
        self.bytes().map(u16::from_le_bytes)
    }

    /// Four.
    pub fn u32(&mut self) -> Result<u32, Wrong> {
        self.bytes().map(u32::from_le_bytes)
    }

    /// Eight.
    pub fn u64(&mut self) -> Result<u64, Wrong> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// A short text.
    pub fn name(&mut self) -> Result<&'a str, Wrong> {
        let length = usize::from(self.u8()?);
        let (name, rest) = self.0.split_at_checked(length).ok_or(Wrong::Short)?;
        self.0 = rest;
        std::str::from_utf8(name).map_err(|_| Wrong::Text)
    }

    /// An address: a byte that says of which family, and its bytes.
    pub fn address(&mut self) -> Result<std::net::IpAddr, Wrong> {
        match self.u8()? {
            4 => self.bytes::<4>().map(Into::into),
            6 => self.bytes::<16>().map(Into::into),
            other => Err(Wrong::Value { what: "the family of an address", found: other.into() }),
        }
    }
}

/// As [`Take::address`] reads it.
pub fn put_address(into: &mut Vec<u8>, address: std::net::IpAddr) {
    match address {
        std::net::IpAddr::V4(address) => {
            into.push(4);
            into.extend(address.octets());
        }
        std::net::IpAddr::V6(address) => {
            into.push(6);
            into.extend(address.octets());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written_and_what_is_short_is_refused() {
        let mut bytes = Vec::new();
        bytes.u8(7);
        bytes.u16(0x0102);
        bytes.u32(9);
        bytes.u64(u64::MAX);
        bytes.name("p1");
        put_address(&mut bytes, "2001:db8::1".parse().unwrap());
        let read = |bytes: &[u8]| {
            let mut from = Take::new(bytes);
            let values = (from.u8()?, from.u16()?, from.u32()?, from.u64()?);
            Ok::<_, Wrong>((values, from.name()?.to_owned(), from.address()?))
        };
        let (values, name, address) = read(&bytes).unwrap();
        assert_eq!((values, &name[..]), ((7, 0x0102, 9, u64::MAX), "p1"));
        assert_eq!(address.to_string(), "2001:db8::1");
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), Err(Wrong::Short));
        }
    }

    #[test]
    fn a_name_is_cut_where_a_character_ends() {
        let mut bytes = Vec::new();
        bytes.name(&"ü".repeat(200));
        assert_eq!(Take::new(&bytes).name().unwrap().chars().count(), 127);
    }
}
