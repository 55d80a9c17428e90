//! What the database's rows ask for, as objects of the router's configuration. A function of the
//! rows, and of which devices there are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use control::config::field::Field;
use control::config::objects::bridge::BridgeName;
use control::config::objects::port::PortName;
use ovsdb::{Row, Rows};

use super::bonds;
use super::controllers;
use super::dpdk;
use super::exports::{exports, samples};
use super::mirrors::{Seen, WantedMirror, mirrors};
use super::qos::{self, Treatment};
use super::rstp;
use super::snooping;
use super::tables;
use super::tunnels;
use super::vlans::{self, Vlans};

/// The number of a bridge's own port.
pub(super) const LOCAL: u16 = 0xfffe;
/// Highest number of another.
const MOST_NUMBER: i64 = 0xfeff;
/// Longest packet of a port.
const MTU: std::ops::RangeInclusive<i64> = 68..=9_216;

/// A bridge of the router's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WantedBridge {
    /// The row of Bridge.
    pub(super) of: String,
    /// What `bridge add` and `set` say behind its name.
    pub(super) settings: String,
    /// What of that is about groups.
    pub(super) snooping: String,
    /// What of it is about a spanning tree.
    pub(super) rstp: String,
    /// What they say of each controller.
    pub(super) controllers: Vec<String>,
    /// What they say of each table.
    pub(super) tables: Vec<String>,
    /// Who is told of what its ports receive.
    pub(super) exports: Vec<String>,
    /// Who is told of what its flows sample.
    pub(super) samples: Vec<String>,
    /// Its ports, with what `bridge join` says behind their names.
    pub(super) members: BTreeMap<String, String>,
}

/// A port of the router's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WantedPort {
    /// The row of Interface.
    pub(super) of: String,
    /// What `port add` says behind its name.
    pub(super) add: String,
    /// The ports that it stands on: what it is a part of, or is made of.
    pub(super) on: Vec<String>,
    /// What it receives is held to this.
    pub(super) police_in: Option<String>,
    /// What becomes of what it sends.
    pub(super) treatment: Treatment,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) bridges: BTreeMap<String, WantedBridge>,
    pub(super) ports: BTreeMap<String, WantedPort>,
    /// Exporters, with what `export add` says behind their names.
    pub(super) exports: BTreeMap<String, String>,
    /// Mirrors by name.
    pub(super) mirrors: BTreeMap<String, WantedMirror>,
    /// The numbers of interfaces, by their rows.
    pub(super) numbers: BTreeMap<String, u16>,
    /// Which port of the router's an interface is.
    pub(super) interfaces: BTreeMap<String, String>,
    /// Ports of spanning trees, by their rows: their bridge, and their name.
    pub(super) spanned: BTreeMap<String, (String, String)>,
    /// The numbers by which controllers know bridges.
    pub(super) datapaths: BTreeMap<String, String>,
    /// What is wrong with rows of Interface: the interface is not there, or not all that it says.
    pub(super) faults: BTreeMap<String, String>,
    /// What is wrong with rows of Bridge and Controller.
    pub(super) others: BTreeSet<String>,
}

/// Where bridges have their sockets, and which devices there are.
pub(super) struct Machine<'a> {
    pub(super) folder: &'a Path,
    pub(super) devices: &'a BTreeSet<String>,
}

/// What the rows ask for.
pub(super) fn wanted(rows: &Rows, machine: &Machine<'_>) -> Wanted {
    let mut wanted = Wanted::default();
    let root = rows.table("Open_vSwitch").next();
    if let Some((_, root)) = root {
        let mut bridges: Vec<_> = rows.named(root, "bridges", "Bridge").collect();
        bridges.sort_by_key(|(_, bridge)| bridge.text("name"));
        for (uuid, bridge) in bridges {
            if let Err(why) = wanted.add_bridge(rows, uuid, bridge, machine) {
                wanted.others.insert(why);
            }
        }
    }
    wanted
}

