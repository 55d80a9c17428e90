//! Ports of the kind `vlan`: parts of other ports, told apart by tags.

use std::collections::HashMap;

use wire::vlan::{MAX_VID, MIN_VID};

use super::port::{Port, PortName, Ports, check_exists};
use super::port_kind::{Kind, PortKind};
use super::{Command, Config};
use crate::config::declare::object;
use crate::config::field::{Field, Refusal, word_field};
use crate::config::form::Form;
use crate::config::listed::{add, row_mut};
use crate::config::order::{Flat, Order};
use crate::config::report::{Problem, Report};

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

    fn text(&self) -> String {
        let text = |vid: Vid| vid.to_toml().replace('"', "");
        match self.inner {
            Some(inner) => format!("VLAN {}, {} of {}", text(self.vlan), text(inner), self.parent),
            None => format!("VLAN {} of {}", text(self.vlan), self.parent),
        }
    }
}

/// Finds what is wrong with all sub-interfaces.
pub(super) fn check_all(ports: &Ports, report: &mut Report) {
    let mut used = HashMap::new();
    for (name, port) in ports.iter() {
        let PortKind::Vlan(vlan) = &port.kind else { continue };
        let field = |key: &str| format!("port.{name}.{key}");
        check_exists(&field("parent"), &vlan.parent, ports, report);
        if ports.get(&vlan.parent).is_some_and(|parent| parent.kind.is_virtual()) {
            let message = format!("{} has no tags of its own to tell apart", vlan.parent);
            report.push(Problem::new(field("parent"), message).expected("a port with a device"));
        }
        let fits = match (vlan.vlan, vlan.inner) {
            (_, None) => true,
            (Vid::Exact(_), Some(inner)) => inner != Vid::Untagged,
            _ => false,
        };
        if !fits {
            let message = format!("{} has no second tag to look at", vlan.text());
            let expected = "an exact `vlan`, and as `inner` a VLAN or \"any\"";
            report.push(Problem::new(field("inner"), message).expected(expected));
        }
        let key = (&vlan.parent, vlan.vlan, vlan.inner);
        if let Some(other) = used.insert(key, name) {
            let message = format!("{} is {other} already", vlan.text());
            report.push(Problem::new(field("vlan"), message).expected("each VLAN of a port once"));
        }
    }
}

/// Makes a VLAN of a port a port of its own.
pub(super) const ADD: Command = Command::of::<Add>();
/// Removes it.
pub(super) const DEL: Command = Command::of::<Del>();

object! {
    /// Make a VLAN of a port a port of its own, as in: vlan add p1 100 makes p1.100
    struct Add {
        /// Which
        which: Flat<Vlan>,
    }
}

impl Order for Add {
    const NOUN: &'static str = "vlan";
    const VERB: &'static str = "add";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Flat(vlan) = self.which;
        add(&mut config.ports, name_of(&vlan)?, Port::new(PortKind::Vlan(vlan)))
    }
}

object! {
    /// Remove what `vlan add` made
    struct Del {
        /// Which
        which: Flat<Vlan>,
    }
}

impl Order for Del {
    const NOUN: &'static str = "vlan";
    const VERB: &'static str = "del";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let name = name_of(&self.which.0)?;
        row_mut(&mut config.ports, &name)?;
        config.ports.remove(&name);
        Ok(())
    }
}

/// What a VLAN is called that nobody gave a name.
fn name_of(vlan: &Vlan) -> Result<PortName, Problem> {
    let tags = [Some(vlan.vlan), vlan.inner].into_iter().flatten();
    let tags: Vec<String> = tags.map(|vid| vid.to_toml().replace('"', "")).collect();
    let name = format!("{}.{}", vlan.parent, tags.join("."));
    PortName::from_text(&name).map_err(|refusal| {
        let problem = Problem::new(format!("port.{name}"), refusal.message.unwrap_or_default());
        problem.expected(PortName::EXPECTED)
    })
}
