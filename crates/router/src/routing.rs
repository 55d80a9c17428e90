//! Routes: the RIB knows all of them, the forwarding table holds what they come to.
//!
//! ```text
//!  for each prefix, the first of:   the RIB's best route · a special address · a known neighbour
//!     Paths(next hop) ──▶ adjacency, shared by all routes over that next hop
//!     Paths(on link)  ──▶ glean: ask for the destination itself
//! ```

use fib::adjacency::{Adjacency, AdjacencyId, AdjacencyTable, MAX_REWRITE};
use fib::ip4::Ip4Table;
use fib::neighbor::NeighborKey;
use fib::rib::{Change, Path, Protocol, Resolved, Rib, Route, Source};
use fib::{FibError, Forward, Ip4Prefix};
use nodes::plumbing::Kind;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use wire::ethernet::ethertype;

/// Networks that no router forwards to (RFC 1812 section 5.3.7, RFC 1122 section 3.2.1.3).
const MARTIANS: [(u32, u8); 4] =
    [(0x0000_0000, 8), (0x7f00_0000, 8), (0xe000_0000, 4), (0xf000_0000, 4)];

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

/// All routes.
pub(crate) struct Routing {
    pub(crate) rib: Rib<u32>,
    table: Arc<Ip4Table>,
    adjacencies: Arc<AdjacencyTable>,
    specials: BTreeMap<Ip4Prefix, Kind>,
    next_hops: HashMap<NeighborKey, NextHop>,
    /// What stands in the table for routes over a next hop.
    over: HashMap<Ip4Prefix, NeighborKey>,
    changes: Vec<Change<u32>>,
}

struct NextHop {
    id: AdjacencyId,
    /// Prefixes that forward by it.
    routes: usize,
    /// Known, and itself reachable by it: a host route stands in the table.
    known: bool,
}

impl Routing {
    /// No routes; martian networks are closed.
    pub(crate) fn new(
        table: Arc<Ip4Table>,
        adjacencies: Arc<AdjacencyTable>,
    ) -> Result<Self, FibError> {
        let mut routing = Self {
            rib: Rib::new(),
            table,
            adjacencies,
            specials: BTreeMap::new(),
            next_hops: HashMap::new(),
            over: HashMap::new(),
            changes: Vec::new(),
        };
        for (address, length) in MARTIANS {
            routing.set_special(Ip4Prefix::new(address, length)?, Some(Kind::Martian))?;
        }
        Ok(routing)
    }

    /// Adds or replaces a route.
    pub(crate) fn add(
        &mut self,
        prefix: Ip4Prefix,
        protocol: Protocol,
        route: Route,
        link: LinkOf<'_>,
    ) -> Result<Vec<Wish>, FibError> {
        self.rib.add(prefix, Source::from(protocol), route, &mut self.changes);
        self.follow(link)
    }

    /// Removes a route.
    pub(crate) fn remove(
        &mut self,
        prefix: Ip4Prefix,
        protocol: Protocol,
        link: LinkOf<'_>,
    ) -> Result<Vec<Wish>, FibError> {
        self.rib.remove(prefix, Source::from(protocol), &mut self.changes);
        self.follow(link)
    }

    /// An interface begins or ceases to carry packets.
    pub(crate) fn set_interface(
        &mut self,
        interface: u16,
        up: bool,
        link: LinkOf<'_>,
    ) -> Result<Vec<Wish>, FibError> {
        self.rib.set_interface(interface, up, &mut self.changes);
        self.follow(link)
    }

    /// Sets what a special address is, where no route says otherwise.
    pub(crate) fn set_special(
        &mut self,
        prefix: Ip4Prefix,
        kind: Option<Kind>,
    ) -> Result<(), FibError> {
        match kind {
            Some(kind) => self.specials.insert(prefix, kind),
            None => self.specials.remove(&prefix),
        };
        self.install(prefix)
    }

    /// The adjacency of a neighbour, made if need be.
    pub(crate) fn adjacency(
        &mut self,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        if let Some(hop) = self.next_hops.get(&key) {
            return Ok(Some(hop.id));
        }
        let Some((mac, mtu)) = link(key.interface) else { return Ok(None) };
        let mut rewrite = [0; MAX_REWRITE];
        rewrite[6..12].copy_from_slice(&mac);
        rewrite[12..14].copy_from_slice(&ethertype::IPV4.to_be_bytes());
        let id = self.adjacencies.allocate(&Adjacency {
            interface: key.interface,
            mtu,
            next_hop: key.address,
            rewrite,
            rewrite_len: 14,
        })?;
        self.next_hops.insert(key, NextHop { id, routes: 0, known: false });
        Ok(Some(id))
    }

    /// A neighbour's MAC is known: packets go, and its own address needs no asking any more.
    pub(crate) fn complete(&mut self, id: AdjacencyId, mac: [u8; 6]) -> Result<(), FibError> {
        self.adjacencies.complete(id, mac);
        self.set_known(id, true)
    }

    /// A neighbour's MAC is not known any more.
    pub(crate) fn incomplete(&mut self, id: AdjacencyId) -> Result<(), FibError> {
        self.adjacencies.incomplete(id);
        self.set_known(id, false)
    }

