//! `[port.NAME]`: where packets come in and go out.

use std::collections::HashMap;
use std::fmt;

use wire::MacAddr;

use super::connected::{Connected, check_host_address};
use super::port_filters::Filters;
use super::port_kind::{KindName, PortKind};
use super::port_policing::Policing;
use super::port_ra::Ra;
use super::port_twin::Twin;
use super::proxy_arp;
use super::qos::{self, Qos};
use super::vrf::VrfName;
use super::{Command, Config, Object, tunnel, unnumbered, vlan};
use crate::config::declare::{Declared, object};
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::host::Host;
use crate::config::info::{Described, Stands};
use crate::config::key::name_key;
use crate::config::listed::{self, Listed, row_mut};
use crate::config::order::Order;
use crate::config::prefix::{InterfaceAddress, Prefix};
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::{Delta, Table};
use crate::config::toml_text::quoted;
use crate::config::write::{Fields, Writer};

/// RFC 791: every link carries 68 bytes.
const MIN_MTU: u16 = 68;
/// RFC 8200 section 5: every link that carries IPv6 carries so many.
const MIN_IP6_MTU: u16 = 1_280;
/// Largest jumbo frames in common use.
const MAX_MTU: u16 = 9_216;

/// Most ports there can be, remotes of tunnels that have several among them.
pub const MOST_PORTS: usize = 1_024;

/// A port's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortName(String);

