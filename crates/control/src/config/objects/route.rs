//! `[[route]]`: static routes.

use std::net::IpAddr;

use super::connected::{Connected, is_link_local};
use super::port::{Ports, check_exists};
use super::port_name::PortName;
use super::recursive::Recursive;
use super::vrf::{self, VrfName, name_of};
use super::{Command, Config, Object};
use crate::config::declare::{Declared, infos};
use crate::config::draft::Draft;
use crate::config::host::Host;
use crate::config::info::Info;
use crate::config::key::Key;
use crate::config::listed::row_mut;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::words::Words;

pub use super::route_row::{NextHop, Route, RouteKey, Routes};

/// Most next hops of a route.
const MAX_NEXT_HOPS: usize = 64;

impl Object for Routes {
    const MORE: &'static [Command] = &[
        Command::with(
            ("route", "add"),
            "Add a route, as in: route add 10.0.0.0/8 via 192.0.2.9",
            prefix,
            infos_of_route,
            route_add,
        ),
        Command::with(
            ("route", "replace"),
            "Add a route, or lead one elsewhere",
            prefix,
            infos_of_route,
            route_replace,
        ),
        Command::with(("route", "del"), "Remove a route", prefix, RouteKey::infos, route_del),
    ];

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let connected = Connected::of(&config.ports);
        let ways = Ways {
            config,
            on_link: OnLink::of(self, &config.ports),
            recursive: Recursive::of(config, &connected),
            connected: &connected,
        };
        for (key, route) in self.iter() {
            check_route(key, route, &ways, report);
        }
    }
}

/// Networks that routes put on the links of ports which speak their family.
pub(crate) struct OnLink<'a>(Vec<(Option<&'a VrfName>, &'a PortName, Prefix)>);

impl<'a> OnLink<'a> {
    /// Those of these routes, on these ports.
    pub(crate) fn of(routes: &'a Routes, ports: &Ports) -> Self {
        let mut networks = Vec::new();
        for (key, route) in routes.iter() {
            let Route::Via(hops) = route else { continue };
            let alone = hops.iter().filter(|hop| hop.address.is_none());
            let named = alone.filter_map(|hop| hop.port.as_ref());
            let speaks = |name: &&PortName| {
                let four = key.prefix.address().is_ipv4();
                ports.get(name).is_some_and(|port| !four || port.speaks_ip4())
            };
            let on = named.filter(speaks);
            networks.extend(on.map(|port| (key.vrf.as_ref(), port, key.prefix)));
        }
        Self(networks)
    }

    /// True if a VRF's route puts the address on the link of this port.
    pub(crate) fn has(&self, vrf: Option<&VrfName>, port: &PortName, address: IpAddr) -> bool {
        let is_it = |&(of, on, prefix): &(Option<&VrfName>, &PortName, Prefix)| {
            of == vrf && on == port && prefix.contains(address)
        };
        self.0.iter().any(is_it)
    }
}

/// What leads to next hops.
struct Ways<'a> {
    config: &'a Config,
    connected: &'a Connected<'a>,
    on_link: OnLink<'a>,
    recursive: Recursive<'a>,
}

fn check_route<'a>(key: &'a RouteKey, route: &Route, ways: &Ways<'a>, report: &mut Report) {
    let config = ways.config;
    let (prefix, field) = (&key.prefix, report.named(|| key.path(Route::KIND)));
    let of = report.named(|| format!("{field}.vrf"));
    vrf::check_exists(&of, key.vrf.as_ref(), &config.vrfs, report);
    let is_group = prefix.address().is_ipv6() && prefix.address().is_multicast();
    if is_link_local(prefix.address()) || is_group {
        let problem = Problem::new(
            format!("{field}.prefix"),
            format!("{prefix} is not a network that can be routed to"),
        );
        report.push(problem.expected("a network of unicast addresses beyond one link"));
    }
    if let Route::Vrf(to) = route {
        let field = format!("{field}.via_vrf");
        vrf::check_exists(&field, to.as_ref(), &config.vrfs, report);
        if *to == key.vrf {
            let message = format!("the route leads back to VRF {} itself", name_of(to.as_ref()));
            report.push(Problem::new(field, message).expected("another VRF"));
        }
    }
    let Route::Via(hops) = route else { return };
    let field = report.named(|| format!("{field}.via"));
    if hops.is_empty() || hops.len() > MAX_NEXT_HOPS {
        let message = format!("{} next hops", hops.len());
        report.push(Problem::new(&field, message).expected(format!("1 to {MAX_NEXT_HOPS}")));
    }
    for (index, hop) in hops.iter().enumerate() {
        let field = report.named(|| format!("{field}[{index}]"));
        if hops[..index]
            .iter()
            .any(|other| (&other.address, &other.port) == (&hop.address, &hop.port))
        {
            let problem = Problem::new(&field, format!("{hop} is listed twice"));
            report.push(
                problem.expected("each next hop once").help("a weight gives it a larger share"),
            );
        }
        if !check_family(&field, prefix, hop, config, report) {
            continue;
        }
        check_hop(&field, key, hop, ways, report);
    }
}

