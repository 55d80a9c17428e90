//! The hosts at one end of a tin's flows, and how many flows of theirs are busy.

use super::places::Places;

/// See the module.
pub(super) struct Hosts {
    places: Places,
    hosts: Vec<Host>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Host {
    /// Flows that have it.
    flows: u32,
    /// Those of them that are busy: more waits than they may send in a turn.
    busy: u32,
}

/// A host's place; of a flow that shares with nobody, none.
pub(super) type HostAt = Option<u32>;

impl Hosts {
    /// Room for so many.
    pub(super) fn new(hosts: usize) -> Self {
        let places = Places::new(hosts);
        Self { hosts: vec![Host::default(); places.len()], places }
    }

    /// One flow more of this host.
    pub(super) fn join(&mut self, host: u32) -> HostAt {
        let Self { places, hosts } = self;
        let at = places.find(host, |at| hosts[at].flows != 0).at;
        hosts[at].flows += 1;
        Some(at as u32)
    }

    /// One flow less, that is not busy.
    pub(super) fn leave(&mut self, host: HostAt) {
        self.change(host, |host| host.flows -= 1);
    }

    /// One busy flow more.
    pub(super) fn get_busy(&mut self, host: HostAt) {
        self.change(host, |host| host.busy += 1);
    }

    /// One busy flow less.
    pub(super) fn rest(&mut self, host: HostAt) {
        self.change(host, |host| host.busy -= 1);
    }

    /// Among how many flows what the host has is shared.
    pub(super) fn sharers(&self, host: HostAt) -> u32 {
        host.and_then(|at| self.hosts.get(at as usize)).map_or(1, |host| host.busy.max(1))
    }

    fn change(&mut self, host: HostAt, change: impl FnOnce(&mut Host)) {
        if let Some(host) = host.and_then(|at| self.hosts.get_mut(at as usize)) {
            change(host);
        }
    }
}
