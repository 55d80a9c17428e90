//! `route …`: the commands that edit static routes.

use super::Config;
use super::route::{MAX_WEIGHT, NextHop, Route};
use crate::config::edit::{Command, Words};
use crate::config::prefix::Prefix;
use crate::config::report::Problem;

const USAGE: &str = "PREFIX via ADDRESS [port NAME] [weight N] [via ...] | port NAME | blackhole | unreachable | prohibit";

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
        usage: "PREFIX",
        about: "Remove a route",
        run: route_del,
    },
];

fn route_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let prefix: Prefix = words.next("a prefix")?;
    let route = route_of(words)?;
    if config.routes.get(&prefix).is_some_and(|old| *old != route) {
        return Err(Problem::new(
            format!("route.{prefix}"),
            format!("{prefix} has a route already"),
        )
        .help("`route replace` leads it elsewhere"));
    }
    config.routes.insert(prefix, route);
    Ok(())
}

fn route_replace(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let prefix = words.next("a prefix")?;
    let route = route_of(words)?;
    config.routes.insert(prefix, route);
    Ok(())
}

fn route_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let prefix: Prefix = words.next("a prefix")?;
    match config.routes.remove(&prefix) {
        Some(_) => Ok(()),
        None => Err(Problem::new(
            format!("route.{prefix}"),
            format!("there is no static route to {prefix}"),
        )),
    }
}

/// Where the words lead.
fn route_of(words: &mut Words<'_>) -> Result<Route, Problem> {
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
        let address = if words.take("via") { Some(words.next("a next hop")?) } else { None };
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
        if words.is_empty() {
            return Ok(Route::Via(hops));
        }
    }
}
