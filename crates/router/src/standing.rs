//! The routes that a port's addresses make, and the VRF that they stand in.
//!
//! ```text
//!  same VRF      had ─▶ wanted; what another port there has by now is that one's
//!  another VRF   had ─▶ nothing in the old one, nothing ─▶ wanted in the new one
//! ```

use crate::connected::{self, Connected, Specials, taken_over};
use crate::router::Router;
use control::config::objects::port::PortName;
use fib::{Address, FibError};
use nodes::tables::VrfId;
use std::net::IpAddr;

/// What stands because of a port's addresses.
#[derive(Clone, Default)]
pub(crate) struct Standing {
    pub(crate) vrf: VrfId,
    pub(crate) ip4: Connected<u32>,
    pub(crate) ip6: Connected<u128>,
    /// Broadcast addresses of its networks.
    pub(crate) specials: Specials,
}

impl Standing {
    /// Nothing, in a VRF.
    pub(crate) fn nothing_in(vrf: VrfId) -> Self {
        Self { vrf, ..Self::default() }
    }
}

impl Router {
    /// Turns what stands of a port into what it wants; says which addresses are new.
    pub(crate) fn set_standing(
        &mut self,
        name: &PortName,
        wanted: Standing,
    ) -> Result<Vec<IpAddr>, FibError> {
        let stands_in = self.ports.get(name).map(|port| port.standing.vrf);
        if let Some(left) = stands_in.filter(|vrf| *vrf != wanted.vrf) {
            self.change_standing(name, Standing::nothing_in(left))?;
        }
        self.change_standing(name, wanted)
    }

    fn change_standing(
        &mut self,
        name: &PortName,
        wanted: Standing,
    ) -> Result<Vec<IpAddr>, FibError> {
        let Some(port) = self.ports.get(name) else { return Ok(Vec::new()) };
        let (vrf, had) = (wanted.vrf, port.standing.clone());
        let others = self.ports.iter().filter(|&(other, _)| other != name);
        let others = others.map(|(_, port)| &port.standing).filter(|other| other.vrf == vrf);
        let taken = Standing {
            vrf,
            ip4: taken_over(&had.ip4, &wanted.ip4, others.clone().map(|other| &other.ip4)),
            ip6: taken_over(&had.ip6, &wanted.ip6, others.clone().map(|other| &other.ip6)),
            specials: taken_over(&had.specials, &wanted.specials, others.map(|it| &it.specials)),
        };
        let mut new: Vec<IpAddr> = Vec::new();
        self.change_routes(|routes, link| {
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
        let is_there = self.routing.ip4.vrf(vrf).is_some();
        if let Some(port) = self.ports.get_mut(name) {
            port.standing = if is_there { wanted } else { Standing::nothing_in(vrf) };
        }
        Ok(new)
    }
}
