//! Ports of the kinds `vxlan` and `gre`: Ethernet networks and IP links over IPv4 and IPv6.

use std::collections::HashMap;
use std::net::IpAddr;

use wire::ipv6;
use wire::vxlan::MAX_VNI;

use super::port::{DEFAULT_MTU, PortName, Ports};
use super::port_kind::PortKind;
use super::vrf::VrfName;
use crate::config::field::word_field;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

/// The two ends of a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Our address.
    pub local: IpAddr,
    /// The other end's.
    pub remotes: Remotes,
    /// The VRF that its packets are in, whatever VRF that is in which they carry.
    pub underlay_vrf: Option<VrfName>,
}

/// The other end of a tunnel, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remotes {
    /// This one.
    One(IpAddr),
    /// Several, for a bridge.
    Several {
        /// Those that frames to unknown stations and groups go to, each a copy.
        flood: Vec<IpAddr>,
        /// Others that send to us are taken in.
        learn: bool,
    },
}

/// A VXLAN tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vxlan {
    /// Network identifier.
    pub vni: u32,
    /// Whether its datagrams have UDP checksums; `None`: over IPv6 alone.
    pub checksum: Option<bool>,
    /// Where it begins and ends.
    pub ends: Ends,
}

word_field! {
    /// What a GRE tunnel carries.
    Payload {
        /// Ethernet frames.
        Frames = "frames",
        /// IPv4 and IPv6 packets: it is a link that routes lead over.
        Packets = "packets",
    }
}

/// A GRE tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gre {
    /// Tells several tunnels between the same ends apart.
    pub key: Option<u32>,
    /// What it carries.
    pub payload: Payload,
    /// Where it begins and ends.
    pub ends: Ends,
}

impl Remotes {
    /// Those that are configured.
    pub fn listed(&self) -> &[IpAddr] {
        match self {
            Self::One(remote) => std::slice::from_ref(remote),
            Self::Several { flood, .. } => flood,
        }
    }
}

impl Ends {
    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let local = table.required("local");
        let several = table.has("remotes") || table.has("learn_remotes");
        let remotes = if several {
            let flood = table.list("remotes");
            Remotes::Several { flood, learn: table.or("learn_remotes", false) }
        } else {
            Remotes::One(table.required("remote")?)
        };
        Some(Self { local: local?, remotes, underlay_vrf: table.optional("underlay_vrf") })
    }

    fn fields(&self, fields: Fields) -> Fields {
        let fields = fields.with("local", &self.local);
        let fields = match &self.remotes {
            Remotes::One(remote) => fields.with("remote", remote),
            Remotes::Several { flood, learn: false } if flood.is_empty() => {
                fields.with("learn_remotes", &false)
            }
            Remotes::Several { flood, learn } => {
                fields.list("remotes", flood).unless("learn_remotes", learn, &false)
            }
        };
        fields.maybe("underlay_vrf", &self.underlay_vrf)
    }

    /// Octets of the outer IP header.
    fn ip_bytes(&self) -> u16 {
        if self.local.is_ipv4() { 20 } else { 40 }
    }

    fn check(&self, port: &PortName, ports: &Ports, report: &mut Report) {
        let field = |key: &str| format!("port.{port}.{key}");
        let list = match self.remotes {
            Remotes::One(_) => "remote",
            Remotes::Several { .. } => "remotes",
        };
        let remotes = self.remotes.listed();
        let every = [("local", self.local)].into_iter().chain(remotes.iter().map(|it| (list, *it)));
        for (key, address) in every {
            let message = format!("{address} is no end of a tunnel");
            if is_no_end(address) {
                report.push(Problem::new(field(key), message).expected("the address of one host"));
            } else if address.is_ipv4() != self.local.is_ipv4() {
                let message = format!("{address} is not of the family of {}", self.local);
                report.push(Problem::new(field(key), message).expected("ends of one family"));
            }
        }
        let beside = || ports.iter().filter(|(_, other)| other.vrf == self.underlay_vrf);
        let own = |address: IpAddr| {
            beside().flat_map(|(_, it)| &it.addresses).any(|own| own.address() == address)
        };
        for (index, remote) in remotes.iter().enumerate() {
            if own(*remote) {
                let problem = Problem::new(field(list), format!("{remote} is an address of ours"));
                report.push(problem.expected("another router's or host's address"));
            }
            if remotes[..index].contains(remote) {
                let problem = Problem::new(field(list), format!("{remote} stands here twice"));
                report.push(problem.expected("each remote once"));
            }
        }
        if !own(self.local) {
            let message = match &self.underlay_vrf {
                Some(vrf) => format!("no port of VRF {vrf} has the address {}", self.local),
                None => format!("no port has the address {}", self.local),
            };
            let problem = Problem::new(field("local"), message);
            report.push_missing(problem.expected("an address of a port"));
        }
    }
}

