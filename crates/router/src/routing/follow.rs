//! Brings the forwarding table to what the routes say, where that changed.
//!
//! ```text
//!  Change { prefix, to }      join what it leads to ─▶ write the table's word ─▶ leave what it led to
//! ```
//! What the word was before is what its users are counted by: nothing else remembers it.

use super::family::{Family, Table};
use super::{LinkOf, Routing};
use fib::adjacency::AdjacencyId;
use fib::ecmp::{GroupId, Member};
use fib::neighbor::NeighborKey;
use fib::rib::{Change, Path, Resolved};
use fib::{FibError, Forward, Prefix};
use nodes::plumbing::Kind;

impl<A: Family> Routing<A> {
    /// Follows all changes so far. One that fails does not keep the others back.
    pub(super) fn follow(&mut self, link: LinkOf<'_>) -> Result<(), FibError> {
        let mut outcome = Ok(());
        self.refused.clear();
        for change in std::mem::take(&mut self.changes) {
            if let Err(error) = self.follow_one(&change, link) {
                self.refused.push(change.prefix);
                outcome = Err(error);
            }
        }
        self.groups.settle();
        outcome
    }

    /// Takes what is behind an interface out of every group at once, before the routes follow.
    pub(super) fn leave_groups(&mut self, interface: u16) {
        let next_hops = &self.next_hops;
        let behind = |to: Forward| match adjacency_of(to) {
            Some(id) => next_hops.interface(id) == Some(interface),
            None => to == plain(Kind::Glean, interface.into()),
        };
        for left in self.groups.drop_members(behind) {
            self.leave(Some(left));
        }
    }

    fn follow_one(&mut self, change: &Change<A>, link: LinkOf<'_>) -> Result<(), FibError> {
        let routed = match &change.to {
            Some(to) => self.forward_of(change.prefix, to, link)?,
            None => None,
        };
        match routed {
            Some(forward) => self.write(change.prefix, Some(forward), false)?,
            None => self.write_without_route(change.prefix)?,
        }
        let is_link = routed.is_some_and(|to| to.kind() == Kind::Glean as u8);
        let was_link = match is_link {
            true => !self.links.insert(change.prefix),
            false => self.links.remove(&change.prefix),
        };
        if is_link || was_link { self.follow_neighbors(change.prefix) } else { Ok(()) }
    }

    /// A network on a link came or went, and with it the host routes of known neighbours in it.
    fn follow_neighbors(&mut self, network: Prefix<A>) -> Result<(), FibError> {
        for host in self.next_hops.known_hosts() {
            if network.contains(host.address()) {
                self.follow_without_route(host)?;
            }
        }
        Ok(())
    }

    /// Writes what `prefix` comes to if no route says.
    pub(super) fn follow_without_route(&mut self, prefix: Prefix<A>) -> Result<(), FibError> {
        if self.rib.active(prefix).is_some() {
            return Ok(());
        }
        self.write_without_route(prefix)
    }

    fn write_without_route(&mut self, prefix: Prefix<A>) -> Result<(), FibError> {
        if let Some(&kind) = self.specials.get(&prefix) {
            return self.write(prefix, Some(plain(kind, 0)), false);
        }
        match self.known_host(prefix) {
            Some(id) => self.write(prefix, Some(by_neighbor(id)), true),
            None => self.write(prefix, None, false),
        }
    }

    /// Writes one word of the table, or clears it; `is_own`: the word of a neighbour's own address.
    fn write(
        &mut self,
        prefix: Prefix<A>,
        to: Option<Forward>,
        is_own: bool,
    ) -> Result<(), FibError> {
        let joins = to.filter(|_| !is_own);
        self.join(joins);
        let written = match to {
            Some(to) => self.table.insert(prefix, to),
            None => Ok(self.table.remove(prefix)),
        };
        let before = written.inspect_err(|_| self.leave(joins))?;
        let was_own = match is_own {
            true => !self.neighbors.insert(prefix),
            false => prefix.length() == A::BITS && self.neighbors.remove(&prefix),
        };
        self.leave(before.filter(|_| !was_own));
        Ok(())
    }

