//! Routes of the configuration.

use crate::core::{Core, fault};
use crate::part::{Makes, Part};
use crate::routing::{Family, InVrf, LinkOf, Routes};
use control::config::objects::route::{NextHop as ConfigHop, Route as ConfigRoute, RouteKey};
use control::config::{Change, Delta};
use control::engine::ApplyError;
use fib::FibError;
use fib::rib::{NextHop, Protocol, Route, Source, Target};
use std::net::IpAddr;

/// Routes that are added together, at most.
pub(crate) const TOGETHER: usize = 512;

/// See the module.
#[derive(Default)]
pub(crate) struct StaticRoutes;

/// Adds the routes that changes begin with, those of one table that follow each other; says how
/// many that were, if they are any. None were added if they do not all fit: one by one tells which
/// does not.
pub(crate) fn add_together(core: &mut Core, changes: &[Change]) -> Option<usize> {
    let added = |change: &'_ Change| match change {
        Change::Routes(delta) => matches!(**delta, Delta::Added { .. }),
        _ => false,
    };
    let count = changes.iter().take(TOGETHER).take_while(|change| added(change)).count();
    let rows = changes[..count].iter().filter_map(|change| match change {
        Change::Routes(delta) => Some((delta.outcome().0, delta.outcome().1?)),
        _ => None,
    });
    let rows: Vec<(&RouteKey, &ConfigRoute)> = rows.collect();
    let (first, _) = rows.first()?;
    let is_ip4 = first.prefix.address().is_ipv4();
    let is_of = |key: &RouteKey| key.vrf == first.vrf && key.prefix.address().is_ipv4() == is_ip4;
    let rows = &rows[..rows.iter().take_while(|(key, _)| is_of(key)).count()];
    let vrf = core.vrfs.of(first.vrf.as_ref());
    let targets = targets_of(core, rows);
    let all_fit = core.change_routes(|routes, link| match is_ip4 {
        true => set_all(routes.ip4.in_vrf(vrf, link), rows, targets, |address| match address {
            IpAddr::V4(address) => Some(address.into()),
            IpAddr::V6(_) => None,
        }),
        false => set_all(routes.ip6.in_vrf(vrf, link), rows, targets, |address| match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some(address.into()),
        }),
    });
    Some(if all_fit { rows.len() } else { 0 })
}

/// Where each leads; those that lead to the same as the one before share it.
fn targets_of(core: &Core, rows: &[(&RouteKey, &ConfigRoute)]) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::with_capacity(rows.len());
    let mut before: Option<&ConfigRoute> = None;
    for (_, route) in rows {
        let same = targets.last().filter(|_| before == Some(*route)).cloned();
        targets.push(same.unwrap_or_else(|| target_of(core, route)));
        before = Some(route);
    }
    targets
}

/// Adds all, or none: false.
fn set_all<A: Family>(
    routes: Option<InVrf<'_, A>>,
    rows: &[(&RouteKey, &ConfigRoute)],
    targets: Vec<Target>,
    address: impl Fn(IpAddr) -> Option<A>,
) -> bool {
    // The routes of a VRF that is gone went with it.
    let Some(mut routes) = routes else { return true };
    let network =
        |key: &RouteKey| fib::Prefix::new(address(key.prefix.address())?, key.prefix.length()).ok();
    let Some(networks) = rows.iter().map(|(key, _)| network(key)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let all = networks.iter().copied().zip(targets.into_iter().map(|target| Route { target }));
    let source = Source::from(Protocol::Static);
    let (count, outcome) = routes.add_all(all.collect(), source);
    if outcome.is_ok() && count == rows.len() {
        return true;
    }
    if let (_, Err(again)) = routes.remove_all(networks, source) {
        tracing::warn!(fault = "undo", "while taking back: {again}");
    }
    false
}

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
