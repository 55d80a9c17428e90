//! The routes of both families, and which of them an address or an adjacency is of.

use super::family::Ip6Tables;
use super::{LinkOf, Routing, Wish};
use dataplane::Dataplane;
use fib::FibError;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::neighbor::NeighborKey;
use nodes::tables::{VrfId, VrfTables};
use std::sync::Arc;

/// Routes of both families.
pub(crate) struct Routes {
    pub(crate) ip4: Routing<u32>,
    pub(crate) ip6: Routing<u128>,
    adjacencies: Arc<AdjacencyTable>,
}

impl Routes {
    /// No routes, in the default VRF alone.
    pub(crate) fn new(dataplane: &Dataplane) -> Result<Self, FibError> {
        let adjacencies = || Arc::clone(&dataplane.adjacencies);
        let groups = || Arc::clone(&dataplane.groups);
        let (ip4, ip6) =
            (Routing::new(adjacencies(), groups()), Routing::new(adjacencies(), groups()));
        let mut routes = Self { ip4, ip6, adjacencies: adjacencies() };
        let (ip4, ip6) = (Arc::clone(&dataplane.ip4), Arc::clone(&dataplane.ip6));
        routes.add_vrf(VrfId::DEFAULT, VrfTables { ip4, ip6 }, dataplane)?;
        Ok(routes)
    }

    /// A VRF without routes, of these tables.
    pub(crate) fn add_vrf(
        &mut self,
        vrf: VrfId,
        tables: VrfTables,
        dataplane: &Dataplane,
    ) -> Result<(), FibError> {
        let VrfTables { ip4, ip6: routes } = tables;
        // Link-local addresses are told apart by interface, so all VRFs share their table.
        let links = Arc::clone(&dataplane.ip6_links);
        self.ip4.add_vrf(vrf, ip4)?;
        self.ip6.add_vrf(vrf, Arc::new(Ip6Tables { routes, links }))
    }

    /// Takes a VRF's routes out of the tables.
    pub(crate) fn remove_vrf(&mut self, vrf: VrfId) -> Result<(), FibError> {
        self.ip4.remove_vrf(vrf).and(self.ip6.remove_vrf(vrf))
    }

    /// The adjacency of a neighbour, made if need be; none if there is no such interface.
    pub(crate) fn adjacency(
        &mut self,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        match key.address.is_ipv4() {
            true => self.ip4.adjacency(key, link),
            false => self.ip6.adjacency(key, link),
        }
    }

    /// A neighbour's MAC is known.
    pub(crate) fn complete(&mut self, id: AdjacencyId, mac: [u8; 6]) -> Result<(), FibError> {
        // An adjacency is of one family; the other does not know it.
        self.ip4.complete(id, mac)?;
        self.ip6.complete(id, mac)
    }

    /// A neighbour's MAC is not known any more.
    pub(crate) fn incomplete(&mut self, id: AdjacencyId) -> Result<(), FibError> {
        self.ip4.incomplete(id)?;
        self.ip6.incomplete(id)
    }

    /// Whether packets left by an adjacency since the last call.
    pub(crate) fn take_used(&self, id: AdjacencyId) -> bool {
        self.adjacencies.take_used(id)
    }

    /// A neighbour does not answer.
    pub(crate) fn silent(&mut self, key: NeighborKey) {
        match key.address.is_ipv4() {
            true => self.ip4.silent(key),
            false => self.ip6.silent(key),
        }
    }

    /// Nobody keeps the neighbour.
    pub(crate) fn forget(&mut self, key: NeighborKey) -> Result<(), FibError> {
        match key.address.is_ipv4() {
            true => self.ip4.forget(key),
            false => self.ip6.forget(key),
        }
    }

    /// An interface begins or ceases to carry packets.
    pub(crate) fn set_interface(
        &mut self,
        interface: u16,
        up: bool,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        self.ip4.set_interface(interface, up, link)?;
        self.ip6.set_interface(interface, up, link)
    }

    /// The link of an interface takes packets of this length now: next hops behind it, too.
    pub(crate) fn set_mtu(&self, interface: u16, mtu: u16) {
        self.ip4.set_mtu(interface, mtu);
        self.ip6.set_mtu(interface, mtu);
    }

    /// What neighbours are to be asked since the last call.
    pub(crate) fn take_wishes(&mut self) -> Vec<Wish> {
        [self.ip4.take_wishes(), self.ip6.take_wishes()].concat()
    }
}