impl Wanted {
    fn add_bridge(
        &mut self,
        rows: &Rows,
        uuid: &str,
        bridge: &Row,
        machine: &Machine<'_>,
    ) -> Result<(), String> {
        let name = bridge.text("name").unwrap_or_default();
        BridgeName::from_text(name)
            .map_err(|_| format!("bridge `{name}` is not {}", BridgeName::EXPECTED))?;
        let mac = mac_of(bridge, uuid);
        let (settings, datapath) = settings(name, bridge, &mac, machine)?;
        let (protocols, unspoken) = controllers::protocols(name, bridge)?;
        self.others.extend(unspoken);
        let snooping = snooping::words(name, bridge)?;
        // A bridge without its tree would have loops: it is not made.
        let tree = rstp::bridge_words(name, bridge)?;
        let mut made = WantedBridge {
            of: uuid.to_owned(),
            settings: settings + &protocols + &snooping + &tree,
            snooping,
            rstp: tree,
            ..WantedBridge::default()
        };
        let (controllers, wrong) = controllers::words(rows, name, bridge);
        made.controllers = controllers;
        self.others.extend(wrong);
        let (tables, wrong) = tables::words(rows, name, bridge);
        made.tables = tables;
        self.others.extend(wrong);
        let (exports, wrong) = exports(rows, name, bridge);
        made.exports = exports.keys().cloned().collect();
        self.exports.extend(exports);
        self.others.extend(wrong);
        let (sampled, wrong) = samples(rows, name, uuid);
        made.samples = sampled.keys().cloned().collect();
        self.exports.extend(sampled);
        self.others.extend(wrong);
        self.datapaths.insert(uuid.to_owned(), datapath);

        // Those with a number first keep it.
        let (mut interfaces, mut rows_of) = (Vec::new(), BTreeMap::new());
        for (row, port) in rows.named(bridge, "ports", "Port") {
            let of_port: Vec<_> = rows.named(port, "interfaces", "Interface").collect();
            for (uuid, interface) in &of_port {
                let bond = of_port.len() > 1;
                rows_of.insert(*uuid, row);
                interfaces.push((*uuid, *interface, port, bond));
            }
        }
        interfaces.sort_by_key(|(uuid, interface, ..)| (interface.text("name"), *uuid));
        let numbers = numbers(name, &interfaces);
        let mut tags = BTreeMap::new();
        let mut bonds: BTreeMap<&str, Bonded<'_>> = BTreeMap::new();
        for (uuid, interface, of_port, is_bonded) in interfaces {
            let made = self.add_port(rows, name, (uuid, interface, of_port), &mac, machine);
            let of = rows_of.get(uuid).copied().unwrap_or_default();
            match (made, numbers.get(uuid)) {
                (Ok((port, _)), _) if is_bonded => {
                    let bond = bonds.entry(of).or_insert_with(|| Bonded::new(of_port));
                    bond.members.push((uuid, port));
                }
                (Ok((port, vlans)), Some(number)) => {
                    self.numbers.insert(uuid.to_owned(), *number);
                    self.interfaces.insert(uuid.to_owned(), port.clone());
                    let (of, floods) =
                        (of.to_owned(), snooping::is_on(of_port, "mcast-snooping-flood"));
                    let spanning = self.spanning(&of, name, bridge, of_port);
                    tags.insert(port, Tags { of, vlans, number: *number, floods, spanning });
                }
                (Ok(_), None) => self.fault(uuid, "no number is free"),
                (Err(why), _) => self.fault(uuid, why),
            }
        }
        for (of, bond) in bonds {
            if let Err(why) = self.add_bond(rows, of, &bond, &numbers, &mut tags) {
                bond.members.iter().for_each(|(uuid, _)| self.fault(uuid, why.clone()));
            }
            let spanning = self.spanning(of, name, bridge, bond.port);
            for it in tags.values_mut().filter(|it| it.of == of) {
                it.spanning.clone_from(&spanning);
            }
        }
        self.mirror(rows, name, bridge, &mut tags);
        self.lay_out(name, made, &tags);
        Ok(())
    }

