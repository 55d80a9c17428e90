//! Counters that go on where those of the router before ended: of ports, what was dropped of
//! theirs, nodes, bridges, mirrors, twins and next hops. All others begin at zero.
//!
//! ```text
//!  shown = workers' own - what they were when cleared         modulo 2^64
//!  taken over: when cleared -= what was shown
//! ```

use crate::core::Core;
use control::config::field::Field;
use control::config::objects::port::PortName;
use dataplane::{BridgedTotals, InterfaceTotals, MirroredTotals, NodeTotals, TwinnedTotals};
use fib::neighbor::NeighborKey;
use state::counters::Counter;
use std::collections::HashMap;
use std::net::IpAddr;

/// Ports whose counters are read in one turn.
const PORTS: usize = 128;
const PORT: &str = "port";
const DROP: &str = "drop";
const NODE: &str = "node";
const NEXT_HOP: [&str; 2] = ["next-hop4", "next-hop6"];

/// What of one turn is read, and what is left for the next ones.
#[derive(Default)]
pub(super) struct Counting {
    read: Vec<Counter>,
    ports: Option<Vec<PortName>>,
}

impl Counting {
    /// Reads some more; all counters, when none is left.
    pub(super) fn turn(&mut self, core: &Core) -> Option<Vec<Counter>> {
        let ports = self.ports.get_or_insert_with(|| core.ports.names());
        let rest = ports.split_off(ports.len().min(PORTS));
        for name in std::mem::replace(ports, rest) {
            self.read_port(core, &name);
        }
        if self.ports.as_ref().is_some_and(|left| !left.is_empty()) {
            return None;
        }
        self.ports = None;
        self.read_nodes(core);
        self.read_next_hops(core);
        Some(std::mem::take(&mut self.read))
    }

    fn put(&mut self, kind: &str, of: &str, which: &str, value: u64) {
        if value != 0 {
            self.read.push(([kind, of, which].map(str::to_owned), value));
        }
    }

    fn read_port(&mut self, core: &Core, name: &PortName) {
        let Some(port) = core.ports.get(name) else { return };
        let (mut carried, mut taught) = (core.carried(port), core.taught(port));
        let (mut mirrored, mut twinned) =
            (core.mirrored_since_cleared(name), core.twinned_since_cleared(port.id));
        each_field(&mut carried, &mut taught, &mut mirrored, &mut twinned, |field, value| {
            self.put(PORT, name.as_str(), field, *value);
        });
        let errors = core.device_errors(port);
        self.put(PORT, name.as_str(), "rx_errors", errors[0]);
        self.put(PORT, name.as_str(), "tx_errors", errors[1]);
        for count in core.dropped(port) {
            let which = format!("{} {}", count.node, count.reason);
            self.put(DROP, name.as_str(), &which, count.packets);
        }
    }

    fn read_nodes(&mut self, core: &Core) {
        let exits = exits(core);
        for (mut node, exits) in core.nodes_since_cleared().into_iter().zip(exits) {
            let name = node.name;
            each_of_node(&mut node, &exits, |field, value| self.put(NODE, name, field, *value));
        }
    }

    fn read_next_hops(&mut self, core: &Core) {
        let ip4 = core.routing.ip4_next_hops();
        for (at, hop) in core.routing.next_hops().into_iter().enumerate() {
            let Some((port, _)) = core.ports.owner(hop.key.interface) else { continue };
            let of = format!("{port} {}", hop.key.address);
            let [packets, octets] = core.left_by(hop.id);
            let kind = NEXT_HOP[usize::from(at >= ip4)];
            self.put(kind, &of, "packets", packets);
            self.put(kind, &of, "octets", octets);
        }
    }
}

/// Each counter of a port, by its name.
fn each_field(
    carried: &mut InterfaceTotals,
    taught: &mut BridgedTotals,
    mirrored: &mut MirroredTotals,
    twinned: &mut TwinnedTotals,
    mut visit: impl FnMut(&str, &mut u64),
) {
    visit("rx_packets", &mut carried.rx_packets);
    visit("rx_bytes", &mut carried.rx_bytes);
    visit("tx_packets", &mut carried.tx_packets);
    visit("tx_bytes", &mut carried.tx_bytes);
    visit("learned", &mut taught.learned);
    visit("moved", &mut taught.moved);
    visit("not_learned", &mut taught.not_learned);
    visit("mirrored_received", &mut mirrored.received);
    visit("mirrored_sent", &mut mirrored.sent);
    visit("mirrored_lost", &mut mirrored.lost);
    for (class, passed) in twinned.passed.iter_mut().enumerate() {
        visit(&format!("twin_passed_{class}"), passed);
    }
    for (class, limited) in twinned.limited.iter_mut().enumerate() {
        visit(&format!("twin_limited_{class}"), limited);
    }
}