/// Whether the next hop's family serves: IPv6 for either (RFC 8950), where the port is said.
fn check_family(
    field: &str,
    prefix: &Prefix,
    hop: &NextHop,
    config: &Config,
    report: &mut Report,
) -> bool {
    let is_ip4 = prefix.address().is_ipv4();
    let problem = |message: String| Problem::new(field, message);
    let problem = match (hop.address, &hop.port) {
        (Some(IpAddr::V4(_)), _) if !is_ip4 => {
            problem(format!("{hop} is of another family than {prefix}"))
                .expected("a next hop of the same family")
        }
        (Some(IpAddr::V6(_)), None) if is_ip4 => {
            problem(format!("{hop} is of another family than {prefix}"))
                .expected("a `port` with an IPv6 next hop of an IPv4 route, or an IPv4 next hop")
        }
        (Some(IpAddr::V6(_)), Some(port)) if is_ip4 => match config.ports.get(port) {
            Some(it) if !it.has_ip6() => {
                problem(format!("{port} speaks no IPv6: it cannot ask for {hop}"))
                    .expected("a port with an IPv6 address, as in `addresses = [\"fe80::1/64\"]`")
            }
            _ => return true,
        },
        _ => return true,
    };
    report.push(problem);
    false
}

fn check_hop<'a>(
    field: &str,
    key: &'a RouteKey,
    hop: &NextHop,
    ways: &Ways<'a>,
    report: &mut Report,
) {
    let (of, config) = (key.vrf.as_ref(), ways.config);
    if let Some(port) = &hop.port {
        check_exists(field, port, &config.ports, report);
        if !config.ports.contains(port) {
            return;
        }
    }
    let Some(address) = hop.address else {
        match hop.port.as_ref().map(|port| (port, config.ports.get(port))) {
            None => {
                let problem = Problem::new(field, "a next hop with neither address nor port");
                report.push(problem.expected("`address`, `port` or both"));
            }
            // Hosts of a link are asked for, learned and answered in the VRF of their port.
            Some((port, Some(it))) if it.vrf.as_ref() != of => {
                let (link, route) = (name_of(it.vrf.as_ref()), name_of(of));
                let message = format!(
                    "{port} is in VRF {link}: hosts on its link are not those of VRF {route}"
                );
                let problem = Problem::new(field, message);
                report.push(
                    problem.expected("a port of the route's VRF, or a next hop's address").help(
                        format!("`via_vrf = \"{link}\"`, and a route with `port` in VRF {link}"),
                    ),
                );
            }
            Some(_) => {}
        }
        return;
    };
    if is_link_local(address) {
        if hop.port.is_none() {
            let problem =
                Problem::new(field, format!("{address} is link-local: it may be on any link"));
            report.push(problem.expected("a `port` with a link-local next hop"));
        }
        return;
    }
    // A next hop whose port is said may be in another VRF than the route.
    let said = hop.port.as_ref().and_then(|port| config.ports.get(port));
    let vrf = said.map_or(of, |port| port.vrf.as_ref());
    let own = |(_, port): (&PortName, &super::port::Port)| {
        port.addresses.iter().any(|own| own.address() == address)
    };
    let reached = ways.connected.port_to(vrf, address);
    match (reached, &hop.port) {
        (Some(reached), _)
            if config.ports.get(reached).is_some_and(|port| own((reached, port))) =>
        {
            let message = format!("{address} is this router's own address");
            report.push(Problem::new(field, message).expected("a neighbour's address"));
        }
        (Some(reached), Some(port)) if reached != port => report.push(
            Problem::new(field, format!("{address} is reached by {reached}, not by {port}"))
                .expected(format!("an address in a network of {port}")),
        ),
        (Some(_), _) => {}
        (None, _) if said.is_some_and(|port| port.unnumbered.is_some()) && address.is_ipv4() => {}
        (None, Some(port)) if ways.on_link.has(vrf, port, address) => {}
        (None, None) if ways.recursive.leads_to(key, address) => {}
        (None, _) => report.push_missing(
            Problem::new(field, nowhere(address, vrf))
                .expected("a next hop in a connected network, or one that another route leads to")
                .help("give a port an address in that network first, or add a route to it"),
        ),
    }
}

fn nowhere(address: IpAddr, vrf: Option<&VrfName>) -> String {
    match vrf {
        Some(vrf) => format!("no port of VRF {vrf} has a network that {address} is in"),
        None => format!("no port has a network that {address} is in"),
    }
}

/// What a command says first.
fn prefix() -> Vec<Info> {
    RouteKey::infos().into_iter().filter(|info| info.name == "prefix").collect()
}

/// What it can say of a route.
fn infos_of_route() -> Vec<Info> {
    [RouteKey::infos(), infos::<Route>()].concat()
}

fn route_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let (key, route) = route_of(words)?;
    if config.routes.get(&key).is_some_and(|old| *old != route) {
        return Err(Problem::new(key.path(Route::KIND), format!("{key} has a route already"))
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
    let mut draft = Draft::default();
    draft.say(&prefix()[0], words)?;
    draft.say_rest(&RouteKey::infos(), words)?;
    let key = draft.read(Route::KIND, <RouteKey as Declared>::read)?;
    row_mut(&mut config.routes, &key)?;
    config.routes.remove(&key);
    Ok(())
}

/// Which route, and where it leads.
fn route_of(words: &mut Words<'_>) -> Result<(RouteKey, Route), Problem> {
    let infos = infos_of_route();
    let mut draft = Draft::default();
    draft.say(&prefix()[0], words)?;
    let named = |name: &str| infos.iter().find(|info| info.name == name);
    while !words.is_empty() {
        let mut ahead = words.clone();
        // As a person says `via_vrf`.
        let leads_by_vrf = ahead.take("via") && ahead.take("vrf");
        match (named("via_vrf"), named("via")) {
            (Some(via_vrf), _) if leads_by_vrf => {
                *words = ahead;
                draft.say(via_vrf, words)?;
            }
            // A next hop of which the port is all that is said, and a weight perhaps.
            (_, Some(via)) if words.sees("port") => draft.say(via, words)?,
            _ => draft.say_next(&infos, words)?,
        }
    }
    draft.read(Route::KIND, |table| {
        let key = <RouteKey as Declared>::read(table);
        let route = Route::read(table);
        Some((key?, route?))
    })
}
