//! `[port.NAME]`: where packets come in and go out.

use std::collections::HashMap;
use std::fmt;

use wire::MacAddr;

use super::connected::{Connected, check_host_address};
use super::port_commands;
use super::port_filters::Filters;
use super::port_kind::PortKind;
use super::port_policing::Policing;
use super::port_ra::Ra;
use super::port_twin::Twin;
use super::proxy_arp;
use super::qos::Qos;
use super::vrf::VrfName;
use super::{Config, Object};
use super::{tunnel, unnumbered, vlan};
use crate::config::edit::Command;
use crate::config::field::{Field, Refusal};
use crate::config::host::Host;
use crate::config::prefix::{InterfaceAddress, Prefix};
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};

/// MTU of a port that does not say.
pub const DEFAULT_MTU: u16 = 1_500;
/// RFC 791: every link carries 68 bytes.
pub(crate) const MIN_MTU: u16 = 68;
/// RFC 8200 section 5: every link that carries IPv6 carries so many.
const MIN_IP6_MTU: u16 = 1_280;
/// Largest jumbo frames in common use.
pub(crate) const MAX_MTU: u16 = 9_216;

/// A port's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortName(String);

impl PortName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Field for PortName {
    const EXPECTED: &'static str =
        "a port name: a letter, then up to 14 letters, digits, `-`, `_` or `.`";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if letter && plain && text.len() <= 15 {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal { message: Some(format!("`{text}` is no port name")), suggestion: None })
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// What stands behind it.
    pub kind: PortKind,
    /// Whether it is to be up.
    pub up: bool,
    /// Longest packet, without the Ethernet header.
    pub mtu: u16,
    /// Whose routes its packets follow; `None`: the default VRF's.
    pub vrf: Option<VrfName>,
    /// MAC address; `None`: the device's own.
    pub mac: Option<MacAddr>,
    /// Receive queues, spread over the workers.
    pub rx_queues: u16,
    /// Addresses with their connected networks.
    pub addresses: Vec<InterfaceAddress>,
    /// The port whose IPv4 addresses it speaks with; `None`: it has its own, or none.
    pub unnumbered: Option<PortName>,
    /// What its packets are held to.
    pub filters: Box<Filters>,
    /// What its frames are held to, and which marks they get; `None`: nothing.
    pub policing: Option<Box<Policing>>,
    /// How packets wait before they leave by it; `None`: they do not.
    pub qos: Option<Qos>,
    /// How it advertises the router to IPv6 hosts; `None`: not at all.
    pub ra: Option<Ra>,
    /// Networks whose addresses it answers ARP for, too, as far as they lie beyond other ports.
    pub proxy_arp: Vec<Prefix>,
    /// Whether it tells IPv4 hosts of better ways than by us.
    pub redirects: bool,
    /// The kernel's interface beside it; `None`: there is none.
    pub twin: Option<Box<Twin>>,
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
    /// A port of this kind, everything else as by default.
    pub fn new(kind: PortKind) -> Self {
        let (mtu, addresses) = (kind.default_mtu(), Vec::new());
        Self {
            kind,
            up: true,
            mtu,
            vrf: None,
            mac: None,
            rx_queues: 1,
            addresses,
            unnumbered: None,
            filters: Box::default(),
            policing: None,
            qos: None,
            ra: None,
            proxy_arp: Vec::new(),
            redirects: false,
            twin: None,
        }
    }

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