/// The names of the exits of each node.
fn exits(core: &Core) -> Vec<Vec<String>> {
    let name = |edge: &graph::Edge| format!("exit {}", edge.name);
    let nodes = core.dataplane.layout.nodes.iter();
    nodes.map(|node| node.edges.iter().map(name).collect()).collect()
}

/// Each counter of a node, by its name.
fn each_of_node(node: &mut NodeTotals, exits: &[String], mut visit: impl FnMut(&str, &mut u64)) {
    visit("calls", &mut node.calls);
    visit("packets", &mut node.packets);
    visit("cycles", &mut node.cycles);
    visit("taken", &mut node.taken);
    exits.iter().zip(&mut node.exits).for_each(|(name, value)| visit(name, value));
}

/// As they are kept.
pub(super) fn write(all: &[Counter]) -> Vec<u8> {
    state::counters::write(
        all.iter().map(|(names, value)| (names.each_ref().map(|it| &**it), *value)),
    )
}

/// Goes on with them. What this router does not count, or has no port for, is left.
pub(super) fn go_on(core: &mut Core, left: &[Counter]) {
    let mut by_kind: HashMap<&str, HashMap<(&str, &str), u64>> = HashMap::new();
    for ([kind, of, which], value) in left {
        by_kind.entry(kind).or_default().insert((of, which), *value);
    }
    let Core { ports, cleared, dataplane, .. } = &mut *core;
    let less = |then: &mut u64, was: Option<&u64>| {
        *then = then.wrapping_sub(was.copied().unwrap_or_default());
    };
    if let Some(were) = by_kind.get(PORT) {
        for (name, port) in ports.iter() {
            let (id, name) = (port.id, name.as_str());
            each_field(
                cleared.interfaces.entry(id).or_default(),
                cleared.bridged.entry(id).or_default(),
                cleared.mirrored.entry(id).or_default(),
                cleared.twinned.entry(id).or_default(),
                |field, then| less(then, were.get(&(name, field))),
            );
            let errors = ["rx_errors", "tx_errors"].map(|it| were.get(&(name, it)).copied());
            cleared.errors.insert(id, errors.map(Option::unwrap_or_default));
        }
    }
    for ((port, which), was) in by_kind.get(DROP).into_iter().flatten() {
        let id = PortName::from_text(port).ok().and_then(|name| ports.id_of(&name));
        let reasons = &dataplane.layout.reasons;
        let is_it = |node: &str, exit: &str| which.split_once(' ') == Some((node, exit));
        let reason = reasons.iter().find(|reason| is_it(reason.node, &reason.exit));
        if let (Some(id), Some(reason)) = (id, reason) {
            let then = cleared.drops.entry((id, reason.node, reason.exit.clone())).or_default();
            less(then, Some(was));
        }
    }
    if let Some(were) = by_kind.get(NODE) {
        let exits = exits(core);
        let mut nodes = core.dataplane.node_totals(None);
        for (node, exits) in nodes.iter_mut().zip(&exits) {
            let name = node.name;
            // They count from zero: nobody has cleared them.
            *node = NodeTotals { name, exits: vec![0; node.exits.len()], ..NodeTotals::default() };
            each_of_node(node, exits, |field, then| less(then, were.get(&(name, field))));
        }
        core.cleared.nodes = nodes;
    }
    for (is_ip6, kind) in [false, true].into_iter().zip(NEXT_HOP) {
        let Some(were) = by_kind.get(kind) else { continue };
        for ((of, which), was) in were {
            let Some((port, address)) = of.split_once(' ') else { continue };
            let id = PortName::from_text(port).ok().and_then(|name| core.ports.id_of(&name));
            let (Some(interface), Ok(address)) = (id, address.parse::<IpAddr>()) else { continue };
            let key = NeighborKey { interface, address };
            let Some(id) = core.routing.next_hop(!is_ip6, key) else { continue };
            let then = core.cleared.next_hops.entry(id.0).or_default();
            less(&mut then[usize::from(*which == "octets")], Some(was));
        }
    }
}