    /// What is said of a port of a spanning tree, if its bridge is part of one.
    fn spanning(&mut self, of: &str, name: &str, bridge: &Row, port: &Row) -> String {
        if !rstp::is_enabled(bridge) {
            return String::new();
        }
        let port_name = port.text("name").unwrap_or_default();
        self.spanned.insert(of.to_owned(), (name.to_owned(), port_name.to_owned()));
        rstp::port_words(name, bridge, port).unwrap_or_else(|why| {
            self.others.insert(why);
            String::new()
        })
    }

    fn fault(&mut self, interface: &str, why: impl Into<String>) {
        self.faults.entry(interface.to_owned()).or_insert(why.into());
    }

    /// A port of several interfaces: it takes part in the bridge, with the number of the first of
    /// them, and they do not.
    fn add_bond(
        &mut self,
        rows: &Rows,
        of: &str,
        bond: &Bonded<'_>,
        numbers: &BTreeMap<&str, u16>,
        tags: &mut BTreeMap<String, Tags>,
    ) -> Result<(), String> {
        let name = bond.port.text("name").unwrap_or_default();
        PortName::from_text(name).map_err(|_| format!("`{name}` is not {}", PortName::EXPECTED))?;
        if self.ports.contains_key(name) {
            return Err(format!("an interface is called {name}, as the bond is"));
        }
        let members: Vec<String> = bond.members.iter().map(|it| it.1.clone()).collect();
        let add = bonds::words(bond.port, &members)?;
        let vlans = Vlans::read(bond.port)?;
        let uuids = bond.members.iter().map(|it| it.0);
        let first = bond.members.first().map(|it| it.0).unwrap_or_default();
        let number = uuids.clone().find_map(|uuid| numbers.get(uuid)).ok_or("no number is free")?;
        let mut made =
            WantedPort { of: first.to_owned(), add, on: members, ..WantedPort::default() };
        for (_, qos) in rows.named(bond.port, "qos", "QoS") {
            match qos::treatment(name, qos, rows) {
                Ok(treatment) => made.treatment = treatment,
                Err(why) => self.fault(first, why),
            }
        }
        // What a member sends waits at the bond.
        for member in &made.on {
            if let Some(member) = self.ports.get_mut(member) {
                member.treatment = Treatment::default();
            }
        }
        self.ports.insert(name.to_owned(), made);
        for (uuid, port) in &bond.members {
            self.numbers.insert((*uuid).to_owned(), *number);
            self.interfaces.insert((*uuid).to_owned(), port.clone());
        }
        let floods = snooping::is_on(bond.port, "mcast-snooping-flood");
        let (of, spanning) = (of.to_owned(), String::new());
        tags.insert(name.to_owned(), Tags { of, vlans, number: *number, floods, spanning });
        Ok(())
    }

    /// What is copied: ports, and VLANs of ports, that copies leave by are in no bridge.
    fn mirror(&mut self, rows: &Rows, name: &str, bridge: &Row, tags: &mut BTreeMap<String, Tags>) {
        let seen = |it: &Tags| Seen { of: it.of.clone(), vlans: it.vlans.clone() };
        let ports = tags.iter().map(|(port, it)| (port.clone(), seen(it))).collect();
        let found = mirrors(rows, name, bridge, &ports);
        self.mirrors.extend(found.wanted);
        self.others.extend(found.wrong);
        for port in found.outputs {
            tags.remove(&port);
        }
        let services = vlans::services(tags.values().map(|it| &it.vlans)).0;
        for (port, vlan) in found.tagged {
            let Some(it) = tags.get_mut(&port) else { continue };
            let add = it.vlans.part_words(&port, vlan, &services);
            it.vlans.without(vlan);
            let of = self.ports.get(&port).map(|it| it.of.clone()).unwrap_or_default();
            let part = vlans::part_name(&(port.clone(), Some(vlan)));
            let made = WantedPort { of, add, on: vec![port], ..WantedPort::default() };
            self.ports.insert(part, made);
        }
    }

