//! Groups of next hops that routes share by number: a group that changes changes all its routes at
//! once, however many there are.
//!
//! ```text
//!  10.0.0.0/8  ─┐                ┌─ two paths or more: a route resolves to the number, and stays
//!  10.1.0.0/16 ─┼─▶ group 9 ─────┼─ one path: a route resolves to that path, as others do
//!  10.2.0.0/16 ─┘                └─ none: a route's next candidate has its turn
//! ```
//! While a group has several paths before and after a change, no route is looked at: whoever
//! forwards takes [`Rib::take_shared_changes`] and changes the group in place. A group stays as
//! long as a route leads to it. One whose next hops other routes lead to (they name no interface)
//! is resolved for each route apart.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::pending::UsersOf;
use super::resolve::Resolver;
use super::route::{NextHop, Path, Resolved, Target};
use super::table::{Change, Rib};
use crate::{Address, Prefix};

/// Which group, as whoever has it numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SharedId(pub u32);

/// A group.
#[derive(Debug)]
pub(super) struct Shared<A: Address> {
    /// Where it leads, to no other group; none: nobody said.
    target: Option<Target>,
    users: BTreeSet<Prefix<A>>,
    /// What it resolved to, of itself.
    to: Option<Resolved>,
}

/// All groups.
#[derive(Debug)]
pub(super) struct SharedGroups<A: Address> {
    groups: HashMap<SharedId, Shared<A>>,
    /// Those whose paths are others by now.
    changed: BTreeSet<SharedId>,
    /// Those that a route left: nobody may need them any more.
    left: Vec<SharedId>,
}

impl<A: Address> SharedGroups<A> {
    pub(super) fn new() -> Self {
        Self { groups: HashMap::new(), changed: BTreeSet::new(), left: Vec::new() }
    }

    /// Where a group leads.
    pub(super) fn target(&self, id: SharedId) -> Option<&Target> {
        self.groups.get(&id)?.target.as_ref()
    }

    /// What a route that leads to a group resolves to.
    pub(super) fn resolve(&self, id: SharedId) -> Option<Resolved> {
        match self.groups.get(&id)?.to.as_ref()? {
            Resolved::Paths(paths) if paths.len() > 1 => Some(Resolved::Shared(id)),
            other => Some(other.clone()),
        }
    }

    /// The paths of a group that has several.
    pub(super) fn paths(&self, id: SharedId) -> Option<&Arc<[Path]>> {
        match self.groups.get(&id)?.to.as_ref()? {
            Resolved::Paths(paths) => Some(paths),
            _ => None,
        }
    }

    pub(super) fn join(&mut self, id: SharedId, user: Prefix<A>) {
        let group = self.groups.entry(id).or_insert_with(|| Shared::new(None));
        group.users.insert(user);
    }

    pub(super) fn leave(&mut self, id: SharedId, user: Prefix<A>) {
        if let Some(group) = self.groups.get_mut(&id) {
            group.users.remove(&user);
            self.left.push(id);
        }
    }

    /// The next `most` users of a group from `from` on, and where to go on.
    pub(super) fn users(
        &self,
        id: SharedId,
        from: Prefix<A>,
        most: usize,
    ) -> (Vec<Prefix<A>>, Option<Prefix<A>>) {
        let Some(group) = self.groups.get(&id) else { return (Vec::new(), None) };
        let mut users = group.users.range(from..).copied();
        (users.by_ref().take(most).collect(), users.next())
    }

    /// Forgets those that nobody leads to any more.
    pub(super) fn tidy(&mut self) {
        for id in self.left.drain(..) {
            if self.groups.get(&id).is_some_and(|group| group.users.is_empty()) {
                self.groups.remove(&id);
                self.changed.remove(&id);
            }
        }
    }

