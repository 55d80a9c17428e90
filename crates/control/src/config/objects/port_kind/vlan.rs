//! `vlan`: a part of another port, told apart by tags.

use wire::vlan::{MAX_VID, MIN_VID};

use super::super::port_name::PortName;
use super::kind::Kind;
use crate::config::declare::object;
use crate::config::field::{Field, Refusal, word_field};
use crate::config::form::Form;

word_field! {
    /// Whose tag format the outer tag has.
    Protocol {
        /// Customer tags: ethertype 0x8100.
        Customer = "802.1q",
        /// Service tags: ethertype 0x88a8.
        Service = "802.1ad",
    }
}

/// A VLAN that a tag must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vid {
    /// This one.
    Exact(u16),
    /// Any that no other sub-interface of the port names.
    Any,
    /// There must be no tag.
    Untagged,
}

object! {
    /// A VLAN of another port
    pub struct Vlan {
        /// The port that it is a part of
        pub parent: PortName as "uplink",
        /// Its VLAN: a number, `any`, or `untagged`
        pub vlan: Vid as "100",
        /// Its VLAN in a second tag: a number, or `any`
        pub inner: Option<Vid> as "7" = None,
        /// The outer tag's format
        pub protocol: Protocol as "802.1q" = Self::usual_protocol(inner),
        /// Priority of the tags it puts on; the one that a frame came with when left out
        pub priority: Option<u16> as "5" [0..=7] = None,
        /// Whether frames of its parent without a tag are its, too; what leaves has its tag
        pub native: bool = false,
        /// Where its VLAN is `any`: which tags its frames have, and keep; all when left out
        pub customers: Vec<u16> as "5,7" = Vec::new(),
    }
}

impl Kind for Vlan {
    fn is_virtual(&self) -> bool {
        true
    }
}

impl Field for Vid {
    const EXPECTED: &'static str = "a VLAN from 1 to 4094, \"any\" or \"untagged\"";
    const WORDS: &'static [&'static str] = &["any", "untagged"];
    const FORM: Form =
        Form::TextOrNumber("^(any|untagged|[0-9]+)$", MIN_VID as u64, MAX_VID as u64);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        match text {
            "any" => Ok(Self::Any),
            "untagged" => Ok(Self::Untagged),
            _ => {
                let vid = text.parse().ok().filter(|vid| (MIN_VID..=MAX_VID).contains(vid));
                vid.map(Self::Exact).ok_or_else(|| Refusal {
                    message: Some(format!("`{text}` is not a VLAN")),
                    suggestion: None,
                })
            }
        }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Exact(vid) => vid.to_string(),
            Self::Any => "\"any\"".to_owned(),
            Self::Untagged => "\"untagged\"".to_owned(),
        }
    }
}

impl Vlan {
    /// Two tags are a service's and a customer's (IEEE 802.1ad).
    fn usual_protocol(inner: Option<Vid>) -> Protocol {
        if inner.is_some() { Protocol::Service } else { Protocol::Customer }
    }

    /// As a person calls it.
    pub(crate) fn text(&self) -> String {
        let text = |vid: Vid| vid.to_toml().replace('"', "");
        match self.inner {
            Some(inner) => format!("VLAN {}, {} of {}", text(self.vlan), text(inner), self.parent),
            None => format!("VLAN {} of {}", text(self.vlan), self.parent),
        }
    }
}
