//! What must be so after every step: packets are conserved, by nodes, by links and by the reasons
//! of those that did not come out.
//!
//! ```text
//!  links ─ given ─▶ port-rx ─▶ … ─▶ port-tx ─ taken ─▶ links
//!                     each node: in = out + kept        each arrow: as many arrive as left
//! ```

use crate::world::Stage;
use control::view::{self, Answer};
use router::Router;
use std::collections::HashMap;

/// Nodes whose packets come from outside of the graph.
const SOURCES: &[&str] = &["port-rx", "inject"];
/// Nodes that send packets of their own, or one several times.
const MAKERS: &[&str] = &[
    "flow-act",
    "ip4-fragment",
    "l2-flood",
    "l2-multicast",
    "mirror-input",
    "mirror-output",
    "nat64-cut",
    "shape",
];

/// What links had carried when counters were cleared last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Since {
    given: u64,
    taken: u64,
}

impl Since {
    /// Counters are cleared now.
    pub(crate) fn now(stage: &Stage) -> Self {
        let each = stage.lines.all().map(|(_, line)| {
            let line = line.lock();
            (line.given, line.taken)
        });
        let (given, taken) = each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Self { given, taken }
    }
}

fn whole<V: view::View>(router: &mut Router, filter: &V::Filter) -> Result<V::Reply, String>
where
    Router: Answer<V>,
{
    let shown = Answer::<V>::answer(router, filter);
    shown.map(view::Shown::whole).map_err(|error| error.to_string())
}

/// Whether no packet came from nowhere, and none went there.
pub(crate) fn conserved(stage: &mut Stage, since: Since) -> Result<(), String> {
    let now = Since::now(stage);
    let nodes = whole::<view::Node>(&mut stage.router, &view::All)?;
    let packets =
        |name: &str| nodes.iter().find(|node| node.name == name).map_or(0, |it| it.packets);
    let mut arrows: HashMap<&str, u64> = HashMap::new();
    for exit in nodes.iter().flat_map(|from| &from.exits).filter(|exit| exit.packets != 0) {
        *arrows.entry(&exit.to).or_default() += exit.packets;
    }
    for node in &nodes {
        let left: u64 = node.exits.iter().map(|exit| exit.packets).sum();
        let made = left.checked_sub(node.packets);
        if made.is_none_or(|made| made != 0 && !MAKERS.contains(&&*node.name)) {
            let (name, came) = (&node.name, node.packets);
            return Err(format!("{came} packets came to {name}, and {left} left or stayed"));
        }
        if !SOURCES.contains(&&*node.name) {
            let sent = arrows.get(&*node.name).copied().unwrap_or(0);
            if sent != node.packets {
                let (name, came) = (&node.name, node.packets);
                return Err(format!("{sent} packets were sent to {name}, and {came} came"));
            }
        }
    }
    let taken_by = |name: &str| {
        let node = nodes.iter().find(|node| node.name == name);
        let taken = node.and_then(|node| node.exits.iter().find(|exit| exit.name == "taken"));
        taken.map_or(0, |exit| exit.packets)
    };
    let (given, received) = (now.given - since.given, packets("port-rx"));
    if given != received {
        return Err(format!("links gave {given} packets, and the router received {received}"));
    }
    let (taken, sent) = (now.taken - since.taken, taken_by("port-tx"));
    if taken != sent {
        return Err(format!("the router sent {sent} packets, and links took {taken}"));
    }
    let drops = whole::<view::Drop>(&mut stage.router, &view::All)?;
    if let Some(drop) = drops.iter().find(|drop| drop.meaning.is_empty()) {
        return Err(format!("nobody says what {} {} means", drop.node, drop.reason));
    }
    // Those of ports that are gone went with them.
    let told = drops.iter().filter(|drop| !drop.answered).map(|drop| drop.packets).sum::<u64>();
    let dropped = taken_by("drop");
    if told > dropped {
        return Err(format!("{dropped} packets were dropped, and reasons are told of {told}"));
    }
    Ok(())
}

/// Whether no more connections are known than there is room for, and none where nobody wants any.
pub(crate) fn bounded(stage: &mut Stage) -> Result<(), String> {
    let filter = view::ConnectionFilter { limit: Some(1), ..Default::default() };
    let it = whole::<view::Connections>(&mut stage.router, &filter)?;
    if it.taken > it.room || it.begun < it.taken + it.evicted {
        let view::Connections { room, taken, begun, evicted, .. } = it;
        return Err(format!(
            "of {begun} connections {taken} are known, where there is room for {room}, and \
            {evicted} made room"
        ));
    }
    Ok(())
}

/// Whether bridges that nobody speaks to any more have come to rest, each as the root.
pub(crate) fn rested(stage: &mut Stage) -> Result<(), String> {
    for tree in whole::<view::SpanningTree>(&mut stage.router, &view::All)? {
        let (bridge, own, root) = (&tree.bridge, &tree.bridge_id, &tree.root_id);
        if own != root || tree.root_port.is_some() {
            return Err(format!(
                "{bridge}, {own}, still believes in {root}, of which nobody tells"
            ));
        }
        let waits = |it: &&view::SpanningPort| {
            it.role != "disabled" && (&it.role[..], &it.state[..]) != ("designated", "forwarding")
        };
        if let Some(view::SpanningPort { port, role, state, .. }) = tree.ports.iter().find(waits) {
            return Err(format!("{port} of {bridge} is still {role} and {state}"));
        }
    }
    Ok(())
}

impl Stage {
    /// Why packets were dropped that came in by these ports.
    pub(crate) fn drops_at(&mut self, ports: &[&str]) -> Result<String, String> {
        let drops = whole::<view::Drop>(&mut self.router, &view::All)?;
        let here = drops.iter().filter(|drop| {
            drop.packets != 0 && drop.port.as_ref().is_some_and(|port| ports.contains(&&**port))
        });
        let told = here.map(|it| format!("{} {} {}", it.packets, it.node, it.reason));
        Ok(told.collect::<Vec<_>>().join(", "))
    }
}