    /// Those that name an interface.
    fn over(&self, interface: u16) -> Vec<SharedId> {
        let over = |group: &Shared<A>| {
            let hops = group.target.as_ref().map_or(&[][..], Target::hops);
            hops.iter().any(|hop| hop.interface == Some(interface))
        };
        self.groups.iter().filter(|(_, group)| over(group)).map(|(id, _)| *id).collect()
    }
}

impl<A: Address> Shared<A> {
    fn new(target: Option<Target>) -> Self {
        Self { target, users: BTreeSet::new(), to: None }
    }
}

/// Whether some of these next hops are wherever routes say.
fn is_recursive(target: &Target) -> bool {
    target.hops().iter().any(|hop| hop.interface.is_none())
}

impl<A: Address> Rib<A> {
    /// Whether there is a group of this number.
    pub fn has_shared(&self, id: SharedId) -> bool {
        self.shared.groups.contains_key(&id)
    }

    /// Where a group leads, if it is known.
    pub fn shared_target(&self, id: SharedId) -> Option<&Target> {
        self.shared.target(id)
    }

    /// The next hops of a group.
    pub fn shared_hops(&self, id: SharedId) -> &[NextHop] {
        self.shared.target(id).map_or(&[], Target::hops)
    }

    /// The paths of a group, if it has any.
    pub fn shared_paths(&self, id: SharedId) -> &[Path] {
        self.shared.paths(id).map_or(&[], |paths| paths)
    }

    /// The groups of which the paths have changed since the last call, and still are several or
    /// were: to be changed before the routes are.
    pub fn take_shared_changes(&mut self) -> Vec<SharedId> {
        std::mem::take(&mut self.shared.changed).into_iter().collect()
    }

    /// Says where a group leads from now on: nowhere that anybody knows, if `target` is none. One
    /// that no route leads to is kept until one has led there, and left.
    pub fn set_shared(
        &mut self,
        id: SharedId,
        target: Option<Target>,
        changes: &mut Vec<Change<A>>,
    ) {
        let users: Vec<Prefix<A>> = match self.shared.groups.get(&id) {
            Some(group) if group.target == target => return,
            Some(group) => group.users.iter().copied().collect(),
            None => Vec::new(),
        };
        self.journal.group(id, target.as_ref());
        let old = self.shared.target(id).is_some_and(is_recursive);
        let recursive = old || target.as_ref().is_some_and(is_recursive);
        if recursive {
            users.iter().for_each(|user| self.leave_hops(*user));
        }
        self.shared.groups.entry(id).or_insert_with(|| Shared::new(None)).target = target;
        if recursive {
            users.iter().for_each(|user| self.join_hops(*user));
        }
        self.shared_changed(vec![id], recursive, changes);
    }

    /// Forgets those of these groups that no route leads to.
    pub fn forget_unused(&mut self, ids: impl IntoIterator<Item = SharedId>) {
        self.shared.left.extend(ids);
        self.shared.tidy();
    }

    /// What interfaces carry has changed for these, or where they lead.
    pub(super) fn shared_over(&mut self, interface: u16) -> Vec<SharedId> {
        self.shared.over(interface)
    }

    /// Resolves groups anew, and has those of their routes follow that cannot stay.
    pub(super) fn shared_changed(
        &mut self,
        ids: Vec<SharedId>,
        all_users: bool,
        changes: &mut Vec<Change<A>>,
    ) {
        let mut dependents = false;
        for id in ids {
            let target = self.shared.target(id).cloned();
            let own = target.filter(|target| !is_recursive(target));
            let resolver = Resolver { hops: &self.hops, down: &self.down, shared: &self.shared };
            let to = own.and_then(|target| resolver.resolve(Prefix::all(), &target));
            let Some(group) = self.shared.groups.get_mut(&id) else { continue };
            let (was, is) = (has_several(&group.to), has_several(&to));
            let is_recursive = group.target.as_ref().is_some_and(is_recursive);
            let differs = group.to != to;
            group.to = to;
            // Routes that wait for their turn still forward by the group.
            if differs && (was || self.pending.waits(UsersOf::Group(id))) {
                self.shared.changed.insert(id);
            }
            dependents |= differs && was && is;
            if all_users || is_recursive || differs && !(was && is) {
                self.pending.changed(UsersOf::Group(id));
            }
        }
        if dependents {
            self.find_again();
        }
        self.settle([], changes);
    }

