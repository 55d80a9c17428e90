//! What IPv6 wants of the control thread beside what both families want: addresses that are
//! tried before they are used, and routers that advertise themselves.

mod advertisement;
mod advertiser;
mod dad;

use crate::core::Core;
use crate::part::{Hears, Part};
use advertiser::Advertiser;
use control::config::objects::port::{Port, PortName};
use control::config::objects::port_ra::Ra;
use control::engine::ApplyError;
use dad::{Dad, State};
use nodes::tables::{NdNews, NdSaid};
use std::net::Ipv6Addr;
use std::time::{Duration, Instant};
use wire::ipv6;

/// See the module.
#[derive(Default)]
pub(crate) struct Discovery {
    dad: Dad,
    advertiser: Advertiser,
}

impl Part for Discovery {
    /// A port is about to advertise itself no more: hosts are told not to use it as their router
    /// (RFC 4861 section 6.2.5), while frames still leave by it.
    fn leave(&mut self, core: &mut Core, name: &PortName, next: Option<&Port>) {
        if !next.is_some_and(Port::advertises) {
            self.end_advertising(core, name);
        }
    }

    /// Brings what is tried and advertised to what the port's configuration and link say.
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
        for new in self.dad.set(now_ns, id, &addresses) {
            core.neighborhood.probe(id, mac, new);
        }
        let is = |own: u128, wanted: fn(State) -> bool| self.dad.state(id, own).is_some_and(wanted);
        let valid = |&&(own, _): &&(u128, u8)| is(own, |state| state == State::Valid);
        port.valid6 = configured.iter().filter(valid).copied().collect();
        let tentative = |&own: &u128| is(own, |state| matches!(state, State::Tentative { .. }));
        port.tentative6 = addresses.into_iter().filter(tentative).collect();
        let has_link_local = port.valid6.iter().any(|&(own, _)| ipv6::is_link_local(own));
        let advertises = port.config.ra.as_ref().filter(|_| has_link_local);
        let interval_ns = advertises.map(|ra| ra.interval.as_nanos() as u64);
        self.advertiser.set(now_ns, id, interval_ns);
        Ok(())
    }

    /// Addresses that nobody claimed are used, routers advertised.
    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        let now_ns = core.now_ns();
        for (id, _) in self.dad.tick(now_ns) {
            touch(core, id);
        }
        for id in self.advertiser.due(now_ns) {
            let Some((_, port)) = core.port_of(id) else { continue };
            let frame = port.config.ra.as_ref().and_then(|ra| advertisement::frame(port, ra));
            if let Some(frame) = frame {
                core.neighborhood.send(id, &frame);
            }
        }
        false
    }

    fn next_due_ns(&self) -> Option<u64> {
        [self.dad.next_due_ns(), self.advertiser.next_due_ns()].into_iter().flatten().min()
    }
}

/// What neighbour discovery says of neighbours is believed. A claim on an address of ours ends its
/// trial, or is told and answered.
impl Hears<NdNews> for Discovery {
    fn hear(&mut self, core: &mut Core, news: NdNews) {
        let (interface, now_ns) = (news.interface, core.now_ns());
        let claimed = match news.said {
            NdSaid::Solicited { target } if news.source == 0 => Some(target),
            NdSaid::Advertised { target, .. } => Some(target),
            NdSaid::Solicited { .. } => None,
            NdSaid::RouterWanted => {
                self.advertiser.asked(now_ns, interface);
                None
            }
        };
        let mac = news.mac.unwrap_or_default();
        let own = claimed.and_then(|address| Some((address, self.dad.state(interface, address)?)));
        match own {
            Some((address, State::Tentative { .. })) => {
                self.dad.claimed(interface, address);
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
            Some((_, State::Duplicate)) | None if news.source != 0 => {
                core.neighborhood.heard_nd(now_ns, &news);
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

impl Discovery {
    fn end_advertising(&mut self, core: &mut Core, name: &PortName) {
        let Some(port) = core.ports.get(name) else { return };
        let id = port.id;
        let ra = port.config.ra.as_ref().filter(|_| self.advertiser.is_set(id));
        let last = ra.map(|ra| Ra { lifetime: Duration::ZERO, ..ra.clone() });
        let Some(frame) = last.and_then(|ra| advertisement::frame(port, &ra)) else { return };
        self.advertiser.set(core.now_ns(), id, None);
        core.neighborhood.send(id, &frame);
        core.await_injected();
    }
}
