//! What the router lacks of what there is to be, and has of what there was: as commands.
//!
//! ```text
//! State ─ Running = steps: each is made whole or not at all, and one that cannot be made leaves the others
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::state::{State, gateway_of, port_of};

/// What the router has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Running {
    /// Bridges with their ports.
    pub(super) bridges: BTreeMap<String, BTreeSet<String>>,
    /// All ports.
    pub(super) ports: BTreeSet<String>,
}

/// Commands that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The network or container's end that they are for; empty of what is to go.
    pub(super) of: String,
    /// The commands.
    pub(super) commands: Vec<String>,
}

impl Running {
    fn is_in(&self, port: &str, bridge: &str) -> bool {
        self.bridges.get(bridge).is_some_and(|ports| ports.contains(port))
    }

    /// Has a port, made by `add` where it is missing, in a bridge.
    fn joins(&self, port: &str, bridge: &str, add: String) -> Vec<String> {
        let mut step = Vec::new();
        if !self.ports.contains(port) {
            step.push(add);
        }
        if !self.is_in(port, bridge) {
            step.push(format!("bridge join {bridge} {port}"));
        }
        step
    }

    /// Takes ports and bridges away that are there, in the order in which that is allowed.
    fn without(&self, names: &BTreeSet<String>) -> Vec<String> {
        let mut step = Vec::new();
        for (bridge, ports) in &self.bridges {
            let gone = ports.iter().filter(|port| names.contains(*port));
            step.extend(gone.map(|port| format!("bridge leave {bridge} {port}")));
        }
        step.extend(self.ports.intersection(names).map(|port| format!("port del {port}")));
        let bridges = self.bridges.keys().filter(|bridge| names.contains(*bridge));
        step.extend(bridges.map(|bridge| format!("bridge del {bridge}")));
        step
    }
}

/// What is to be done; `has` tells whether a device is there, without which there is no port.
pub(super) fn plan(state: &State, running: &Running, has: impl Fn(&str) -> bool) -> Vec<Step> {
    let step = |of: &str, commands| Step { of: of.to_owned(), commands };
    let mut steps = vec![step("", running.without(&state.doomed))];
    for (id, network) in &state.networks {
        let bridge = &network.bridge;
        let mut commands = Vec::new();
        if network.owned && !running.bridges.contains_key(bridge) {
            commands.push(format!("bridge add {bridge}"));
        }
        if let (false, Ok(port)) = (network.addresses.is_empty(), gateway_of(id)) {
            let addresses = network.addresses.join(",");
            let mtu = mtu(network.mtu);
            let add = format!("port add {port} bvi addresses {addresses}{mtu}");
            commands.extend(running.joins(&port, bridge, add));
        }
        steps.push(step(id, commands));
    }
    for (id, endpoint) in &state.endpoints {
        let (Some(network), Ok(port)) = (state.networks.get(&endpoint.network), port_of(id)) else {
            continue;
        };
        if has(&port) {
            let add = format!("port add {port} af_packet device {port}{}", mtu(network.mtu));
            steps.push(step(id, running.joins(&port, &network.bridge, add)));
        }
    }
    steps.retain(|step| !step.commands.is_empty());
    steps
}

fn mtu(mtu: Option<u16>) -> String {
    mtu.map(|mtu| format!(" mtu {mtu}")).unwrap_or_default()
}