    /// A port as its interface says, and which VLANs it is in.
    fn add_port(
        &mut self,
        rows: &Rows,
        bridge: &str,
        (uuid, interface, port): (&str, &Row, &Row),
        mac: &str,
        machine: &Machine<'_>,
    ) -> Result<(String, Vlans), String> {
        let name = interface.text("name").unwrap_or_default();
        PortName::from_text(name).map_err(|_| format!("`{name}` is not {}", PortName::EXPECTED))?;
        if self.ports.contains_key(name) {
            return Err(format!("another interface is called {name}"));
        }
        let mut add = kind_words(name, interface, machine)?;
        if name == bridge {
            add.push_str(&format!(" mac {mac}"));
        } else if let Some(mac) = interface.text("mac") {
            let read = wire_mac(mac).ok_or(format!("mac is `{mac}`, not a MAC address"))?;
            add.push_str(&format!(" mac {read}"));
        }
        if let Some(mtu) = interface.whole("mtu_request") {
            if !MTU.contains(&mtu) {
                return Err(format!("mtu_request is {mtu}, not 68 to 9216"));
            }
            add.push_str(&format!(" mtu {mtu}"));
        }
        let vlans = Vlans::read(port)?;
        let police_in = qos::police_in(interface);
        let mut made = WantedPort { of: uuid.to_owned(), add, police_in, ..WantedPort::default() };
        for (_, qos) in rows.named(port, "qos", "QoS") {
            match qos::treatment(name, qos, rows) {
                Ok(treatment) => made.treatment = treatment,
                Err(why) => self.fault(uuid, why),
            }
        }
        self.ports.insert(name.to_owned(), made);
        Ok((name.to_owned(), vlans))
    }

    /// The bridges of a bridge: itself, and one for each VLAN that a port names.
    fn lay_out(&mut self, name: &str, made: WantedBridge, tags: &BTreeMap<String, Tags>) {
        let (services, differing) = vlans::services(tags.values().map(|it| &it.vlans));
        let differ = |vlan: &u16| format!("{name}: ports of VLAN {vlan} differ in qinq-ethtype");
        self.others.extend(differing.iter().map(differ));
        let vlans = tags.iter().map(|(port, it)| (port.clone(), it.vlans.clone())).collect();
        for (vlan, parts) in vlans::lay_out(&vlans) {
            let bridge = vlans::bridge_of(name, vlan);
            if BridgeName::from_text(&bridge).is_err() {
                self.others.insert(format!("bridge `{bridge}` is not {}", BridgeName::EXPECTED));
                continue;
            }
            let mut members = BTreeMap::new();
            if vlan == 0 {
                let words = |it: &Tags| it.words(&made);
                members.extend(tags.iter().map(|(port, it)| (port.clone(), words(it))));
                self.bridges.insert(bridge, WantedBridge { members, ..made.clone() });
                continue;
            }
            for part in parts {
                let member = vlans::part_name(&part);
                let (parent, tag) = part;
                let Some(of_port) = tags.get(&parent) else { continue };
                let of = self.ports.get(&parent).map(|it| it.of.clone()).unwrap_or_default();
                if let Some(tag) = tag {
                    if PortName::from_text(&member).is_err() {
                        self.fault(&of, format!("`{member}` is not {}", PortName::EXPECTED));
                        continue;
                    }
                    let add = of_port.vlans.part_words(&parent, tag, &services);
                    let port =
                        WantedPort { of, add, on: vec![parent.clone()], ..WantedPort::default() };
                    self.ports.insert(member.clone(), port);
                }
                members.insert(member, of_port.words_on_groups(&made));
            }
            let bridge_of_vlan = WantedBridge {
                of: made.of.clone(),
                settings: format!("behind {name}{}", made.snooping),
                snooping: made.snooping.clone(),
                members,
                ..WantedBridge::default()
            };
            self.bridges.insert(bridge, bridge_of_vlan);
        }
    }
}

