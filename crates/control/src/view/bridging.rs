//! Bridges and the stations in them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bridge {
    /// Its name.
    pub name: String,
    /// Stations it knows.
    pub stations: u32,
    /// Most stations it remembers.
    pub mac_limit: u32,
    /// Seconds that a station is remembered that is not heard any more.
    pub ageing_s: u64,
    /// Addresses of stations that it answers ARP requests for; `null`: it answers none.
    pub bindings: Option<usize>,
    /// Addresses that it answers neighbour solicitations for; `null`: it answers none.
    pub nd_bindings: Option<usize>,
    /// Its ports.
    pub ports: Vec<BridgePort>,
}

/// A port in a bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BridgePort {
    /// Its name.
    pub port: String,
    /// Whether packets can pass.
    pub up: bool,
    /// What it may do, the bridge's own flags included, as in `learn`.
    pub flags: Vec<String>,
    /// Its split-horizon group.
    pub group: Option<u16>,
    /// Whether it does not reach other isolated ports.
    pub isolated: bool,
    /// Stations learned behind it.
    pub learned: u64,
    /// Stations that came to it from other ports.
    pub moved: u64,
    /// Frames whose station there was no room for.
    pub not_learned: u64,
}

/// Which stations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct StationFilter {
    /// Only those of this bridge.
    #[serde(default)]
    pub bridge: Option<String>,
    /// Only those behind this port.
    #[serde(default)]
    pub port: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
}

/// The stations of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stations {
    /// Those that match, shown or not.
    pub total: usize,
    /// Those shown.
    pub stations: Vec<Station>,
}

/// A station.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct Station {
    /// Its bridge.
    pub bridge: String,
    /// Its MAC address.
    pub mac: String,
    /// The port it is behind.
    pub port: String,
    /// Of a tunnel with several remotes, the one it is behind.
    pub remote: Option<String>,
    /// Whether it was configured: it neither ages nor moves.
    pub is_static: bool,
    /// Seconds since it was heard.
    pub age_s: u32,
}

/// Learned stations to forget; without a bridge and a port, all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StationFlush {
    /// Those of this bridge.
    #[serde(default)]
    pub bridge: Option<String>,
    /// Those behind this port.
    #[serde(default)]
    pub port: Option<String>,
}

/// Stations to be learned without their being heard, for measurements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StationFill {
    /// The bridge.
    pub bridge: String,
    /// The port they are behind.
    pub port: String,
    /// The first address; each further one is one more.
    pub first: String,
    /// How many.
    pub count: u32,
}

/// How many stations came or went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StationCount {
    /// How many.
    pub stations: usize,
}
