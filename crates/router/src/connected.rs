//! The routes that a port's addresses make: each network on the link, each address our own.

use crate::routing::{Family, InVrf, Special};
use fib::rib::{Protocol, Route, Target};
use fib::{FibError, Ip4Prefix, Prefix};
use std::collections::BTreeMap;

/// Connected and local routes of one family.
pub(crate) type Connected<A> = BTreeMap<Prefix<A>, Target>;

/// Addresses that are no host's, what they are, and of which interface.
pub(crate) type Specials = BTreeMap<Ip4Prefix, Special>;

/// What `addresses` of `interface`, with their prefix lengths, make.
pub(crate) fn of_addresses<A: Family>(interface: u16, addresses: &[(A, u8)]) -> Connected<A> {
    let mut routes = Connected::new();
    for &(address, length) in addresses {
        if let Ok(network) = Prefix::new(address.on_interface(interface), length) {
            routes.insert(network, Route::connected(interface).target);
        }
    }
    for &(address, _) in addresses {
        routes.insert(Prefix::host(address.on_interface(interface)), Target::Local);
    }
    routes
}

/// What leaves a port because another has it by now: the addresses of two ports may change places,
/// one port at a time.
pub(crate) fn taken_over<P: Ord + Copy, L: PartialEq>(
    had: &BTreeMap<P, L>,
    wanted: &BTreeMap<P, L>,
    another: impl Fn(P) -> Option<L>,
) -> BTreeMap<P, L> {
    let left = had.iter().filter(|&(prefix, lead)| wanted.get(prefix) != Some(lead));
    left.filter_map(|(&prefix, _)| Some((prefix, another(prefix)?))).collect()
}

/// Turns the routes that a port `had` into those that it wants; what another has [`taken_over`] is
/// that one's. Says which addresses are new.
pub(crate) fn change<A: Family>(
    routes: &mut InVrf<'_, A>,
    had: &Connected<A>,
    wanted: &Connected<A>,
    taken: &Connected<A>,
) -> Result<Vec<A>, FibError> {
    for prefix in had.keys().filter(|&prefix| wanted.get(prefix) != had.get(prefix)) {
        match taken.get(prefix) {
            Some(target) => {
                routes.add(*prefix, Protocol::Connected, Route { target: target.clone() })?;
            }
            None => routes.remove(*prefix, Protocol::Connected)?,
        }
    }
    let mut new = Vec::new();
    for (&prefix, target) in wanted.iter().filter(|(prefix, to)| had.get(prefix) != Some(to)) {
        let route = Route { target: target.clone() };
        routes.add(prefix, Protocol::Connected, route)?;
        if *target == Target::Local {
            new.push(prefix.address().plain());
        }
    }
    Ok(new)
}

/// Turns the broadcast addresses that a port `had` into those that it wants, as [`change`] does
/// routes.
pub(crate) fn change_specials(
    routes: &mut InVrf<'_, u32>,
    had: &Specials,
    wanted: &Specials,
    taken: &Specials,
) -> Result<(), FibError> {
    for &prefix in had.keys().filter(|prefix| !wanted.contains_key(prefix)) {
        routes.set_special(prefix, taken.get(&prefix).copied())?;
    }
    wanted.iter().try_for_each(|(&prefix, &special)| routes.set_special(prefix, Some(special)))
}
