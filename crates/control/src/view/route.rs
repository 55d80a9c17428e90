//! Routes.

use super::answer::*;
use crate::config::objects::vrf::DEFAULT_NAME;
use fib::route_file::FilePrefix;

/// Which routes to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RouteFilter {
    /// Only routes inside this prefix.
    #[serde(default)]
    #[param(format = "prefix")]
    pub within: Option<String>,
    /// Only routes from this source.
    #[serde(default)]
    #[param(inline)]
    pub source: Option<RouteSource>,
    /// Of this VRF; `default` or nothing is the default one.
    #[serde(default)]
    #[param(format = "name")]
    pub vrf: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
    /// Whether each next hop is shown with what left by it.
    #[serde(default)]
    pub counters: bool,
    /// Behind a slice: where the next one begins.
    #[serde(skip)]
    pub from: Option<FilePrefix>,
}

impl RouteFilter {
    /// The VRF that is meant.
    pub fn vrf(&self) -> &str {
        self.vrf.as_deref().unwrap_or(DEFAULT_NAME)
    }
}

/// Where a route comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouteSource {
    /// An address of a port.
    Connected,
    /// The configuration.
    Static,
    /// A routing protocol, or a file that was loaded.
    Dynamic,
}

/// The routes of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Routes {
    /// Routes there are, shown or not.
    pub total: usize,
    /// Those shown.
    pub routes: Vec<Route>,
    /// Of a slice: where the next one begins.
    #[serde(skip)]
    pub next: Option<FilePrefix>,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Route {
    /// Its network.
    pub prefix: String,
    /// The VRF that has it.
    pub vrf: String,
    /// Where it comes from.
    pub source: RouteSource,
    /// Who brought it, and its preference among others, as in `ebgp/20`; lower is better.
    pub origin: String,
    /// Whether it forwards: the best of its prefix, and a next hop is there.
    pub active: bool,
    /// What it does when not forwarding to next hops, as in `blackhole` or `via vrf blue`.
    pub action: Option<String>,
    /// Its next hops.
    pub next_hops: Vec<NextHop>,
}

/// One way a route goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NextHop {
    /// Router, absent when the destination is on the link.
    pub address: Option<String>,
    /// Port to leave by.
    pub port: Option<String>,
    /// Share of the flows.
    pub weight: u16,
    /// Whether packets can go this way now.
    pub usable: bool,
    /// Packets and octets that left by it, of this route or of others, if that was asked for and is
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

/// What left by a next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Left {
    /// Packets.
    pub packets: u64,
    /// Their octets, from the IP header on.
    pub octets: u64,
}

impl View for Routes {
    view!("show routes", "/v1/routes", RouteFilter => Self, "Routes, and where they lead");

    fn take_in(whole: &mut Option<Self>, mut slice: Self, filter: &mut RouteFilter) -> bool {
        filter.from = slice.next.take();
        filter.limit = filter.limit.map(|limit| limit.saturating_sub(slice.routes.len()));
        match whole {
            Some(whole) => {
                whole.total += slice.total;
                whole.routes.append(&mut slice.routes);
            }
            None => *whole = Some(slice),
        }
        filter.from.is_some()
    }

    fn text(shown: &Self, style: Style) -> String {
        let table = table!(&shown.routes, route => {
            "prefix": route.prefix, "source": route.brought_by(),
            "state": if route.active { "active" } else { "inactive" }, "next hops": route.way(),
        });
        table.render(style) + &shortened(shown.routes.len(), shown.total, "routes", style)
    }
}

impl Route {
    /// Its source, as a table has it.
    /// The route in one line: who brought it, its prefix, where it leads.
    pub fn line(&self) -> String {
        format!("{} {}, {}", self.brought_by(), self.prefix, self.way())
    }

    pub(super) fn brought_by(&self) -> &str {
        match self.source {
            RouteSource::Connected => "connected",
            RouteSource::Static => "static",
            RouteSource::Dynamic => &self.origin,
        }
    }

    /// Where it leads, as a table has it.
    pub(super) fn way(&self) -> String {
        if let Some(action) = &self.action {
            return action.clone();
        }
        let hop = |hop: &NextHop| {
            let mut text = match (&hop.address, &hop.port) {
                (Some(address), Some(port)) => format!("via {address} port {port}"),
                (Some(address), None) => format!("via {address}"),
                (None, Some(port)) => format!("port {port}"),
                (None, None) => "nowhere".to_owned(),
            };
            if hop.weight != 1 {
                text.push_str(&format!(" weight {}", hop.weight));
            }
            if !hop.usable {
                text.push_str(" (unusable)");
            }
            if let Some(Left { packets, octets }) = hop.left {
                text.push_str(&format!(" ({packets} packets, {octets} octets)"));
            }
            text
        };
        self.next_hops.iter().map(hop).collect::<Vec<_>>().join(", ")
    }
}
