//! The routes of one VRF: its RIB, and what of it stands in its forwarding table.

use super::family::{Family, Table};
use super::ways::Ways;
use super::{LinkOf, Special};
use fib::rib::{Change, Protocol, Rib, Route, SharedId, Source, Target};
use fib::{FibError, Prefix};
use nodes::tables::Kind;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Routes of all sources that there is room for, for each that the forwarding table holds.
const CANDIDATES: usize = 4;
/// Prefixes whose words are taken out of the table at once, where a VRF goes.
const CLEARED: usize = 2048;

/// All routes of one family in one VRF.
pub(crate) struct VrfRoutes<A: Family> {
    pub(crate) rib: Rib<A>,
    pub(super) table: Arc<A::Table>,
    pub(super) specials: BTreeMap<Prefix<A>, Special>,
    /// Host prefixes that lead to known neighbours because no route says otherwise.
    pub(super) neighbors: HashSet<Prefix<A>>,
    /// Networks on a link.
    pub(super) links: HashSet<Prefix<A>>,
    pub(super) changes: Vec<Change<A>>,
    /// Prefixes that the last changes found no room for.
    pub(super) refused: Vec<Prefix<A>>,
}

impl<A: Family> VrfRoutes<A> {
    pub(super) fn new(table: Arc<A::Table>) -> Self {
        Self {
            rib: Rib::new(),
            table,
            specials: BTreeMap::new(),
            neighbors: HashSet::new(),
            links: HashSet::new(),
            changes: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// The most routes of all sources together.
    pub(crate) fn most(&self) -> usize {
        self.table.max_routes().saturating_mul(CANDIDATES)
    }

    /// Leaves of `routes`, of `source`, those that there is room for: all that take another's
    /// place, and as many new ones as fit.
    fn retain_fitting(
        &self,
        routes: &mut Vec<(Prefix<A>, Route)>,
        source: Source,
    ) -> Result<(), FibError> {
        let mut room = self.most().saturating_sub(self.rib.len());
        if routes.len() <= room {
            return Ok(());
        }
        let count = routes.len();
        routes.retain(|(prefix, _)| {
            let is_new = self.rib.route(*prefix, source).is_none();
            let fits = !is_new || room > 0;
            room -= usize::from(is_new && fits);
            fits
        });
        let (table, unit) = ("the list of routes of all sources", "routes");
        let full = FibError::Full { table, unit, capacity: self.most() };
        if routes.len() == count { Ok(()) } else { Err(full) }
    }
}

/// The routes of one VRF while they are changed, beside what all VRFs share.
pub(crate) struct InVrf<'a, A: Family> {
    pub(crate) routes: &'a mut VrfRoutes<A>,
    pub(super) ways: &'a mut Ways<A>,
    pub(super) link: LinkOf<'a>,
}

impl<A: Family> InVrf<'_, A> {
    /// Adds or replaces a route.
    pub(crate) fn add(
        &mut self,
        prefix: Prefix<A>,
        protocol: Protocol,
        route: Route,
    ) -> Result<(), FibError> {
        let (mut routes, source) = (vec![(prefix, route)], Source::from(protocol));
        self.routes.retain_fitting(&mut routes, source)?;
        self.routes.rib.add_all(routes, source, &mut self.routes.changes);
        self.follow()
    }

    /// Removes a route.
    pub(crate) fn remove(&mut self, prefix: Prefix<A>, protocol: Protocol) -> Result<(), FibError> {
        self.routes.rib.remove(prefix, Source::from(protocol), &mut self.routes.changes);
        self.follow()
    }

    /// Adds or replaces many routes of a source. Those that do not fit are taken out again; says
    /// how many were added.
    pub(crate) fn add_all(
        &mut self,
        mut routes: Vec<(Prefix<A>, Route)>,
        source: Source,
    ) -> (usize, Result<(), FibError>) {
        let room = self.routes.retain_fitting(&mut routes, source);
        let count = routes.len();
        self.routes.rib.add_all(routes, source, &mut self.routes.changes);
        let outcome = self.follow();
        let refused = std::mem::take(&mut self.routes.refused);
        let taken_out = self.routes.rib.remove_all(refused, source, &mut self.routes.changes);
        // What they covered or replaced stands in their place: that needs no more room.
        (count - taken_out, room.and(outcome).and(self.follow()))
    }

