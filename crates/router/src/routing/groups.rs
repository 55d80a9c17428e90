//! Groups of next hops: routes with the same members and weights share one.
//!
//! ```text
//!  routes ── A, B, C ──▶ group 4        B's link goes: B leaves group 4 in place, at once for all
//!  routes ── A, C ─────▶ group 5        its routes; the routes then resolve to A, C and stay
//!  a route leaves group 4 for A, C, D:  a new group that begins as a copy of 4, so that flows stay
//!
//!  B answers no more   B stays a member, and gets no flows while another member answers
//! ```
//! Groups that routes share by number ([`SharedId`]) are no others' whatever their members are: one
//! that changes is changed in place, and no route is touched.

use fib::ecmp::{EcmpTable, GroupId, Member};
use fib::rib::SharedId;
use fib::{FibError, Forward};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// All groups of one family.
pub(super) struct Groups {
    table: Arc<EcmpTable>,
    groups: HashMap<GroupId, Group>,
    by_members: HashMap<Vec<Member>, GroupId>,
    by_number: HashMap<SharedId, GroupId>,
    /// What groups were copied into by the changes at hand: routes that leave one group for the
    /// same members stay together.
    copies: HashMap<(GroupId, Vec<Member>), GroupId>,
    /// Ways that lead to nobody at present.
    silent: HashSet<Forward>,
}

struct Group {
    members: Vec<Member>,
    routes: usize,
    number: Option<SharedId>,
}

impl Groups {
    pub(super) fn new(table: Arc<EcmpTable>) -> Self {
        Self {
            table,
            groups: HashMap::new(),
            by_members: HashMap::new(),
            by_number: HashMap::new(),
            copies: HashMap::new(),
            silent: HashSet::new(),
        }
    }

    /// The group of these members, for a route that led to group `before`; made if need be, and
    /// then without routes: [`Groups::join`] follows.
    pub(super) fn of(
        &mut self,
        before: Option<GroupId>,
        members: Vec<Member>,
    ) -> Result<GroupId, FibError> {
        let left = before.and_then(|id| Some((id, self.groups.get(&id)?)));
        let Some((before, group)) = left else { return self.alike(members) };
        if group.members == members && group.number.is_none() {
            return Ok(before);
        }
        if let Some(copy) = self.copies.get(&(before, members.clone())) {
            return Ok(*copy);
        }
        let id = self.table.copy(before, &members)?;
        self.copies.insert((before, members.clone()), id);
        self.add(id, members, None);
        Ok(id)
    }

    /// The group of this number, for a route that led to group `before`; made if need be, as a copy
    /// of that.
    pub(super) fn numbered(
        &mut self,
        number: SharedId,
        before: Option<GroupId>,
        members: Vec<Member>,
    ) -> Result<GroupId, FibError> {
        if let Some(id) = self.by_number.get(&number) {
            return Ok(*id);
        }
        let id = match before {
            Some(before) => self.table.copy(before, &members)?,
            None => self.table.create(&members)?,
        };
        self.add(id, members, Some(number));
        self.by_number.insert(number, id);
        Ok(id)
    }

    /// Whether the group of this number is there, and has other members.
    pub(super) fn differs(&self, number: SharedId, members: &[Member]) -> bool {
        let group = self.by_number.get(&number).and_then(|id| self.groups.get(id));
        group.is_some_and(|group| group.members != members)
    }

    /// Gives the group of this number other members, in place, for all its routes. What it leads to
    /// from now on, and what it led to; nothing if it is not there, or has them already.
    pub(super) fn renew(
        &mut self,
        number: SharedId,
        members: &[Member],
    ) -> Result<[Vec<Forward>; 2], FibError> {
        let id = self.by_number.get(&number).copied();
        let found = id.and_then(|id| Some((id, self.groups.get_mut(&id)?)));
        let Some((id, group)) = found.filter(|(_, group)| group.members != members) else {
            return Ok([Vec::new(), Vec::new()]);
        };
        // With room for all of them, so that the silent ones can come back.
        self.table.set_members(id, members)?;
        let is_used = group.routes > 0;
        let before = std::mem::replace(&mut group.members, members.to_vec());
        self.spread(id, members);
        let [now, before] = [members, &before].map(led_to);
        Ok(if is_used { [now, before] } else { [Vec::new(), Vec::new()] })
    }

    fn alike(&mut self, members: Vec<Member>) -> Result<GroupId, FibError> {
        if let Some(id) = self.by_members.get(&members) {
            return Ok(*id);
        }
        let id = self.table.create(&members)?;
        self.add(id, members, None);
        Ok(id)
    }

