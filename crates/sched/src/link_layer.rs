//! What carries a link's packets: frames of their own length, or cells.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::Error;

/// How a link carries packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkLayer {
    /// As they are.
    #[default]
    Ethernet,
    /// In cells of 53 bytes that carry 48 each, the last one whole, too: DSL over ATM.
    #[serde(alias = "adsl")]
    Atm,
}

impl LinkLayer {
    /// What `tc` calls them; it has two words for cells.
    pub const WORDS: &'static [&'static str] = &["ethernet", "atm", "adsl"];
}

impl fmt::Display for LinkLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ethernet => "ethernet",
            Self::Atm => "atm",
        })
    }
}

impl FromStr for LinkLayer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "ethernet" => Ok(Self::Ethernet),
            "atm" | "adsl" => Ok(Self::Atm),
            _ => Err(Error::Quantity {
                what: "link layer",
                text: text.to_string(),
                reason: format!("it is none of {}", Self::WORDS.join(", ")),
            }),
        }
    }
}
