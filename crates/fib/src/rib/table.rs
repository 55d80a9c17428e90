//! The table: candidates per prefix, the active one, and how a change spreads.

use std::collections::{BTreeMap, HashSet};

use super::hops::{Found, Hops};
use super::interfaces::Interfaces;
use super::journal::Journal;
use super::pending::{Pending, UsersOf};
use super::resolve::Resolver;
use super::route::{NextHop, Path, Resolved, Route, Source, Target};
use super::shared::SharedGroups;
use crate::{Address, Prefix};

/// How often a prefix may change until all has settled. Routes that lead to each other in a ring
/// have no lasting answer; the one that reaches this is taken out, which breaks the ring.
const MAX_TURNS: u32 = 16;
/// Prefixes that one call looks at beside its own: those that depend on what changed. More are left
/// to [`Rib::settle_more`], so that nobody waits for long.
const SLICE: usize = 4096;

/// A prefix that forwards differently now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<A: Address> {
    /// The prefix.
    pub prefix: Prefix<A>,
    /// What it forwards to; none if it is no route any more.
    pub to: Option<Resolved>,
}

/// A route as `show routes` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteView<'a, A: Address> {
    /// Its prefix.
    pub prefix: Prefix<A>,
    /// Whose it is.
    pub source: Source,
    /// The route.
    pub route: &'a Route,
    /// Its next hops, or those of the group that it leads to.
    pub hops: &'a [NextHop],
    /// What it forwards to, if it is the active one of its prefix.
    pub active: Option<&'a Resolved>,
    /// The paths that this is at the time.
    pub paths: &'a [Path],
}

/// How many routes a source has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCount {
    /// All of them.
    pub routes: usize,
    /// Those that forward.
    pub active: usize,
}

/// See the module's drawing.
#[derive(Debug)]
pub struct Rib<A: Address> {
    entries: BTreeMap<Prefix<A>, Entry>,
    pub(super) hops: Hops<A>,
    pub(super) shared: SharedGroups<A>,
    interfaces: Interfaces<A>,
    /// How many active routes there are of each length: the lengths a lookup tries.
    active_of_length: Vec<usize>,
    counts: BTreeMap<Source, SourceCount>,
    pub(super) down: HashSet<u16>,
    steps: u64,
    pub(super) pending: Pending<A>,
    slice: usize,
    /// Counts how often all had settled.
    round: u32,
    pub(super) journal: Journal<A>,
}

#[derive(Debug, Default)]
struct Entry {
    /// Best first; the sources differ.
    candidates: Vec<(Source, Route)>,
    active: Option<(Source, Resolved)>,
    /// How often what it forwards to has changed in this round.
    turns: u32,
    round: u32,
}

/// The routes of a prefix.
fn views<'a, A: Address>(
    (prefix, entry): (&'a Prefix<A>, &'a Entry),
    shared: &'a SharedGroups<A>,
) -> impl Iterator<Item = RouteView<'a, A>> {
    entry.candidates.iter().map(|(source, route)| {
        let active = entry.active.as_ref().filter(|(of, _)| of == source);
        let active = active.map(|(_, to)| to);
        view(*prefix, *source, route, active, shared)
    })
}

fn view<'a, A: Address>(
    prefix: Prefix<A>,
    source: Source,
    route: &'a Route,
    active: Option<&'a Resolved>,
    shared: &'a SharedGroups<A>,
) -> RouteView<'a, A> {
    let hops = match route.target {
        Target::Shared(id) => shared.target(id).map_or(&[][..], Target::hops),
        _ => route.hops(),
    };
    let paths = match active {
        Some(Resolved::Paths(paths)) => paths,
        Some(Resolved::Shared(id)) => shared.paths(*id).map_or(&[][..], |paths| paths),
        _ => &[],
    };
    RouteView { prefix, source, route, hops, active, paths }
}

impl<A: Address> Default for Rib<A> {
    fn default() -> Rib<A> {
        Rib::new()
    }
}

