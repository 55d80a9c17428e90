//! Next hops: one adjacency each, shared by all routes over it.
//!
//! ```text
//!  route 10.0.0.0/8 ─┐
//!  route 10.9.0.0/16 ┼─▶ next hop 192.0.2.9 on p0, 3 users ──▶ adjacency 7
//!  group of next hops┘        the first user pins the neighbour, the last one releases it
//! ```
//! IPv4 may have next hops of IPv6 (RFC 8950). Their frames carry IPv4, so they have an adjacency
//! of their own; who is asked for, and answers, is IPv6's next hop of that key (`both.rs`).

use super::family::Family;
use super::{LinkHeader, LinkOf, Wish};
use fib::adjacency::{Adjacency, AdjacencyId, AdjacencyTable, MAX_REWRITE};
use fib::neighbor::NeighborKey;
use fib::{FibError, Prefix};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// All next hops of one family.
pub(super) struct NextHops<A> {
    adjacencies: Arc<AdjacencyTable>,
    by_key: BTreeMap<NeighborKey, NextHop>,
    keys: HashMap<AdjacencyId, NeighborKey>,
    /// Those whose MAC is known, so that a host route leads to them, and on which interface.
    known: BTreeSet<(Prefix<A>, u16)>,
    /// Those that were made, or got their first user, since somebody asked.
    begun: Vec<AdjacencyId>,
    family: PhantomData<A>,
}

/// A next hop, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InUse {
    pub(crate) key: NeighborKey,
    pub(crate) id: AdjacencyId,
    /// Routes and groups that lead over it.
    pub(crate) users: usize,
}

struct NextHop {
    id: AdjacencyId,
    /// Routes and groups that lead over it.
    users: usize,
    /// It has none: it is all there is on its link.
    alone: bool,
}

impl<A: Family> NextHops<A> {
    pub(super) fn new(adjacencies: Arc<AdjacencyTable>) -> Self {
        let (by_key, keys) = (BTreeMap::new(), HashMap::new());
        Self {
            adjacencies,
            by_key,
            keys,
            known: BTreeSet::new(),
            begun: Vec::new(),
            family: PhantomData,
        }
    }

    /// The adjacency of a neighbour, made if need be; none if there is no such interface.
    pub(super) fn adjacency(
        &mut self,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        if let Some(hop) = self.by_key.get(&key) {
            return Ok(Some(hop.id));
        }
        let Some((header, mtu)) = link(key.interface) else { return Ok(None) };
        let mut rewrite = [0; MAX_REWRITE];
        let alone = header == LinkHeader::Nothing;
        if let LinkHeader::From(mac) = header {
            rewrite[6..12].copy_from_slice(&mac);
            rewrite[12..14].copy_from_slice(&A::ETHERTYPE.to_be_bytes());
        }
        let id = self.adjacencies.allocate(&Adjacency {
            interface: key.interface,
            mtu,
            next_hop: key.address,
            rewrite,
            rewrite_len: if alone { 0 } else { 14 },
        })?;
        if alone {
            self.adjacencies.complete_as_is(id);
        }
        self.begun.push(id);
        self.by_key.insert(key, NextHop { id, users: 0, alone });
        self.keys.insert(id, key);
        Ok(Some(id))
    }

    /// The link of an interface takes packets of this length now, whatever it did when its next
    /// hops were found.
    pub(super) fn set_mtu(&self, interface: u16, mtu: u16) {
        let first = NeighborKey { interface, address: Ipv4Addr::UNSPECIFIED.into() };
        let behind = self.by_key.range(first..).take_while(|(key, _)| key.interface == interface);
        behind.for_each(|(_, hop)| self.adjacencies.set_mtu(hop.id, mtu));
    }