    fn join(&mut self, to: Option<Forward>) {
        let Some(to) = to else { return };
        if let Some(id) = adjacency_of(to) {
            self.next_hops.join(id, &mut self.wishes);
        } else if let Some(id) = group_of(to) {
            for member in self.groups.join(id) {
                self.join(Some(member));
            }
        }
    }

    fn leave(&mut self, from: Option<Forward>) {
        let Some(from) = from else { return };
        if let Some(id) = adjacency_of(from) {
            self.next_hops.leave(id, &mut self.wishes);
        } else if let Some(id) = group_of(from) {
            for member in self.groups.leave(id) {
                self.leave(Some(member));
            }
        }
    }

    /// The word for what a route resolved to; none if its interface is not there.
    fn forward_of(
        &mut self,
        prefix: Prefix<A>,
        to: &Resolved,
        link: LinkOf<'_>,
    ) -> Result<Option<Forward>, FibError> {
        Ok(match to {
            Resolved::Paths(paths) => match &paths[..] {
                [path] => self.forward_by(path, link)?,
                paths => self.forward_by_group(prefix, paths, link)?,
            },
            Resolved::Local => Some(plain(Kind::Local, 0)),
            Resolved::Blackhole => Some(plain(Kind::Blackhole, 0)),
            Resolved::Unreachable => Some(plain(Kind::Unreachable, 0)),
            Resolved::Prohibit => Some(plain(Kind::Prohibit, 0)),
        })
    }

    fn forward_by(&mut self, path: &Path, link: LinkOf<'_>) -> Result<Option<Forward>, FibError> {
        let interface = path.interface;
        let Some(address) = path.address else {
            return Ok(Some(plain(Kind::Glean, interface.into())));
        };
        let id = self.next_hops.adjacency(NeighborKey { interface, address }, link)?;
        Ok(id.map(by_neighbor))
    }

    fn forward_by_group(
        &mut self,
        prefix: Prefix<A>,
        paths: &[Path],
        link: LinkOf<'_>,
    ) -> Result<Option<Forward>, FibError> {
        let mut members = Vec::with_capacity(paths.len());
        for path in paths {
            let to = self.forward_by(path, link)?;
            members.extend(to.map(|to| Member { to, weight: path.weight }));
        }
        if let [] | [_] = members[..] {
            return Ok(members.first().map(|member| member.to));
        }
        let before = self.table.get(prefix).and_then(group_of);
        let ways: Vec<Forward> = members.iter().map(|member| member.to).collect();
        let group = self.groups.of(before, members).inspect_err(|_| {
            // Next hops made for it have no other user.
            ways.iter().for_each(|to| self.join(Some(*to)));
            ways.iter().for_each(|to| self.leave(Some(*to)));
        })?;
        Ok(Some(plain(Kind::Group, group.0)))
    }

    /// The adjacency of a known neighbour with exactly this address, on a link of its network.
    fn known_host(&self, prefix: Prefix<A>) -> Option<AdjacencyId> {
        if prefix.length() != A::BITS {
            return None;
        }
        let (_, _, to) = self.rib.lookup(prefix.address())?;
        let Resolved::Paths(paths) = to else { return None };
        let on_link = paths.iter().find(|path| path.address.is_none())?;
        let address = prefix.address().plain().to_ip();
        self.next_hops.known(NeighborKey { interface: on_link.interface, address })
    }
}

fn plain(kind: Kind, id: u32) -> Forward {
    Forward::new(kind as u8, id)
}

/// The word of a way over a neighbour.
pub(super) fn by_neighbor(id: AdjacencyId) -> Forward {
    plain(Kind::Rewrite, id.0)
}

fn adjacency_of(forward: Forward) -> Option<AdjacencyId> {
    (forward.kind() == Kind::Rewrite as u8).then(|| AdjacencyId(forward.id()))
}

fn group_of(forward: Forward) -> Option<GroupId> {
    (forward.kind() == Kind::Group as u8).then(|| GroupId(forward.id()))
}
