//! Ports of the kind `vlan`: parts of other ports, told apart by tags.

use std::collections::HashMap;

use toml::de::DeValue;
use wire::vlan::{MAX_VID, MIN_VID};

use super::Config;
use super::port::{Port, PortName, Ports, check_exists};
use super::port_kind::PortKind;
use crate::config::edit::{Command, Words};
use crate::config::field::{Field, Refusal, word_field};
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

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

/// What a sub-interface is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// The port that it is a part of.
    pub parent: PortName,
    /// Its VLAN.
    pub vlan: Vid,
    /// Its VLAN in a second tag.
    pub inner: Option<Vid>,
    /// The outer tag's format.
    pub protocol: Protocol,
    /// Priority of the tags it puts on; `None`: the one that a frame came with.
    pub priority: Option<u16>,
}

impl Field for Vid {
    const EXPECTED: &'static str = "a VLAN from 1 to 4094, \"any\" or \"untagged\"";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        match text {
            "any" => Ok(Self::Any),
            "untagged" => Ok(Self::Untagged),
            _ => {
                let vid = text.parse().ok().filter(|vid| (MIN_VID..=MAX_VID).contains(vid));
                vid.map(Self::Exact).ok_or_else(|| Refusal {
                    message: Some(format!("`{text}` is no VLAN")),
                    suggestion: None,
                })
            }
        }
    }

    fn from_value(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match value {
            DeValue::Integer(number) => Self::from_text(number.as_str()),
            DeValue::String(text) => Self::from_text(text),
            _ => Err(Refusal::default()),
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
    pub(super) fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let (parent, vlan) = (table.required("parent"), table.required("vlan"));
        let inner: Option<Vid> = table.optional("inner");
        let protocol = table.or("protocol", Self::usual_protocol(inner));
        let priority = table.has("priority").then(|| table.number("priority", 0, 0..=7));
        Some(Self { parent: parent?, vlan: vlan?, inner, protocol, priority })
    }

    /// Two tags are a service's and a customer's (IEEE 802.1ad).
    fn usual_protocol(inner: Option<Vid>) -> Protocol {
        if inner.is_some() { Protocol::Service } else { Protocol::Customer }
    }

    pub(super) fn fields(&self, fields: Fields) -> Fields {
        fields
            .with("parent", &self.parent)
            .with("vlan", &self.vlan)
            .maybe("inner", &self.inner)
            .unless("protocol", &self.protocol, &Self::usual_protocol(self.inner))
            .maybe("priority", &self.priority)
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

pub(super) const COMMANDS: &[Command] = &[
    Command {
        noun: "vlan",
        verb: "add",
        usage: "PORT VLAN|any|untagged [inner VLAN|any] [priority NUMBER]",
        about: "Make a VLAN of a port a port of its own, as in: vlan add p1 100 makes p1.100",
        run: vlan_add,
    },
    Command {
        noun: "vlan",
        verb: "del",
        usage: "PORT VLAN|any|untagged [inner VLAN|any]",
        about: "Remove what `vlan add` made",
        run: vlan_del,
    },
];

/// The VLAN of a command, and the name of its port.
fn vlan_of(words: &mut Words<'_>) -> Result<(PortName, Vlan), Problem> {
    let parent: PortName = words.next("a port name")?;
    let vlan: Vid = words.next("a VLAN")?;
    let inner = if words.take("inner") { Some(words.next::<Vid>("a VLAN")?) } else { None };
    let tags = [Some(vlan), inner].into_iter().flatten();
    let tags: Vec<String> = tags.map(|vid| vid.to_toml().replace('"', "")).collect();
    let name = format!("{parent}.{}", tags.join("."));
    let name = PortName::from_text(&name).map_err(|refusal| {
        Problem::new(format!("port.{name}"), refusal.message.unwrap_or_default())
            .expected(PortName::EXPECTED)
    })?;
    let protocol = Vlan::usual_protocol(inner);
    Ok((name, Vlan { parent, vlan, inner, protocol, priority: None }))
}

fn vlan_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, mut vlan) = vlan_of(words)?;
    if words.take("priority") {
        vlan.priority = Some(words.next("a priority")?);
    }
    if vlan.priority.is_some_and(|priority| priority > 7) {
        let problem = Problem::new(format!("port.{name}.priority"), "it is out of range");
        return Err(problem.expected("a number from 0 to 7"));
    }
    if config.ports.contains(&name) {
        return Err(Problem::new(format!("port.{name}"), format!("port {name} is there already")));
    }
    config.ports.insert(name, Port::new(PortKind::Vlan(vlan)));
    Ok(())
}

fn vlan_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (name, _) = vlan_of(words)?;
    match config.ports.remove(&name) {
        Some(_) => Ok(()),
        None => Err(Problem::new(format!("port.{name}"), format!("there is no port `{name}`"))),
    }
}