impl PortName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The regular expression of names.
const NAME: &str = "^[A-Za-z][A-Za-z0-9._-]{0,14}$";

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Field for PortName {
    const EXPECTED: &'static str =
        "a port name: a letter, then up to 14 letters, digits, `-`, `_` or `.`";
    const FORM: Form = Form::Text(NAME);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if letter && plain && text.len() <= 15 {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal { message: Some(format!("`{text}` is not a port name")), suggestion: None })
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

name_key!(PortName = "a port name");

object! {
    /// Where packets come in and go out
    pub struct Port {
        /// What stands behind it
        pub kind: PortKind as "memory",
        /// Whether it is to be up
        pub up: bool = true,
        /// Longest packet, without the Ethernet header
        pub mtu: u16 [MIN_MTU..=MAX_MTU] = kind.default_mtu(),
        /// Whose routes its packets follow; the default VRF's when left out
        pub vrf: Option<VrfName> as "red" = None,
        /// MAC address; the device's own when left out
        pub mac: Option<MacAddr> as "02:00:00:00:00:01" = None,
        /// Receive queues, spread over the workers
        pub rx_queues: u16 [1..=64] = 1,
        /// Addresses with their connected networks
        pub addresses: Vec<InterfaceAddress> as "192.0.2.1/24" = Vec::new(),
        /// The port whose IPv4 addresses it speaks with, when it has none of its own
        pub unnumbered: Option<PortName> as "lan" = None,
        /// What its packets are held to
        pub filters: Box<Filters> = Box::default(),
        /// What its frames are held to, and which marks they get
        pub policing: Box<Policing> = Box::default(),
        /// How packets wait before they leave by it; they do not when left out
        pub qos: Option<Qos> = None,
        /// How it advertises the router to IPv6 hosts; not at all when left out
        pub ra: Option<Ra> as "on" = None,
        /// Networks whose addresses it answers ARP for, too, as far as they lie beyond other ports
        pub proxy_arp: Vec<Prefix> as "10.0.0.0/8" = Vec::new(),
        /// Whether it tells IPv4 hosts of better ways than by us
        pub redirects: bool = false,
        /// The kernel's interface beside it; there is none when left out
        pub twin: Option<Box<Twin>> as "on" = None,
    }
    also { "down": up = "false" }
}

/// A scheduler holds the packets of a device back: what stands on others has none.
fn no_qos(port: &str, kind: &PortKind) -> Problem {
    let (message, help) = match kind {
        PortKind::Vlan(vlan) => (
            "frames of a sub-interface wait in the scheduler of its port".to_owned(),
            format!("give [port.{}.qos] a class and a filter for them", vlan.parent),
        ),
        _ => (
            "its packets leave by other ports, and wait there".to_owned(),
            "give those ports a scheduler".to_owned(),
        ),
    };
    Problem::new(format!("{port}.qos"), message).expected("a port with a device").help(help)
}

impl Port {
    /// Whether it has an IPv4 address of its own.
    pub fn has_ip4(&self) -> bool {
        self.addresses.iter().any(|own| own.address().is_ipv4())
    }

    /// Whether it has addresses, its own or another's: what it receives is routed.
    pub fn has_addresses(&self) -> bool {
        !self.addresses.is_empty() || self.unnumbered.is_some()
    }

    /// Whether it speaks IPv6.
    pub fn has_ip6(&self) -> bool {
        self.addresses.iter().any(|own| own.address().is_ipv6())
    }

    /// Whether it is to advertise the router.
    pub fn advertises(&self) -> bool {
        self.up && self.ra.is_some() && self.has_ip6()
    }

    /// Whether the change from one to the other keeps the device open.
    pub fn same_device(&self, other: &Self) -> bool {
        self.kind == other.kind && self.rx_queues == other.rx_queues
    }

    fn check_alone(&self, name: &PortName, report: &mut Report) {
        let port = format!("port.{name}");
        self.kind.check(&port, report);
        if let Some(mac) = self.mac.filter(|mac| !mac.is_unicast()) {
            let what = if mac.is_multicast() { "a multicast address" } else { "not an address" };
            report.push(
                Problem::new(format!("{port}.mac"), format!("{mac} is {what}"))
                    .expected("the address of one station: first octet even, not all zero"),
            );
        }
        if let Some(most) = self.kind.most_rx_queues().filter(|most| self.rx_queues > *most) {
            let kind = self.kind.name().word();
            let message = format!("a {kind} port with {} receive queues", self.rx_queues);
            let problem = Problem::new(format!("{port}.rx_queues"), message);
            report.push(problem.expected(most.to_string()));
        }
        if self.has_ip6() && self.mtu < MIN_IP6_MTU {
            let message = format!("IPv6 addresses and an MTU of {}", self.mtu);
            let problem = Problem::new(format!("{port}.mtu"), message);
            report.push(problem.expected(format!("{MIN_IP6_MTU} or more with IPv6 (RFC 8200)")));
        }
        if let Some(ra) = &self.ra {
            ra.check(name, self, report);
        }
        proxy_arp::check(&port, self, report);
        if self.redirects && !self.has_ip4() {
            let message = "it has no IPv4 address, so no hosts to tell";
            let problem = Problem::new(format!("{port}.redirects"), message);
            report.push(problem.expected("an IPv4 address on the port"));
        }
        if self.twin.is_some() {
            Twin::check(&format!("{port}.twin"), self, report);
        }
        for (index, address) in self.addresses.iter().enumerate() {
            let field = format!("{port}.addresses[{index}]");
            if self.addresses[..index].iter().any(|other| other.address() == address.address()) {
                let message = format!("{} is listed twice", address.address());
                report.push(Problem::new(&field, message).expected("each address once"));
            }
            check_host_address(&field, *address, report);
        }
        if let Some(qos) = &self.qos {
            qos.check(&port, self.mtu, report);
            if self.kind.is_virtual() {
                report.push(no_qos(&port, &self.kind));
            }
        }
    }
}

impl Row for Port {
    const KIND: &'static str = "port";

    fn parts() -> Vec<Described> {
        let stands = Stands::Elsewhere(qos::schema);
        vec![Described { path: "port.qos", about: |_| "", infos: Vec::new(), stands }]
    }

    fn about(kind: &str) -> &'static str {
        KindName::from_text(kind).map_or(Self::ABOUT, PortKind::about)
    }

    fn fields(&self) -> Fields {
        let fields = self.write(Fields::new());
        self.qos.iter().fold(fields, |fields, qos| qos.told(fields))
    }
}

/// All ports by name.
pub type Ports = Table<PortName, Port>;

impl Listed for Port {
    type Key = PortName;

    const FIRST: usize = 1;

    fn write_more(&self, header: &str, writer: &mut Writer) {
        if let Some(qos) = &self.qos {
            qos.write(header, writer);
        }
    }

    fn keep(&mut self, old: &Self) {
        self.qos.clone_from(&old.qos);
    }

    fn order(deltas: &mut [Delta<PortName, Self>]) {
        // Ports that stand on others go before those, and come after them.
        deltas.sort_by_key(|delta| match delta {
            Delta::Removed { row, .. } => !row.kind.is_virtual(),
            Delta::Added { row, .. } | Delta::Modified { new: row, .. } => row.kind.is_virtual(),
        });
    }
}

