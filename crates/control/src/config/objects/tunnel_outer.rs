//! What a tunnel's packets say of service and of how far they may go: what is inside says, or one
//! thing for all.

use super::policer::Dscp;
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;

const INHERIT: &str = "inherit";

/// The class of service outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OuterDscp {
    /// That of the packet inside.
    Inherit,
    /// This one.
    Is(Dscp),
}

/// TTL or hop limit outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OuterTtl {
    /// That of the packet inside, as it goes in.
    Inherit,
    /// This one.
    Is(u8),
}

/// Our packets are counted down as they leave, like those that we forward.
const MAX_TTL: u8 = 254;

impl Field for OuterDscp {
    const EXPECTED: &'static str =
        "\"inherit\", or a DSCP: 0 to 63, be, cs1 to cs7, af11 to af43, va or ef";
    const WORDS: &'static [&'static str] = &[INHERIT];
    const FORM: Form =
        Form::TextOrNumber("^(inherit|[0-9]+|be|va|ef|cs[0-7]|af[1-4][1-3])$", 0, 63);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        if text == INHERIT { Ok(Self::Inherit) } else { Dscp::from_text(text).map(Self::Is) }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Inherit => format!("\"{INHERIT}\""),
            Self::Is(dscp) => dscp.to_toml(),
        }
    }
}

impl Field for OuterTtl {
    const EXPECTED: &'static str = "\"inherit\", or a number from 1 to 254";
    const WORDS: &'static [&'static str] = &[INHERIT];
    const FORM: Form = Form::TextOrNumber("^(inherit|[0-9]+)$", 1, MAX_TTL as u64);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let number = || text.parse().ok().filter(|ttl| (1..=MAX_TTL).contains(ttl)).map(Self::Is);
        match text {
            INHERIT => Ok(Self::Inherit),
            _ => number().ok_or_else(|| Refusal {
                message: Some(format!("`{text}` is not a TTL that packets can leave with")),
                suggestion: None,
            }),
        }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Inherit => format!("\"{INHERIT}\""),
            Self::Is(ttl) => ttl.to_string(),
        }
    }
}

impl OuterDscp {
    /// The one for all, if there is one.
    pub fn fixed(self) -> Option<u8> {
        match self {
            Self::Inherit => None,
            Self::Is(dscp) => Some(dscp.0),
        }
    }
}

impl OuterTtl {
    /// The one for all, if there is one.
    pub fn fixed(self) -> Option<u8> {
        match self {
            Self::Inherit => None,
            Self::Is(ttl) => Some(ttl),
        }
    }
}
