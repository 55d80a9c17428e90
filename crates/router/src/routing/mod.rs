//! Routes: each VRF's RIB knows all of its own, its forwarding table holds what they come to. The
//! same code for both address families.
//!
//! ```text
//!  for each prefix, the first of:   the RIB's best route · a special address · a known neighbour
//!     Paths(next hop) ──▶ adjacency, shared by all routes over that next hop
//!     Paths(several)  ──▶ group of such, shared by all routes over the same ones
//!     Paths(on link)  ──▶ glean: ask for the destination itself
//!
//!  VRF:  RIB, table, special addresses        all VRFs together:  next hops, groups (`ways`)
//! ```

mod both;
mod family;
mod follow;
mod foretold;
mod groups;
mod next_hops;
#[cfg(test)]
mod tests;
mod vrf;
#[cfg(test)]
mod vrf_tests;
mod ways;

pub(crate) use both::Routes;
pub(crate) use family::Family;
pub(crate) use foretold::Foretold;
pub(crate) use next_hops::InUse;
pub(crate) use vrf::{InVrf, VrfRoutes};

use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ecmp::EcmpTable;
use fib::neighbor::NeighborKey;
use fib::rib::Told;
use fib::{FibError, Prefix};
use nodes::tables::{Kind, VrfId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;
use ways::{Ways, by_neighbor};

/// What must be asked of the neighbour table after a change of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// Routes lead over this neighbour: find its MAC and keep it.
    Pin(NeighborKey, AdjacencyId),
    /// No route leads over it any more.
    Release(NeighborKey),
}

/// What an interface puts in front of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LinkHeader {
    /// An Ethernet header with this source.
    From([u8; 6]),
    /// Nothing: there is the other end, and nobody to be asked for.
    Nothing,
}

/// What an address is that is no host's, and of which interface, if it is of one.
pub(crate) type Special = (Kind, u32);

/// How interfaces write link headers, and their MTUs.
pub(crate) type LinkOf<'a> = &'a dyn Fn(u16) -> Option<(LinkHeader, u16)>;

/// Freeing a million routes takes long: it is nobody's who waits.
fn drop_elsewhere<T: Send + 'static>(routes: T) {
    // Where no thread is to be had, they were dropped with the attempt.
    let _thread = thread::Builder::new().name("routes-go".to_owned()).spawn(move || drop(routes));
}

/// All routes of one family, in all VRFs.
pub(crate) struct Routing<A: Family> {
    vrfs: BTreeMap<VrfId, VrfRoutes<A>>,
    /// VRFs that go, and how far their words are out of their tables.
    leaving: Vec<(VrfRoutes<A>, Prefix<A>)>,
    ways: Ways<A>,
    /// Interfaces that carry no packets: a new VRF's routes do not use them either.
    down: BTreeSet<u16>,
    /// Networks that no route of a VRF leads to unless it is for them alone.
    specials: Vec<(Prefix<A>, Kind)>,
    /// What comes and goes is written down.
    keeps_journals: bool,
    /// Routes went whose end no journal has.
    lost_routes: bool,
}

impl<A: Family> Routing<A> {
    /// No VRF yet.
    pub(crate) fn new(adjacencies: Arc<AdjacencyTable>, groups: Arc<EcmpTable>) -> Self {
        let ways = Ways::new(adjacencies, groups);
        let (vrfs, leaving, down) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        let specials = A::specials();
        Self { vrfs, leaving, ways, down, specials, keeps_journals: false, lost_routes: false }
    }

    /// A VRF without routes whose table is `table`; martian networks are closed.
    pub(crate) fn add_vrf(&mut self, vrf: VrfId, table: Arc<A::Table>) -> Result<(), FibError> {
        let mut routes = VrfRoutes::new(table);
        if self.keeps_journals {
            routes.rib.keep_journal();
        }
        let mut added = InVrf { routes: &mut routes, ways: &mut self.ways, link: &|_| None };
        added.change_specials(&[], &self.specials)?;
        self.down.iter().try_for_each(|&interface| added.set_interface(interface, false))?;
        self.vrfs.insert(vrf, routes);
        Ok(())
    }

    /// From now on, in every VRF, these networks are special.
    fn set_specials(
        &mut self,
        specials: Vec<(Prefix<A>, Kind)>,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        let had = std::mem::replace(&mut self.specials, specials.clone());
        self.in_each(link, |vrf| vrf.change_specials(&had, &specials))
    }

    /// Takes a VRF away: what it says of links at once, as others may say it next, its routes a
    /// slice at a time ([`Self::settle_more`]). Nobody reads them any more, but next hops are kept.
    pub(crate) fn remove_vrf(&mut self, vrf: VrfId) -> Result<(), FibError> {
        let Some(mut routes) = self.vrfs.remove(&vrf) else { return Ok(()) };
        self.lost_routes |= routes.rib.brought() > 0;
        let mut gone = InVrf { routes: &mut routes, ways: &mut self.ways, link: &|_| None };
        let outcome = gone.clear_links();
        self.leaving.push((routes, Prefix::all()));
        outcome
    }

    /// From now on what comes and goes is written down.
    fn keep_journals(&mut self) {
        self.keeps_journals = true;
        self.vrfs.values_mut().for_each(|routes| routes.rib.keep_journal());
    }

    /// What came and went since the last call, in each VRF where something did.
    pub(crate) fn take_journals(&mut self) -> Vec<(VrfId, Vec<Told<A>>)> {
        let journals = self.vrfs.iter_mut().map(|(vrf, routes)| (*vrf, routes.rib.take_journal()));
        journals.filter(|(_, told)| !told.is_empty()).collect()
    }

    /// How many routes there are that no configuration has.
    fn brought(&self) -> usize {
        self.vrfs.values().map(|routes| routes.rib.brought()).sum()
    }

