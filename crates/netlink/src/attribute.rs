//! Attributes: what follows the fixed part of a message, and nests.
//!
//! ```text
//!  │ length (2), these 4 bytes included │ type (2) │ value │ padding to a multiple of 4 │
//! ```

use crate::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const HEADER: usize = 4;
/// The upper bits of a type say how the value is written (nested, network byte order).
const TYPE_BITS: u16 = 0x3fff;

/// One attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// What it is; which numbers there are depends on the message.
    pub kind: u16,
    /// Its value.
    pub value: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// A number of 32 bits.
    pub fn number(&self) -> Result<u32, Error> {
        let bytes = self.value.first_chunk::<4>();
        bytes.map(|bytes| u32::from_ne_bytes(*bytes)).ok_or(Error::Short {
            what: "an attribute of 32 bits",
            needed: 4,
            have: self.value.len(),
        })
    }

    /// An address, of the family that its length says.
    pub fn address(&self) -> Result<IpAddr, Error> {
        address_of(self.value)
    }

    /// The attributes inside.
    pub fn nested(&self) -> Attributes<'a> {
        Attributes::new(self.value)
    }
}

/// An address of 4 or 16 bytes.
pub(crate) fn address_of(bytes: &[u8]) -> Result<IpAddr, Error> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Ok(Ipv4Addr::from(bytes).into());
    }
    let wrong = Error::Field {
        what: "the length of an address",
        found: bytes.len() as u64,
        expected: "4 or 16",
    };
    <[u8; 16]>::try_from(bytes).map(|bytes| Ipv6Addr::from(bytes).into()).map_err(|_| wrong)
}

/// Attributes one after the other; ends behind the first bad one.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// Those that these bytes hold.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = std::mem::take(&mut self.rest);
        if rest.is_empty() {
            return None;
        }
        const WHAT: &str = "an attribute";
        let Some(&[a, b, c, d]) = rest.first_chunk::<HEADER>() else {
            return Some(Err(Error::Short { what: WHAT, needed: HEADER, have: rest.len() }));
        };
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let kind = u16::from_ne_bytes([c, d]) & TYPE_BITS;
        let Some(value) = rest.get(HEADER..length) else {
            return Some(Err(Error::Length { what: WHAT, found: length, have: rest.len() }));
        };
        self.rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Ok(Attribute { kind, value }))
    }
}

/// Appends an attribute.
pub(crate) fn write(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = (HEADER + value.len()) as u16;
    out.extend(length.to_ne_bytes());
    out.extend(kind.to_ne_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        write(&mut bytes, 1, &[10, 0, 0, 1]);
        write(&mut bytes, 0x8002, b"abcde");
        write(&mut bytes, 3, &7_u32.to_ne_bytes());
        assert_eq!(bytes.len(), 8 + 12 + 8);
        let all: Vec<_> = Attributes::new(&bytes).map(Result::unwrap).collect();
        assert_eq!(all[0].address(), Ok(Ipv4Addr::new(10, 0, 0, 1).into()));
        assert_eq!((all[1].kind, all[1].value), (2, &b"abcde"[..]));
        assert_eq!((all[2].number(), all.len()), (Ok(7), 3));
    }

    #[test]
    fn lengths_that_lie_end_the_list() {
        for bytes in [&[9, 0, 1, 0, 0][..], &[3, 0, 1, 0], &[4, 0, 1]] {
            let mut all = Attributes::new(bytes);
            assert!(matches!(all.next(), Some(Err(_))), "{bytes:?}");
            assert_eq!(all.next(), None);
        }
    }
}
