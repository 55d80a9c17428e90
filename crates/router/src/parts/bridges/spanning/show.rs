//! What bridges that are part of a spanning tree are shown as.

use super::super::Bridges;
use super::Tree;
use crate::core::Core;
use control::config::objects::bridge_rstp::RstpVersion;
use control::view;
use rstp::{Role, State};

/// What a role is called.
pub(super) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Disabled => "disabled",
        Role::Root => "root",
        Role::Designated => "designated",
        Role::Alternate => "alternate",
        Role::Backup => "backup",
    }
}

/// What a state is called.
pub(super) fn state_word(state: State) -> &'static str {
    match state {
        State::Discarding => "discarding",
        State::Learning => "learning",
        State::Forwarding => "forwarding",
    }
}

fn version_word(is_rapid: bool) -> &'static str {
    if is_rapid { RstpVersion::Rstp.word() } else { RstpVersion::Stp.word() }
}

impl Bridges {
    pub(crate) fn show_spanning(&self, core: &Core) -> Vec<view::SpanningTree> {
        self.spanning.trees.values().map(|tree| tree.show(core.now_ns())).collect()
    }
}

impl Tree {
    fn show(&self, now_ns: u64) -> view::SpanningTree {
        let machine = &self.machine;
        let (root, times) = (machine.root(), machine.times());
        let root_port = machine.root_port();
        let since_s = |then_ns: u64| now_ns.saturating_sub(then_ns) / 1_000_000_000;
        let (changes, changed_ns) = machine.changes();
        let port = |(id, port): (u16, &rstp::Port)| {
            let vector = port.vector();
            view::SpanningPort {
                port: self.names.get(&id).map_or_else(String::new, ToString::to_string),
                port_id: port.id(),
                role: role_word(port.role()).to_owned(),
                state: state_word(port.state()).to_owned(),
                cost: port.cost(),
                designated_id: vector.bridge.to_string(),
                designated_port_id: vector.port,
                designated_cost: vector.cost,
                edge: port.is_edge(),
                speaks: version_word(port.is_rapid()).to_owned(),
                sent: port.sent(),
                received: port.received(),
                malformed: port.malformed(),
                since_s: since_s(port.since_ns()),
            }
        };
        let root_port_name = root_port.and_then(|id| self.names.get(&id));
        view::SpanningTree {
            bridge: self.name.to_string(),
            version: version_word(machine.settings().is_rapid).to_owned(),
            bridge_id: machine.id().to_string(),
            root_id: root.root.to_string(),
            root_cost: root.cost,
            root_port: root_port_name.map(ToString::to_string),
            root_port_id: root_port.and_then(|id| machine.port(id)).map_or(0, rstp::Port::id),
            designated_id: root.bridge.to_string(),
            designated_port_id: root.port,
            max_age_s: times.max_age,
            forward_delay_s: times.forward_delay,
            own_max_age_s: machine.settings().max_age_s,
            own_forward_delay_s: machine.settings().forward_delay_s,
            topology_changes: changes,
            last_change_s: (changes > 0).then(|| since_s(changed_ns)),
            root_changes: machine.root_changes(),
            ports: machine.ports().map(port).collect(),
        }
    }
}
