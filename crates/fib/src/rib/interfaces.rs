//! Which routes lead over an interface: found at once where they are networks on its link, of which
//! there are as many as addresses; looked for where they are next hops behind it.

use std::collections::{BTreeSet, HashMap};

use super::route::Route;
use crate::{Address, Prefix};

/// What interfaces the routes of a table name.
#[derive(Debug)]
pub(super) struct Interfaces<A: Address> {
    on_link: BTreeSet<(u16, Prefix<A>)>,
    /// Next hops that name the interface beside an address. A feed has a million of them, so they
    /// are counted alone: an interface that has none needs no search.
    behind: HashMap<u16, usize>,
}

impl<A: Address> Interfaces<A> {
    pub(super) fn new() -> Interfaces<A> {
        Interfaces { on_link: BTreeSet::new(), behind: HashMap::new() }
    }

    /// A route was added to those of `prefix`.
    pub(super) fn join(&mut self, prefix: Prefix<A>, route: &Route) {
        for hop in route.hops() {
            match (hop.interface, hop.address) {
                (Some(interface), None) => _ = self.on_link.insert((interface, prefix)),
                (Some(interface), Some(_)) => *self.behind.entry(interface).or_default() += 1,
                (None, _) => {}
            }
        }
    }

    /// A route was taken out of those of `prefix`, where `others` stay.
    pub(super) fn leave<'a>(
        &mut self,
        prefix: Prefix<A>,
        route: &Route,
        others: impl Iterator<Item = &'a Route>,
    ) {
        for hop in route.hops() {
            match (hop.interface, hop.address) {
                (Some(interface), None) => _ = self.on_link.remove(&(interface, prefix)),
                (Some(interface), Some(_)) => {
                    if let Some(left) = self.behind.get_mut(&interface) {
                        *left -= 1;
                        if *left == 0 {
                            self.behind.remove(&interface);
                        }
                    }
                }
                (None, _) => {}
            }
        }
        let on_link = others.flat_map(Route::hops).filter(|hop| hop.address.is_none());
        self.on_link.extend(on_link.filter_map(|hop| Some((hop.interface?, prefix))));
    }

    /// The networks on the link of `interface`.
    pub(super) fn on_link(&self, interface: u16) -> impl Iterator<Item = Prefix<A>> + '_ {
        let from = (interface, Prefix::all());
        self.on_link.range(from..).take_while(move |(of, _)| *of == interface).map(|(_, it)| *it)
    }

    /// Whether next hops are behind `interface`.
    pub(super) fn has_behind(&self, interface: u16) -> bool {
        self.behind.contains_key(&interface)
    }
}
