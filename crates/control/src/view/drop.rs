//! Packets dropped.

use std::collections::BTreeMap;

use super::answer::*;

/// Packets that went no further for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Drop {
    /// Node that decided so.
    pub node: String,
    /// Its exit: the reason.
    pub reason: String,
    /// Whether their senders are told so, by ICMP: a message of the router's takes the packet's
    /// place, which ports do not count as a drop
    #[serde(default)]
    pub answered: bool,
    /// Port they came in at; absent when they came from the router itself.
    pub port: Option<String>,
    /// How many.
    pub packets: u64,
    /// What the reason means.
    pub meaning: String,
    /// What whoever wants it otherwise can do.
    pub help: String,
}

impl View for Drop {
    view!("show errors", "/v1/errors", All => Vec<Self>, "Dropped packets by reason");
    counters!("packets");
    const METRICS: Option<Metrics<Self>> = Some((All, |drops, out| {
        out.of(drops, |drop| {
            let port = drop.port.as_deref().unwrap_or("");
            [("node", &drop.node[..]), ("reason", &drop.reason), ("port", port)]
        })
        .counter(
            "drop_packets",
            "Packets that went no further, by reason and port.",
            |drop| drop.packets,
        );
    }));

    /// The table, then each reason once: what it means, what to do.
    fn text(drops: &Vec<Self>, style: Style) -> String {
        let mut text = Self::table(drops).render(style);
        let reasons: BTreeMap<_, _> =
            drops.iter().map(|drop| ((&drop.node, &drop.reason), drop)).collect();
        for ((node, reason), Self { meaning, help, answered, .. }) in reasons {
            let reason = style.bold(&format!("{node} {reason}"));
            let told = if *answered { " The sender is told." } else { "" };
            text.push_str(&format!("\n{reason}: {meaning}{told}\n  help: {help}\n"));
        }
        text
    }

    fn table(drops: &Vec<Self>) -> Table {
        table!(drops, drop => {
            "packets": drop.packets, "node": drop.node, "reason": drop.reason, "port": drop.port,
        })
    }
}
