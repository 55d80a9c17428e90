//! `vxlan …` and `gre …`: the commands that make and remove tunnels.

use wire::vxlan::MAX_VNI;

use super::Config;
use super::port::{Port, PortName};
use super::port_kind::PortKind;
use super::tunnel::{Ends, Gre, Payload, Remotes, Vxlan};
use super::vrf::vrf_or_default;
use crate::config::edit::{Command, Words};
use crate::config::report::Problem;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        noun: "vxlan",
        verb: "add",
        usage: "NAME vni NUMBER [checksum true|false] local ADDRESS [remote ADDRESS]... [learn] [underlay VRF]",
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
        usage: "NAME [key NUMBER] [packets] local ADDRESS [remote ADDRESS]... [learn] [underlay VRF]",
        about: "Make a GRE tunnel of frames, a port that a bridge may take in, or of packets, a link",
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
    let checksum = if words.take("checksum") { Some(words.next("a truth")?) } else { None };
    let ends = ends_of(words)?;
    insert(config, name, PortKind::Vxlan(Vxlan { vni, checksum, ends }))
}

fn gre_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let key = if words.take("key") { Some(words.next("a key")?) } else { None };
    let payload = if words.take("packets") { Payload::Packets } else { Payload::Frames };
    let ends = ends_of(words)?;
    insert(config, name, PortKind::Gre(Gre { key, payload, ends }))
}

/// One remote is a tunnel to it; several, or one and those that are learned, are a network.
fn ends_of(words: &mut Words<'_>) -> Result<Ends, Problem> {
    words.must("local")?;
    let local = words.next("an address")?;
    let mut remotes = Vec::new();
    while words.take("remote") {
        remotes.push(words.next("an address")?);
    }
    let learn = words.take("learn");
    let remotes = match (remotes.as_slice(), learn) {
        ([], false) => return Err(words.unexpected(&["remote", "learn"])),
        ([remote], false) => Remotes::One(*remote),
        _ => Remotes::Several { flood: remotes, learn },
    };
    let underlay_vrf = if words.take("underlay") { vrf_or_default(words)? } else { None };
    Ok(Ends { local, remotes, underlay_vrf })
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
    if config.ports.get(&name).is_some_and(|port| port.kind.ends().is_some()) {
        config.ports.remove(&name);
        return Ok(());
    }
    Err(Problem::new(format!("port.{name}"), format!("there is no tunnel `{name}`")))
}
