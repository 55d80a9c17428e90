//! Routes of the configuration.

use crate::core::{Core, fault};
use crate::part::{Makes, Part};
use crate::routing::{Family, InVrf, LinkOf, Routes};
use control::config::Delta;
use control::config::objects::route::{NextHop as ConfigHop, Route as ConfigRoute, RouteKey};
use control::engine::ApplyError;
use fib::FibError;
use fib::rib::{NextHop, Protocol, Route, Target};
use std::net::IpAddr;

/// See the module.
#[derive(Default)]
pub(crate) struct StaticRoutes;

impl Part for StaticRoutes {}

impl Makes<Delta<RouteKey, ConfigRoute>> for StaticRoutes {
    /// One that does not fit leaves the old one.
    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<RouteKey, ConfigRoute>,
    ) -> Result<(), ApplyError> {
        let (key, new) = change.outcome();
        set_route(core, key, new).inspect_err(|_| {
            if let Err(again) = set_route(core, key, change.before()) {
                tracing::warn!(fault = "undo", "while taking back: {again}");
            }
        })
    }
}

fn set_route(
    core: &mut Core,
    key: &RouteKey,
    route: Option<&ConfigRoute>,
) -> Result<(), ApplyError> {
    let target = route.map(|route| target_of(core, route));
    let (vrf, length) = (core.vrfs.of(key.vrf.as_ref()), key.prefix.length());
    let set = |routes: &mut Routes, link: LinkOf<'_>| match key.prefix.address() {
        IpAddr::V4(first) => set_static(routes.ip4.in_vrf(vrf, link), first.into(), length, target),
        IpAddr::V6(first) => set_static(routes.ip6.in_vrf(vrf, link), first.into(), length, target),
    };
    core.change_routes(set).map_err(|error| fault(&format!("route {key}"), error.to_string()))
}

fn set_static<A: Family>(
    routes: Option<InVrf<'_, A>>,
    first: A,
    length: u8,
    target: Option<Target>,
) -> Result<(), FibError> {
    // The routes of a VRF that is gone went with it.
    let Some(mut routes) = routes else { return Ok(()) };
    let network = fib::Prefix::new(first, length)?;
    match target {
        Some(target) => routes.add(network, Protocol::Static, Route { target }),
        None => routes.remove(network, Protocol::Static),
    }
}

fn target_of(core: &Core, route: &ConfigRoute) -> Target {
    let hops = match route {
        ConfigRoute::Vrf(vrf) => return Target::Table(core.vrfs.of(vrf.as_ref()).0),
        ConfigRoute::Blackhole => return Target::Blackhole,
        ConfigRoute::Unreachable => return Target::Unreachable,
        ConfigRoute::Prohibit => return Target::Prohibit,
        ConfigRoute::Via(hops) => hops,
    };
    let hop = |hop: &ConfigHop| NextHop {
        address: hop.address,
        interface: hop.port.as_ref().and_then(|port| core.ports.id_of(port)),
        weight: hop.weight,
    };
    Target::Via(hops.iter().map(hop).collect())
}
