//! Ports of the kinds `vxlan` and `gre`: Ethernet networks over IPv4.

use std::collections::HashMap;
use std::net::IpAddr;

use wire::vxlan::MAX_VNI;

use super::Config;
use super::port::{Port, PortName, Ports};
use super::port_kind::PortKind;
use super::vrf::VrfName;
use crate::config::edit::{Command, Words};
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

/// The two ends of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ends {
    /// Our address.
    pub local: IpAddr,
    /// The other end's.
    pub remote: IpAddr,
}

/// A VXLAN tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vxlan {
    /// Network identifier.
    pub vni: u32,
    /// Where it begins and ends.
    pub ends: Ends,
}

/// A GRE tunnel of Ethernet frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gre {
    /// Tells several tunnels between the same ends apart.
    pub key: Option<u32>,
    /// Where it begins and ends.
    pub ends: Ends,
}

impl Ends {
    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let (local, remote) = (table.required("local"), table.required("remote"));
        Some(Self { local: local?, remote: remote? })
    }

    fn fields(&self, fields: Fields) -> Fields {
        fields.with("local", &self.local).with("remote", &self.remote)
    }

    fn check(&self, port: &PortName, vrf: Option<&VrfName>, ports: &Ports, report: &mut Report) {
        for (key, address) in [("local", self.local), ("remote", self.remote)] {
            let field = format!("port.{port}.{key}");
            if address.is_ipv6() || address.is_multicast() || address.is_unspecified() {
                let message = format!("{address} is no end of a tunnel");
                report.push(Problem::new(field, message).expected("the IPv4 address of one host"));
            }
        }
        // A tunnel's packets are in the VRF that what is inside comes in by.
        let beside = || ports.iter().filter(|(_, other)| other.vrf.as_ref() == vrf);
        let own = |address: IpAddr| {
            beside().flat_map(|(_, it)| &it.addresses).any(|own| own.address() == address)
        };
        if own(self.remote) {
            let message = format!("{} is an address of ours", self.remote);
            let field = format!("port.{port}.remote");
            report
                .push(Problem::new(field, message).expected("another router's or host's address"));
        }
        if !own(self.local) {
            let message = match vrf {
                Some(vrf) => format!("no port of VRF {vrf} has the address {}", self.local),
                None => format!("no port has the address {}", self.local),
            };
            let field = format!("port.{port}.local");
            report.push_missing(Problem::new(field, message).expected("an address of a port"));
        }
    }
}

impl Vxlan {
    pub(super) fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let vni = if table.has("vni") {
            Some(table.number("vni", 0, 0..=MAX_VNI))
        } else {
            table.required("vni")
        };
        let ends = Ends::read(table);
        Some(Self { vni: vni?, ends: ends? })
    }

    pub(super) fn fields(&self, fields: Fields) -> Fields {
        self.ends.fields(fields.with("vni", &self.vni))
    }
}

impl Gre {
    pub(super) fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let (key, ends) = (table.optional("key"), Ends::read(table));
        Some(Self { key, ends: ends? })
    }

    pub(super) fn fields(&self, fields: Fields) -> Fields {
        self.ends.fields(fields.maybe("key", &self.key))
    }
}

/// Finds what is wrong with all tunnels.
pub(super) fn check_all(ports: &Ports, report: &mut Report) {
    let mut used = HashMap::new();
    for (name, port) in ports.iter() {
        let key = match &port.kind {
            PortKind::Vxlan(vxlan) => (Some(vxlan.vni), None, vxlan.ends),
            PortKind::Gre(gre) => (None, gre.key, gre.ends),
            _ => continue,
        };
        let vrf = port.vrf.as_ref();
        key.2.check(name, vrf, ports, report);
        if let Some(other) = used.insert((key, vrf), name) {
            let problem = Problem::new(format!("port.{name}"), format!("it is {other} once more"));
            report.push(problem.expected("another network identifier, key or end"));
        }
    }
}

pub(super) const COMMANDS: &[Command] = &[
    Command {
        noun: "vxlan",
        verb: "add",
        usage: "NAME vni NUMBER local ADDRESS remote ADDRESS",
        about: "Make a VXLAN tunnel, a port that a bridge may take in",
        run: vxlan_add,
    },
    Command {
        noun: "vxlan",
        verb: "del",
        usage: "NAME",
        about: "Remove a VXLAN tunnel",
        run: tunnel_del,
    },
    Command {
        noun: "gre",
        verb: "add",
        usage: "NAME [key NUMBER] local ADDRESS remote ADDRESS",
        about: "Make a GRE tunnel of Ethernet frames, a port that a bridge may take in",
        run: gre_add,
    },
    Command {
        noun: "gre",
        verb: "del",
        usage: "NAME",
        about: "Remove a GRE tunnel",
        run: tunnel_del,
    },
];

fn vxlan_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    words.must("vni")?;
    let vni = words.next("a network identifier")?;
    if vni > MAX_VNI {
        let problem = Problem::new(format!("port.{name}.vni"), format!("{vni} is out of range"));
        return Err(problem.expected(format!("a number from 0 to {MAX_VNI}")));
    }
    let ends = ends_of(words)?;
    insert(config, name, PortKind::Vxlan(Vxlan { vni, ends }))
}

fn gre_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let key = if words.take("key") { Some(words.next("a key")?) } else { None };
    let ends = ends_of(words)?;
    insert(config, name, PortKind::Gre(Gre { key, ends }))
}

fn ends_of(words: &mut Words<'_>) -> Result<Ends, Problem> {
    words.must("local")?;
    let local = words.next("an address")?;
    words.must("remote")?;
    Ok(Ends { local, remote: words.next("an address")? })
}

fn insert(config: &mut Config, name: PortName, kind: PortKind) -> Result<(), Problem> {
    if config.ports.contains(&name) {
        return Err(Problem::new(format!("port.{name}"), format!("port {name} is there already")));
    }
    config.ports.insert(name, Port::new(kind));
    Ok(())
}

fn tunnel_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let is_tunnel = |port: &Port| matches!(port.kind, PortKind::Vxlan(_) | PortKind::Gre(_));
    if config.ports.get(&name).is_some_and(is_tunnel) {
        config.ports.remove(&name);
        return Ok(());
    }
    Err(Problem::new(format!("port.{name}"), format!("there is no tunnel `{name}`")))
}
