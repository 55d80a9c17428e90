//! What controllers are shown as.

use super::super::Bridges;
use super::hub::Seen;
use super::locked;
use control::view;
use openflow::Version;
use openflow::message::Role;

impl Bridges {
    pub(crate) fn show_controllers(&self) -> Vec<view::Controller> {
        let mut shown = Vec::new();
        for (name, bridge) in &self.bridges {
            let Some(open) = self.flows.open.get(&bridge.id) else { continue };
            for controller in &open.controllers {
                let peers = controller.peers();
                let (connections, state, problem) = controller.state();
                let hub = locked(&open.hub);
                let seen: Vec<Seen> = peers.iter().filter_map(|peer| hub.seen(*peer)).collect();
                let one = match &seen[..] {
                    [one] => Some(one),
                    _ => None,
                };
                shown.push(view::Controller {
                    bridge: name.to_string(),
                    target: controller.config.target.text(),
                    connected: seen.len() as u64,
                    role: one.map(|it| role(it.role).to_owned()),
                    version: one.and_then(|it| it.version).map(|it| version(it).to_owned()),
                    state_s: state.as_secs(),
                    connections,
                    missed: seen.iter().map(|it| it.missed).sum(),
                    fails_open: hub.fails_open(),
                    problem,
                });
            }
        }
        shown
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Master => "master",
        Role::Slave => "slave",
        Role::Equal | Role::NoChange => "equal",
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::V10 => "1.0",
        Version::V13 => "1.3",
        Version::V14 => "1.4",
        Version::V15 => "1.5",
    }
}