/// What `port add` says of what stands behind an interface.
fn kind_words(name: &str, interface: &Row, machine: &Machine<'_>) -> Result<String, String> {
    let options = interface.get("options").pairs();
    match interface.text("type") {
        None | Some("system") => match machine.devices.contains(name) {
            true => Ok(format!("af_packet device {name}")),
            // As Open vSwitch says it.
            false => Err(format!("could not open network device {name} (No such device)")),
        },
        Some("internal" | "tap") => Ok(format!("tap device {name}")),
        Some("patch") => patch_words(name, &options, machine),
        Some("dpdk") => dpdk::device(name, &options),
        Some("dpdkvhostuser") => dpdk::socket(name, machine.folder),
        Some("dpdkvhostuserclient") => dpdk::machines_socket(name, &options),
        Some(kind) => tunnels::words(kind, &options).unwrap_or_else(|| {
            Err(format!("could not open network device {name} (type {kind} is not done here)"))
        }),
    }
}

/// One end of a link between two bridges: shared memory, at which the ends of two ports that name
/// each other meet.
fn patch_words(
    name: &str,
    options: &BTreeMap<String, String>,
    machine: &Machine<'_>,
) -> Result<String, String> {
    let peer = options.get("peer").filter(|peer| PortName::from_text(peer).is_ok());
    let peer = peer.ok_or_else(|| format!("{name}: patch type requires valid 'peer' argument"))?;
    if peer == name {
        return Err(format!("{name}: patch peer must not be self"));
    }
    // Which end is which both have to agree on before they meet.
    let is_first = name < peer.as_str();
    let (first, second) = if is_first { (name, peer.as_str()) } else { (peer.as_str(), name) };
    let socket = machine.folder.join(format!("patch.{first}.{second}"));
    let socket = socket.to_str().filter(|text| !text.contains(char::is_whitespace));
    let socket = socket.ok_or("the folder of sockets has a name that is none here")?;
    let role = if is_first { "server" } else { "client" };
    Ok(format!("memif socket {socket} role {role}"))
}

/// What is said of a bridge, and the number by which controllers know it.
fn settings(
    name: &str,
    bridge: &Row,
    mac: &str,
    machine: &Machine<'_>,
) -> Result<(String, String), String> {
    let fail_mode = match bridge.text("fail_mode") {
        None | Some("standalone") => "standalone",
        Some("secure") => "secure",
        Some(other) => return Err(format!("{name}: fail_mode `{other}`")),
    };
    let other = bridge.get("other_config").pairs();
    let digits: String = mac.split(':').collect();
    let datapath = match other.get("datapath-id").map(|id| id.trim_start_matches("0x")) {
        Some(id) if id.len() <= 16 && id.bytes().all(|it| it.is_ascii_hexdigit()) => {
            format!("{id:0>16}").to_ascii_lowercase()
        }
        Some(id) => return Err(format!("{name}: datapath-id `{id}` is no number of 64 bits")),
        None => format!("0000{digits}"),
    };
    let socket = machine.folder.join(format!("{name}.mgmt"));
    let socket = socket.to_str().filter(|text| !text.contains(char::is_whitespace));
    let socket = socket.ok_or("the folder of sockets has a name that is none here")?;
    let mut words =
        format!("mode flow management {socket} fail_mode {fail_mode} datapath {datapath}");
    let age = other.get("mac-aging-time").map(|text| text.parse::<u64>());
    let age = age.or(rstp::ageing(name, bridge)?.map(Ok));
    if let Some(seconds) = age {
        let seconds = seconds.map_err(|_| format!("{name}: mac-aging-time is no number"))?;
        words.push_str(&format!(" ageing {}s", seconds.clamp(1, 7200)));
    }
    let most = other.get("mac-table-size").map(|text| text.parse::<u64>());
    if let Some(most) = most {
        let most = most.map_err(|_| format!("{name}: mac-table-size is no number"))?;
        words.push_str(&format!(" mac_limit {}", most.clamp(10, 1_000_000)));
    }
    Ok((words, datapath))
}

