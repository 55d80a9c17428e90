//! `bridge …`: the commands that edit bridges.

use std::net::IpAddr;

use super::Config;
use super::bridge::{BoundAddress, Bridge, BridgeName, Flags, MAX_GROUP, Member};
use super::port::PortName;
use crate::config::edit::{Command, Words};
use crate::config::report::Problem;
use crate::config::suggest::nearest;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        noun: "bridge",
        verb: "add",
        usage: "NAME [PORT]...",
        about: "Make a bridge of ports",
        run: bridge_add,
    },
    Command {
        noun: "bridge",
        verb: "del",
        usage: "NAME",
        about: "Take a bridge apart",
        run: bridge_del,
    },
    Command {
        noun: "bridge",
        verb: "set",
        usage: "NAME ageing TIME|mac_limit COUNT|answer_arp|answer_nd true|false|learn|forward|flood_unknown|flood_groups true|false",
        about: "Change a bridge",
        run: bridge_set,
    },
    Command {
        noun: "bridge",
        verb: "join",
        usage: "NAME PORT [group NUMBER] [storm_pps RATE] [isolated|learn|forward|flood_unknown|flood_groups true|false]...",
        about: "Take a port into a bridge, or change what it may do there",
        run: bridge_join,
    },
    Command {
        noun: "bridge",
        verb: "bind",
        usage: "NAME ADDRESS MAC [router]",
        about: "Tell a bridge that answers ARP or ND who has an address",
        run: bridge_bind,
    },
    Command {
        noun: "bridge",
        verb: "unbind",
        usage: "NAME ADDRESS",
        about: "Have it learn again who has an address",
        run: bridge_unbind,
    },
    Command {
        noun: "bridge",
        verb: "leave",
        usage: "NAME PORT",
        about: "Take a port out of its bridge",
        run: bridge_leave,
    },
];

fn bridge_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: BridgeName = words.next("a bridge name")?;
    let mut bridge = Bridge::default();
    while !words.is_empty() {
        bridge.ports.push(Member::new(words.next("a port name")?));
    }
    if config.bridges.contains(&name) {
        let problem =
            Problem::new(format!("bridge.{name}"), format!("bridge {name} is there already"));
        return Err(problem.help("`bridge join` adds a port to it"));
    }
    config.bridges.insert(name, bridge);
    Ok(())
}

fn bridge_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name = words.next("a bridge name")?;
    bridge_mut(config, &name)?;
    config.bridges.remove(&name);
    Ok(())
}

fn bridge_set(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name = words.next("a bridge name")?;
    let bridge = bridge_mut(config, &name)?;
    if words.is_empty() {
        return Err(words.unexpected(&keywords(&[
            "ageing",
            "mac_limit",
            "answer_arp",
            "answer_nd",
        ])));
    }
    while !words.is_empty() {
        if words.take("ageing") {
            bridge.ageing = words.next("a time")?;
        } else if words.take("mac_limit") {
            bridge.mac_limit = words.next("a number of stations")?;
        } else if words.take("answer_arp") {
            bridge.answer_arp = words.next("a truth")?;
        } else if words.take("answer_nd") {
            bridge.answer_nd = words.next("a truth")?;
        } else if !set_flag(&mut bridge.flags, words)? {
            return Err(words.unexpected(&keywords(&[
                "ageing",
                "mac_limit",
                "answer_arp",
                "answer_nd",
            ])));
        }
    }
    Ok(())
}

fn bridge_join(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name = words.next("a bridge name")?;
    let port: PortName = words.next("a port name")?;
    let bridge = bridge_mut(config, &name)?;
    let at = bridge.ports.iter().position(|member| member.port == port);
    let mut member = at.map_or_else(|| Member::new(port), |at| bridge.ports[at].clone());
    while !words.is_empty() {
        if words.take("group") {
            let group = words.next("a group")?;
            if !(1..=MAX_GROUP).contains(&group) {
                let problem = Problem::new(
                    format!("bridge.{name}"),
                    format!("group {group} is out of range"),
                );
                return Err(problem.expected(format!("a number from 1 to {MAX_GROUP}")));
            }
            member.group = Some(group);
        } else if words.take("storm_pps") {
            member.storm_pps = words.next("a rate")?;
        } else if words.take("isolated") {
            member.isolated = words.next("a truth")?;
        } else if !set_flag(&mut member.flags, words)? {
            return Err(words.unexpected(&keywords(&["group", "isolated", "storm_pps"])));
        }
    }
    match at {
        Some(at) => bridge.ports[at] = member,
        None => bridge.ports.push(member),
    }
    Ok(())
}

fn bridge_leave(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name = words.next("a bridge name")?;
    let port: PortName = words.next("a port name")?;
    let bridge = bridge_mut(config, &name)?;
    let before = bridge.ports.len();
    bridge.ports.retain(|member| member.port != port);
    if bridge.ports.len() == before {
        let message = format!("{port} is not in bridge {name}");
        return Err(Problem::new(format!("bridge.{name}.ports"), message));
    }
    Ok(())
}

fn bridge_bind(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name = words.next("a bridge name")?;
    let (address, mac) = (words.next("an address")?, words.next("a MAC address")?);
    let router = words.take("router");
    let bindings = &mut bridge_mut(config, &name)?.bindings;
    bindings.retain(|binding| binding.address != address);
    bindings.push(BoundAddress { address, mac, router });
    Ok(())
}

fn bridge_unbind(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: BridgeName = words.next("a bridge name")?;
    let address: IpAddr = words.next("an address")?;
    let bindings = &mut bridge_mut(config, &name)?.bindings;
    let before = bindings.len();
    bindings.retain(|binding| binding.address != address);
    if bindings.len() == before {
        let message = format!("{address} is not bound in bridge {name}");
        return Err(Problem::new(format!("bridge.{name}.bindings"), message));
    }
    Ok(())
}

/// Takes a flag and its value, if one comes next.
fn set_flag(flags: &mut Flags, words: &mut Words<'_>) -> Result<bool, Problem> {
    for name in Flags::NAMES {
        if words.take(name) {
            let value = words.next("a truth")?;
            if let Some(flag) = flags.named(name) {
                *flag = value;
            }
            return Ok(true);
        }
    }
    Ok(false)
}

fn keywords(others: &[&'static str]) -> Vec<&'static str> {
    others.iter().copied().chain(Flags::NAMES).collect()
}

fn bridge_mut<'a>(config: &'a mut Config, name: &BridgeName) -> Result<&'a mut Bridge, Problem> {
    let missing = || Problem::new("bridge", format!("there is no bridge `{name}`"));
    if !config.bridges.contains(name) {
        let names = config.bridges.iter().map(|(name, _)| name.as_str());
        return Err(match nearest(name.as_str(), names) {
            Some(near) => missing().help(format!("did you mean `{near}`?")),
            None => missing(),
        });
    }
    config.bridges.get_mut(name).ok_or_else(missing)
}
