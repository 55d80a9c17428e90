//! Nodes and what they decided.

use super::answer::*;

/// A node's counters, all workers together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// How often it ran.
    pub calls: u64,
    /// Packets it decided about.
    pub packets: u64,
    /// Packets a call, on average.
    pub packets_per_call: f64,
    /// Processor cycles a packet, on average.
    pub cycles_per_packet: f64,
    /// Where the packets went.
    pub exits: Vec<Exit>,
}

/// One way out of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Exit {
    /// Its name: what the node decided.
    pub name: String,
    /// Node it leads to.
    pub to: String,
    /// Packets that took it.
    pub packets: u64,
}

impl View for Node {
    view!("show nodes", "/v1/nodes", All => Vec<Self>, "Nodes, their calls, packets and cycles");
    counters!("calls", "packets");
    const METRICS: Option<Metrics<Self>> = Some((All, |nodes, out| {
        out.of(nodes, |node| [("node", &node.name)])
            .counter("node_calls", "Calls of a node.", |node| node.calls)
            .counter("node_packets", "Packets a node decided about.", |node| node.packets)
            .gauge("node_cycles_per_packet", "Cycles a packet, on average.", |node| {
                node.cycles_per_packet
            });
        let exits = nodes.iter().flat_map(|node| node.exits.iter().map(move |exit| (node, exit)));
        out.of(exits, |(node, exit)| [("node", &node.name), ("exit", &exit.name)]).counter(
            "exit_packets",
            "Packets that took an exit.",
            |(_, exit)| exit.packets,
        );
    }));

    const BUSY: Option<fn(&mut Vec<Self>) -> usize> = Some(|nodes| {
        let all = nodes.len();
        nodes.retain(|node| node.packets > 0);
        all - nodes.len()
    });

    fn table(nodes: &Vec<Self>) -> Table {
        let exits = |node: &Self| {
            let taken = node.exits.iter().filter(|exit| exit.packets > 0);
            let exits = taken.map(|exit| format!("{} {}", exit.name, exit.packets));
            exits.collect::<Vec<_>>().join("  ")
        };
        table!(nodes, node => {
            "node": node.name, "calls": node.calls, "packets": node.packets,
            "packets/call": format!("{:.1}", node.packets_per_call),
            "cycles/packet": format!("{:.1}", node.cycles_per_packet), "exits": exits(node),
        })
    }

    fn average_since(then: &Vec<Self>, now: &mut Vec<Self>) {
        for node in now {
            let Some(old) = then.iter().find(|old| old.name == node.name) else { continue };
            let cycles = |node: &Self| node.cycles_per_packet * node.packets as f64;
            let packets = node.packets.saturating_sub(old.packets) as f64;
            let calls = node.calls.saturating_sub(old.calls).max(1) as f64;
            let spent = (cycles(node) - cycles(old)).max(0.0);
            node.packets_per_call = packets / calls;
            node.cycles_per_packet = if packets == 0.0 { 0.0 } else { spent / packets };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rates;
    use std::time::Duration;

    fn node(calls: u64, packets: u64, cycles_per_packet: f64) -> serde_json::Value {
        let exits = vec![Exit { name: "ip4".into(), to: "ip4-input".into(), packets }];
        let packets_per_call = packets as f64 / calls as f64;
        let name = "n".into();
        let node = Node { name, calls, packets, packets_per_call, cycles_per_packet, exits };
        serde_json::to_value([node]).unwrap()
    }

    #[test]
    fn rates_are_of_the_time_between_two_readings() {
        let elapsed = Duration::from_secs(2);
        let rates = rates::<Node>(&node(10, 1000, 50.0), node(30, 3000, 30.0), elapsed).unwrap();
        let rates: Vec<Node> = serde_json::from_value(rates).unwrap();
        assert_eq!((rates[0].calls, rates[0].packets, rates[0].exits[0].packets), (10, 1000, 1000));
        assert_eq!((rates[0].packets_per_call, rates[0].cycles_per_packet), (100.0, 20.0));
    }
}