    /// A group made with room for all `members`, so that the silent ones can come back.
    fn add(&mut self, id: GroupId, members: Vec<Member>, number: Option<SharedId>) {
        self.spread(id, &members);
        if number.is_none() {
            self.by_members.entry(members.clone()).or_insert(id);
        }
        self.groups.insert(id, Group { members, routes: 0, number });
    }

    /// One more route leads to it; its members, if it is the first.
    pub(super) fn join(&mut self, id: GroupId) -> Vec<Forward> {
        let Some(group) = self.groups.get_mut(&id) else { return Vec::new() };
        group.routes += 1;
        if group.routes == 1 { led_to(&group.members) } else { Vec::new() }
    }

    /// One route less; its members, if that was the last: the group is gone then.
    pub(super) fn leave(&mut self, id: GroupId) -> Vec<Forward> {
        let Some(group) = self.groups.get_mut(&id) else { return Vec::new() };
        group.routes -= 1;
        if group.routes > 0 {
            return Vec::new();
        }
        let (members, number) = (std::mem::take(&mut group.members), group.number);
        self.groups.remove(&id);
        if let Some(number) = number {
            self.by_number.remove(&number);
        }
        self.forget(id, &members);
        self.copies.retain(|(from, _), to| *from != id && *to != id);
        self.table.remove(id);
        led_to(&members)
    }

    /// Takes out of every group the members that `gone` names, and returns them, once for each
    /// group: the flows of the others stay, and no route changes.
    pub(super) fn drop_members(&mut self, gone: impl Fn(Forward) -> bool) -> Vec<Forward> {
        let mut left = Vec::new();
        let touched = self.groups.iter().filter(|(_, g)| g.members.iter().any(|m| gone(m.to)));
        for id in touched.map(|(id, _)| *id).collect::<Vec<_>>() {
            let Some(group) = self.groups.get_mut(&id) else { continue };
            let before = group.members.clone();
            group.members.retain(|member| !gone(member.to));
            reduce(&mut group.members);
            let (members, number) = (group.members.clone(), group.number);
            left.extend(before.iter().map(|member| member.to).filter(|to| gone(*to)));
            self.spread(id, &members);
            self.forget(id, &before);
            if number.is_none() {
                self.by_members.entry(members).or_insert(id);
            }
        }
        left
    }

    /// Says whether a way leads to nobody. Its flows go to the other members of its groups, or come
    /// back: the flows of the others stay, and no route changes.
    pub(super) fn set_silent(&mut self, to: Forward, silent: bool) {
        let changed = if silent { self.silent.insert(to) } else { self.silent.remove(&to) };
        let touched = self.groups.iter().filter(|(_, g)| g.members.iter().any(|m| m.to == to));
        for (id, group) in touched.filter(|_| changed) {
            self.spread(*id, &group.members);
        }
    }

    /// Gives the flows of a group to those of its members that are not silent. Of members that all
    /// are, each keeps its share: packets are how one that comes back is found.
    fn spread(&self, id: GroupId, members: &[Member]) {
        let mut sharing = Cow::Borrowed(members);
        if !self.silent.is_empty() && members.iter().any(|m| !self.silent.contains(&m.to)) {
            sharing.to_mut().retain(|member| !self.silent.contains(&member.to));
        }
        // The group was made for all of its members: fewer need no more buckets, so this cannot
        // fail.
        if let Err(error) = self.table.set_members(id, &sharing) {
            tracing::error!(fault = "group-members", ?error, "flows keep to a silent next hop");
        }
    }

    /// Where the groups are.
    #[cfg(test)]
    pub(super) fn table(&self) -> &EcmpTable {
        &self.table
    }

    /// Ends the changes at hand.
    pub(super) fn settle(&mut self) {
        self.copies.clear();
    }

    fn forget(&mut self, id: GroupId, members: &[Member]) {
        if self.by_members.get(members) == Some(&id) {
            self.by_members.remove(members);
        }
    }
}

/// Divides weights by what they have in common, as the RIB does.
fn reduce(members: &mut [Member]) {
    fn common(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { common(b, a % b) }
    }
    let divisor = members.iter().map(|member| member.weight).fold(0, common).max(1);
    members.iter_mut().for_each(|member| member.weight /= divisor);
}

fn led_to(members: &[Member]) -> Vec<Forward> {
    members.iter().map(|member| member.to).collect()
}