    /// Finds the next hops anew that lie behind routes of groups: users of those that are others by
    /// now wait.
    fn find_again(&mut self) {
        for address in self.hops.within(Prefix::all()) {
            let found = self.find(address);
            if self.hops.set_found(address, found) {
                self.pending.changed(UsersOf::Hop(address));
            }
        }
    }
}

fn has_several(to: &Option<Resolved>) -> bool {
    matches!(to, Some(Resolved::Paths(paths)) if paths.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::super::route::{Protocol, Route};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::net::Ipv4Addr;

    type Rib4 = Rib<u32>;
    const NINE: SharedId = SharedId(9);

    fn hop(interface: u16) -> NextHop {
        let address = Some(Ipv4Addr::new(10, interface as u8, 0, 1).into());
        NextHop { address, interface: Some(interface), weight: 1 }
    }

    fn over(interfaces: &[u16]) -> Option<Target> {
        Some(Target::Via(interfaces.iter().map(|it| hop(*it)).collect()))
    }

    fn prefix(third: u8) -> Prefix<u32> {
        Prefix::new(u32::from_be_bytes([20, 0, third, 0]), 24).unwrap()
    }

    fn add(rib: &mut Rib4, prefix: Prefix<u32>, target: Target) -> Vec<Change<u32>> {
        let mut changes = Vec::new();
        rib.add(prefix, Protocol::Fpm.into(), Route { target }, &mut changes);
        changes
    }

    fn set(rib: &mut Rib4, target: Option<Target>) -> Vec<Change<u32>> {
        let mut changes = Vec::new();
        rib.set_shared(NINE, target, &mut changes);
        changes
    }

    /// A group over two interfaces, and three routes.
    fn three() -> Rib4 {
        let mut rib = Rib4::new();
        assert_eq!(set(&mut rib, over(&[1, 2])), []);
        for third in 0..3 {
            let to = Some(Resolved::Shared(NINE));
            let change = Change { prefix: prefix(third), to };
            assert_eq!(add(&mut rib, prefix(third), Target::Shared(NINE)), [change]);
        }
        assert_eq!(rib.take_shared_changes(), []);
        rib
    }

    fn interfaces(rib: &Rib4) -> Vec<u16> {
        rib.shared_paths(NINE).iter().map(|path| path.interface).collect()
    }

    #[test]
    fn a_group_that_changes_changes_no_route() {
        let mut rib = three();
        let steps = rib.steps();
        assert_eq!(set(&mut rib, over(&[2, 3, 4])), []);
        assert_eq!((rib.steps(), interfaces(&rib)), (steps, vec![2, 3, 4]));
        assert_eq!(rib.take_shared_changes(), [NINE]);
        assert_eq!(set(&mut rib, over(&[2, 3, 4])), []);
        assert_eq!(rib.take_shared_changes(), []);
        let mut changes = Vec::new();
        rib.set_interface(3, false, &mut changes);
        assert_eq!((changes, interfaces(&rib)), (vec![], vec![2, 4]));
        assert_eq!(rib.take_shared_changes(), [NINE]);
    }

    #[test]
    fn with_one_path_left_routes_take_that_and_with_none_what_is_next() {
        let mut rib = three();
        let mut changes = Vec::new();
        let fallback = Route { target: Target::Blackhole };
        rib.add(prefix(1), Protocol::Ibgp.into(), fallback, &mut changes);
        rib.set_interface(1, false, &mut changes);
        // Flows are led away at once, before the routes are.
        assert_eq!(rib.take_shared_changes(), [NINE]);
        assert_eq!(changes.len(), 3);
        let last = Path { interface: 2, address: hop(2).address, weight: 1 };
        let one = Some(Resolved::Paths([last].into()));
        assert!(changes.drain(..).all(|change| change.to == one));
        rib.set_interface(2, false, &mut changes);
        let to: Vec<_> = changes.drain(..).map(|change| change.to).collect();
        assert_eq!(to, [None, Some(Resolved::Blackhole), None]);
        rib.set_interface(1, true, &mut changes);
        rib.set_interface(2, true, &mut changes);
        assert_eq!(changes.last().unwrap().to, Some(Resolved::Shared(NINE)));
        assert_eq!(rib.active_len(), 3);
    }

    #[test]
    fn routes_wait_for_a_group_that_nobody_explained() {
        let mut rib = Rib4::new();
        assert_eq!(add(&mut rib, prefix(0), Target::Shared(NINE)), []);
        assert_eq!((rib.len(), rib.active_len()), (1, 0));
        let to = set(&mut rib, Some(Target::Blackhole)).remove(0).to;
        assert_eq!(to, Some(Resolved::Blackhole));
        assert_eq!(set(&mut rib, None).remove(0).to, None);
        assert_eq!(rib.len(), 1);
    }

    #[test]
    fn a_group_goes_with_its_last_route_and_not_with_one_that_is_replaced() {
        let mut rib = three();
        assert_eq!(add(&mut rib, prefix(0), Target::Shared(NINE)), []);
        for third in 0..3 {
            assert!(rib.has_shared(NINE));
            rib.remove(prefix(third), Protocol::Fpm.into(), &mut Vec::new());
        }
        assert!(!rib.has_shared(NINE));
        set(&mut rib, over(&[1]));
        add(&mut rib, prefix(0), Target::Shared(NINE));
        add(&mut rib, prefix(0), Target::Shared(NINE));
        assert!(rib.has_shared(NINE));
    }

    #[test]
    fn what_lies_behind_a_group_follows_it() {
        let mut rib = three();
        let inside = Ipv4Addr::new(20, 0, 0, 77);
        let beyond = Prefix::new(0x1e00_0000, 8).unwrap();
        let change = add(&mut rib, beyond, Route::via(inside).target).remove(0);
        let ways = |change: Change<u32>| match change.to {
            Some(Resolved::Paths(paths)) => paths.iter().map(|it| it.interface).collect(),
            other => panic!("{other:?}"),
        };
        let found: Vec<u16> = ways(change);
        assert_eq!(found, [1, 2]);
        let mut changes = set(&mut rib, over(&[2, 3]));
        assert_eq!(changes.len(), 1);
        assert_eq!((changes[0].prefix, ways(changes.remove(0))), (beyond, vec![2, 3]));
    }

    #[test]
    fn next_hops_without_an_interface_are_looked_for_by_each_route() {
        let mut rib = Rib4::new();
        add(&mut rib, Prefix::new(0x0a00_0000, 24).unwrap(), Route::connected(1).target);
        let far = NextHop {
            address: Some(Ipv4Addr::new(10, 0, 0, 7).into()),
            interface: None,
            weight: 1,
        };
        add(&mut rib, prefix(0), Target::Shared(NINE));
        let to = set(&mut rib, Some(Target::Via([far].into()))).remove(0).to;
        let path = Path { interface: 1, address: far.address, weight: 1 };
        assert_eq!(to, Some(Resolved::Paths([path].into())));
        let gone = rib.remove(
            Prefix::new(0x0a00_0000, 24).unwrap(),
            Protocol::Fpm.into(),
            &mut Vec::new(),
        );
        assert!(gone && rib.active_len() == 0);
        assert_eq!(set(&mut rib, over(&[4])).len(), 1);
    }

    /// What each prefix forwards to, followed change by change as a forwarder does.
    #[derive(Default)]
    struct Forwarder {
        routes: BTreeMap<Prefix<u32>, Resolved>,
        groups: BTreeMap<SharedId, Vec<Path>>,
    }

    impl Forwarder {
        fn follow(&mut self, rib: &mut Rib4, changes: Vec<Change<u32>>) {
            for id in rib.take_shared_changes() {
                self.groups.insert(id, rib.shared_paths(id).to_vec());
            }
            for change in changes {
                if let Some(Resolved::Shared(id)) = change.to {
                    self.groups.insert(id, rib.shared_paths(id).to_vec());
                }
                match change.to {
                    Some(to) => self.routes.insert(change.prefix, to),
                    None => self.routes.remove(&change.prefix),
                };
            }
        }

        fn paths(&self) -> BTreeMap<Prefix<u32>, Vec<Path>> {
            let paths = |to: &Resolved| match to {
                Resolved::Shared(id) => self.groups[id].clone(),
                Resolved::Paths(paths) => paths.to_vec(),
                other => panic!("{other:?}"),
            };
            self.routes.iter().map(|(prefix, to)| (*prefix, paths(to))).collect()
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Route(u8, u32),
        Gone(u8),
        Group(u32, Vec<u16>),
        Unknown(u32),
        Link(u16, bool),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0_u8..6, 0_u32..3).prop_map(|(route, group)| Step::Route(route, group)),
            (0_u8..6).prop_map(Step::Gone),
            (0_u32..3, prop::collection::btree_set(0_u16..4, 1..4))
                .prop_map(|(group, over)| Step::Group(group, over.into_iter().collect())),
            (0_u32..3).prop_map(Step::Unknown),
            (0_u16..4, any::<bool>()).prop_map(|(link, up)| Step::Link(link, up)),
        ]
    }

    proptest! {
        #[test]
        fn routes_lead_where_their_groups_do_whatever_comes_first(steps in prop::collection::vec(step(), 0..40)) {
            let (mut rib, mut forwarder) = (Rib4::new(), Forwarder::default());
            let (mut routes, mut groups) = (BTreeMap::new(), BTreeMap::new());
            let mut down = BTreeSet::new();
            for step in steps {
                let mut changes = Vec::new();
                match step {
                    Step::Route(third, group) => {
                        // As the feed does: a group is said before its first route.
                        if !rib.has_shared(SharedId(group)) {
                            let target = groups.get(&group).and_then(|it: &Vec<u16>| over(it));
                            rib.set_shared(SharedId(group), target, &mut changes);
                        }
                        routes.insert(prefix(third), group);
                        let target = Target::Shared(SharedId(group));
                        rib.add(prefix(third), Protocol::Fpm.into(), Route { target }, &mut changes);
                    }
                    Step::Gone(third) => {
                        routes.remove(&prefix(third));
                        rib.remove(prefix(third), Protocol::Fpm.into(), &mut changes);
                    }
                    Step::Group(group, interfaces) => {
                        if rib.has_shared(SharedId(group)) {
                            rib.set_shared(SharedId(group), over(&interfaces), &mut changes);
                        }
                        groups.insert(group, interfaces);
                    }
                    Step::Unknown(group) => {
                        if rib.has_shared(SharedId(group)) {
                            rib.set_shared(SharedId(group), None, &mut changes);
                        }
                        groups.remove(&group);
                    }
                    Step::Link(link, up) => {
                        _ = if up { down.remove(&link) } else { down.insert(link) };
                        rib.set_interface(link, up, &mut changes);
                    }
                }
                forwarder.follow(&mut rib, changes);
                let expected: BTreeMap<_, _> = routes.iter().filter_map(|(prefix, group)| {
                    let all = groups.get(group)?.iter().filter(|it| !down.contains(*it));
                    let path = |it: &u16| Path { interface: *it, address: hop(*it).address, weight: 1 };
                    let paths: Vec<Path> = all.map(path).collect();
                    (!paths.is_empty()).then_some((*prefix, paths))
                }).collect();
                prop_assert_eq!(forwarder.paths(), expected);
            }
        }
    }
}
