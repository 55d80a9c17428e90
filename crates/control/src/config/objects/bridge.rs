//! `[bridge.NAME]`: ports that are one Ethernet network.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use toml::de::DeValue;

use super::bridge_commands;
use super::port::{Port, PortName, check_exists};
use super::port_kind::PortKind;
use super::{Config, Object};
use crate::config::edit::Command;
use crate::config::field::{Field, Refusal};
use crate::config::host::Host;
use crate::config::read::{TableReader, read_table, read_value};
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};

/// Split-horizon groups there are.
pub(crate) const MAX_GROUP: u16 = 63;
/// Longest that a station may be remembered.
const MAX_AGEING: Duration = Duration::from_secs(2 * 3600);

/// A bridge's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BridgeName(PortName);

impl BridgeName {
    /// The name.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for BridgeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Field for BridgeName {
    const EXPECTED: &'static str =
        "a bridge name: a letter, then up to 14 letters, digits, `-`, `_` or `.`";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        PortName::from_text(text).map(Self).map_err(|_| Refusal {
            message: Some(format!("`{text}` is no bridge name")),
            suggestion: None,
        })
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
}

/// A bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// Its ports.
    pub ports: Vec<Member>,
    /// How long a station is remembered that is not heard any more.
    pub ageing: Duration,
    /// Most stations it remembers.
    pub mac_limit: u32,
    /// What all its ports may do.
    pub flags: Flags,
}

/// What may be done: by a bridge, and by a port in it. What is off for the bridge is off for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// Stations are learned.
    pub learn: bool,
    /// Frames are forwarded.
    pub forward: bool,
    /// Frames to stations that are not known are sent everywhere.
    pub flood_unknown: bool,
    /// Broadcasts and multicasts are sent everywhere.
    pub flood_groups: bool,
}

/// A port in a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Which.
    pub port: PortName,
    /// What it may do.
    pub flags: Flags,
    /// Ports of the same split-horizon group do not reach each other.
    pub group: Option<u16>,
    /// It does not reach other isolated ports.
    pub isolated: bool,
    /// Most frames a second (of each worker) that are flooded from it; 0: any number.
    pub storm_pps: u32,
}

impl Default for Bridge {
    fn default() -> Self {
        let (ageing, flags) = (Duration::from_secs(300), Flags::default());
        Self { ports: Vec::new(), ageing, mac_limit: 16_384, flags }
    }
}

impl Default for Flags {
    fn default() -> Self {
        Self { learn: true, forward: true, flood_unknown: true, flood_groups: true }
    }
}

impl Flags {
    /// The names of the flags.
    pub(super) const NAMES: [&'static str; 4] =
        ["learn", "forward", "flood_unknown", "flood_groups"];

    /// The flag of a name.
    pub(super) fn named(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "learn" => Some(&mut self.learn),
            "forward" => Some(&mut self.forward),
            "flood_unknown" => Some(&mut self.flood_unknown),
            "flood_groups" => Some(&mut self.flood_groups),
            _ => None,
        }
    }

    fn read(table: &mut TableReader<'_>) -> Self {
        let mut flags = Self::default();
        for name in Self::NAMES {
            if let Some(flag) = flags.named(name) {
                *flag = table.or(name, true);
            }
        }
        flags
    }

    fn fields(self, fields: Fields) -> Fields {
        fields
            .unless("learn", &self.learn, &true)
            .unless("forward", &self.forward, &true)
            .unless("flood_unknown", &self.flood_unknown, &true)
            .unless("flood_groups", &self.flood_groups, &true)
    }

    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            learn: self.learn && other.learn,
            forward: self.forward && other.forward,
            flood_unknown: self.flood_unknown && other.flood_unknown,
            flood_groups: self.flood_groups && other.flood_groups,
        }
    }
}

impl Member {
    /// A port that may do everything.
    pub fn new(port: PortName) -> Self {
        Self { port, flags: Flags::default(), group: None, isolated: false, storm_pps: 0 }
    }

    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let port = table.required("port");
        let group = table.has("group").then(|| table.number("group", 1, 1..=MAX_GROUP));
        let (isolated, flags) = (table.or("isolated", false), Flags::read(table));
        let storm_pps = table.or("storm_pps", 0);
        Some(Self { port: port?, flags, group, isolated, storm_pps })
    }

    fn to_toml(&self) -> String {
        if *self == Self::new(self.port.clone()) {
            return self.port.to_toml();
        }
        let fields = Fields::new().with("port", &self.port).maybe("group", &self.group);
        let fields = fields.unless("isolated", &self.isolated, &false);
        let fields = fields.unless("storm_pps", &self.storm_pps, &0);
        self.flags.fields(fields).inline()
    }
}

