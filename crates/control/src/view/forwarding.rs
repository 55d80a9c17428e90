//! Ports, routes, neighbours, and what a lookup finds.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its kind, as in `af_packet`.
    pub kind: String,
    /// Whether it is configured to be up.
    pub admin_up: bool,
    /// Whether its link is up.
    pub link_up: bool,
    /// The link's speed; 0 when unknown.
    pub link_mbps: u32,
    /// VRF that it is in.
    pub vrf: String,
    /// Longest packet without the Ethernet header.
    pub mtu: u16,
    /// Its MAC address.
    pub mac: String,
    /// Its addresses with prefix lengths.
    pub addresses: Vec<String>,
    /// Receive queues.
    pub rx_queues: u16,
    /// Received.
    pub rx: PortCounters,
    /// Sent.
    pub tx: PortCounters,
}

/// One direction's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortCounters {
    /// Packets.
    pub packets: u64,
    /// Bytes, Ethernet header included, frame check sequence not.
    pub bytes: u64,
    /// Packets that the graph dropped; `errors` has the reasons.
    pub drops: u64,
    /// Packets that the device lost or refused.
    pub errors: u64,
}

/// Which routes to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RouteFilter {
    /// Only routes inside this prefix.
    #[serde(default)]
    pub within: Option<String>,
    /// Only routes from this source.
    #[serde(default)]
    pub source: Option<RouteSource>,
    /// Of this VRF; `default` or nothing is the default one.
    #[serde(default)]
    pub vrf: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
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
}

/// How well a neighbour is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeighborState {
    /// Asked for, no answer yet.
    Incomplete,
    /// Answered lately.
    Reachable,
    /// Answered long ago; asked again.
    Stale,
    /// Did not answer.
    Failed,
    /// Given by the configuration.
    Static,
}

/// A neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Neighbor {
    /// Its address.
    pub address: String,
    /// Port it is behind.
    pub port: String,
    /// VRF that the port is in.
    pub vrf: String,
    /// Its MAC address, when known.
    pub mac: Option<String>,
    /// How well it is known.
    pub state: NeighborState,
    /// Milliseconds since it answered last.
    pub age_ms: u64,
    /// Packets that wait for the answer.
    pub held_packets: u32,
}

/// What the table says about an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Lookup {
    /// The address.
    pub address: String,
    /// The VRF that it was looked up in.
    pub vrf: String,
    /// The longest matching route, if there is one.
    pub route: Option<Route>,
    /// What happens to a packet, as in `via 192.0.2.9 port p0 (02:00:00:00:00:09)`.
    pub outcome: String,
    /// Steps the table took.
    pub depth: u32,
    /// Cache lines it touched.
    pub cache_lines: u32,
}

/// Which VRF.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct InVrf {
    /// Its name; `default` or nothing is the default one.
    #[serde(default)]
    pub vrf: Option<String>,
}

/// A VRF.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Vrf {
    /// Its name.
    pub name: String,
    /// Ports that are in it.
    pub ports: Vec<String>,
    /// Its IPv4 routes.
    pub ip4: VrfRoutes,
    /// Its IPv6 routes.
    pub ip6: VrfRoutes,
}

/// A VRF's routes of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VrfRoutes {
    /// Of all sources.
    pub routes: u64,
    /// Prefixes that its table forwards by.
    pub forwarded: u64,
    /// The most that it forwards by.
    pub capacity: u64,
}
