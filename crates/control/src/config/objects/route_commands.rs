//! `route …`: the commands that edit static routes.

use super::Config;
use super::route::{MAX_WEIGHT, NextHop, Route, RouteKey};
use super::vrf::{take_vrf, vrf_or_default};
use crate::config::edit::{Command, Words};
use crate::config::report::Problem;

const USAGE: &str = "PREFIX via ADDRESS [port NAME] [weight N] [via ...] | port NAME | via vrf NAME | blackhole | unreachable | prohibit [vrf NAME]";

pub(super) const COMMANDS: &[Command] = &[
    Command {
        noun: "route",
        verb: "add",
        usage: USAGE,
        about: "Add a route, as in: route add 10.0.0.0/8 via 192.0.2.9",
        run: route_add,
    },
    Command {
        noun: "route",
        verb: "replace",
        usage: USAGE,
        about: "Add a route, or lead one elsewhere",
        run: route_replace,
    },
    Command {
        noun: "route",
        verb: "del",
        usage: "PREFIX [vrf NAME]",
        about: "Remove a route",
        run: route_del,
    },
];

fn route_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (key, route) = route_of(words)?;
    if config.routes.get(&key).is_some_and(|old| *old != route) {
        return Err(Problem::new(key.field(), format!("{key} has a route already"))
            .help("`route replace` leads it elsewhere"));
    }
    config.routes.insert(key, route);
    Ok(())
}

fn route_replace(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (key, route) = route_of(words)?;
    config.routes.insert(key, route);
    Ok(())
}

fn route_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let prefix = words.next("a prefix")?;
    let key = RouteKey { vrf: take_vrf(words)?, prefix };
    match config.routes.remove(&key) {
        Some(_) => Ok(()),
        None => Err(Problem::new(key.field(), format!("there is no static route to {key}"))),
    }
}

/// Which route, and where it leads.
fn route_of(words: &mut Words<'_>) -> Result<(RouteKey, Route), Problem> {
    let prefix = words.next("a prefix")?;
    let route = target_of(words)?;
    Ok((RouteKey { vrf: take_vrf(words)?, prefix }, route))
}

/// Where the words lead.
fn target_of(words: &mut Words<'_>) -> Result<Route, Problem> {
    for (word, route) in [
        ("blackhole", Route::Blackhole),
        ("unreachable", Route::Unreachable),
        ("prohibit", Route::Prohibit),
    ] {
        if words.take(word) {
            return Ok(route);
        }
    }
    let mut hops = Vec::new();
    loop {
        let via = words.take("via");
        if via && hops.is_empty() && words.take("vrf") {
            return vrf_or_default(words).map(Route::Vrf);
        }
        let address = if via { Some(words.next("a next hop")?) } else { None };
        let port = if words.take("port") { Some(words.next("a port name")?) } else { None };
        if address.is_none() && port.is_none() {
            return Err(words.unexpected(&["via", "port", "blackhole", "unreachable", "prohibit"]));
        }
        let weight = if words.take("weight") { words.next("a weight")? } else { 1 };
        if !(1..=MAX_WEIGHT).contains(&weight) {
            return Err(Problem::new("", format!("{weight} is no weight"))
                .expected(format!("a number from 1 to {MAX_WEIGHT}")));
        }
        hops.push(NextHop { address, port, weight });
        if words.is_empty() || words.sees("vrf") {
            return Ok(Route::Via(hops));
        }
    }
}