    /// Reads the fields of a port.
    pub(crate) fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let kind = PortKind::read(table);
        let up = table.or("up", true);
        let usual_mtu = kind.as_ref().map_or(DEFAULT_MTU, PortKind::default_mtu);
        let mtu = table.number("mtu", usual_mtu, MIN_MTU..=MAX_MTU);
        let vrf = table.optional("vrf");
        let mac = table.optional("mac");
        let rx_queues = table.number("rx_queues", 1, 1..=64);
        let addresses = table.list("addresses");
        let unnumbered = table.optional("unnumbered");
        let filters = Box::new(Filters::read(table));
        let policing = Policing::read(table);
        let qos = table.table("qos", |qos| Qos::read(qos, mtu)).flatten();
        let ra = table.table("ra", Ra::read);
        let proxy_arp = table.list("proxy_arp");
        let redirects = table.or("redirects", false);
        let twin = Twin::read(table).map(Box::new);
        let kind = kind?;
        Some(Self {
            kind,
            up,
            mtu,
            vrf,
            mac,
            rx_queues,
            addresses,
            unnumbered,
            filters,
            policing,
            qos,
            ra,
            proxy_arp,
            redirects,
            twin,
        })
    }

    fn check(&self, name: &PortName, report: &mut Report) {
        let port = format!("port.{name}");
        self.kind.check(&port, report);
        if let Some(mac) = self.mac.filter(|mac| !mac.is_unicast()) {
            let what = if mac.is_multicast() { "a multicast address" } else { "no address" };
            report.push(
                Problem::new(format!("{port}.mac"), format!("{mac} is {what}"))
                    .expected("the address of one station: first octet even, not all zero"),
            );
        }
        if self.rx_queues > 1 && matches!(self.kind, PortKind::Pcap { .. }) {
            let message = format!("a pcap port with {} receive queues", self.rx_queues);
            report.push(Problem::new(format!("{port}.rx_queues"), message).expected("1"));
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
                let message = format!("{} stands here twice", address.address());
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

    /// The fields of the port's own table.
    fn own_fields(&self) -> Fields {
        let fields = self
            .kind
            .fields()
            .unless("up", &self.up, &true)
            .unless("mtu", &self.mtu, &self.kind.default_mtu())
            .maybe("vrf", &self.vrf)
            .maybe("mac", &self.mac)
            .unless("rx_queues", &self.rx_queues, &1)
            .list("addresses", &self.addresses)
            .maybe("unnumbered", &self.unnumbered);
        let fields = self.filters.fields(fields);
        Policing::fields(self.policing.as_deref(), fields)
            .maybe_raw("ra", self.ra.as_ref().map(|ra| ra.fields().inline()))
            .list("proxy_arp", &self.proxy_arp)
            .unless("redirects", &self.redirects, &false)
            .maybe_raw("twin", self.twin.as_ref().map(|twin| twin.to_toml()))
    }
}

impl Row for Port {
    const KIND: &'static str = "port";

    fn fields(&self) -> Fields {
        match &self.qos {
            Some(qos) => qos.told(self.own_fields()),
            None => self.own_fields(),
        }
    }
}

/// All ports by name.
pub type Ports = Table<PortName, Port>;

impl Object for Ports {
    type Change = Delta<PortName, Port>;

    const COMMANDS: &'static [Command] = port_commands::COMMANDS;

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut ports = Self::default();
        root.each_table("port", |name, span, table| {
            let port = Port::read(table);
            match (PortName::from_text(name), port) {
                (Ok(name), Some(port)) => {
                    ports.insert(name, port);
                }
                (Ok(_), None) => table.report().lose_row(),
                (Err(refusal), _) => {
                    table.report().lose_row();
                    table.report().push(
                        Problem::new(format!("port.{name}"), refusal.message.unwrap_or_default())
                            .expected(PortName::EXPECTED)
                            .at(span),
                    );
                }
            }
        });
        ports
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let (mut claims, mut twins) = (HashMap::new(), HashMap::new());
        for (name, port) in self.iter() {
            port.check(name, report);
            unnumbered::check(name, port, config, report);
            Filters::check(name, port, config, report);
            if let Some(qos) = &port.qos {
                qos.check_names(name, config, report);
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

    fn write(&self, writer: &mut Writer) {
        for (name, port) in self.iter() {
            let bare = !name.0.contains('.');
            let key = if bare { name.0.clone() } else { quoted(&name.0) };
            writer.section(&format!("[port.{key}]"), &port.own_fields());
            if let Some(qos) = &port.qos {
                qos.write(&key, writer);
            }
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        let mut deltas = Self::delta(old, new);
        // Ports that stand on others go before those, and come after them.
        deltas.sort_by_key(|delta| match delta {
            Delta::Removed { row, .. } => !row.kind.is_virtual(),
            Delta::Added { row, .. } | Delta::Modified { new: row, .. } => row.kind.is_virtual(),
        });
        deltas
    }
}

/// Complains about a port that is not there.
pub(crate) fn check_exists(field: &str, name: &PortName, ports: &Ports, report: &mut Report) {
    if ports.contains(name) {
        return;
    }
    let names: Vec<&str> = ports.iter().map(|(name, _)| name.as_str()).collect();
    let mut problem = Problem::new(field, format!("there is no port `{name}`"));
    problem = match names[..] {
        [] => problem.expected("a port, and there is none"),
        _ if names.len() <= 16 => problem.expected(format!("one of {}", names.join(", "))),
        _ => problem.expected("the name of a port"),
    };
    if let Some(near) = crate::config::nearest(name.as_str(), names) {
        problem = problem.help(format!("did you mean `{near}`?"));
    }
    report.push_missing(problem);
}
