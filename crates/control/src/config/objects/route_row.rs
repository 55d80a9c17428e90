//! What a static route is: which, where it leads, and how that is said.

use std::fmt;
use std::net::IpAddr;

use super::port_name::PortName;
use super::vrf::{DEFAULT_NAME, VrfName, name_of};
use crate::config::declare::{Declared, as_field, object};
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::info::Info;
use crate::config::key::field_key;
use crate::config::listed::Listed;
use crate::config::prefix::Prefix;
use crate::config::read::TableReader;
use crate::config::report::Problem;
use crate::config::row::Row;
use crate::config::table::Table;
use crate::config::toml_text::quoted;
use crate::config::value::Value;
use crate::config::write::Fields;

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
