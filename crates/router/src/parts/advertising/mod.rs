//! Router advertisements (RFC 4861 section 6.2): the router tells hosts that it is there, and which
//! prefixes are on the link.
//!
//! ```text
//!  a port with `ra`, its link-local address tried ─▶ timers ─▶ due ─▶ frame
//!  a host asks ─────────────────────────────────────────┘
//! ```

mod frame;
mod timers;

use crate::core::Core;
use crate::part::{Hears, Part};
use control::config::objects::port::{Port, PortName};
use control::config::objects::port_ra::Ra;
use control::engine::ApplyError;
use nodes::tables::RouterWanted;
use std::collections::HashMap;
use std::time::Instant;
use timers::Timers;
use wire::ipv6;

/// See the module.
#[derive(Default)]
pub(crate) struct Advertising {
    timers: Timers,
    /// What each interface says.
    said: HashMap<u16, Ra>,
}

impl Part for Advertising {
    /// A port is about to advertise itself no more: hosts are told not to use it as their router
    /// (RFC 4861 section 6.2.5), while frames still leave by it.
    fn leave(&mut self, core: &mut Core, name: &PortName, next: Option<&Port>) {
        if !next.is_some_and(Port::advertises) {
            self.end(core, name);
        }
    }

    /// Advertises as the port's configuration says, once its link-local address is known to be its.
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        let now_ns = core.now_ns();
        let Some(port) = core.ports.get(name) else { return Ok(()) };
        if !port.config.kind.is_point_to_point() {
            let has_link_local = port.valid6.iter().any(|&(own, _)| ipv6::is_link_local(own));
            let ra = port.config.ra.as_ref().filter(|_| has_link_local);
            self.timers.set(now_ns, port.id, ra.map(|ra| ra.interval.as_nanos() as u64));
            let before = match ra {
                Some(ra) => self.said.insert(port.id, ra.clone()),
                None => self.said.remove(&port.id),
            };
            // Hosts hear soon of what is said otherwise now (RFC 4861 section 6.2.4).
            if before.is_some() && before.as_ref() != ra {
                self.timers.asked(now_ns, port.id);
            }
        }
        Ok(())
    }

    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        self.beat(core, now);
        false
    }

    fn beat(&mut self, core: &mut Core, _: Instant) {
        for id in self.timers.due(core.now_ns()) {
            let Some((_, port)) = core.port_of(id) else { continue };
            let frame = port.config.ra.as_ref().and_then(|ra| frame::frame(port, ra, false));
            if let Some(frame) = frame {
                core.neighborhood.send(id, &frame);
            }
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.timers.next_due_ns()
    }
}

/// A host that looks for routers is answered, and where it is is learned, if it said.
impl Hears<RouterWanted> for Advertising {
    fn hear(&mut self, core: &mut Core, punt: RouterWanted) {
        let now_ns = core.now_ns();
        self.timers.asked(now_ns, punt.interface);
        if let Some(mac) = punt.mac.filter(|_| punt.source != 0) {
            core.neighborhood.asked_by(now_ns, punt.interface, punt.source, mac);
        }
    }
}

impl Advertising {
    fn end(&mut self, core: &mut Core, name: &PortName) {
        let Some(port) = core.ports.get(name) else { return };
        let id = port.id;
        let ra = port.config.ra.as_ref().filter(|_| self.timers.is_set(id));
        let Some(frame) = ra.and_then(|ra| frame::frame(port, ra, true)) else { return };
        self.said.remove(&id);
        self.timers.set(core.now_ns(), id, None);
        core.neighborhood.send(id, &frame);
        core.await_injected();
    }
}