/// True of addresses that no tunnel can end at: groups, none, and those that one link alone knows.
fn is_no_end(address: IpAddr) -> bool {
    let on_link = |address: IpAddr| match address {
        IpAddr::V4(address) => address.is_broadcast(),
        IpAddr::V6(address) => ipv6::is_link_local(address.into()),
    };
    address.is_multicast() || address.is_unspecified() || on_link(address)
}

impl Vxlan {
    pub(super) fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let vni = if table.has("vni") {
            Some(table.number("vni", 0, 0..=MAX_VNI))
        } else {
            table.required("vni")
        };
        let (checksum, ends) = (table.optional("checksum"), Ends::read(table));
        Some(Self { vni: vni?, checksum, ends: ends? })
    }

    pub(super) fn fields(&self, fields: Fields) -> Fields {
        self.ends.fields(fields.with("vni", &self.vni).maybe("checksum", &self.checksum))
    }
}

impl Gre {
    pub(super) fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let (key, payload) = (table.optional("key"), table.or("payload", Payload::Frames));
        Some(Self { key, payload, ends: Ends::read(table)? })
    }

    pub(super) fn fields(&self, fields: Fields) -> Fields {
        let fields = fields.maybe("key", &self.key);
        self.ends.fields(fields.unless("payload", &self.payload, &Payload::Frames))
    }

    fn header_bytes(&self) -> u16 {
        self.ends.ip_bytes() + if self.key.is_some() { 8 } else { 4 }
    }
}

impl PortKind {
    /// The ends of a tunnel.
    pub fn ends(&self) -> Option<&Ends> {
        match self {
            Self::Vxlan(vxlan) => Some(&vxlan.ends),
            Self::Gre(gre) => Some(&gre.ends),
            _ => None,
        }
    }

    /// Whether it is one tunnel to several ends: only a bridge knows which of them a frame is for.
    pub fn has_remotes(&self) -> bool {
        self.ends().is_some_and(|ends| matches!(ends.remotes, Remotes::Several { .. }))
    }

    /// Whether it carries packets that are in no frames: there are no stations on it, only the
    /// other end.
    pub fn is_point_to_point(&self) -> bool {
        matches!(self, Self::Gre(Gre { payload: Payload::Packets, .. }))
    }

    /// The longest packet of a port that does not say: what is left of an ordinary one's inside a
    /// tunnel of packets. A bridge's ports take frames of one length, tunnels among them.
    pub fn default_mtu(&self) -> u16 {
        match self {
            Self::Gre(gre) if self.is_point_to_point() => DEFAULT_MTU - gre.header_bytes(),
            _ => DEFAULT_MTU,
        }
    }
}

/// Finds what is wrong with all tunnels.
pub(super) fn check_all(ports: &Ports, report: &mut Report) {
    type Known<'a> = (Option<&'a VrfName>, Option<u32>, Option<u32>, IpAddr, Option<IpAddr>);
    let mut used: HashMap<Known<'_>, &PortName> = HashMap::new();
    for (name, port) in ports.iter() {
        let (vni, key, ends) = match &port.kind {
            PortKind::Vxlan(vxlan) => (Some(vxlan.vni), None, &vxlan.ends),
            PortKind::Gre(gre) => (None, gre.key, &gre.ends),
            _ => continue,
        };
        ends.check(name, ports, report);
        let unknown = port.kind.has_remotes().then_some(None);
        for remote in ends.remotes.listed().iter().copied().map(Some).chain(unknown) {
            let under = ends.underlay_vrf.as_ref();
            let other = used.insert((under, vni, key, ends.local, remote), name);
            if let Some(other) = other.filter(|other| *other != name) {
                let message = format!("it is {other} once more");
                let problem = Problem::new(format!("port.{name}"), message);
                report.push(problem.expected("another network identifier, key or end"));
            }
        }
        let mut refuse = |key: &str, message: &str, expected: &str| {
            let problem = Problem::new(format!("port.{name}.{key}"), message);
            report.push(problem.expected(expected));
        };
        if port.kind.has_remotes() && !port.addresses.is_empty() {
            let message = "routes do not say which of several remotes they mean";
            refuse("addresses", message, "one `remote`, or a `bvi` in the tunnel's bridge");
        }
        if port.kind.is_point_to_point() && port.kind.has_remotes() {
            let message = "a tunnel of packets has one other end";
            refuse("remotes", message, "`remote`, or payload = \"frames\"");
        }
        if port.kind.is_point_to_point() && port.ra.is_some() {
            refuse("ra", "there are no hosts on a tunnel of packets", "no `ra` here");
        }
    }
}
