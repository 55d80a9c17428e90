//! Where rules of policies lead: next hops that are kept as routes keep theirs, and VRFs.
//!
//! ```text
//!  rule ── via 192.0.2.9 port p1 ──▶ neighbour, pinned ──▶ adjacency ─▶ PolicyWay ─▶ workers
//!                                     p1 carries nothing ──▶ nowhere ─▶ PolicyWay
//! ```

use crate::core::Core;
use control::config::objects::acl::{Acl, Action, Fallback, Rule};
use control::config::objects::port::PortName;
use fib::Forward;
use fib::adjacency::AdjacencyId;
use fib::neighbor::NeighborKey;
use nodes::ip::PolicyWay;
use nodes::tables::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Of each rule of a list: where it leads, if anywhere; nowhere yet. None of a list that leads
/// nowhere.
pub(super) fn ways_of(config: &Acl) -> Arc<[Option<Arc<PolicyWay>>]> {
    if !config.rules.routes() {
        return Arc::default();
    }
    let way = |rule: &Rule| {
        let or_drop = rule.fallback == Some(Fallback::Drop);
        (rule.action == Action::Route).then(|| Arc::new(PolicyWay::new(or_drop)))
    };
    config.rules.iter().map(way).collect()
}

/// Neighbours that rules lead to, whether what they are handed is IPv4, and their adjacencies.
#[derive(Default)]
pub(super) struct Leading(BTreeMap<(bool, NeighborKey), AdjacencyId>);

/// The neighbour that a rule leads to, if there is its port.
fn neighbor(core: &Core, rule: &Rule) -> Option<(bool, NeighborKey)> {
    let (address, port) = (rule.via?, core.ports.get(rule.port.as_ref()?)?);
    Some((address.is_ipv4(), NeighborKey { interface: port.id, address }))
}

impl Leading {
    /// Has these rules, and no others, lead where they shall.
    pub(super) fn lead(&mut self, core: &mut Core, rules: &[(&Rule, &PolicyWay)]) {
        let mut unused = std::mem::take(&mut self.0);
        for (rule, way) in rules {
            let neighbor = neighbor(core, rule);
            let held = neighbor.and_then(|it| {
                let known = unused.remove(&it).or_else(|| self.0.get(&it).copied());
                let id = known.or_else(|| hold(core, it))?;
                self.0.insert(it, id);
                Some(id)
            });
            let carries = |port| core.ports.get(port).is_some_and(|port| port.carries());
            way.lead(match (&rule.vrf, &rule.port, held) {
                (Some(vrf), ..) => Forward::new(Kind::Vrf as u8, core.vrfs.of(Some(vrf)).0.into()),
                (None, Some(port), Some(id)) if carries(port) => {
                    Forward::new(Kind::Rewrite as u8, id.0)
                }
                _ => Forward::NONE,
            });
        }
        release(core, unused.into_keys());
    }

    /// A port's neighbours are others from now on.
    pub(super) fn leave(&mut self, core: &mut Core, port: &PortName) {
        let Some(interface) = core.ports.get(port).map(|port| port.id) else { return };
        let is_behind = |(_, key): &&(bool, NeighborKey)| key.interface == interface;
        let gone: Vec<_> = self.0.keys().filter(is_behind).copied().collect();
        self.0.retain(|(_, key), _| key.interface != interface);
        release(core, gone.into_iter());
    }
}

fn hold(core: &mut Core, (is_ip4, key): (bool, NeighborKey)) -> Option<AdjacencyId> {
    core.change_routes(|routes, link| routes.hold(is_ip4, key, link)).unwrap_or_else(|error| {
        tracing::warn!(fault = "policy", %error, "a next hop of a policy: {}", key.address);
        None
    })
}

fn release(core: &mut Core, neighbors: impl Iterator<Item = (bool, NeighborKey)>) {
    for (is_ip4, key) in neighbors {
        core.change_routes(|routes, _| routes.let_go(is_ip4, key));
    }
}
