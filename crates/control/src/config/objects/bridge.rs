//! `[bridge.NAME]`: ports that are one Ethernet network.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use toml::de::DeValue;
use wire::MacAddr;

use super::bridge_commands;
use super::name::name_field;
use super::port::{Port, PortName, check_exists};
use super::port_kind::PortKind;
use super::{Config, Object};
use crate::config::edit::Command;
use crate::config::field::Field;
use crate::config::host::Host;
use crate::config::read::{TableReader, read_table, read_value};
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};

/// Split-horizon groups there are.
pub(crate) const MAX_GROUP: u16 = 63;
/// Longest that a station may be remembered.
const MAX_AGEING: Duration = Duration::from_secs(2 * 3600);

name_field! {
    /// A bridge's name.
    BridgeName = "bridge"
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
    /// Whether it answers ARP requests for stations that it knows, and does not flood them then.
    pub answer_arp: bool,
    /// The same with neighbour solicitations.
    pub answer_nd: bool,
    /// Who has which address, beside what is heard.
    pub bindings: Vec<BoundAddress>,
    /// What all its ports may do.
    pub flags: Flags,
}

/// A station's address that need not be heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundAddress {
    /// The address.
    pub address: IpAddr,
    /// The station that has it.
    pub mac: MacAddr,
    /// Of an IPv6 address, whether the station is a router.
    pub router: bool,
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
        Self {
            ports: Vec::new(),
            ageing,
            mac_limit: 16_384,
            answer_arp: false,
            answer_nd: false,
            bindings: Vec::new(),
            flags,
        }
    }
}

impl Default for Flags {
    fn default() -> Self {
        Self { learn: true, forward: true, flood_unknown: true, flood_groups: true }
    }
}

impl Flags {
    /// The names of the flags.
    pub(in crate::config) const NAMES: [&'static str; 4] =
        ["learn", "forward", "flood_unknown", "flood_groups"];

    /// The flag of a name.
    pub(in crate::config) fn named(&mut self, name: &str) -> Option<&mut bool> {
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

    /// Whether it answers for an address, if it knows who has it.
    pub fn answers_for(&self, address: IpAddr) -> bool {
        if address.is_ipv4() { self.answer_arp } else { self.answer_nd }
    }

    fn read(table: &mut TableReader<'_>) -> Self {
        let default = Self::default();
        Self {
            ports: read_members(table),
            ageing: table.or("ageing", default.ageing),
            mac_limit: table.number("mac_limit", default.mac_limit, 1..=16_777_216),
            answer_arp: table.or("answer_arp", false),
            answer_nd: table.or("answer_nd", false),
            bindings: read_bindings(table),
            flags: Flags::read(table),
        }
    }
}

impl BoundAddress {
    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let (address, mac) = (table.required("address"), table.required("mac"));
        let router = table.or("router", false);
        Some(Self { address: address?, mac: mac?, router })
    }

    fn to_toml(self) -> String {
        let fields = Fields::new().with("address", &self.address).with("mac", &self.mac);
        fields.unless("router", &self.router, &false).inline()
    }

    fn check(self, field: &str, report: &mut Report) {
        let Self { address, mac, router } = self;
        let is_broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
        if address.is_unspecified() || address.is_multicast() || is_broadcast {
            let problem = Problem::new(field, format!("{address} is no host's address"));
            report.push(problem.expected("the address of one host"));
        }
        if !mac.is_unicast() {
            let problem = Problem::new(field, format!("{mac} is no station's address"));
            report.push(problem.expected("the address of one station"));
        }
        if router && address.is_ipv4() {
            let message = format!("ARP does not tell whether {address} is a router's");
            report.push(Problem::new(field, message).expected("`router` with an IPv6 address"));
        }
    }
}

fn read_bindings(table: &mut TableReader<'_>) -> Vec<BoundAddress> {
    let Some(value) = table.value("bindings") else { return Vec::new() };
    let field = table.field("bindings");
    let report = table.report();
    let items = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    let mut bindings = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let field = format!("{field}[{index}]");
        bindings.extend(read_table(item, field, report, BoundAddress::read).flatten());
    }
    bindings
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
        if !self.bindings.is_empty() {
            let bindings: Vec<String> = self.bindings.iter().map(|it| it.to_toml()).collect();
            fields = fields.raw("bindings", format!("[{}]", bindings.join(", ")));
        }
        fields = fields.unless("answer_arp", &self.answer_arp, &false);
        fields = fields.unless("answer_nd", &self.answer_nd, &false);
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
            for (index, binding) in bridge.bindings.iter().enumerate() {
                let field = format!("bridge.{name}.bindings[{index}]");
                binding.check(&field, report);
                if bridge.bindings[..index].iter().any(|it| it.address == binding.address) {
                    let message = format!("{} stands here twice", binding.address);
                    report.push(Problem::new(&field, message).expected("each address once"));
                }
            }
            for (index, member) in bridge.ports.iter().enumerate() {
                let (field, port) = (format!("bridge.{name}.ports[{index}]"), &member.port);
                check_exists(&field, port, &config.ports, report);
                if let Some(other) = used.insert(port, format!("the bridge {name}")) {
                    let problem = Problem::new(&field, format!("{port} is in {other} already"));
                    report.push(problem.expected("each port in one bridge or xconnect"));
                }
                if config.ports.get(port).is_some_and(|port| port.kind.is_point_to_point()) {
                    let message = format!("{port} carries packets, not frames");
                    report.push(Problem::new(&field, message).expected("a port of frames"));
                }
                let routed =
                    |port: &Port| port.has_addresses() && !matches!(port.kind, PortKind::Bvi);
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
