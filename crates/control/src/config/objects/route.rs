//! `[[route]]`: static routes.

use std::fmt;
use std::net::IpAddr;

use super::connected::{Connected, is_link_local};
use super::port::{Ports, check_exists};
use super::port_name::PortName;
use super::recursive::Recursive;
use super::vrf::{self, DEFAULT_NAME, VrfName, name_of};
use super::{Command, Config, Object};
use crate::config::declare::{Declared, as_field, infos, object};
use crate::config::draft::Draft;
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::host::Host;
use crate::config::info::Info;
use crate::config::key::{Key, field_key};
use crate::config::listed::{Listed, row_mut};
use crate::config::prefix::Prefix;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;
use crate::config::toml_text::quoted;
use crate::config::value::Value;
use crate::config::words::Words;
use crate::config::write::Fields;

/// Most next hops of a route.
const MAX_NEXT_HOPS: usize = 64;
/// Largest share of a next hop.
const MAX_WEIGHT: u16 = 255;

object! {
    /// Which route
    #[derive(PartialOrd, Ord)]
    pub struct RouteKey {
        /// Whose packets follow it; the default VRF's when left out
        pub vrf: Option<VrfName> as "red" = None,
        /// Where they go
        pub prefix: Prefix as "10.0.0.0/8",
    }
}
field_key!(RouteKey, 0, |key| match &key.vrf {
    Some(vrf) => format!("{}@{vrf}", key.prefix),
    None => key.prefix.to_string(),
});

impl From<Prefix> for RouteKey {
    fn from(prefix: Prefix) -> Self {
        Self { vrf: None, prefix }
    }
}

impl fmt::Display for RouteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.vrf {
            Some(vrf) => write!(f, "{} vrf {vrf}", self.prefix),
            None => self.prefix.fmt(f),
        }
    }
}

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// To next hops, in proportion to their weights.
    Via(Vec<NextHop>),
    /// As this VRF routes it; `None`: the default one.
    Vrf(Option<VrfName>),
    /// Nowhere, silently.
    Blackhole,
    /// Nowhere; the sender is told "network unreachable".
    Unreachable,
    /// Nowhere; the sender is told "administratively prohibited".
    Prohibit,
}

object! {
    /// One way to go
    pub struct NextHop {
        /// Router to hand the packet to; none: the destination itself is on the link
        pub address: Option<IpAddr> as "192.0.2.9" = None,
        /// Port to leave by; that whose network the address is in when left out
        pub port: Option<PortName> as "uplink" = None,
        /// Share of the flows
        pub weight: u16 as "3" [1..=MAX_WEIGHT] = 1,
    }
}
as_field!(NextHop or address: IpAddr => |address| NextHop { address: Some(address), ..NextHop::new() });

impl fmt::Display for NextHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.address, &self.port) {
            (Some(address), Some(port)) => write!(f, "via {address} port {port}")?,
            (Some(address), None) => write!(f, "via {address}")?,
            (None, Some(port)) => write!(f, "port {port}")?,
            (None, None) => write!(f, "nowhere")?,
        }
        if self.weight == 1 { Ok(()) } else { write!(f, " weight {}", self.weight) }
    }
}

impl Declared for Route {
    const ABOUT: &'static str = "Where packets to a network go";

    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        read_route(table)
    }

    fn write(&self, fields: Fields) -> Fields {
        match self {
            Self::Via(hops) => match &hops[..] {
                [NextHop { address: None, port: Some(port), weight: 1 }] => {
                    fields.with("port", port)
                }
                [hop] => fields.raw("via", hop.to_toml()),
                hops => {
                    let hops: Vec<String> = hops.iter().map(NextHop::to_toml).collect();
                    fields.raw("via", format!("[{}]", hops.join(", ")))
                }
            },
            Self::Vrf(vrf) => fields.raw("via_vrf", quoted(name_of(vrf.as_ref()))),
            Self::Blackhole => fields.with("blackhole", &true),
            Self::Unreachable => fields.with("unreachable", &true),
            Self::Prohibit => fields.with("prohibit", &true),
        }
    }

    fn paths(&self, _: &mut Vec<std::path::PathBuf>) {}

    fn describe(out: &mut Vec<Info>) {
        let way = |name, help: &str, example| Info::new(name, &[help], example);
        let via =
            way("via", "To a next hop, or to several in proportion to their weights", "192.0.2.9");
        Vec::<NextHop>::describe(via, out);
        let port = way("port", "Out of this port: the hosts are on the link itself", "lan");
        Option::<PortName>::describe(port, out);
        Option::<VrfOrDefault>::describe(way("via_vrf", "As this VRF routes it", "default"), out);
        bool::describe(way("blackhole", "Nowhere, silently", "on"), out);
        let told = "Nowhere; the sender is told \"network unreachable\"";
        bool::describe(way("unreachable", told, "on"), out);
        let told = "Nowhere; the sender is told \"administratively prohibited\"";
        bool::describe(way("prohibit", told, "on"), out);
    }
}

