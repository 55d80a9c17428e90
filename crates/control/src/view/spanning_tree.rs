//! Bridges that are part of a spanning tree.

use super::answer::*;

/// A bridge that is part of a spanning tree. Identifiers are as Open vSwitch has them, as in
/// `8.000.020000000001`: the priority, and the address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SpanningTree {
    /// The bridge.
    pub bridge: String,
    /// Which protocol it speaks: `rstp` or `stp`.
    pub version: String,
    /// Its identifier.
    pub bridge_id: String,
    /// The root's.
    pub root_id: String,
    /// What the way there costs.
    pub root_cost: u32,
    /// The port that leads there; null where it is the root itself.
    pub root_port: Option<String>,
    /// That port's identifier, 0 where there is none.
    pub root_port_id: u16,
    /// By which bridge it leads there: the port's neighbour, or itself.
    pub designated_id: String,
    /// And by which of its ports.
    pub designated_port_id: u16,
    /// Through how many bridges what the root says is believed.
    pub max_age_s: u8,
    /// How long a port waits in each state, where no neighbour agrees to less.
    pub forward_delay_s: u8,
    /// Through how many bridges what it says is believed where it is the root itself.
    pub own_max_age_s: u8,
    /// How long ports wait in each state where it is the root itself.
    pub own_forward_delay_s: u8,
    /// How often the topology changed at one of its ports.
    pub topology_changes: u64,
    /// How long that is ago; null if it never did.
    pub last_change_s: Option<u64>,
    /// How often another root, or another port to it, was chosen.
    pub root_changes: u64,
    /// Its ports that take part.
    pub ports: Vec<SpanningPort>,
}

/// A port that takes part in a spanning tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SpanningPort {
    /// The port.
    pub port: String,
    /// Its priority and number.
    pub port_id: u16,
    /// What it is: `root`, `designated`, `alternate`, `backup` or `disabled`.
    pub role: String,
    /// What it does: `discarding`, `learning` or `forwarding`.
    pub state: String,
    /// What the way by it costs.
    pub cost: u32,
    /// The bridge that leads its network to the root.
    pub designated_id: String,
    /// By which of its ports.
    pub designated_port_id: u16,
    /// What its way to the root costs.
    pub designated_cost: u32,
    /// Whether hosts alone are behind it.
    pub edge: bool,
    /// Which protocol is spoken to whoever is behind it: `rstp` or `stp`.
    pub speaks: String,
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Messages received that were none.
    pub malformed: u64,
    /// How long it has taken part.
    pub since_s: u64,
}

impl View for SpanningTree {
    view!("show spanning-tree", "/v1/spanning-tree", All => Vec<Self>,
        "Bridges that are part of a spanning tree (RSTP), and what it has their ports do");
    counters!("topology_changes", "root_changes", "sent", "received", "malformed");
    const METRICS: Option<Metrics<Self>> = Some((All, |bridges, out| {
        out.of(bridges, |it| [("bridge", &it.bridge[..])]).counter(
            "spanning_tree_topology_changes",
            "Changes of a spanning tree at a bridge's own ports.",
            |it| it.topology_changes,
        );
        let ports = bridges.iter().flat_map(|it| it.ports.iter().map(move |port| (it, port)));
        out.of(ports, |row| [("bridge", &row.0.bridge[..]), ("port", &row.1.port[..])]).gauge(
            "spanning_tree_forwarding",
            "Whether the spanning tree has a port forward.",
            |row| u8::from(row.1.state == "forwarding"),
        );
    }));

    fn table(bridges: &Vec<Self>) -> Table {
        let rows = bridges.iter().flat_map(|it| it.ports.iter().map(move |port| (it, port)));
        let designated = |it: &SpanningPort| {
            format!(
                "{} port {:04x} cost {}",
                it.designated_id, it.designated_port_id, it.designated_cost
            )
        };
        table!(rows, (bridge, port) => {
            "bridge": bridge.bridge, "id": bridge.bridge_id, "root": bridge.root_id,
            "root cost": bridge.root_cost, "port": port.port, "port id": format!("{:04x}", port.port_id),
            "role": port.role, "state": port.state, "cost": port.cost,
            "designated": designated(port), "edge": if port.edge { "yes" } else { "no" },
            "speaks": port.speaks, "rx": port.received, "tx": port.sent,
            "malformed": port.malformed, "changes": bridge.topology_changes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_states_are_told_port_by_port() {
        let port = SpanningPort {
            port: "p1".into(),
            port_id: 0x8001,
            role: "alternate".into(),
            state: "discarding".into(),
            ..SpanningPort::default()
        };
        let tree = SpanningTree {
            bridge: "lan".into(),
            bridge_id: "8.000.020000000001".into(),
            topology_changes: 3,
            ports: vec![port],
            ..SpanningTree::default()
        };
        let text = SpanningTree::text(&vec![tree.clone()], Style::new(false));
        assert!(text.contains("p1       8001  alternate  discarding"), "{text}");
        let (_, tell) = SpanningTree::METRICS.unwrap();
        let mut out = crate::view::Exposition::default();
        tell(&vec![tree], &mut out);
        let text = out.finish();
        for line in [
            "volley_spanning_tree_topology_changes_total{bridge=\"lan\"} 3\n",
            "volley_spanning_tree_forwarding{bridge=\"lan\",port=\"p1\"} 0\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