impl<A: Address> Rib<A> {
    /// No routes.
    pub fn new() -> Rib<A> {
        Rib {
            entries: BTreeMap::new(),
            hops: Hops::new(),
            shared: SharedGroups::new(),
            interfaces: Interfaces::new(),
            active_of_length: vec![0; A::BITS as usize + 1],
            counts: BTreeMap::new(),
            down: HashSet::new(),
            steps: 0,
            pending: Pending::default(),
            slice: SLICE,
            round: 0,
            journal: Journal::default(),
        }
    }

    /// The same, looking at fewer prefixes at once.
    #[cfg(test)]
    pub(super) fn with_slice(slice: usize) -> Rib<A> {
        Rib { slice, ..Rib::new() }
    }

    /// Adds a route, or replaces the one that `source` had for `prefix`.
    pub fn add(
        &mut self,
        prefix: Prefix<A>,
        source: Source,
        route: Route,
        changes: &mut Vec<Change<A>>,
    ) {
        self.add_all([(prefix, route)], source, changes);
    }

    /// Adds or replaces many routes of `source`: quicker than one by one, and a prefix that they
    /// change several times is told of once.
    pub fn add_all(
        &mut self,
        routes: impl IntoIterator<Item = (Prefix<A>, Route)>,
        source: Source,
        changes: &mut Vec<Change<A>>,
    ) {
        let mut prefixes = Vec::new();
        for (prefix, route) in routes {
            self.take(prefix, source);
            let candidates = &mut self.entries.entry(prefix).or_default().candidates;
            let place = candidates.partition_point(|(other, _)| *other < source);
            self.interfaces.join(prefix, &route);
            self.journal.route(prefix, source, Some(&route));
            candidates.insert(place, (source, route));
            self.counts.entry(source).or_default().routes += 1;
            self.join_hops(prefix);
            prefixes.push(prefix);
        }
        self.settle(prefixes, changes);
    }

    /// Removes the route that `source` has for `prefix`; false if it has none.
    pub fn remove(
        &mut self,
        prefix: Prefix<A>,
        source: Source,
        changes: &mut Vec<Change<A>>,
    ) -> bool {
        let taken = self.take(prefix, source);
        if taken {
            self.journal.route(prefix, source, None);
            self.settle([prefix], changes);
        }
        taken
    }

    /// Removes the routes that `source` has for `prefixes`; says how many it had.
    pub fn remove_all(
        &mut self,
        mut prefixes: Vec<Prefix<A>>,
        source: Source,
        changes: &mut Vec<Change<A>>,
    ) -> usize {
        prefixes.retain(|prefix| self.take(*prefix, source));
        prefixes.iter().for_each(|prefix| self.journal.route(*prefix, source, None));
        let taken = prefixes.len();
        self.settle(prefixes, changes);
        taken
    }

    /// What a route for `prefix` would lead to now, without becoming one.
    pub fn resolve(&self, prefix: Prefix<A>, route: &Route) -> Option<Resolved> {
        // What other routes lead to is found without joining the next hops of routes that are.
        let mut hops = Hops::new();
        for address in recursive(&route.target, &self.shared) {
            hops.join(address, prefix);
            hops.set_found(address, self.find(address));
        }
        let resolver = Resolver { hops: &hops, down: &self.down, shared: &self.shared };
        resolver.resolve(prefix, &route.target)
    }

    /// For which of the next `most` prefixes from `from` on `source` has a route, and where to go
    /// on: all routes of a source are found piece by piece, so that nobody waits for long.
    pub fn of_source(
        &self,
        source: Source,
        from: Prefix<A>,
        most: usize,
    ) -> (Vec<Prefix<A>>, Option<Prefix<A>>) {
        let mut entries = self.entries.range(from..);
        let is_of = |entry: &Entry| entry.candidates.iter().any(|(other, _)| *other == source);
        let piece = entries.by_ref().take(most).filter(|(_, entry)| is_of(entry));
        (piece.map(|(prefix, _)| *prefix).collect(), entries.next().map(|(prefix, _)| *prefix))
    }

