//! Packets dropped.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{All, Metrics, View};
use super::table::{Style, table};

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
    type Reply = Vec<Self>;
    type Filter = All;
    const COMMAND: &'static str = "show errors";
    const PATH: &'static str = "/v1/errors";
    const ABOUT: &'static str = "Dropped packets by reason";
    const COUNTERS: &'static [&'static str] = &["packets"];
    const METRICS: Option<Metrics<Self>> = Some((All, |drops, out| {
        out.of(drops, |drop| {
            let port = drop.port.as_deref().unwrap_or("");
            [("node", &drop.node[..]), ("reason", &drop.reason), ("port", port)]
        })
        .counter("drop_packets", "Packets dropped, by reason and port.", |drop| drop.packets);
    }));

    fn text(drops: &Vec<Self>, style: Style) -> String {
        let table = table!(drops, drop => {
            "packets": drop.packets,
            "node": drop.node,
            "reason": drop.reason,
            "port": drop.port,
        });
        table.render(style)
    }
}