/// A port of several interfaces, and those of them that are there: their rows and names.
struct Bonded<'a> {
    port: &'a Row,
    members: Vec<(&'a str, String)>,
}

impl<'a> Bonded<'a> {
    fn new(port: &'a Row) -> Self {
        Self { port, members: Vec::new() }
    }
}

/// The row of a port, which VLANs it is in, its number, whether it gets all groups, and what is
/// said of it as a port of a spanning tree.
struct Tags {
    of: String,
    vlans: Vlans,
    number: u16,
    floods: bool,
    spanning: String,
}

impl Tags {
    /// What is said of it as a port of the bridge itself, all of which has flows.
    fn words(&self, bridge: &WantedBridge) -> String {
        let mut words = vec![format!("number {}", self.number)];
        // Flows have its frames, and what they leave to NORMAL is not bridged without a tag.
        if !self.vlans.has_untagged() {
            let no = ["learn", "forward", "flood_unknown", "flood_groups"];
            words.extend(no.map(|flag| format!("{flag} false")));
        }
        words.extend((!self.spanning.is_empty()).then(|| self.spanning.clone()));
        words.extend(Some(self.words_on_groups(bridge)).filter(|it| !it.is_empty()));
        words.join(" ")
    }

    fn words_on_groups(&self, bridge: &WantedBridge) -> String {
        match (bridge.snooping.is_empty(), self.floods) {
            (true, _) => String::new(),
            (false, true) => "multicast_router always".to_owned(),
            (false, false) => "multicast_router learned".to_owned(),
        }
    }
}

pub(super) fn wire_mac(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_octet = |part: &&str| part.len() == 2 && u8::from_str_radix(part, 16).is_ok();
    (parts.len() == 6 && parts.iter().all(is_octet)).then(|| text.to_ascii_lowercase())
}

/// A bridge's own address: what its row says, or one of its own, of its row.
fn mac_of(bridge: &Row, uuid: &str) -> String {
    let said = bridge.get("other_config").pairs().get("hwaddr").and_then(|text| wire_mac(text));
    said.unwrap_or_else(|| {
        let digits: Vec<char> = uuid.chars().filter(char::is_ascii_hexdigit).collect();
        let octet = |at: usize| match digits.get(2 * at..2 * at + 2) {
            Some([high, low]) => format!("{high}{low}").to_ascii_lowercase(),
            _ => "00".to_owned(),
        };
        let octets: Vec<String> = (0..5).map(octet).collect();
        format!("02:{}", octets.join(":"))
    })
}

/// A row of Interface, its columns, those of its port, and whether that has several.
type Interface<'a> = (&'a str, &'a Row, &'a Row, bool);

/// The numbers of a bridge's interfaces: its own, those that are asked for, those that they had,
/// the lowest that are free.
fn numbers<'a>(bridge: &str, interfaces: &[Interface<'a>]) -> BTreeMap<&'a str, u16> {
    let mut found: BTreeMap<&str, u16> = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut give = |uuid: &'a str, number: u16, found: &mut BTreeMap<&'a str, u16>| {
        if !found.contains_key(uuid) && used.insert(number) {
            found.insert(uuid, number);
        }
    };
    for (uuid, interface, ..) in interfaces {
        if interface.text("name") == Some(bridge) {
            give(uuid, LOCAL, &mut found);
        }
    }
    for column in ["ofport_request", "ofport"] {
        for (uuid, interface, ..) in interfaces {
            if let Some(number) =
                interface.whole(column).filter(|it| (1..=MOST_NUMBER).contains(it))
            {
                give(uuid, number as u16, &mut found);
            }
        }
    }
    let mut free = 1..=MOST_NUMBER as u16;
    for (uuid, ..) in interfaces {
        while !found.contains_key(uuid) {
            let Some(number) = free.next() else { break };
            give(uuid, number, &mut found);
        }
    }
    found
}
