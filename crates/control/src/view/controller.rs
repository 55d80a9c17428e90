//! Controllers of bridges of flows.

use super::answer::*;

/// A controller that a bridge of flows is told to connect to, or a place that they come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Controller {
    /// The bridge.
    pub bridge: String,
    /// Where it is, as configured.
    pub target: String,
    /// Connections that are there now.
    pub connected: u64,
    /// Its role: `equal`, `master` or `slave`; null while it is not connected, or several are.
    pub role: Option<String>,
    /// The version of OpenFlow that it speaks.
    pub version: Option<String>,
    /// Seconds since it was connected, or lost.
    pub state_s: u64,
    /// How often a connection was made.
    pub connections: u64,
    /// Messages that it missed because it read too slowly.
    pub missed: u64,
    /// Whether the bridge does what an ordinary one does because no controller is left.
    pub fails_open: bool,
    /// Why it was not to be had when that was tried last.
    pub problem: Option<String>,
}

impl View for Controller {
    view!("show controllers", "/v1/controllers", All => Vec<Self>,
        "Controllers of bridges of flows, and whether they are connected");
    counters!("connections", "missed");
    const METRICS: Option<Metrics<Self>> = Some((All, |controllers, out| {
        out.of(controllers, |it| [("bridge", &it.bridge[..]), ("target", &it.target[..])])
            .gauge("controller_connected", "Connections that are there.", |it| it.connected as f64)
            .counter("controller_connections", "Connections made.", |it| it.connections)
            .counter("controller_missed", "Messages missed by a slow reader.", |it| it.missed);
    }));

    fn table(controllers: &Vec<Self>) -> Table {
        table!(controllers, it => {
            "bridge": it.bridge, "controller": it.target, "connected": it.connected,
            "role": it.role.as_deref().unwrap_or("-"), "version": it.version.as_deref().unwrap_or("-"),
            "seconds": it.state_s, "connections": it.connections, "missed": it.missed,
            "fails open": if it.fails_open { "yes" } else { "no" },
            "problem": it.problem.as_deref().unwrap_or("-"),
        })
    }
}
