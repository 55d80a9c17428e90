//! The number that tells a tunnel from others between the same ends: one for all its packets, or
//! one that flows say of each.

use std::fmt;

use wire::vxlan::MAX_VNI;

use crate::config::field::{Field, Refusal};
use crate::config::form::Form;

/// The word for what is left to flows.
pub(super) const FLOW: &str = "flow";

/// A number up to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number<const MOST: u32> {
    /// This one.
    Is(u32),
    /// What flows say of packets that leave, and see of those that come.
    Flow,
}

/// A network identifier of VXLAN or Geneve.
pub type Vni = Number<MAX_VNI>;

/// A key of GRE.
pub type GreKey = Number<{ u32::MAX }>;

impl<const MOST: u32> Number<MOST> {
    /// The one for all packets, if there is one.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Is(number) => Some(number),
            Self::Flow => None,
        }
    }
}

impl<const MOST: u32> From<u32> for Number<MOST> {
    fn from(number: u32) -> Self {
        Self::Is(number)
    }
}

impl<const MOST: u32> fmt::Display for Number<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(number) => write!(f, "{number}"),
            Self::Flow => f.write_str(FLOW),
        }
    }
}

impl<const MOST: u32> Field for Number<MOST> {
    const EXPECTED: &'static str = match MOST {
        MAX_VNI => "a number from 0 to 16777215, or \"flow\"",
        _ => "a number from 0 to 4294967295, or \"flow\"",
    };
    const WORDS: &'static [&'static str] = &[FLOW];
    const FORM: Form = Form::TextOrNumber("^(flow|[0-9]+)$", 0, MOST as u64);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        match text {
            FLOW => Ok(Self::Flow),
            _ => text
                .parse()
                .ok()
                .filter(|number| *number <= MOST)
                .map(Self::Is)
                .ok_or_else(Refusal::default),
        }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Is(number) => number.to_string(),
            Self::Flow => format!("\"{FLOW}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_for_all_or_the_flows() {
        assert_eq!(Vni::from_text("flow"), Ok(Vni::Flow));
        assert_eq!(Vni::from_text("16777215"), Ok(Vni::Is(0x00ff_ffff)));
        assert!(Vni::from_text("16777216").is_err() && Vni::from_text("flows").is_err());
        assert_eq!(GreKey::from_text("4294967295"), Ok(GreKey::Is(u32::MAX)));
        assert_eq!((Vni::Flow.to_toml(), Vni::Is(7).to_toml()), ("\"flow\"".into(), "7".into()));
        assert_eq!((GreKey::Flow.fixed(), GreKey::Is(7).fixed()), (None, Some(7)));
    }
}
