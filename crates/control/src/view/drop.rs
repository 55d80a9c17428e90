//! Packets dropped.

use super::answer::*;

/// Packets dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Drop {
    /// Node that decided so.
    pub node: String,
    /// Its exit: the reason.
    pub reason: String,
    /// Port they came in at; absent when they came from the router itself.
    pub port: Option<String>,
    /// How many.
    pub packets: u64,
}

impl View for Drop {
    view!("show errors", "/v1/errors", All => Vec<Self>, "Dropped packets by reason");
    counters!("packets");
    const METRICS: Option<Metrics<Self>> = Some((All, |drops, out| {
        out.of(drops, |drop| {
            let port = drop.port.as_deref().unwrap_or("");
            [("node", &drop.node[..]), ("reason", &drop.reason), ("port", port)]
        })
        .counter("drop_packets", "Packets dropped, by reason and port.", |drop| drop.packets);
    }));

    fn table(drops: &Vec<Self>) -> Table {
        table!(drops, drop => {
            "packets": drop.packets, "node": drop.node, "reason": drop.reason, "port": drop.port,
        })
    }
}
