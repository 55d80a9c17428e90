//! Neighbours.

use super::answer::*;
use crate::config::objects::vrf::DEFAULT_NAME;

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

/// How well a neighbour is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeighborState {
    /// Asked for, no answer yet.
    Incomplete,
    /// Answered lately.
    Reachable,
    /// Heard, but not in answer to us.
    Stale,
    /// Asked again, and believed meanwhile.
    Probe,
    /// Did not answer.
    Failed,
    /// Given by the configuration.
    Static,
}

impl View for Neighbor {
    view!("show neighbors", "/v1/neighbors", All => Vec<Self>,
        "Neighbours and their MAC addresses");

    fn table(neighbors: &Vec<Self>) -> Table {
        let state = |state| match state {
            NeighborState::Incomplete => "incomplete",
            NeighborState::Reachable => "reachable",
            NeighborState::Stale => "stale",
            NeighborState::Probe => "probe",
            NeighborState::Failed => "failed",
            NeighborState::Static => "static",
        };
        table!(neighbors, neighbor => {
            "address": neighbor.address, "port": neighbor.port, "vrf": neighbor.vrf,
            "mac": neighbor.mac, "state": state(neighbor.state), "age s": neighbor.age_ms / 1000,
            "held": neighbor.held_packets,
        })
        .hide_where_all("vrf", DEFAULT_NAME)
    }
}
