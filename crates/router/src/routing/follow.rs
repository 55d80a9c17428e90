//! Brings a VRF's forwarding table to what its routes say, where that changed.
//!
//! ```text
//!  Change { prefix, to }      join what it leads to ─▶ write the table's word ─▶ leave what it led to
//! ```
//! What the word was before is what its users are counted by: nothing else remembers it.

use super::family::{Family, Table};
use super::vrf::InVrf;
use super::ways::plain;
use fib::adjacency::AdjacencyId;
use fib::neighbor::NeighborKey;
use fib::rib::{Change, Resolved};
use fib::{FibError, Forward, Prefix};
use nodes::tables::Kind;

impl<A: Family> InVrf<'_, A> {
    /// Follows all changes so far. One that fails does not keep the others back.
    pub(super) fn follow(&mut self) -> Result<(), FibError> {
        let mut outcome = Ok(());
        self.routes.refused.clear();
        // Groups first: that leads all their flows away from what is gone.
        for number in self.routes.rib.take_shared_changes() {
            let paths = self.routes.rib.shared_paths(number);
            outcome = outcome.and(self.ways.renew(number, paths, self.link));
        }
        for change in std::mem::take(&mut self.routes.changes) {
            if let Err(error) = self.follow_one(&change) {
                self.routes.refused.push(change.prefix);
                outcome = Err(error);
            }
        }
        self.ways.groups.settle();
        outcome
    }

    fn follow_one(&mut self, change: &Change<A>) -> Result<(), FibError> {
        let table = &self.routes.table;
        let routed = match &change.to {
            Some(Resolved::Shared(number)) => {
                let (paths, before) =
                    (self.routes.rib.shared_paths(*number), table.get(change.prefix));
                self.ways.by_number(*number, paths, before, self.link)?
            }
            Some(to) => self.ways.to(to, || table.get(change.prefix), self.link)?,
            None => None,
        };
        match routed {
            Some(forward) => self.write(change.prefix, Some(forward), false)?,
            None => self.write_without_route(change.prefix)?,
        }
        let is_link = routed.is_some_and(|to| to.kind() == Kind::Glean as u8);
        let was_link = match is_link {
            true => !self.routes.links.insert(change.prefix),
            false => self.routes.links.remove(&change.prefix),
        };
        if is_link || was_link { self.follow_neighbors(change.prefix) } else { Ok(()) }
    }

    /// A network on a link came or went, and with it the host routes of known neighbours in it.
    fn follow_neighbors(&mut self, network: Prefix<A>) -> Result<(), FibError> {
        let known = self.ways.next_hops.known_in(network);
        known.into_iter().try_for_each(|host| self.follow_neighbor(host))
    }

    /// Writes what a neighbour's own address comes to, if no route says: it may be known on a link
    /// of this VRF, or of others alone.
    pub(super) fn follow_neighbor(&mut self, host: Prefix<A>) -> Result<(), FibError> {
        let stands_here = self.routes.neighbors.contains(&host) || self.known_host(host).is_some();
        if stands_here { self.follow_without_route(host) } else { Ok(()) }
    }

    /// Writes what `prefix` comes to if no route says.
    pub(crate) fn follow_without_route(&mut self, prefix: Prefix<A>) -> Result<(), FibError> {
        if self.routes.rib.active(prefix).is_some() {
            return Ok(());
        }
        self.write_without_route(prefix)
    }

    fn write_without_route(&mut self, prefix: Prefix<A>) -> Result<(), FibError> {
        if let Some(&(kind, id)) = self.routes.specials.get(&prefix) {
            return self.write(prefix, Some(plain(kind, id)), false);
        }
        match self.known_host(prefix) {
            Some(id) => self.write(prefix, Some(plain(Kind::Rewrite, id.0)), true),
            None => self.write(prefix, None, false),
        }
    }

    /// Writes one word of the table, or clears it; `is_own`: the word of a neighbour's own address.
    pub(super) fn write(
        &mut self,
        prefix: Prefix<A>,
        to: Option<Forward>,
        is_own: bool,
    ) -> Result<(), FibError> {
        let joins = to.filter(|_| !is_own);
        self.ways.join(joins);
        let written = match to {
            Some(to) => self.routes.table.insert(prefix, to),
            None => Ok(self.routes.table.remove(prefix)),
        };
        let before = written.inspect_err(|_| self.ways.leave(joins))?;
        let was_own = match is_own {
            true => !self.routes.neighbors.insert(prefix),
            false => prefix.length() == A::BITS && self.routes.neighbors.remove(&prefix),
        };
        self.ways.leave(before.filter(|_| !was_own));
        Ok(())
    }

    /// The adjacency of a known neighbour with exactly this address, on a link of its network.
    fn known_host(&self, prefix: Prefix<A>) -> Option<AdjacencyId> {
        if prefix.length() != A::BITS {
            return None;
        }
        let (_, _, to) = self.routes.rib.lookup(prefix.address())?;
        let Resolved::Paths(paths) = to else { return None };
        let on_link = paths.iter().find(|path| path.address.is_none())?;
        let address = prefix.address().plain().to_ip();
        self.ways.next_hops.known(NeighborKey { interface: on_link.interface, address })
    }
}
