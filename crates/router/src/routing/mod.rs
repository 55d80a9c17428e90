//! Routes: the RIB knows all of them, the forwarding table holds what they come to. The same code
//! for both address families.
//!
//! ```text
//!  for each prefix, the first of:   the RIB's best route · a special address · a known neighbour
//!     Paths(next hop) ──▶ adjacency, shared by all routes over that next hop
//!     Paths(several)  ──▶ group of such, shared by all routes over the same ones
//!     Paths(on link)  ──▶ glean: ask for the destination itself
//! ```

mod both;
mod family;
mod follow;
mod groups;
mod next_hops;
#[cfg(test)]
mod tests;

pub(crate) use both::Routes;
pub(crate) use family::Family;

use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ecmp::EcmpTable;
use fib::neighbor::NeighborKey;
use fib::rib::{Change, Protocol, Rib, Route, Source};
use fib::{FibError, Prefix};
use follow::by_neighbor;
use groups::Groups;
use next_hops::NextHops;
use nodes::plumbing::Kind;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What must be asked of the neighbour table after a change of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// Routes lead over this neighbour: find its MAC and keep it.
    Pin(NeighborKey, AdjacencyId),
    /// No route leads over it any more.
    Release(NeighborKey),
}

/// How interfaces write link headers.
pub(crate) type LinkOf<'a> = &'a dyn Fn(u16) -> Option<([u8; 6], u16)>;

/// All routes of one family.
pub(crate) struct Routing<A: Family> {
    pub(crate) rib: Rib<A>,
    table: Arc<A::Table>,
    next_hops: NextHops<A>,
    groups: Groups,
    specials: BTreeMap<Prefix<A>, Kind>,
    /// Host prefixes that lead to known neighbours because no route says otherwise.
    neighbors: HashSet<Prefix<A>>,
    /// Networks on a link.
    links: HashSet<Prefix<A>>,
    changes: Vec<Change<A>>,
    wishes: Vec<Wish>,
    /// Prefixes that the last changes found no room for.
    refused: Vec<Prefix<A>>,
}

impl<A: Family> Routing<A> {
    /// No routes; martian networks are closed.
    pub(crate) fn new(
        table: Arc<A::Table>,
        adjacencies: Arc<AdjacencyTable>,
        groups: Arc<EcmpTable>,
    ) -> Result<Self, FibError> {
        let mut routing = Self {
            rib: Rib::new(),
            table,
            next_hops: NextHops::new(adjacencies),
            groups: Groups::new(groups),
            specials: BTreeMap::new(),
            neighbors: HashSet::new(),
            links: HashSet::new(),
            changes: Vec::new(),
            wishes: Vec::new(),
            refused: Vec::new(),
        };
        for (prefix, kind) in A::specials() {
            routing.set_special(prefix, Some(kind))?;
        }
        Ok(routing)
    }

    /// Adds or replaces a route.
    pub(crate) fn add(
        &mut self,
        prefix: Prefix<A>,
        protocol: Protocol,
        route: Route,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        self.rib.add(prefix, Source::from(protocol), route, &mut self.changes);
        self.follow(link)
    }

    /// Removes a route.
    pub(crate) fn remove(
        &mut self,
        prefix: Prefix<A>,
        protocol: Protocol,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        self.rib.remove(prefix, Source::from(protocol), &mut self.changes);
        self.follow(link)
    }

    /// Adds or replaces many routes of a source. Those that do not fit are taken out again; says how
    /// many were added.
    pub(crate) fn add_all(
        &mut self,
        routes: Vec<(Prefix<A>, Route)>,
        source: Source,
        link: LinkOf<'_>,
    ) -> (usize, Result<(), FibError>) {
        let count = routes.len();
        self.rib.add_all(routes, source, &mut self.changes);
        let outcome = self.follow(link);
        let refused = std::mem::take(&mut self.refused);
        let taken_out = self.rib.remove_all(refused, source, &mut self.changes);
        // What they covered or replaced stands in their place: that needs no more room.
        (count - taken_out, outcome.and(self.follow(link)))
    }

    /// Removes many routes of a source; says how many it had.
    pub(crate) fn remove_all(
        &mut self,
        prefixes: Vec<Prefix<A>>,
        source: Source,
        link: LinkOf<'_>,
    ) -> (usize, Result<(), FibError>) {
        let removed = self.rib.remove_all(prefixes, source, &mut self.changes);
        (removed, self.follow(link))
    }

    /// An interface begins or ceases to carry packets.
    pub(crate) fn set_interface(
        &mut self,
        interface: u16,
        up: bool,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        if !up {
            self.leave_groups(interface);
        }
        self.rib.set_interface(interface, up, &mut self.changes);
        self.follow(link)
    }

    /// What neighbours are to be asked since the last call; to be had whatever came of the change.
    pub(crate) fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
    }

    /// Sets what a special address is, where no route says otherwise.
    pub(crate) fn set_special(
        &mut self,
        prefix: Prefix<A>,
        kind: Option<Kind>,
    ) -> Result<(), FibError> {
        match kind {
            Some(kind) => self.specials.insert(prefix, kind),
            None => self.specials.remove(&prefix),
        };
        self.follow_without_route(prefix)
    }

    /// The adjacency of a neighbour, made if need be.
    pub(crate) fn adjacency(
        &mut self,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        self.next_hops.adjacency(key, link)
    }

    /// A neighbour's MAC is known: packets go, and its own address needs no asking any more.
    pub(crate) fn complete(&mut self, id: AdjacencyId, mac: [u8; 6]) -> Result<(), FibError> {
        self.groups.set_silent(by_neighbor(id), false);
        let host = self.next_hops.complete(id, mac);
        host.map_or(Ok(()), |host| self.follow_without_route(host))
    }

    /// A neighbour's MAC is not known any more.
    pub(crate) fn incomplete(&mut self, id: AdjacencyId) -> Result<(), FibError> {
        let host = self.next_hops.incomplete(id);
        host.map_or(Ok(()), |host| self.follow_without_route(host))
    }

    /// A neighbour does not answer: it leaves its groups until its MAC is known.
    pub(crate) fn silent(&mut self, key: NeighborKey) {
        if let Some(id) = self.next_hops.existing(key) {
            self.groups.set_silent(by_neighbor(id), true);
        }
    }

    /// Nobody keeps the neighbour: its adjacency goes, unless routes lead over it.
    pub(crate) fn forget(&mut self, key: NeighborKey) -> Result<(), FibError> {
        let Some(host) = self.next_hops.forget(key) else { return Ok(()) };
        self.follow_without_route(host)?;
        if let Some(id) = self.next_hops.free_unused(key) {
            self.groups.set_silent(by_neighbor(id), false);
        }
        Ok(())
    }
}
