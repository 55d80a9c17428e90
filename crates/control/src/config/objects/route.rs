//! `[[route]]`: static routes.

use std::fmt;
use std::net::IpAddr;

use toml::de::DeValue;

use super::connected::{Connected, is_link_local};
use super::port::{PortName, check_exists};
use super::vrf::{self, DEFAULT_NAME, VrfName, name_of};
use super::{Config, Object, route_commands};
use crate::config::edit::Command;
use crate::config::field::{Field, Refusal};
use crate::config::host::Host;
use crate::config::prefix::Prefix;
use crate::config::read::{TableReader, read_table, read_value};
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};

/// Most next hops of a route.
pub(crate) const MAX_NEXT_HOPS: usize = 64;
/// Largest share of a next hop.
pub(crate) const MAX_WEIGHT: u16 = 255;

/// Which route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteKey {
    /// Whose packets follow it; `None`: the default VRF's.
    pub vrf: Option<VrfName>,
    /// Where they go.
    pub prefix: Prefix,
}

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

impl RouteKey {
    /// How problems call it.
    pub(super) fn field(&self) -> String {
        match &self.vrf {
            Some(vrf) => format!("route.{}@{vrf}", self.prefix),
            None => format!("route.{}", self.prefix),
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

/// One way to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// Router to hand the packet to; `None`: the destination itself is on the link.
    pub address: Option<IpAddr>,
    /// Port to leave by; `None`: the port whose network the address is in.
    pub port: Option<PortName>,
    /// Share of the flows.
    pub weight: u16,
}

impl NextHop {
    fn fields(&self) -> Fields {
        Fields::new().maybe("address", &self.address).maybe("port", &self.port).unless(
            "weight",
            &self.weight,
            &1,
        )
    }

    fn to_toml(&self) -> String {
        match self {
            Self { address: Some(address), port: None, weight: 1 } => address.to_toml(),
            _ => self.fields().inline(),
        }
    }
}

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

impl Row for Route {
    const KIND: &'static str = "route";

    fn fields(&self) -> Fields {
        match self {
            Self::Via(hops) => match &hops[..] {
                [NextHop { address: None, port: Some(port), weight: 1 }] => {
                    Fields::new().with("port", port)
                }
                [hop] => Fields::new().raw("via", hop.to_toml()),
                hops => {
                    let hops: Vec<String> = hops.iter().map(NextHop::to_toml).collect();
                    Fields::new().raw("via", format!("[{}]", hops.join(", ")))
                }
            },
            Self::Vrf(vrf) => Fields::new().raw("via_vrf", quoted(name_of(vrf.as_ref()))),
            Self::Blackhole => Fields::new().with("blackhole", &true),
            Self::Unreachable => Fields::new().with("unreachable", &true),
            Self::Prohibit => Fields::new().with("prohibit", &true),
        }
    }
}

/// Static routes by VRF and prefix.
pub type Routes = Table<RouteKey, Route>;

impl Object for Routes {
    type Change = Delta<RouteKey, Route>;

    const COMMANDS: &'static [Command] = route_commands::COMMANDS;

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut routes = Self::default();
        root.each_item("route", |table| {
            let vrf = table.optional("vrf");
            let key = table.required("prefix").map(|prefix| RouteKey { vrf, prefix });
            if let Some(key) = &key {
                if routes.contains(key) {
                    let problem =
                        Problem::new(table.field("prefix"), format!("{key} stands here twice"))
                            .expected("one [[route]] for each prefix")
                            .help("several next hops go into one list: via = [\"…\", \"…\"]");
                    table.report().push(problem);
                }
                table.rename(key.field());
            }
            let route = read_route(table);
            if let (Some(key), Some(route)) = (key, route) {
                routes.insert(key, route);
            }
        });
        routes
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let connected = Connected::of(&config.ports);
        for (key, route) in self.iter() {
            check_route(key, route, config, &connected, report);
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (key, route) in self.iter() {
            let fields = route.fields().led_by("prefix", &key.prefix);
            let fields = match &key.vrf {
                Some(vrf) => fields.led_by("vrf", vrf),
                None => fields,
            };
            writer.section("[[route]]", &fields);
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
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
    let Some(value) = table.value("via") else {
        return port
            .map(|port| vec![NextHop { address: None, port: Some(port.clone()), weight: 1 }]);
    };
    let field = table.field("via");
    let report = table.report();
    let items = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    if items.is_empty() {
        report
            .push(Problem::new(&field, "`via` is an empty list").expected("at least one next hop"));
        return None;
    }
    let mut hops = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let field = format!("{field}[{index}]");
        report.place(&field, item.span());
        let hop = match item.get_ref() {
            DeValue::Table(_) => read_table(item, field, report, |table| NextHop {
                address: table.optional("address"),
                port: table.optional("port").or_else(|| port.cloned()),
                weight: table.number("weight", 1, 1..=MAX_WEIGHT),
            }),
            _ => read_value(item, &field, report).map(|address| NextHop {
                address: Some(address),
                port: port.cloned(),
                weight: 1,
            }),
        };
        hops.push(hop?);
    }
    Some(hops)
}

fn check_route(
    key: &RouteKey,
    route: &Route,
    config: &Config,
    connected: &Connected<'_>,
    report: &mut Report,
) {
    let (prefix, field) = (&key.prefix, key.field());
    vrf::check_exists(&format!("{field}.vrf"), key.vrf.as_ref(), &config.vrfs, report);
    let is_group = prefix.address().is_ipv6() && prefix.address().is_multicast();
    if is_link_local(prefix.address()) || is_group {
        let problem = Problem::new(
            format!("{field}.prefix"),
            format!("{prefix} is no network to be routed to"),
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
            let problem = Problem::new(&field, format!("{hop} stands here twice"));
            report.push(
                problem.expected("each next hop once").help("a weight gives it a larger share"),
            );
        }
        if hop.address.is_some_and(|address| address.is_ipv4() != prefix.address().is_ipv4()) {
            let message = format!("{hop} is of another family than {prefix}");
            report.push(Problem::new(&field, message).expected("a next hop of the same family"));
            continue;
        }
        check_hop(&field, key.vrf.as_ref(), hop, config, connected, report);
    }
}

fn check_hop(
    field: &str,
    of: Option<&VrfName>,
    hop: &NextHop,
    config: &Config,
    connected: &Connected<'_>,
    report: &mut Report,
) {
    if let Some(port) = &hop.port {
        check_exists(field, port, &config.ports, report);
        if !config.ports.contains(port) {
            return;
        }
    }
    let Some(address) = hop.address else {
        if hop.port.is_none() {
            let problem = Problem::new(field, "a next hop with neither address nor port");
            report.push(problem.expected("`address`, `port` or both"));
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
    let reached = connected.port_to(vrf, address);
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
        (None, _) => report.push_missing(
            Problem::new(field, nowhere(address, vrf))
                .expected("a next hop in a connected network")
                .help("give a port an address in that network first"),
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
struct VrfOrDefault(Option<VrfName>);

impl Field for VrfOrDefault {
    const EXPECTED: &'static str = "the name of a VRF, or \"default\"";

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
