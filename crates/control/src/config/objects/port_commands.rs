//! `port …` and `address …`: the commands that edit ports.

use toml::de::DeTable;

use super::Config;
use super::port::{MAX_MTU, MIN_MTU, Port, PortName};
use super::port_kind::KindName;
use super::port_policing::Policing;
use super::port_twin::Twin;
use super::vrf::vrf_or_default;
use crate::config::edit::{Command, Words};
use crate::config::field::Field;
use crate::config::prefix::InterfaceAddress;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::suggest::nearest;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        noun: "port",
        verb: "add",
        usage: "NAME KIND [FIELD VALUE]...",
        about: "Add a port, as in: port add p2 af_packet device veth2 mtu 9000",
        run: port_add,
    },
    Command { noun: "port", verb: "del", usage: "NAME", about: "Remove a port", run: port_del },
    Command {
        noun: "port",
        verb: "set",
        usage: "NAME up|down|mtu BYTES|vrf NAME|vrf default|mac ADDRESS|mac default|acl_in LIST|acl_in none|acl_out LIST|acl_out none|urpf loose|urpf strict|urpf off|allow from NETWORK [from NETWORK]... [vrf NAME] [ip_only]|allow off|ra on|ra off|proxy_arp NETWORK|proxy_arp off|redirects on|redirects off|unnumbered PORT|unnumbered off|police_in NAME|police_out NAME|mark_dscp DSCP|mark_pcp PRIORITY|twin on [netns NAME] [name NAME]|twin off",
        about: "Change a port",
        run: port_set,
    },
    Command {
        noun: "address",
        verb: "add",
        usage: "ADDRESS/LENGTH port NAME",
        about: "Give a port an address",
        run: address_add,
    },
    Command {
        noun: "address",
        verb: "del",
        usage: "ADDRESS/LENGTH port NAME",
        about: "Take an address from a port",
        run: address_del,
    },
];

fn port_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    let kind: KindName = words.next("a port kind")?;
    let mut toml = format!("kind = {}\n", kind.to_toml());
    while !words.is_empty() {
        let key: String = words.next("a field")?;
        let value: String = words.next("its value")?;
        let plain = value.parse::<u32>().is_ok() || value.parse::<bool>().is_ok();
        let value = if plain { value } else { value.to_toml() };
        toml.push_str(&format!("{} = {value}\n", key.to_toml()));
    }
    let table = DeTable::parse(&toml)
        .map_err(|error| Problem::new(format!("port.{name}"), error.message().to_owned()))?;
    let mut report = Report::default();
    let mut reader = TableReader::new(table.get_ref(), 0..0, format!("port.{name}"), &mut report);
    let port = Port::read(&mut reader);
    reader.finish();
    if let Some(mut problem) = report.into_first() {
        // Its place is in the text made up here, which nobody has seen.
        problem.span = None;
        return Err(problem);
    }
    if config.ports.contains(&name) {
        return Err(Problem::new(format!("port.{name}"), format!("port {name} is there already"))
            .help(format!("`port set {name} …` changes it, `port del {name}` removes it")));
    }
    if let Some(port) = port {
        config.ports.insert(name, port);
    }
    Ok(())
}

fn port_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name = words.next("a port name")?;
    port_mut(config, &name)?;
    config.ports.remove(&name);
    Ok(())
}

/// What `port set` sets.
const SETTINGS: &[&str] = &[
    "up",
    "down",
    "mtu",
    "vrf",
    "mac",
    "acl_in",
    "acl_out",
    "urpf",
    "allow",
    "ra",
    "proxy_arp",
    "redirects",
    "unnumbered",
    "police_in",
    "police_out",
    "mark_dscp",
    "mark_pcp",
    "twin",
];

fn port_set(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name = words.next("a port name")?;
    let port = port_mut(config, &name)?;
    if words.is_empty() {
        return Err(words.unexpected(SETTINGS));
    }
    while !words.is_empty() {
        if words.take("up") {
            port.up = true;
        } else if words.take("down") {
            port.up = false;
        } else if words.take("mtu") {
            let mtu = words.next("an MTU in bytes")?;
            if !(MIN_MTU..=MAX_MTU).contains(&mtu) {
                return Err(Problem::new(
                    format!("port.{name}.mtu"),
                    format!("{mtu} is out of range"),
                )
                .expected(format!("a number from {MIN_MTU} to {MAX_MTU}")));
            }
            port.mtu = mtu;
        } else if words.take("vrf") {
            port.vrf = vrf_or_default(words)?;
        } else if words.take("mac") {
            port.mac =
                if words.take("default") { None } else { Some(words.next("a MAC address")?) };
        } else if words.take("twin") {
            port.twin = Twin::of_words(words)?.map(Box::new);
        } else if words.take("proxy_arp") {
            match words.take("off") {
                true => port.proxy_arp.clear(),
                false => port.proxy_arp.push(words.next("a network")?),
            }
        } else if words.take("redirects") {
            port.redirects = !words.take("off");
            if port.redirects {
                words.must("on")?;
            }
        } else if words.take("unnumbered") {
            port.unnumbered =
                if words.take("off") { None } else { Some(words.next("a port name")?) };
        } else if words.take("ra") {
            port.ra = match words.take("off") {
                true => None,
                false => {
                    words.must("on")?;
                    Some(port.ra.take().unwrap_or_default())
                }
            };
        } else if !port.filters.set(words)? && !Policing::set(&mut port.policing, words)? {
            return Err(words.unexpected(SETTINGS));
        }
    }
    Ok(())
}

fn address_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let address: InterfaceAddress = words.next("an address")?;
    words.must("port")?;
    let name = words.next("a port name")?;
    let port = port_mut(config, &name)?;
    if port.addresses.contains(&address) {
        return Err(Problem::new(
            format!("port.{name}.addresses"),
            format!("port {name} has {address} already"),
        ));
    }
    port.addresses.push(address);
    Ok(())
}

fn address_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let address: InterfaceAddress = words.next("an address")?;
    words.must("port")?;
    let name = words.next("a port name")?;
    let port = port_mut(config, &name)?;
    let Some(at) = port.addresses.iter().position(|other| *other == address) else {
        let has: Vec<String> = port.addresses.iter().map(ToString::to_string).collect();
        let problem = Problem::new(
            format!("port.{name}.addresses"),
            format!("port {name} has no address {address}"),
        );
        return Err(match has[..] {
            [] => problem,
            _ => problem.expected(format!("one of {}", has.join(", "))),
        });
    };
    port.addresses.remove(at);
    Ok(())
}

pub(super) fn port_mut<'a>(
    config: &'a mut Config,
    name: &PortName,
) -> Result<&'a mut Port, Problem> {
    let missing = || Problem::new("port", format!("there is no port `{name}`"));
    if !config.ports.contains(name) {
        let names = config.ports.iter().map(|(name, _)| name.as_str());
        return Err(match nearest(name.as_str(), names) {
            Some(near) => missing().help(format!("did you mean `{near}`?")),
            None => missing(),
        });
    }
    config.ports.get_mut(name).ok_or_else(missing)
}
