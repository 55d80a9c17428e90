//! Duplicate address detection (RFC 4862 section 5.4): IPv6 addresses are tried before they are
//! used, and what neighbours say of them is heeded; what they say of others is learned.
//!
//! ```text
//!  a port's addresses ─▶ tentative ─▶ solicited, nobody answers ─▶ valid6 of the port ─▶ its routes
//! ```

mod trials;

use crate::core::Core;
use crate::part::{Hears, Part};
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use nodes::tables::{NdHeard, NdSaid};
use std::net::Ipv6Addr;
use std::time::Instant;
use trials::{State, Trials};

/// See the module.
#[derive(Default)]
pub(crate) struct DuplicateDetection {
    trials: Trials,
}

impl Part for DuplicateDetection {
    /// Brings what is tried to what the port's configuration and link say.
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        let now_ns = core.now_ns();
        let Some(port) = core.ports.get_mut(name) else { return Ok(()) };
        let (id, mac, configured) = (port.id, port.mac, port.used6());
        if port.config.kind.is_point_to_point() {
            // Nobody else is on the link.
            port.valid6 = configured;
            return Ok(());
        }
        let addresses: Vec<u128> = configured.iter().map(|&(own, _)| own).collect();
        for new in self.trials.set(now_ns, id, &addresses) {
            core.neighborhood.probe(id, mac, new);
        }
        let state = |own: u128| self.trials.state(id, own);
        let valid = |&&(own, _): &&(u128, u8)| state(own) == Some(State::Valid);
        port.valid6 = configured.iter().filter(valid).copied().collect();
        let tentative = |&own: &u128| matches!(state(own), Some(State::Tentative { .. }));
        port.tentative6 = addresses.into_iter().filter(tentative).collect();
        Ok(())
    }

    /// Addresses that nobody claimed are used.
    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        for (id, _) in self.trials.tick(core.now_ns()) {
            touch(core, id);
        }
        false
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.trials.next_due_ns()
    }
}

/// What neighbour discovery says of neighbours is believed. A claim on an address of ours ends its
/// trial, or is told and answered.
impl Hears<NdHeard> for DuplicateDetection {
    fn hear(&mut self, core: &mut Core, punt: NdHeard) {
        let (interface, now_ns) = (punt.interface, core.now_ns());
        let claimed = match punt.said {
            NdSaid::Solicited { target } if punt.source == 0 => Some(target),
            NdSaid::Advertised { target, .. } => Some(target),
            NdSaid::Solicited { .. } => None,
        };
        let mac = punt.mac.unwrap_or_default();
        let state = |address| self.trials.state(interface, address);
        match claimed.and_then(|address| Some((address, state(address)?))) {
            Some((address, State::Tentative { .. })) => {
                self.trials.claimed(interface, address);
                let (ours, theirs) = (Ipv6Addr::from(address), wire::MacAddr(mac));
                tracing::warn!(fault = "duplicate-address", "{ours} is not used: {theirs} has it");
                touch(core, interface);
            }
            Some((address, State::Valid)) => {
                let Some(own_mac) = core.port_of(interface).map(|(_, port)| port.mac) else {
                    return;
                };
                let own = Ipv6Addr::from(address).into();
                core.neighborhood.defend(now_ns, interface, own, mac, own_mac);
            }
            Some((_, State::Duplicate)) | None if punt.source != 0 => {
                core.neighborhood.heard_nd(now_ns, &punt);
            }
            Some((_, State::Duplicate)) | None => {}
        }
    }
}

/// What is known of the IPv6 addresses of an interface's port changed.
fn touch(core: &mut Core, id: u16) {
    if let Some(name) = core.port_of(id).map(|(name, _)| name.clone()) {
        core.touch(name);
    }
}