    /// How many routes `source` has.
    pub fn count(&self, source: Source) -> SourceCount {
        self.counts.get(&source).copied().unwrap_or_default()
    }

    /// How many routes there are that no configuration has.
    pub fn brought(&self) -> usize {
        let brought = self.counts.iter().filter(|(source, _)| source.protocol.is_brought());
        brought.map(|(_, count)| count.routes).sum()
    }

    /// How many routes of all sources there are.
    pub fn len(&self) -> usize {
        self.counts.values().map(|count| count.routes).sum()
    }

    /// Bytes it takes, about: what each route allocates, and the maps' own.
    pub fn bytes(&self) -> usize {
        // A B-tree is two thirds full on average; a next hop's list of users likewise.
        const PREFIX: usize = (size_of::<Prefix<u128>>() + size_of::<Entry>()) * 3 / 2;
        const ROUTE: usize = size_of::<(Source, Route)>() + size_of::<Prefix<u128>>() * 3 / 2;
        self.entries.len() * PREFIX + self.len() * ROUTE
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Says whether routes may use `interface`; at first they may use every one.
    pub fn set_interface(&mut self, interface: u16, up: bool, changes: &mut Vec<Change<A>>) {
        let changed = if up { self.down.remove(&interface) } else { self.down.insert(interface) };
        if changed {
            let groups = self.shared_over(interface);
            self.shared_changed(groups, false, changes);
            let on_link: Vec<_> = self.interfaces.on_link(interface).collect();
            if self.interfaces.has_behind(interface) {
                self.pending.look_for_routes_over(interface);
            }
            self.settle(on_link, changes);
        }
    }

    /// Goes on with what the last calls have left: prefixes that forward as before still. True if
    /// there is more.
    pub fn settle_more(&mut self, changes: &mut Vec<Change<A>>) -> bool {
        self.settle([], changes);
        self.is_settling()
    }

    /// Whether prefixes are left that may forward differently.
    pub fn is_settling(&self) -> bool {
        !self.pending.is_empty()
    }

    /// How many entries all changes so far have looked at: what they cost, on any machine.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What exactly `prefix` forwards to, and by whose route.
    pub fn active(&self, prefix: Prefix<A>) -> Option<(Source, &Resolved)> {
        self.entries.get(&prefix)?.active.as_ref().map(|(source, to)| (*source, to))
    }

    /// The longest active route that holds `address`.
    pub fn lookup(&self, address: A) -> Option<(Prefix<A>, Source, &Resolved)> {
        (0..=A::BITS).rev().filter(|length| self.active_of_length[*length as usize] > 0).find_map(
            |length| {
                let prefix = Prefix::new(address, length).ok()?;
                self.active(prefix).map(|(source, to)| (prefix, source, to))
            },
        )
    }

    /// Every route, active or not, in order of address, length and preference.
    pub fn routes(&self) -> impl Iterator<Item = RouteView<'_, A>> {
        self.entries.iter().flat_map(|entry| views(entry, &self.shared))
    }

    /// The same of the next `most` prefixes from `from` on, and where to go on: piece by piece, so
    /// that nobody waits for long.
    pub fn routes_from(
        &self,
        from: Prefix<A>,
        most: usize,
    ) -> (impl Iterator<Item = RouteView<'_, A>>, Option<Prefix<A>>) {
        let next = self.entries.range(from..).nth(most).map(|(prefix, _)| *prefix);
        let entries = self.entries.range(from..).take(most);
        (entries.flat_map(|entry| views(entry, &self.shared)), next)
    }