impl Row for Route {
    const KIND: &'static str = "route";
    const CALLED: &'static str = "static route to";
}

/// Static routes by VRF and prefix.
pub type Routes = Table<RouteKey, Route>;

impl Listed for Route {
    type Key = RouteKey;

    const IS_EDITED: bool = false;
    const ONCE: Option<&'static str> =
        Some("several next hops go into one list: via = [\"…\", \"…\"]");
}

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

/// Reads where a route leads: exactly one of the ways to say it.
fn read_route(table: &mut TableReader<'_>) -> Option<Route> {
    let port = table.optional::<PortName>("port");
    let hops = read_hops(table, port.as_ref());
    let mut ways = Vec::new();
    if table.has("via") || table.has("port") {
        ways.push(hops.map(Route::Via));
    }
    if table.has("via_vrf") {
        ways.push(table.optional::<VrfOrDefault>("via_vrf").map(|vrf| Route::Vrf(vrf.0)));
    }
    for (key, route) in [
        ("blackhole", Route::Blackhole),
        ("unreachable", Route::Unreachable),
        ("prohibit", Route::Prohibit),
    ] {
        if table.or(key, false) {
            ways.push(Some(route));
        }
    }
    if ways.len() != 1 {
        let message = match ways.len() {
            0 => "the route leads nowhere",
            _ => "the route leads to several things at once",
        };
        let problem = Problem::new(table.field("via"), message).expected(
            "one of via, port, via_vrf, blackhole = true, unreachable = true, prohibit = true",
        );
        table.report().push(problem);
        return None;
    }
    ways.pop().flatten()
}

/// Reads `via`: an address, a table, or a list of them; `port` is the default of all.
fn read_hops(table: &mut TableReader<'_>, port: Option<&PortName>) -> Option<Vec<NextHop>> {
    if !table.has("via") {
        table.know(&["via"]);
        return port.map(|port| vec![NextHop { port: Some(port.clone()), ..NextHop::new() }]);
    }
    let is_list = table.has_list("via");
    let mut hops = table.list::<NextHop>("via");
    if hops.is_empty() {
        if is_list && table.report().is_empty() {
            let problem = Problem::new(table.field("via"), "`via` is an empty list");
            table.report().push(problem.expected("at least one next hop"));
        }
        return None;
    }
    for hop in &mut hops {
        hop.port = hop.port.take().or_else(|| port.cloned());
    }
    Some(hops)
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
    let (prefix, field) = (&key.prefix, key.path(Route::KIND));
    vrf::check_exists(&format!("{field}.vrf"), key.vrf.as_ref(), &config.vrfs, report);
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
    let field = format!("{field}.via");
    if hops.is_empty() || hops.len() > MAX_NEXT_HOPS {
        let message = format!("{} next hops", hops.len());
        report.push(Problem::new(&field, message).expected(format!("1 to {MAX_NEXT_HOPS}")));
    }
    for (index, hop) in hops.iter().enumerate() {
        let field = format!("{field}[{index}]");
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
            let problem = Problem::new(field, format!("{address} may be on any link"));
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

/// A VRF's name where the default one is named, too.
#[derive(Clone, PartialEq)]
struct VrfOrDefault(Option<VrfName>);

impl Field for VrfOrDefault {
    const EXPECTED: &'static str = "the name of a VRF, or \"default\"";
    const WORDS: &'static [&'static str] = &[DEFAULT_NAME];
    const FORM: Form = PortName::FORM;
    const NAMES: &'static str = "vrf";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        match text {
            DEFAULT_NAME => Ok(Self(None)),
            text => VrfName::from_text(text).map(|name| Self(Some(name))),
        }
    }

    fn to_toml(&self) -> String {
        quoted(name_of(self.0.as_ref()))
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