impl Bridge {
    /// The port's place in it.
    pub fn member(&self, port: &PortName) -> Option<&Member> {
        self.ports.iter().find(|member| member.port == *port)
    }

    fn read(table: &mut TableReader<'_>) -> Self {
        let default = Self::default();
        Self {
            ports: read_members(table),
            ageing: table.or("ageing", default.ageing),
            mac_limit: table.number("mac_limit", default.mac_limit, 1..=16_777_216),
            flags: Flags::read(table),
        }
    }
}

fn read_members(table: &mut TableReader<'_>) -> Vec<Member> {
    let Some(value) = table.value("ports") else { return Vec::new() };
    let field = table.field("ports");
    let report = table.report();
    let items = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    let mut members = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let field = format!("{field}[{index}]");
        report.place(&field, item.span());
        members.extend(match item.get_ref() {
            DeValue::Table(_) => read_table(item, field, report, Member::read).flatten(),
            _ => read_value(item, &field, report).map(Member::new),
        });
    }
    members
}

impl Row for Bridge {
    const KIND: &'static str = "bridge";

    fn fields(&self) -> Fields {
        let default = Self::default();
        let mut fields = Fields::new();
        if !self.ports.is_empty() {
            let ports: Vec<String> = self.ports.iter().map(Member::to_toml).collect();
            fields = fields.raw("ports", format!("[{}]", ports.join(", ")));
        }
        self.flags.fields(fields.unless("ageing", &self.ageing, &default.ageing).unless(
            "mac_limit",
            &self.mac_limit,
            &default.mac_limit,
        ))
    }
}

/// Bridges by name.
pub type Bridges = Table<BridgeName, Bridge>;

impl Object for Bridges {
    type Change = Delta<BridgeName, Bridge>;

    const COMMANDS: &'static [Command] = bridge_commands::COMMANDS;

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut bridges = Self::default();
        root.each_table("bridge", |name, span, table| {
            let bridge = Bridge::read(table);
            match BridgeName::from_text(name) {
                Ok(name) => {
                    bridges.insert(name, bridge);
                }
                Err(refusal) => table.report().push(
                    Problem::new(format!("bridge.{name}"), refusal.message.unwrap_or_default())
                        .expected(BridgeName::EXPECTED)
                        .at(span),
                ),
            }
        });
        bridges
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let mut used: HashMap<&PortName, String> = HashMap::new();
        for (pair, _) in config.xconnects.iter() {
            used.extend(pair.ports().map(|port| (port, format!("the xconnect {pair}"))));
        }
        for (name, bridge) in self.iter() {
            let second = Duration::from_secs(1);
            if !(second..=MAX_AGEING).contains(&bridge.ageing) {
                let message = format!("stations remembered for {}", bridge.ageing.to_toml());
                let problem = Problem::new(format!("bridge.{name}.ageing"), message);
                report.push(problem.expected("\"1s\" to \"2h\""));
            }
            for (index, member) in bridge.ports.iter().enumerate() {
                let (field, port) = (format!("bridge.{name}.ports[{index}]"), &member.port);
                check_exists(&field, port, &config.ports, report);
                if let Some(other) = used.insert(port, format!("the bridge {name}")) {
                    let problem = Problem::new(&field, format!("{port} is in {other} already"));
                    report.push(problem.expected("each port in one bridge or xconnect"));
                }
                let routed =
                    |port: &Port| !port.addresses.is_empty() && !matches!(port.kind, PortKind::Bvi);
                if config.ports.get(port).is_some_and(routed) {
                    let message = format!("{port} has addresses and is in a bridge");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that either routes or is bridged")
                            .help("a port of the kind `bvi` in the bridge may have addresses"),
                    );
                }
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (name, bridge) in self.iter() {
            let bare = !name.as_str().contains('.');
            let key = if bare { name.to_string() } else { quoted(name.as_str()) };
            writer.section(&format!("[bridge.{key}]"), &bridge.fields());
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}
