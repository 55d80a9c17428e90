//! Class names as `tc` writes them: `major:minor`, both hexadecimal; `1:` names the discipline
//! itself.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The name of a class (`1:10`) or of a discipline (`1:`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClassId(u32);

impl ClassId {
    /// No class: the packet goes where the discipline's default sends it.
    pub const NONE: ClassId = ClassId(0);

    /// The class `major:minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self((major as u32) << 16 | minor as u32)
    }

    /// The discipline's part.
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The class's part; 0 is the discipline itself.
    pub const fn minor(self) -> u16 {
        self.0 as u16
    }
}

impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.major(), self.minor()) {
            (0, 0) => f.write_str("none"),
            (major, 0) => write!(f, "{major:x}:"),
            (major, minor) => write!(f, "{major:x}:{minor:x}"),
        }
    }
}

impl fmt::Debug for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ClassId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::ClassName { text: text.to_string() };
        let part = |digits: &str| match digits {
            "" => Ok(0),
            // from_str_radix takes a sign; a class name has none.
            _ if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => Err(refuse()),
            _ => u16::from_str_radix(digits, 16).map_err(|_| refuse()),
        };
        if text == "none" {
            return Ok(Self::NONE);
        }
        let (major, minor) = text.split_once(':').ok_or_else(refuse)?;
        let id = Self::new(part(major)?, part(minor)?);
        // The last number names a discipline, as in `tc`, but classes of none.
        let is_last = id.major() == u16::MAX && id.minor() != 0;
        if id.major() == 0 || is_last { Err(refuse()) } else { Ok(id) }
    }
}

impl TryFrom<String> for ClassId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<ClassId> for String {
    fn from(id: ClassId) -> String {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_hexadecimal_pairs() {
        assert_eq!("1:1f".parse::<ClassId>().unwrap(), ClassId::new(1, 0x1f));
        assert_eq!("10:".parse::<ClassId>().unwrap(), ClassId::new(0x10, 0));
        assert_eq!("ffff:".parse::<ClassId>().unwrap(), ClassId::new(0xffff, 0));
        assert_eq!(ClassId::new(0xab, 0x10).to_string(), "ab:10");
    }

    #[test]
    fn what_is_no_name_is_refused_with_its_text() {
        for text in ["", "1", ":", ":1", "1:+1", "1:10000", "g:1", "ffff:1", "1:2:3"] {
            let error = text.parse::<ClassId>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
