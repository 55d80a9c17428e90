//! Ports of the kinds `vxlan` and `gre`: Ethernet networks and IP links over IPv4 and IPv6.

use std::collections::HashMap;
use std::net::IpAddr;

use wire::ipv6;
use wire::vxlan::MAX_VNI;

use super::port::{PortName, Ports};
use super::port_kind::{DEFAULT_MTU, Kind, PortKind};
use super::tunnel_outer::{OuterDscp, OuterTtl};
use super::vrf::VrfName;
use super::{Command, Config};
use crate::config::declare::{by_another_word, explained, object};
use crate::config::field::{Field, word_field};
use crate::config::info::Info;
use crate::config::key::Key;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::usual::add_as;
use crate::config::value::Value;
use crate::config::words::Words;
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

object! {
    /// An Ethernet network over IPv4 or IPv6
    pub struct Vxlan {
        /// Network identifier
        pub vni: u32 as "42" [0..=MAX_VNI],
        /// UDP port that its packets go to, here and at the other end; 8472 with old Linux
        pub udp_port: u16 [1..=u16::MAX] = 4789,
        /// Whether its datagrams have UDP checksums; over IPv6 alone when left out (RFC 6936)
        pub checksum: Option<bool> as "true" = None,
        /// Class of service of its packets: that of what is inside (`inherit`), or one for all
        pub dscp: OuterDscp = OuterDscp::Inherit,
        /// TTL of its packets: that of what is inside (`inherit`), or one for all
        pub ttl: OuterTtl = OuterTtl::Is(64),
        /// Where it begins and ends
        pub ends: Ends,
    }
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

object! {
    /// An Ethernet network over IPv4 or IPv6, or a link that routes lead over
    pub struct Gre {
        /// Tells several tunnels between the same ends apart
        pub key: Option<u32> as "7" = None,
        /// The key that what comes must have, where that is another one than `key`
        pub key_in: Option<u32> as "8" = None,
        /// The key that what goes gets, where that is another one than `key`
        pub key_out: Option<u32> as "9" = None,
        /// What it carries
        pub payload: Payload as "frames" = Payload::Frames,
        /// Class of service of its packets: that of what is inside (`inherit`), or one for all
        pub dscp: OuterDscp = OuterDscp::Inherit,
        /// TTL of its packets: that of what is inside (`inherit`), or one for all
        pub ttl: OuterTtl = OuterTtl::Is(64),
        /// Where it begins and ends
        pub ends: Ends,
    }
    also { "packets": payload = "\"packets\"" }
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

/// `local`, `remote` or `remotes`, and what goes with them.
impl Value for Ends {
    fn read(table: &mut TableReader<'_>, _: &'static str, _: bool) -> Option<Self> {
        let local = table.required("local");
        let listed = table.has("remotes") || table.has("learn_remotes");
        let remotes = if listed || table.has_list("remote") {
            let mut flood = table.list("remote");
            flood.extend(table.list::<IpAddr>("remotes"));
            let learn = table.or("learn_remotes", false);
            match (&flood[..], listed) {
                ([one], false) => Some(Remotes::One(*one)),
                _ => Some(Remotes::Several { flood, learn }),
            }
        } else {
            let one = table.required("remote").map(Remotes::One);
            table.know(&["remotes", "learn_remotes"]);
            one
        };
        let underlay_vrf = table.optional("underlay_vrf");
        Some(Self { local: local?, remotes: remotes?, underlay_vrf })
    }

    fn write(&self, _: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        let fields = fields.with("local", &self.local);
        let fields = match &self.remotes {
            Remotes::One(remote) => fields.with("remote", remote),
            Remotes::Several { flood, learn: false } if flood.is_empty() => {
                fields.with("learn_remotes", &false)
            }
            Remotes::Several { flood, learn } => {
                fields.list("remotes", flood, &[]).unless("learn_remotes", learn, &false)
            }
        };
        fields.maybe("underlay_vrf", &self.underlay_vrf)
    }

