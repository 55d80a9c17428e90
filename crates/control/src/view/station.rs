//! Stations of bridges.

use super::answer::*;

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

impl View for Stations {
    view!("mac show", "/v1/stations", StationFilter => Self, "The stations of bridges");

    fn text(shown: &Self, style: Style) -> String {
        let behind = |station: &Station| match &station.remote {
            Some(remote) => format!("{} to {remote}", station.port),
            None => station.port.clone(),
        };
        let table = table!(&shown.stations, station => {
            "bridge": station.bridge, "mac": station.mac, "port": behind(station),
            "kind": if station.is_static { "static" } else { "learned" }, "age s": station.age_s,
        });
        table.render(style) + &shortened(shown.stations.len(), shown.total, "stations", style)
    }
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
    #[schema(minimum = 1, maximum = 16_777_216)]
    pub count: u32,
}

/// How many stations came or went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StationCount {
    /// How many.
    pub stations: usize,
}
