//! Where routes of all VRFs lead: next hops, groups of them, and what that asks of the neighbours.
//!
//! ```text
//!  VRF red  ── 10.0.0.0/8 ─┐
//!  VRF blue ── 10.0.0.0/8 ─┼─▶ ways: next hop, group     the first user pins, the last one releases
//!  default  ── 172.16/12 ──┘
//! ```
//! A way is a word of a forwarding table. Its users are counted, whichever VRF they are of.

use super::family::Family;
use super::groups::Groups;
use super::next_hops::NextHops;
use super::{LinkHeader, LinkOf, Wish};
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ecmp::{EcmpTable, GroupId, Member};
use fib::neighbor::NeighborKey;
use fib::rib::{Path, Resolved, SharedId};
use fib::{FibError, Forward};
use nodes::tables::Kind;
use std::sync::Arc;

/// All ways of one family.
pub(super) struct Ways<A> {
    pub(super) next_hops: NextHops<A>,
    pub(super) groups: Groups,
    wishes: Vec<Wish>,
}

impl<A: Family> Ways<A> {
    pub(super) fn new(adjacencies: Arc<AdjacencyTable>, groups: Arc<EcmpTable>) -> Self {
        let (next_hops, groups) = (NextHops::new(adjacencies), Groups::new(groups));
        Self { next_hops, groups, wishes: Vec::new() }
    }

    /// What neighbours are to be asked since the last call.
    pub(super) fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
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

    /// A neighbour does not answer: it leaves its groups until its MAC is known.
    pub(super) fn silent(&mut self, key: NeighborKey) {
        if let Some(id) = self.next_hops.existing(key) {
            self.groups.set_silent(by_neighbor(id), true);
        }
    }

    /// A neighbour answers, or its id is to serve another one.
    pub(super) fn not_silent(&mut self, id: AdjacencyId) {
        self.groups.set_silent(by_neighbor(id), false);
    }

    /// One more route leads there.
    pub(super) fn join(&mut self, to: Option<Forward>) {
        let Some(to) = to else { return };
        if let Some(id) = adjacency_of(to) {
            self.next_hops.join(id, &mut self.wishes);
        } else if let Some(id) = group_of(to) {
            for member in self.groups.join(id) {
                self.join(Some(member));
            }
        }
    }

    /// One less.
    pub(super) fn leave(&mut self, from: Option<Forward>) {
        let Some(from) = from else { return };
        if let Some(id) = adjacency_of(from) {
            if let Some(gone) = self.next_hops.leave(id, &mut self.wishes) {
                self.not_silent(gone);
            }
        } else if let Some(id) = group_of(from) {
            for member in self.groups.leave(id) {
                self.leave(Some(member));
            }
        }
    }

    /// The word for what a route resolved to; none if its interface is not there. `before` is what
    /// the route led to until now.
    pub(super) fn to(
        &mut self,
        to: &Resolved,
        before: impl FnOnce() -> Option<Forward>,
        link: LinkOf<'_>,
    ) -> Result<Option<Forward>, FibError> {
        Ok(match to {
            Resolved::Paths(paths) => match &paths[..] {
                [path] => self.by_path(path, link)?,
                paths => self.by_group(paths, before, link)?,
            },
            // Its paths are the RIB's to say: `by_number`.
            Resolved::Shared(_) => None,
            Resolved::Local => Some(plain(Kind::Local, 0)),
            Resolved::Table(vrf) => Some(plain(Kind::Vrf, (*vrf).into())),
            Resolved::Blackhole => Some(plain(Kind::Blackhole, 0)),
            Resolved::Unreachable => Some(plain(Kind::Unreachable, 0)),
            Resolved::Prohibit => Some(plain(Kind::Prohibit, 0)),
        })
    }

    /// The word of routes that lead to a group of this number, which has these paths.
    pub(super) fn by_number(
        &mut self,
        number: SharedId,
        paths: &[Path],
        before: Option<Forward>,
        link: LinkOf<'_>,
    ) -> Result<Option<Forward>, FibError> {
        let members = self.members(paths, link)?;
        if members.is_empty() {
            return Ok(None);
        }
        if self.groups.differs(number, &members) {
            self.renew(number, paths, link)?;
        }
        let ways = ways_of(&members);
        let before = before.and_then(group_of);
        let group = self.groups.numbered(number, before, members);
        let group = group.inspect_err(|_| self.let_go(&ways))?;
        Ok(Some(plain(Kind::Group, group.0)))
    }

    /// A group of this number has these paths now: all its routes take them, at once.
    pub(super) fn renew(
        &mut self,
        number: SharedId,
        paths: &[Path],
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        let members = self.members(paths, link)?;
        let ways = ways_of(&members);
        let [now, before] =
            self.groups.renew(number, &members).inspect_err(|_| self.let_go(&ways))?;
        now.into_iter().for_each(|to| self.join(Some(to)));
        before.into_iter().for_each(|from| self.leave(Some(from)));
        self.let_go(&ways);
        Ok(())
    }

    /// Frees what was made for a group that is not to be.
    fn let_go(&mut self, ways: &[Forward]) {
        // Next hops made for it have no other user.
        ways.iter().for_each(|to| self.join(Some(*to)));
        ways.iter().for_each(|to| self.leave(Some(*to)));
    }

    fn members(&mut self, paths: &[Path], link: LinkOf<'_>) -> Result<Vec<Member>, FibError> {
        let mut members = Vec::with_capacity(paths.len());
        for path in paths {
            let to = self.by_path(path, link)?;
            members.extend(to.map(|to| Member { to, weight: path.weight }));
        }
        Ok(members)
    }

    fn by_path(&mut self, path: &Path, link: LinkOf<'_>) -> Result<Option<Forward>, FibError> {
        let interface = path.interface;
        let alone = || matches!(link(interface), Some((LinkHeader::Nothing, _)));
        let address = match path.address {
            Some(address) => address,
            // Whoever is behind the other end: nobody is asked for.
            None if alone() => A::mask(0).to_ip(),
            None => return Ok(Some(plain(Kind::Glean, interface.into()))),
        };
        let id = self.next_hops.adjacency(NeighborKey { interface, address }, link)?;
        Ok(id.map(by_neighbor))
    }

    fn by_group(
        &mut self,
        paths: &[Path],
        before: impl FnOnce() -> Option<Forward>,
        link: LinkOf<'_>,
    ) -> Result<Option<Forward>, FibError> {
        let members = self.members(paths, link)?;
        if let [] | [_] = members[..] {
            return Ok(members.first().map(|member| member.to));
        }
        let before = before().and_then(group_of);
        let ways = ways_of(&members);
        let group = self.groups.of(before, members).inspect_err(|_| self.let_go(&ways))?;
        Ok(Some(plain(Kind::Group, group.0)))
    }
}

fn ways_of(members: &[Member]) -> Vec<Forward> {
    members.iter().map(|member| member.to).collect()
}

/// A word.
pub(super) fn plain(kind: Kind, id: u32) -> Forward {
    Forward::new(kind as u8, id)
}

pub(super) fn by_neighbor(id: AdjacencyId) -> Forward {
    plain(Kind::Rewrite, id.0)
}

fn adjacency_of(forward: Forward) -> Option<AdjacencyId> {
    (forward.kind() == Kind::Rewrite as u8).then(|| AdjacencyId(forward.id()))
}

fn group_of(forward: Forward) -> Option<GroupId> {
    (forward.kind() == Kind::Group as u8).then(|| GroupId(forward.id()))
}