impl Object for Ports {
    const MORE: &'static [Command] = &[
        Command::of::<AddressAdd>(),
        Command::of::<AddressDel>(),
        vlan::ADD,
        vlan::DEL,
        tunnel::VXLAN_ADD,
        tunnel::VXLAN_DEL,
        tunnel::GRE_ADD,
        tunnel::GRE_DEL,
        qos::SET,
        qos::CLASS,
        qos::FILTER,
        qos::DEL,
        qos::IMPORT,
    ];

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        check_number(self, report);
        let (mut claims, mut twins) = (HashMap::new(), HashMap::new());
        for (name, port) in self.iter() {
            port.check_alone(name, report);
            unnumbered::check(name, port, config, report);
            Filters::check(name, port, config, report);
            port.policing.check(&format!("port.{name}"), config, report);
            if let Some(qos) = &port.qos {
                qos.check_names(name, config, report);
                qos.check_room(name, config, report);
            }
            if let Some(twin) = &port.twin {
                let place = (twin.netns.clone(), twin.name_for(name).to_owned());
                if let Some(other) = twins.insert(place, name) {
                    let message = format!("port {other} has a twin of this name there already");
                    let problem = Problem::new(format!("port.{name}.twin"), message);
                    report.push(problem.expected("another name, or another namespace"));
                }
            }
            let Some(claim) = port.kind.claim() else { continue };
            if let Some(other) = claims.insert(claim.clone(), name) {
                let message = format!("{claim} is used by port {other} already");
                let problem = Problem::new(format!("port.{name}"), message);
                report.push(problem.expected("one port for each device"));
            }
        }
        vlan::check_all(self, report);
        tunnel::check_all(self, report);
        Connected::of(self).check(report);
    }
}

/// Each port takes a number, and so does each remote of a tunnel that has several.
fn check_number(ports: &Ports, report: &mut Report) {
    let several = ports.iter().filter(|(_, port)| port.kind.has_remotes());
    let remotes: usize =
        several.filter_map(|(_, port)| Some(port.kind.ends()?.remotes.listed().len())).sum();
    if ports.len() + remotes > MOST_PORTS {
        let and = if remotes > 0 { format!(" and {remotes} remotes") } else { String::new() };
        let message = format!("{} ports{and}", ports.len());
        let expected = format!("at most {MOST_PORTS} ports, and remotes of tunnels with several");
        report.push(Problem::new("port", message).expected(expected));
    }
}

object! {
    /// Give a port an address
    struct AddressAdd {
        /// The address
        address: InterfaceAddress as "192.0.2.1/24",
        /// The port
        port: PortName as "uplink",
    }
}

impl Order for AddressAdd {
    const NOUN: &'static str = "address";
    const VERB: &'static str = "add";
    const FIRST: usize = 1;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Self { address, port: name } = self;
        let port = row_mut(&mut config.ports, &name)?;
        if port.addresses.contains(&address) {
            let message = format!("port {name} has {address} already");
            return Err(Problem::new(format!("port.{name}.addresses"), message));
        }
        port.addresses.push(address);
        Ok(())
    }
}

object! {
    /// Take an address from a port
    struct AddressDel {
        /// The address
        address: InterfaceAddress as "192.0.2.1/24",
        /// The port
        port: PortName as "uplink",
    }
}

impl Order for AddressDel {
    const NOUN: &'static str = "address";
    const VERB: &'static str = "del";
    const FIRST: usize = 1;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Self { address, port: name } = self;
        let port = row_mut(&mut config.ports, &name)?;
        let Some(at) = port.addresses.iter().position(|other| *other == address) else {
            let has: Vec<String> = port.addresses.iter().map(ToString::to_string).collect();
            let message = format!("port {name} has no address {address}");
            let problem = Problem::new(format!("port.{name}.addresses"), message);
            return Err(match has[..] {
                [] => problem,
                _ => problem.expected(format!("one of {}", has.join(", "))),
            });
        };
        port.addresses.remove(at);
        Ok(())
    }
}

/// Complains about a port that is not there.
pub(crate) fn check_exists(field: &str, name: &PortName, ports: &Ports, report: &mut Report) {
    listed::check_exists(field, name, ports, report);
}
