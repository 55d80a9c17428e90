//! Which port leads to the root, and what the others are for it (section 17.28).

use crate::bridge::Bridge;
use crate::port::{InfoIs, Role};
use crate::vector::Vector;

impl Bridge {
    /// Chooses roles anew, if a port asks for it; whether it did.
    pub(crate) fn select_roles(&mut self) -> bool {
        let asked = self.ports.values().any(|port| port.reselect);
        if !std::mem::take(&mut self.reselect) && !asked {
            return false;
        }
        self.ports.values_mut().for_each(|port| port.reselect = false);
        self.choose_root();
        self.choose_roles();
        self.ports.values_mut().for_each(|port| port.selected = true);
        true
    }

    /// The best of all ways to a root, of which being it ourselves is one.
    fn choose_root(&mut self) {
        let own = self.id();
        let at_home = Vector { root: own, cost: 0, bridge: own, port: 0 };
        let mut best = (at_home, 0, None);
        for (&key, port) in &self.ports {
            let is_heard = port.info_is == InfoIs::Received;
            // What comes from ourselves leads to nobody.
            if !is_heard || port.priority.bridge.address() == own.address() {
                continue;
            }
            let cost = port.priority.cost.saturating_add(port.settings.path_cost);
            let way = (Vector { cost, ..port.priority }, port.id(), Some(key));
            if (way.0, way.1) < (best.0, best.1) {
                best = way;
            }
        }
        let (vector, _, key) = best;
        let had = (self.root_port, self.root.root);
        (self.root, self.root_port) = (vector, key);
        self.root_changes += u64::from(had != (key, vector.root));
        self.root_times = match key.and_then(|key| self.ports.get(&key)) {
            Some(port) => {
                let message_age = port.times.message_age.saturating_add(1);
                crate::Times { message_age, ..port.times }
            }
            None => self.own_times(),
        };
    }

    fn choose_roles(&mut self) {
        let (own, root, root_port) = (self.id(), self.root, self.root_port);
        let times = crate::Times { hello: crate::HELLO_S, ..self.root_times };
        for (&key, port) in &mut self.ports {
            let id = port.id();
            port.designated = Vector { root: root.root, cost: root.cost, bridge: own, port: id };
            port.designated_times = times;
            let is_ours = port.priority.bridge.address() == own.address();
            (port.selected_role, port.update_info) = match port.info_is {
                InfoIs::Disabled => (Role::Disabled, false),
                InfoIs::Aged => (Role::Designated, true),
                InfoIs::Mine => {
                    let differs = (port.priority, port.times) != (port.designated, times);
                    (Role::Designated, differs)
                }
                InfoIs::Received if root_port == Some(key) => (Role::Root, false),
                InfoIs::Received if port.designated < port.priority => (Role::Designated, true),
                InfoIs::Received if is_ours => (Role::Backup, false),
                InfoIs::Received => (Role::Alternate, false),
            };
        }
    }
}