    /// Nobody keeps the neighbour: its adjacency goes, unless routes lead over it.
    pub(crate) fn forget(&mut self, key: NeighborKey) -> Result<(), FibError> {
        let Some(hop) = self.next_hops.get_mut(&key) else { return Ok(()) };
        hop.known = false;
        if let Some(host) = host_prefix(key.address) {
            self.install(host)?;
        }
        if self.next_hops.get(&key).is_some_and(|hop| hop.routes == 0)
            && let Some(hop) = self.next_hops.remove(&key)
        {
            self.adjacencies.free(hop.id);
        }
        Ok(())
    }

    fn set_known(&mut self, id: AdjacencyId, known: bool) -> Result<(), FibError> {
        let found = self.next_hops.iter_mut().find(|(_, hop)| hop.id == id);
        let Some((&key, hop)) = found else { return Ok(()) };
        hop.known = known;
        host_prefix(key.address).map_or(Ok(()), |host| self.install(host))
    }

    /// Brings the table to what the RIB now says, where that changed.
    fn follow(&mut self, link: LinkOf<'_>) -> Result<Vec<Wish>, FibError> {
        let mut wishes = Vec::new();
        let mut fault = Ok(());
        for change in std::mem::take(&mut self.changes) {
            if let Err(error) = self.follow_one(&change, link, &mut wishes) {
                fault = Err(error);
            }
        }
        fault.map(|()| wishes)
    }

    fn follow_one(
        &mut self,
        change: &Change<u32>,
        link: LinkOf<'_>,
        wishes: &mut Vec<Wish>,
    ) -> Result<(), FibError> {
        let prefix = change.prefix;
        let next = match &change.to {
            Some(Resolved::Paths(paths)) => first_neighbor(paths),
            _ => None,
        };
        if let Some(key) = next {
            if let Some(id) = self.adjacency(key, link)? {
                wishes.push(Wish::Pin(key, id));
            }
            if let Some(hop) = self.next_hops.get_mut(&key) {
                hop.routes += 1;
            }
        }
        let before = match next {
            Some(key) => self.over.insert(prefix, key),
            None => self.over.remove(&prefix),
        };
        let installed = self.install(prefix);
        if let Some(key) = before
            && let Some(hop) = self.next_hops.get_mut(&key)
        {
            hop.routes -= 1;
            if hop.routes == 0 {
                wishes.push(Wish::Release(key));
            }
        }
        installed
    }

    /// Writes one prefix into the forwarding table, or takes it out.
    fn install(&self, prefix: Ip4Prefix) -> Result<(), FibError> {
        match self.wanted(prefix) {
            Some(forward) => self.table.insert(prefix, forward).map(|_| ()),
            None => {
                self.table.remove(prefix);
                Ok(())
            }
        }
    }

    fn wanted(&self, prefix: Ip4Prefix) -> Option<Forward> {
        let plain = |kind: Kind, id: u32| Some(Forward::new(kind as u8, id));
        match self.rib.active(prefix).map(|(_, to)| to) {
            Some(Resolved::Paths(paths)) => match first_neighbor(paths) {
                Some(key) => {
                    let hop = self.next_hops.get(&key)?;
                    plain(Kind::Rewrite, hop.id.0)
                }
                None => plain(Kind::Glean, u32::from(paths.first()?.interface)),
            },
            Some(Resolved::Local) => plain(Kind::Local, 0),
            Some(Resolved::Blackhole) => plain(Kind::Blackhole, 0),
            Some(Resolved::Unreachable) => plain(Kind::Unreachable, 0),
            Some(Resolved::Prohibit) => plain(Kind::Prohibit, 0),
            None => match self.specials.get(&prefix) {
                Some(&kind) => plain(kind, 0),
                None => self.known_host(prefix).and_then(|id| plain(Kind::Rewrite, id.0)),
            },
        }
    }

    /// The adjacency of a known neighbour with exactly this address, on a link of its network.
    fn known_host(&self, prefix: Ip4Prefix) -> Option<AdjacencyId> {
        if prefix.length() != 32 {
            return None;
        }
        let (_, _, to) = self.rib.lookup(prefix.address())?;
        let Resolved::Paths(paths) = to else { return None };
        let on_link = paths.iter().find(|path| path.address.is_none())?;
        let address = IpAddr::V4(prefix.address().into());
        let hop = self.next_hops.get(&NeighborKey { interface: on_link.interface, address })?;
        hop.known.then_some(hop.id)
    }
}

/// The neighbour that a route's packets go to. One way is used of several: sharing them is a
/// feature of its own.
fn first_neighbor(paths: &[Path]) -> Option<NeighborKey> {
    let path = paths.first()?;
    Some(NeighborKey { interface: path.interface, address: path.address? })
}

fn host_prefix(address: IpAddr) -> Option<Ip4Prefix> {
    match address {
        IpAddr::V4(address) => Ip4Prefix::new(address.into(), 32).ok(),
        IpAddr::V6(_) => None,
    }
}