    /// Removes many routes of a source; says how many it had.
    pub(crate) fn remove_all(
        &mut self,
        prefixes: Vec<Prefix<A>>,
        source: Source,
    ) -> (usize, Result<(), FibError>) {
        let removed = self.routes.rib.remove_all(prefixes, source, &mut self.routes.changes);
        (removed, self.follow())
    }

    /// Routes that share this number lead there from now on, if any do.
    pub(crate) fn share(&mut self, id: SharedId, to: &Option<Target>) -> Result<(), FibError> {
        if !self.routes.rib.has_shared(id) {
            return Ok(());
        }
        self.routes.rib.set_shared(id, to.clone(), &mut self.routes.changes);
        self.follow()
    }

    /// The same where a first route is to come.
    pub(crate) fn share_first(&mut self, id: SharedId, to: Option<Target>) -> Result<(), FibError> {
        if self.routes.rib.has_shared(id) {
            return Ok(());
        }
        self.routes.rib.set_shared(id, to, &mut self.routes.changes);
        self.follow()
    }

    /// Forgets those of these numbers that no route came for.
    pub(crate) fn forget_unused(&mut self, ids: impl IntoIterator<Item = SharedId>) {
        self.routes.rib.forget_unused(ids);
    }

    /// Sets what a special address is, where no route says otherwise.
    pub(crate) fn set_special(
        &mut self,
        prefix: Prefix<A>,
        special: Option<Special>,
    ) -> Result<(), FibError> {
        match special {
            Some(special) => self.routes.specials.insert(prefix, special),
            None => self.routes.specials.remove(&prefix),
        };
        self.follow_without_route(prefix)
    }

    /// Networks that were special are not any more, and others are.
    pub(super) fn change_specials(
        &mut self,
        had: &[(Prefix<A>, Kind)],
        wanted: &[(Prefix<A>, Kind)],
    ) -> Result<(), FibError> {
        let gone = had.iter().filter(|special| !wanted.contains(special));
        gone.map(|&(prefix, _)| self.set_special(prefix, None)).fold(Ok(()), Result::and)?;
        wanted.iter().try_for_each(|&(prefix, kind)| self.set_special(prefix, Some((kind, 0))))
    }

    /// An interface begins or ceases to carry packets.
    pub(super) fn set_interface(&mut self, interface: u16, up: bool) -> Result<(), FibError> {
        self.routes.rib.set_interface(interface, up, &mut self.routes.changes);
        self.follow()
    }

    /// Follows some more of what the last changes bring about.
    pub(super) fn settle_more(&mut self) -> Result<(), FibError> {
        self.routes.rib.settle_more(&mut self.routes.changes);
        self.follow()
    }

    /// Takes out of the table what is said of links and of addresses on them: the VRF goes.
    pub(super) fn clear_links(&mut self) -> Result<(), FibError> {
        let routes = &*self.routes;
        let on_links = routes.links.iter().chain(&routes.neighbors).chain(routes.specials.keys());
        let on_links: Vec<_> = on_links.copied().collect();
        on_links.into_iter().try_for_each(|prefix| self.write(prefix, None, false))
    }

    /// Takes the next words out of the table; from where to go on, if there is more.
    pub(super) fn clear(&mut self, from: Prefix<A>) -> (Option<Prefix<A>>, Result<(), FibError>) {
        let (routes, next) = self.routes.rib.routes_from(from, CLEARED);
        let prefixes: Vec<_> = routes.map(|route| route.prefix).collect();
        (next, prefixes.into_iter().try_for_each(|prefix| self.write(prefix, None, false)))
    }
}
