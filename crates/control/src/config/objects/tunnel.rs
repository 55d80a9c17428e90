//! Tunnels: what none can say alone, and the commands of the nouns `vxlan`, `geneve`, `gre`,
//! `ipip` and `erspan`.

use std::collections::HashMap;
use std::net::IpAddr;

use wire::{ipv6, udp};

use super::port::Ports;
use super::port_kind::PortKind;
use super::port_kind::ends::{Ends, Remotes};
use super::port_kind::erspan::Erspan;
use super::port_kind::geneve::Geneve;
use super::port_kind::gre::Gre;
use super::port_kind::ipip::Ipip;
use super::port_kind::vxlan::Vxlan;
use super::port_name::PortName;
use super::tunnel_number::{GreKey, Vni};
use super::vrf::VrfName;
use super::{Command, Config, tunnel_by_flows};
use crate::config::declare::explained;
use crate::config::key::Key;
use crate::config::report::{Problem, Report};
use crate::config::usual::add_as;
use crate::config::words::Words;

/// Finds what is wrong with all tunnels.
pub(super) fn check_all(config: &Config, report: &mut Report) {
    let ports = &config.ports;
    type Network = (Vni, u16);
    type Told = (&'static str, Option<Network>, Option<GreKey>);
    type Known<'a> = (Option<&'a VrfName>, Told, IpAddr, Option<IpAddr>);
    let mut used: HashMap<Known<'_>, &PortName> = HashMap::new();
    let usual = [(udp::port::VXLAN, "vxlan"), (udp::port::GENEVE, "geneve")];
    let mut takers: HashMap<u16, &str> = usual.into();
    for (name, port) in ports.iter() {
        let Some(ends) = port.kind.ends() else { continue };
        let (network, key) = match &port.kind {
            PortKind::Vxlan(vxlan) => (Some((vxlan.vni, vxlan.udp_port)), None),
            PortKind::Geneve(geneve) => (Some((geneve.vni, geneve.udp_port)), None),
            PortKind::Gre(gre) => (None, gre.incoming_key()),
            PortKind::Erspan(it) => (None, Some(GreKey::Is(it.session.into()))),
            _ => (None, None),
        };
        let kind = port.kind.name().word();
        let told = (kind, network, key);
        if let Some((_, udp_port)) = network
            && *takers.entry(udp_port).or_insert(kind) != kind
        {
            let message =
                format!("UDP port {udp_port} is that of tunnels of the kind {}", takers[&udp_port]);
            let problem = Problem::new(format!("port.{name}.udp_port"), message);
            report.push(problem.expected("another port, here and at the other end"));
        }
        check_ends(name, ends, ports, report);
        tunnel_by_flows::check(name, port, config, report);
        let takes_any = port.kind.has_remotes() || port.kind.is_directed_by_flows();
        let unknown = takes_any.then_some(None);
        for remote in ends.remotes.listed().iter().copied().map(Some).chain(unknown) {
            let under = ends.underlay_vrf.as_ref();
            let other = used.insert((under, told, ends.local(), remote), name);
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
        if port.kind.has_remotes() && ends.address().is_none() {
            refuse("local", "several remotes want one address of ours", "the address of a port");
        }
        if port.kind.is_point_to_point() && port.kind.has_remotes() {
            let message = "a tunnel of packets has one other end";
            let expected = match &port.kind {
                PortKind::Gre(_) => "`remote`, or payload = \"frames\"",
                _ => "`remote`",
            };
            refuse("remotes", message, expected);
        }
        if port.kind.is_for_copies() {
            if port.kind.has_remotes() {
                refuse("remotes", "copies go to one other end", "`remote`, and a port for each");
            }
            if ends.address().is_none() {
                refuse("local", "copies leave from one address", "the address of a port");
            }
            if let Some(why) = port.why_it_routes() {
                let message = format!("it {why}, and carries a mirror's copies alone");
                refuse("addresses", &message, "no addresses here");
            }
            if !config.mirrors.iter().any(|(_, mirror)| mirror.destination == *name) {
                let message = "no mirror has it as its destination: nothing leaves by it";
                let problem = Problem::new(format!("port.{name}"), message);
                let help = format!("volley mirror add NAME to {name} from PORT");
                report.warn(problem.expected("a mirror").help(help));
            }
            continue;
        }
        if port.kind.is_point_to_point() && port.ra.is_some() {
            refuse("ra", "there are no hosts on a tunnel of packets", "no `ra` here");
        }
    }
}

/// Finds what is wrong with the ends of one.
fn check_ends(port: &PortName, ends: &Ends, ports: &Ports, report: &mut Report) {
    let field = |key: &str| format!("port.{port}.{key}");
    let list = match ends.remotes {
        Remotes::One(_) | Remotes::Flow => "remote",
        Remotes::Several { .. } => "remotes",
    };
    let remotes = ends.remotes.listed();
    let local = ends.address();
    let of_local = local.map(|local| ("local", local));
    let every = of_local.into_iter().chain(remotes.iter().map(|it| (list, *it)));
    for (key, address) in every {
        let message = format!("{address} cannot be an end of a tunnel");
        if is_no_end(address) {
            report.push(Problem::new(field(key), message).expected("the address of one host"));
        } else if address.is_ipv4() != ends.local().is_ipv4() {
            let message = format!("{address} is not of the family of {}", ends.local());
            report.push(Problem::new(field(key), message).expected("ends of one family"));
        }
    }
    let beside = || ports.iter().filter(|(_, other)| other.vrf == ends.underlay_vrf);
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
    let port = match &ends.underlay_vrf {
        Some(vrf) => format!("no port of VRF {vrf}"),
        None => "no port".to_owned(),
    };
    let mut addresses = beside().flat_map(|(_, it)| &it.addresses).map(|own| own.address());
    let message = match local {
        Some(local) if !own(local) => format!("{port} has the address {local}"),
        None if !addresses.any(|own| ends.may_leave_from(own)) => {
            format!("{port} has an address that its packets could leave from")
        }
        _ => return,
    };
    let problem = Problem::new(field("local"), message);
    report.push_missing(problem.expected("an address of a port"));
}

/// True of addresses that no tunnel can end at: groups, none, and those that one link alone knows.
fn is_no_end(address: IpAddr) -> bool {
    let on_link = |address: IpAddr| match address {
        IpAddr::V4(address) => address.is_broadcast(),
        IpAddr::V6(address) => ipv6::is_link_local(address.into()),
    };
    address.is_multicast() || address.is_unspecified() || on_link(address)
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

/// Makes a Geneve tunnel.
pub(super) const GENEVE_ADD: Command = Command::with(
    ("geneve", "add"),
    "Make a Geneve tunnel, a port that a bridge may take in, as in: geneve add gn vni 7 local 192.0.2.1 remote 192.0.2.9",
    PortName::first,
    explained::<Geneve>,
    |config, words| add_as(&mut config.ports, words, "geneve"),
);

/// Removes it.
pub(super) const GENEVE_DEL: Command =
    Command::with(("geneve", "del"), "Remove a Geneve tunnel", PortName::first, Vec::new, del);

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

/// Makes a tunnel of IP in IP.
pub(super) const IPIP_ADD: Command = Command::with(
    ("ipip", "add"),
    "Make a tunnel of IPv4 and IPv6 packets in IPv4 or IPv6, a link, as in: ipip add six local 192.0.2.1 remote 192.0.2.9",
    PortName::first,
    explained::<Ipip>,
    |config, words| add_as(&mut config.ports, words, "ipip"),
);

/// Removes it.
pub(super) const IPIP_DEL: Command =
    Command::with(("ipip", "del"), "Remove a tunnel of IP in IP", PortName::first, Vec::new, del);

/// Makes a way for copies.
pub(super) const ERSPAN_ADD: Command = Command::with(
    ("erspan", "add"),
    "Make a way for a mirror's copies to an analyser far away, as in: erspan add far session 5 local 192.0.2.1 remote 192.0.2.9",
    PortName::first,
    explained::<Erspan>,
    |config, words| add_as(&mut config.ports, words, "erspan"),
);

/// Removes it.
pub(super) const ERSPAN_DEL: Command =
    Command::with(("erspan", "del"), "Remove a way for copies", PortName::first, Vec::new, del);

fn del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    if config.ports.get(&name).is_some_and(|port| port.kind.ends().is_some()) {
        config.ports.remove(&name);
        return Ok(());
    }
    Err(Problem::new(format!("port.{name}"), format!("there is no tunnel `{name}`")))
}
