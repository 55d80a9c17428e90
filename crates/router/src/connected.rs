//! The routes that a port's addresses make: each network on the link, each address our own.

use crate::routing::{Family, LinkOf, Routing};
use fib::rib::{Protocol, Route, Target};
use fib::{FibError, Prefix};
use std::collections::BTreeMap;

/// Connected and local routes of one family.
pub(crate) type Connected<A> = BTreeMap<Prefix<A>, Target>;

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

/// Turns the routes that a port `had` into those that it wants; says which addresses are new.
pub(crate) fn change<A: Family>(
    routing: &mut Routing<A>,
    had: &Connected<A>,
    wanted: &Connected<A>,
    link: LinkOf<'_>,
) -> Result<Vec<A>, FibError> {
    for prefix in had.keys().filter(|&prefix| wanted.get(prefix) != had.get(prefix)) {
        routing.remove(*prefix, Protocol::Connected, link)?;
    }
    let mut new = Vec::new();
    for (&prefix, target) in wanted.iter().filter(|(prefix, to)| had.get(prefix) != Some(to)) {
        let route = Route { target: target.clone() };
        routing.add(prefix, Protocol::Connected, route, link)?;
        if *target == Target::Local {
            new.push(prefix.address().plain());
        }
    }
    Ok(new)
}