    /// The route that `source` has for exactly `prefix`.
    pub fn route(&self, prefix: Prefix<A>, source: Source) -> Option<RouteView<'_, A>> {
        let entry = self.entries.get(&prefix)?;
        let (_, route) = entry.candidates.iter().find(|(of, _)| *of == source)?;
        let active = entry.active.as_ref().filter(|(of, _)| *of == source);
        Some(view(prefix, source, route, active.map(|(_, to)| to), &self.shared))
    }

    /// How many prefixes forward.
    pub fn active_len(&self) -> usize {
        self.active_of_length.iter().sum()
    }

    /// Takes a candidate out, without yet looking what that changes.
    fn take(&mut self, prefix: Prefix<A>, source: Source) -> bool {
        let Some(entry) = self.entries.get_mut(&prefix) else { return false };
        let Some(place) = entry.candidates.iter().position(|(other, _)| *other == source) else {
            return false;
        };
        let (_, route) = entry.candidates.remove(place);
        self.counts.entry(source).or_default().routes -= 1;
        self.interfaces.leave(prefix, &route, entry.candidates.iter().map(|(_, route)| route));
        for address in recursive(&route.target, &self.shared) {
            self.hops.leave(address, prefix);
        }
        if let Target::Shared(id) = route.target {
            self.shared.leave(id, prefix);
        }
        self.join_hops(prefix);
        true
    }

    /// Parts `prefix` from the next hops of all its candidates.
    pub(super) fn leave_hops(&mut self, prefix: Prefix<A>) {
        let Some(entry) = self.entries.get(&prefix) else { return };
        for (_, route) in &entry.candidates {
            for address in recursive(&route.target, &self.shared) {
                self.hops.leave(address, prefix);
            }
        }
    }

    /// Joins `prefix` to the next hops of its candidates, resolving those that are new.
    pub(super) fn join_hops(&mut self, prefix: Prefix<A>) {
        let Some(entry) = self.entries.get(&prefix) else { return };
        for (_, route) in &entry.candidates {
            if let Target::Shared(id) = route.target {
                self.shared.join(id, prefix);
            }
        }
        let wanted =
            entry.candidates.iter().flat_map(|(_, route)| recursive(&route.target, &self.shared));
        let wanted: Vec<A> = wanted.collect();
        for address in wanted {
            if self.hops.join(address, prefix) {
                let found = self.find(address);
                self.hops.set_found(address, found);
            }
        }
    }

    /// What routes say of `address` now.
    pub(super) fn find(&self, address: A) -> Option<Found> {
        let (prefix, _, to) = self.lookup(address)?;
        let to = match to {
            Resolved::Shared(id) => self.shared.paths(*id).cloned().map(Resolved::Paths)?,
            other => other.clone(),
        };
        let paths = match &to {
            Resolved::Paths(paths) if paths.iter().all(|path| path.address.is_some()) => {
                Some(paths.clone())
            }
            // On the link itself: the next hop is the neighbour.
            Resolved::Paths(paths) => {
                let neighbor = Some(address.to_ip());
                let on_link = |path: &Path| Path { address: path.address.or(neighbor), ..*path };
                Some(paths.iter().map(on_link).collect())
            }
            _ => None,
        };
        Some(Found { length: prefix.length(), paths })
    }

    /// Evaluates `prefixes`, and a slice of what depends on them and on changes before, then says
    /// what became of all that.
    pub(super) fn settle(
        &mut self,
        prefixes: impl IntoIterator<Item = Prefix<A>>,
        changes: &mut Vec<Change<A>>,
    ) {
        let mut changed = Vec::new();
        for prefix in prefixes {
            self.turn(prefix, &mut changed);
        }
        let mut left = self.slice;
        while left > 0 && self.is_settling() {
            left -= self.turn_pending(left, &mut changed).clamp(1, left);
        }
        if !self.is_settling() {
            self.round = self.round.wrapping_add(1);
        }
        // What each prefix led to before the first of its changes counts.
        changed.sort_by_key(|(prefix, _)| *prefix);
        changed.dedup_by_key(|(prefix, _)| *prefix);
        for (prefix, old) in changed {
            let entry = self.entries.get(&prefix);
            let to = entry.and_then(|entry| entry.active.as_ref()).map(|(_, to)| to.clone());
            if old != to {
                changes.push(Change { prefix, to });
            }
        }
        self.shared.tidy();
    }

    /// Evaluates at most `most` prefixes of those that wait; says how many it looked at.
    fn turn_pending(&mut self, most: usize, changed: &mut Vec<Changed<A>>) -> usize {
        let (looked_at, prefixes) = match self.pending.next_users() {
            Some((of, from)) => {
                let (users, next) = match of {
                    UsersOf::Hop(address) => self.hops.users(address, from, most),
                    UsersOf::Group(id) => self.shared.users(id, from, most),
                };
                self.pending.users_are_done_to(next);
                (users.len(), users)
            }
            None => {
                let Some((from, over)) = self.pending.walk() else { return 0 };
                let uses = |hop: &NextHop| hop.interface.is_some_and(|it| over.contains(&it));
                let is_over = |entry: &Entry| {
                    entry.candidates.iter().any(|(_, route)| route.hops().iter().any(uses))
                };
                let mut entries = self.entries.range(from..);
                let mut looked_at = 0;
                let piece = entries.by_ref().take(most).inspect(|_| looked_at += 1);
                let found = piece.filter(|(_, entry)| is_over(entry)).map(|(prefix, _)| *prefix);
                let found: Vec<_> = found.collect();
                let next = entries.next().map(|(prefix, _)| *prefix);
                self.pending.walked_to(next);
                self.steps += looked_at as u64;
                (looked_at, found)
            }
        };
        for prefix in prefixes {
            self.turn(prefix, changed);
        }
        looked_at
    }

    /// Evaluates one prefix; if it forwards differently now, those that depend on it wait.
    fn turn(&mut self, prefix: Prefix<A>, changed: &mut Vec<Changed<A>>) {
        self.steps += 1;
        let Some(entry) = self.entries.get_mut(&prefix) else { return };
        if entry.round != self.round {
            (entry.round, entry.turns) = (self.round, 0);
        }
        let resolver = Resolver { hops: &self.hops, down: &self.down, shared: &self.shared };
        let active = match entry.turns {
            MAX_TURNS => None,
            _ => resolver.first(prefix, &entry.candidates),
        };
        let count = &mut self.active_of_length[prefix.length() as usize];
        *count = *count + usize::from(active.is_some()) - usize::from(entry.active.is_some());
        for (source, grows) in [(&entry.active, false), (&active, true)]
            .into_iter()
            .filter_map(|(active, grows)| Some((active.as_ref()?.0, grows)))
        {
            let count = self.counts.entry(source).or_default();
            count.active = if grows { count.active + 1 } else { count.active - 1 };
        }
        let old = std::mem::replace(&mut entry.active, active).map(|(_, to)| to);
        let differs = old.as_ref() != entry.active.as_ref().map(|(_, to)| to);
        if differs {
            entry.turns = (entry.turns + 1).min(MAX_TURNS);
            changed.push((prefix, old));
        }
        if entry.candidates.is_empty() {
            self.entries.remove(&prefix);
        }
        if !differs {
            return;
        }
        for address in self.hops.within(prefix) {
            let found = self.find(address);
            if self.hops.set_found(address, found) {
                self.pending.changed(UsersOf::Hop(address));
            }
        }
    }
}

/// A prefix that was changed, and what it forwarded to before.
type Changed<A> = (Prefix<A>, Option<Resolved>);

/// The addresses that a target needs other routes for.
fn recursive<'a, A: Address>(
    target: &'a Target,
    shared: &'a SharedGroups<A>,
) -> impl Iterator<Item = A> + 'a {
    let hops = match target {
        Target::Shared(id) => shared.target(*id).map_or(&[][..], Target::hops),
        target => target.hops(),
    };
    let hops = hops.iter().filter(|hop| hop.interface.is_none());
    hops.filter_map(|hop| A::from_ip(hop.address?))
}
