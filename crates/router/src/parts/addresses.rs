//! The routes that a port's addresses make, the VRF that they stand in, and what its link is told
//! of them.
//!
//! ```text
//!  same VRF      had ─▶ wanted; what another port there has by now is that one's
//!  another VRF   had ─▶ nothing in the old one, nothing ─▶ wanted in the new one
//! ```

use crate::connected::{self, taken_over};
use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::Part;
use crate::standing::Standing;
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use fib::{Address, FibError};
use std::net::{IpAddr, Ipv4Addr};

/// See the module. What stands of a port is written in the port.
#[derive(Default)]
pub(crate) struct Addresses;

impl Part for Addresses {
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        refresh(core, name).map_err(|error| fault(&format!("port.{name}"), error.to_string()))
    }

    /// IPv6 addresses are announced when nobody else was found to have them.
    fn link_up(&mut self, core: &mut Core, name: &PortName) {
        let Some(port) = core.ports.get(name).filter(|port| announces(port)) else { return };
        for (address, _) in port.addresses() {
            core.neighborhood.announce(port.id, port.mac, Ipv4Addr::from(address).into());
        }
    }
}

fn announces(port: &OpenPort) -> bool {
    port.carries() && !port.config.kind.is_point_to_point()
}

/// Brings routes and neighbours to what the port's addresses, VRF, state and link say.
fn refresh(core: &mut Core, name: &PortName) -> Result<(), FibError> {
    let Some(port) = core.ports.get(name) else { return Ok(()) };
    core.routing.set_mtu(port.id, port.config.mtu);
    let (id, mac, carries, announces) = (port.id, port.mac, port.carries(), announces(port));
    let wanted = Standing {
        vrf: core.vrf_of(&port.config),
        ip4: connected::of_addresses(id, &port.addresses()),
        ip6: connected::of_addresses(id, &port.valid6),
        specials: port.wanted_specials(),
    };
    let new = set_standing(core, name, wanted)?;
    for address in new.into_iter().filter(|_| announces) {
        core.neighborhood.announce(id, mac, address);
    }
    core.change_routes(|routes, link| routes.set_interface(id, carries, link))
}

/// Turns what stands of a port into what it wants; says which addresses are new.
fn set_standing(
    core: &mut Core,
    name: &PortName,
    wanted: Standing,
) -> Result<Vec<IpAddr>, FibError> {
    let stands_in = core.ports.get(name).map(|port| port.standing.vrf);
    if let Some(left) = stands_in.filter(|vrf| *vrf != wanted.vrf) {
        change_standing(core, name, Standing::nothing_in(left))?;
    }
    change_standing(core, name, wanted)
}

fn change_standing(
    core: &mut Core,
    name: &PortName,
    wanted: Standing,
) -> Result<Vec<IpAddr>, FibError> {
    let Some(port) = core.ports.get(name) else { return Ok(Vec::new()) };
    let (id, vrf, had) = (port.id, wanted.vrf, port.standing.clone());
    let makers = core.ports.makers();
    let taken = Standing {
        vrf,
        ip4: taken_over(&had.ip4, &wanted.ip4, |it| makers.ip4.another(vrf, it, id)),
        ip6: taken_over(&had.ip6, &wanted.ip6, |it| makers.ip6.another(vrf, it, id)),
        specials: taken_over(&had.specials, &wanted.specials, |it| {
            makers.specials.another(vrf, it, id)
        }),
    };
    let mut new: Vec<IpAddr> = Vec::new();
    core.change_routes(|routes, link| {
        if let Some(mut routes) = routes.ip4.in_vrf(vrf, link) {
            let own = connected::change(&mut routes, &had.ip4, &wanted.ip4, &taken.ip4)?;
            new.extend(own.into_iter().map(Address::to_ip));
            let (had, taken) = (&had.specials, &taken.specials);
            connected::change_specials(&mut routes, had, &wanted.specials, taken)?;
        }
        if let Some(mut routes) = routes.ip6.in_vrf(vrf, link) {
            let own = connected::change(&mut routes, &had.ip6, &wanted.ip6, &taken.ip6)?;
            new.extend(own.into_iter().map(Address::to_ip));
        }
        Ok(())
    })?;
    let is_there = core.routing.ip4.vrf(vrf).is_some();
    core.ports.set_standing(name, if is_there { wanted } else { Standing::nothing_in(vrf) });
    Ok(new)
}
