//! Why bytes or text were refused, with the value that offended.

use std::fmt;

/// What is wrong with the bytes or the text.
///
/// The data path uses `Option` views and never sees this; it is for the control path, the lab and
/// people.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Fewer bytes than the format needs.
    Short {
        /// The format or the part of it.
        what: &'static str,
        /// Bytes it needs.
        needed: usize,
        /// Bytes there are.
        have: usize,
    },
    /// A field holds a value the standard does not allow here.
    Field {
        /// The format and the field.
        what: &'static str,
        /// What was found.
        found: u64,
        /// What is allowed, in words.
        expected: &'static str,
    },
    /// The checksum does not match the bytes.
    Checksum {
        /// The format.
        what: &'static str,
        /// What the packet carries.
        found: u16,
        /// What it should carry.
        expected: u16,
    },
    /// Text that is not a MAC address.
    MacAddr(String),
    /// The reader or writer below failed.
    Io(std::io::Error),
}

impl Error {
    /// `Short`, for when `have` bytes do not reach `needed`.
    pub(crate) fn short(what: &'static str, needed: usize, have: usize) -> Self {
        Self::Short { what, needed, have }
    }

    /// `Field`, from any unsigned field.
    pub(crate) fn field(what: &'static str, found: impl Into<u64>, expected: &'static str) -> Self {
        Self::Field { what, found: found.into(), expected }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { what, needed, have } => {
                write!(f, "{what}: needs {needed} bytes, has {have}")
            }
            Self::Field { what, found, expected } => {
                write!(f, "{what}: {found} (0x{found:x}), expected {expected}")
            }
            Self::Checksum { what, found, expected } => {
                write!(f, "{what} checksum: 0x{found:04x}, expected 0x{expected:04x}")
            }
            Self::MacAddr(text) => write!(
                f,
                "MAC address {text:?}: expected six octets in hex, like 02:00:00:00:00:01"
            ),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_carry_the_offending_value() {
        assert_eq!(
            Error::short("IPv4 header", 20, 7).to_string(),
            "IPv4 header: needs 20 bytes, has 7"
        );
        assert_eq!(
            Error::field("IPv4 version", 6u8, "4").to_string(),
            "IPv4 version: 6 (0x6), expected 4"
        );
        let checksum = Error::Checksum { what: "UDP", found: 1, expected: 0xbeef };
        assert_eq!(checksum.to_string(), "UDP checksum: 0x0001, expected 0xbeef");
        assert!(Error::MacAddr("zz".into()).to_string().contains("\"zz\""));
    }
}