    /// All of them.
    pub(super) fn each(&self) -> impl Iterator<Item = InUse> + '_ {
        self.by_key.iter().map(|(key, hop)| InUse { key: *key, id: hop.id, users: hop.users })
    }

    /// Those that began since the last call.
    pub(super) fn take_begun(&mut self) -> Vec<AdjacencyId> {
        std::mem::take(&mut self.begun)
    }

    /// The neighbour that it leads to.
    pub(super) fn key(&self, id: AdjacencyId) -> Option<NeighborKey> {
        self.keys.get(&id).copied()
    }

    /// The interface that it is behind.
    pub(super) fn interface(&self, id: AdjacencyId) -> Option<u16> {
        self.keys.get(&id).map(|key| key.interface)
    }

    /// One more route or group leads over it.
    pub(super) fn join(&mut self, id: AdjacencyId, wishes: &mut Vec<Wish>) {
        let Some(key) = self.keys.get(&id) else { return };
        let Some(hop) = self.by_key.get_mut(key) else { return };
        hop.users += 1;
        if hop.users == 1 {
            self.begun.push(id);
            if !hop.alone {
                wishes.push(Wish::Pin(*key, id));
            }
        }
    }

    /// One less; the adjacency, if it went with the last one.
    pub(super) fn leave(&mut self, id: AdjacencyId, wishes: &mut Vec<Wish>) -> Option<AdjacencyId> {
        let key = *self.keys.get(&id)?;
        let hop = self.by_key.get_mut(&key)?;
        hop.users -= 1;
        if hop.users != 0 {
            return None;
        }
        let alone = hop.alone;
        if !alone {
            wishes.push(Wish::Release(key));
        }
        // Nobody says of one of the other family that it is forgotten: the neighbour is not here.
        let goes = alone || A::from_ip(key.address).is_none();
        if goes { self.free_unused(key) } else { None }
    }

    /// Its MAC is known: packets can leave. The host prefix that now leads to it.
    pub(super) fn complete(&mut self, id: AdjacencyId, mac: [u8; 6]) -> Option<Prefix<A>> {
        self.adjacencies.complete(id, mac);
        self.set_known(id, true)
    }

    /// Its MAC is not known any more. The host prefix that leads to it no longer.
    pub(super) fn incomplete(&mut self, id: AdjacencyId) -> Option<Prefix<A>> {
        self.adjacencies.incomplete(id);
        self.set_known(id, false)
    }

    fn set_known(&mut self, id: AdjacencyId, known: bool) -> Option<Prefix<A>> {
        let key = self.keys.get(&id)?;
        let host = Prefix::host(A::of_neighbor(*key)?);
        match known {
            true => self.known.insert((host, key.interface)),
            false => self.known.remove(&(host, key.interface)),
        };
        Some(host)
    }

    /// Nobody asks for it any more.
    pub(super) fn forget(&mut self, key: NeighborKey) -> Option<Prefix<A>> {
        let id = self.by_key.get(&key)?.id;
        self.set_known(id, false)
    }

    /// Frees the adjacency that was forgotten, unless it has users; says which.
    pub(super) fn free_unused(&mut self, key: NeighborKey) -> Option<AdjacencyId> {
        let id = self.by_key.get(&key).filter(|hop| hop.users == 0)?.id;
        self.by_key.remove(&key);
        self.keys.remove(&id);
        self.adjacencies.free(id);
        Some(id)
    }

    /// The adjacency of a neighbour, if it has one.
    pub(super) fn existing(&self, key: NeighborKey) -> Option<AdjacencyId> {
        self.by_key.get(&key).map(|hop| hop.id)
    }

    /// The host prefixes of the neighbours in `network` whose MAC is known.
    pub(super) fn known_in(&self, network: Prefix<A>) -> Vec<Prefix<A>> {
        let from = self.known.range((Prefix::host(network.address()), 0)..);
        let hosts = from.map(|(host, _)| *host);
        hosts.take_while(|host| network.contains(host.address())).collect()
    }

    /// The adjacency of a neighbour whose MAC is known.
    pub(super) fn known(&self, key: NeighborKey) -> Option<AdjacencyId> {
        let host = Prefix::host(A::of_neighbor(key)?);
        self.existing(key).filter(|_| self.known.contains(&(host, key.interface)))
    }
}
