//! Ports of the kind `vlan`: parts of other ports, told apart by tags.

use std::collections::HashMap;

use wire::vlan::{MAX_VID, MIN_VID};

use super::port::{Port, PortName, Ports, check_exists};
use super::port_kind::{Kind, PortKind};
use crate::config::declare::{Declared, explained, infos, object};
use crate::config::draft::Draft;
use crate::config::edit::{Command, Words};
use crate::config::field::{Field, Form, Refusal, word_field};
use crate::config::report::{Problem, Report};
use crate::config::rows;

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
pub(super) const ADD: Command = Command::new(
    "vlan",
    "add",
    "PORT VLAN|any|untagged [FIELD VALUE]...",
    "Make a VLAN of a port a port of its own, as in: vlan add p1 100 makes p1.100",
    explained::<Vlan>,
    |config, words| {
        let (name, vlan) = vlan_of(words)?;
        rows::add(config, name, Port::new(PortKind::Vlan(vlan)))
    },
);

/// Removes it.
pub(super) const DEL: Command = Command::new(
    "vlan",
    "del",
    "PORT VLAN|any|untagged [inner VLAN|any]",
    "Remove what `vlan add` made",
    explained::<Vlan>,
    |config, words| {
        let (name, _) = vlan_of(words)?;
        rows::row_mut::<Port>(config, &name)?;
        config.ports.remove(&name);
        Ok(())
    },
);

/// The VLAN of a command, and the name of its port.
fn vlan_of(words: &mut Words<'_>) -> Result<(PortName, Vlan), Problem> {
    let (mut draft, infos) = (Draft::default(), infos::<Vlan>());
    for info in infos.iter().filter(|info| info.is_required) {
        draft.say(info, words)?;
    }
    draft.say_rest(&infos, words)?;
    let vlan: Vlan = draft.read("port", Declared::read)?;
    let tags = [Some(vlan.vlan), vlan.inner].into_iter().flatten();
    let tags: Vec<String> = tags.map(|vid| vid.to_toml().replace('"', "")).collect();
    let name = format!("{}.{}", vlan.parent, tags.join("."));
    let name = PortName::from_text(&name).map_err(|refusal| {
        let problem = Problem::new(format!("port.{name}"), refusal.message.unwrap_or_default());
        problem.expected(PortName::EXPECTED)
    })?;
    Ok((name, vlan))
}