    fn describe(_: Info, out: &mut Vec<Info>) {
        let local = Info::new("local", &["Our address"], "192.0.2.1");
        IpAddr::describe(Info { is_required: true, ..local }, out);
        let help = "The other end's; said again in a command: several, as `remotes`";
        let remote = Info::new("remote", &[help], "192.0.2.9").taking::<IpAddr>(|words, had| {
            let one = IpAddr::take(words, "the address of the other end")?;
            Ok(Some(match had.toml.filter(|_| had.is_said) {
                Some(more) => format!("[{}, {one}]", more.trim_matches(['[', ']'])),
                None => one,
            }))
        });
        out.push(Info {
            is_required: true,
            is_list: true,
            or: &["remotes", "learn_remotes"],
            ..remote
        });
        let help = "Several other ends, for a bridge: those that frames to unknown stations and groups go to";
        Vec::<IpAddr>::describe(Info::new("remotes", &[help], "192.0.2.8,192.0.2.9"), out);
        let help = "Whether others that send to us are taken in";
        bool::describe(Info::new("learn_remotes", &[help], "false"), out);
        let help = "The VRF that its packets are in, whatever VRF that is in which they carry";
        Option::<VrfName>::describe(Info::new("underlay_vrf", &[help], "red"), out);
        for (word, name) in [("learn", "learn_remotes"), ("underlay", "underlay_vrf")] {
            out.extend(by_another_word(out, word, name));
        }
    }
}

impl Ends {
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
            let message = format!("{address} cannot be an end of a tunnel");
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
                let problem = Problem::new(field(list), format!("{remote} is listed twice"));
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

impl Gre {
    fn header_bytes(&self) -> u16 {
        self.ends.ip_bytes() + if self.outgoing_key().is_some() { 8 } else { 4 }
    }

    /// The key that what comes has.
    pub fn incoming_key(&self) -> Option<u32> {
        self.key_in.or(self.key)
    }

    /// The key that what goes has.
    pub fn outgoing_key(&self) -> Option<u32> {
        self.key_out.or(self.key)
    }
}

impl Kind for Vxlan {
    fn is_virtual(&self) -> bool {
        true
    }

    fn ends(&self) -> Option<&Ends> {
        Some(&self.ends)
    }
}

impl Kind for Gre {
    fn is_virtual(&self) -> bool {
        true
    }

    fn ends(&self) -> Option<&Ends> {
        Some(&self.ends)
    }

    fn is_point_to_point(&self) -> bool {
        self.payload == Payload::Packets
    }

    /// What is left of an ordinary port's inside a tunnel of packets. A bridge's ports take frames
    /// of one length, tunnels among them.
    fn default_mtu(&self) -> u16 {
        if self.is_point_to_point() { DEFAULT_MTU - self.header_bytes() } else { DEFAULT_MTU }
    }
}

/// Finds what is wrong with all tunnels.
pub(super) fn check_all(ports: &Ports, report: &mut Report) {
    type Network = (u32, u16);
    type Known<'a> = (Option<&'a VrfName>, Option<Network>, Option<u32>, IpAddr, Option<IpAddr>);
    let mut used: HashMap<Known<'_>, &PortName> = HashMap::new();
    for (name, port) in ports.iter() {
        let (vni, key, ends) = match &port.kind {
            PortKind::Vxlan(vxlan) => (Some((vxlan.vni, vxlan.udp_port)), None, &vxlan.ends),
            PortKind::Gre(gre) => (None, gre.incoming_key(), &gre.ends),
            _ => continue,
        };
        ends.check(name, ports, report);
        let unknown = port.kind.has_remotes().then_some(None);
        for remote in ends.remotes.listed().iter().copied().map(Some).chain(unknown) {
            let under = ends.underlay_vrf.as_ref();
            let other = used.insert((under, vni, key, ends.local, remote), name);
            if let Some(other) = other.filter(|other| *other != name) {
                let message = format!("it is the same tunnel as {other}");
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

/// Makes a VXLAN tunnel.
pub(super) const VXLAN_ADD: Command = Command::with(
    ("vxlan", "add"),
    "Make a VXLAN tunnel, a port that a bridge may take in, as in: vxlan add vx vni 7 local 192.0.2.1 remote 192.0.2.9",
    PortName::first,
    explained::<Vxlan>,
    |config, words| add_as(&mut config.ports, words, "vxlan"),
);

/// Removes it.
pub(super) const VXLAN_DEL: Command =
    Command::with(("vxlan", "del"), "Remove a VXLAN tunnel", PortName::first, Vec::new, del);

/// Makes a GRE tunnel.
pub(super) const GRE_ADD: Command = Command::with(
    ("gre", "add"),
    "Make a GRE tunnel of frames, a port that a bridge may take in, or of packets, a link",
    PortName::first,
    explained::<Gre>,
    |config, words| add_as(&mut config.ports, words, "gre"),
);

/// Removes it.
pub(super) const GRE_DEL: Command =
    Command::with(("gre", "del"), "Remove a GRE tunnel", PortName::first, Vec::new, del);

fn del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    if config.ports.get(&name).is_some_and(|port| port.kind.ends().is_some()) {
        config.ports.remove(&name);
        return Ok(());
    }
    Err(Problem::new(format!("port.{name}"), format!("there is no tunnel `{name}`")))
}