    /// Whether routes are left that changes of links, of what others lead to, or of VRFs concern.
    pub(crate) fn is_settling(&self) -> bool {
        !self.leaving.is_empty() || self.vrfs.values().any(|routes| routes.rib.is_settling())
    }

    /// Settles the next slice of them.
    pub(crate) fn settle_more(&mut self, link: LinkOf<'_>) -> Result<(), FibError> {
        let Self { vrfs, leaving, ways, .. } = self;
        if let Some((mut routes, from)) = leaving.pop() {
            let mut vrf = InVrf { routes: &mut routes, ways, link: &|_| None };
            let (next, cleared) = vrf.clear(from);
            match next {
                Some(next) => leaving.push((routes, next)),
                None => drop_elsewhere(routes.rib),
            }
            return cleared;
        }
        match vrfs.values_mut().find(|routes| routes.rib.is_settling()) {
            Some(routes) => InVrf { routes, ways, link }.settle_more(),
            None => Ok(()),
        }
    }

    /// The routes of a VRF, if it is there.
    pub(crate) fn vrf(&self, vrf: VrfId) -> Option<&VrfRoutes<A>> {
        self.vrfs.get(&vrf)
    }

    /// Routes of all sources in all VRFs, the most there may be, and the bytes that they take.
    pub(crate) fn size(&self) -> [usize; 3] {
        let sizes =
            self.vrfs.values().map(|routes| [routes.rib.len(), routes.most(), routes.rib.bytes()]);
        sizes.fold([0; 3], |sum, one| std::array::from_fn(|n| sum[n] + one[n]))
    }

    /// The routes of a VRF, to be changed, if it is there.
    pub(crate) fn in_vrf<'a>(&'a mut self, vrf: VrfId, link: LinkOf<'a>) -> Option<InVrf<'a, A>> {
        let Self { vrfs, ways, .. } = self;
        vrfs.get_mut(&vrf).map(|routes| InVrf { routes, ways, link })
    }

    /// Does the same in each VRF; what fails in one does not keep it from the others.
    fn in_each(
        &mut self,
        link: LinkOf<'_>,
        change: impl Fn(&mut InVrf<'_, A>) -> Result<(), FibError>,
    ) -> Result<(), FibError> {
        let Self { vrfs, ways, .. } = self;
        vrfs.values_mut()
            .map(|routes| change(&mut InVrf { routes, ways: &mut *ways, link }))
            .fold(Ok(()), Result::and)
    }

    /// An interface begins or ceases to carry packets.
    pub(crate) fn set_interface(
        &mut self,
        interface: u16,
        up: bool,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        if up {
            self.down.remove(&interface);
        } else {
            self.down.insert(interface);
            self.ways.leave_groups(interface);
        }
        self.in_each(link, |vrf| vrf.set_interface(interface, up))
    }

    /// The link of an interface takes packets of this length now.
    pub(crate) fn set_mtu(&self, interface: u16, mtu: u16) {
        self.ways.next_hops.set_mtu(interface, mtu);
    }

    /// What neighbours are to be asked since the last call; to be had whatever came of the change.
    pub(crate) fn take_wishes(&mut self) -> Vec<Wish> {
        self.ways.take_wishes()
    }

    /// The adjacency of a neighbour, made if need be.
    pub(crate) fn adjacency(
        &mut self,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        self.ways.next_hops.adjacency(key, link)
    }

    /// One more next hop of the other family goes by this neighbour; its adjacency.
    fn lend(
        &mut self,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        let id = self.adjacency(key, link)?;
        self.ways.join(id.map(by_neighbor));
        Ok(id)
    }

    /// One less.
    fn take_back(&mut self, key: NeighborKey) {
        let id = self.ways.next_hops.existing(key);
        self.ways.leave(id.map(by_neighbor));
    }

    /// The neighbour that an adjacency leads to.
    fn neighbor(&self, id: AdjacencyId) -> Option<NeighborKey> {
        self.ways.next_hops.key(id)
    }

    /// The adjacency of a neighbour, if it has one.
    fn existing(&self, key: NeighborKey) -> Option<AdjacencyId> {
        self.ways.next_hops.existing(key)
    }

    /// A neighbour's MAC is known: packets go, and its own address needs no asking any more.
    pub(crate) fn complete(&mut self, id: AdjacencyId, mac: [u8; 6]) -> Result<(), FibError> {
        self.ways.not_silent(id);
        let host = self.ways.next_hops.complete(id, mac);
        self.follow_neighbor(host)
    }

    /// A neighbour's MAC is not known any more.
    pub(crate) fn incomplete(&mut self, id: AdjacencyId) -> Result<(), FibError> {
        let host = self.ways.next_hops.incomplete(id);
        self.follow_neighbor(host)
    }

    /// A neighbour does not answer: it leaves its groups until its MAC is known.
    pub(crate) fn silent(&mut self, key: NeighborKey) {
        self.ways.silent(key);
    }

    /// Nobody keeps the neighbour: its adjacency goes, unless routes lead over it.
    pub(crate) fn forget(&mut self, key: NeighborKey) -> Result<(), FibError> {
        let host = self.ways.next_hops.forget(key);
        self.follow_neighbor(host)?;
        if let Some(id) = self.ways.next_hops.free_unused(key) {
            self.ways.not_silent(id);
        }
        Ok(())
    }

    /// Its link may be of several VRFs: routes of one can lead to links of another.
    fn follow_neighbor(&mut self, host: Option<Prefix<A>>) -> Result<(), FibError> {
        let Some(host) = host else { return Ok(()) };
        self.in_each(&|_| None, |vrf| vrf.follow_neighbor(host))
    }
}
