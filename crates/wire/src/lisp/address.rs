//! Addresses with their family in front (IANA's address family numbers), in an instance perhaps
//! (RFC 8060, 4.1).
//!
//! ```text
//!  │ family 2 │ address …
//!  │ 16387  2 │ reserved, flags 2 │ type 1 │ of the mask 1 │ length 2 │ instance 4 │ family 2 │ address …
//! ```

use std::net::IpAddr;

use super::cursor::Cursor;
use crate::Error;

const WHAT: &str = "LISP address";
/// Address families.
const NONE: u16 = 0;
const IPV4: u16 = 1;
const IPV6: u16 = 2;
const LCAF: u16 = 16387;
/// LCAF: an address in an instance.
const INSTANCE: u8 = 2;

/// An address as messages have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// None.
    None,
    /// One of IP, in an instance.
    Ip(u32, IpAddr),
    /// One of a kind that is not known here, and was read over.
    Unknown,
}

impl Address {
    /// The address without an instance.
    pub fn ip(self) -> Option<IpAddr> {
        match self {
            Self::Ip(_, address) => Some(address),
            Self::None | Self::Unknown => None,
        }
    }

    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        match cursor.u16(WHAT)? {
            LCAF => {
                let (_reserved, kind) = (cursor.u16(WHAT)?, cursor.u8(WHAT)?);
                let (_mask, length) = (cursor.u8(WHAT)?, cursor.u16(WHAT)?);
                let mut inside = Cursor(cursor.take(length.into(), "LISP canonical address")?);
                if kind != INSTANCE {
                    return Ok(Self::Unknown);
                }
                let instance = inside.u32(WHAT)?;
                let family = inside.u16(WHAT)?;
                if family == NONE {
                    return Ok(Self::None);
                }
                Ok(match read_ip(family, &mut inside)? {
                    Some(address) if instance <= super::MAX_INSTANCE => Self::Ip(instance, address),
                    _ => Self::Unknown,
                })
            }
            NONE => Ok(Self::None),
            family => match read_ip(family, cursor)? {
                Some(address) => Ok(Self::Ip(0, address)),
                // How long it is, nobody here knows.
                None => Err(Error::field("LISP address family", family, "0, 1, 2 or 16387")),
            },
        }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::None | Self::Unknown => out.extend(NONE.to_be_bytes()),
            Self::Ip(0, address) => write_ip(address, out),
            Self::Ip(instance, address) => {
                out.extend(LCAF.to_be_bytes());
                out.extend([0, 0, INSTANCE, 0]);
                let length: u16 = if address.is_ipv4() { 4 + 2 + 4 } else { 4 + 2 + 16 };
                out.extend(length.to_be_bytes());
                out.extend(instance.to_be_bytes());
                write_ip(address, out);
            }
        }
    }
}

fn read_ip(family: u16, cursor: &mut Cursor<'_>) -> Result<Option<IpAddr>, Error> {
    Ok(match family {
        IPV4 => Some(IpAddr::V4(cursor.u32("IPv4 address")?.into())),
        IPV6 => Some(IpAddr::V6(cursor.u128("IPv6 address")?.into())),
        _ => None,
    })
}

fn write_ip(address: IpAddr, out: &mut Vec<u8>) {
    match address {
        IpAddr::V4(address) => {
            out.extend(IPV4.to_be_bytes());
            out.extend(address.octets());
        }
        IpAddr::V6(address) => {
            out.extend(IPV6.to_be_bytes());
            out.extend(address.octets());
        }
    }
}
