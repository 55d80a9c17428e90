//! What zebra told: routes, and the next hops that they share.
//!
//! ```text
//!  route ── number ──▶ next hop or group ── numbers ──▶ next hops
//!  a new session: all are stale; what is told again is fresh; the sweep removes the rest
//! ```
//! Routes over a number share it, so that one update changes all of them. One batch tells of a
//! number and of a route once at most, so that a delete and an add in one frame are one
//! replacement: first numbers that mean something, then routes, then numbers that mean nothing any
//! more. In another session zebra numbers anew: the router knows each number by another of ours.

use super::numbers::Numbers;
use netlink::next_hop::{self, Hop, NextHop};
use netlink::route::{self, BY_KERNEL, RouteKey, Target};
use netlink::{Error, Kind, Message};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Most routes, and most next hops: more than any table holds.
const MOST: usize = 1 << 23;

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// These ways, with their weights.
    Ways(Vec<(Hop, u16)>),
    /// Where all routes do that share this, as [`Update::Shared`] says.
    Shared(u32),
    /// Nowhere, silently.
    Blackhole,
    /// Nowhere; the sender is told.
    Unreachable,
    /// Nowhere; the sender is told that it is forbidden.
    Prohibit,
}

/// Something comes, changes or goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// Where routes lead from now on that share this; nobody knows where, if there is nothing.
    Shared(u32, Option<Leads>),
    /// Where a route leads from now on; nowhere at all if it goes. What is shared was told before.
    Route(RouteKey, Option<Leads>),
    /// No route shares this any more.
    Forgotten(u32),
}

struct Route {
    target: Target,
    session: u32,
    /// What it shares with others.
    shared: Option<u32>,
}

/// Routes that share a number.
#[derive(Default)]
struct Users {
    routes: usize,
    /// The number, in the session that is.
    id: Option<u32>,
    /// The router was told of it.
    is_told: bool,
}

/// What was learned, over all sessions.
#[derive(Default)]
pub struct Learned {
    routes: HashMap<RouteKey, Route>,
    numbers: Numbers,
    /// By what the router knows it by, whatever session it is of.
    users: HashMap<u32, Users>,
    /// Numbers that the router knew so far.
    named: u32,
    /// Routes over numbers that nobody explained.
    waiting: usize,
    /// Routes of sessions before this one.
    stale: usize,
    session: u32,
    /// What changed since the last [`Learned::take_updates`].
    changed: Vec<RouteKey>,
    meant: BTreeSet<u32>,
    left: BTreeSet<u32>,
}

impl Learned {
    /// Nothing yet; the router knows groups below this number of somebody before.
    pub fn after(first_number: u32) -> Self {
        Self { named: first_number, ..Self::default() }
    }

    /// The router has these routes of a session that there was before: they are stale until they
    /// are told again.
    pub fn recall(&mut self, routes: Vec<RouteKey>) {
        let session = self.session;
        // Where they lead the router knows; it is told of none that does not change.
        let route = |key| (key, Route { target: Target::Blackhole, session, shared: None });
        self.routes.extend(routes.into_iter().map(route));
        self.session = session.wrapping_add(1);
        self.stale = self.routes.len();
    }

    /// A session begins: what it does not tell again is swept away later. Routes of the one before
    /// lead where they led.
    pub fn begin(&mut self) {
        self.session = self.session.wrapping_add(1);
        self.numbers.clear();
        self.users.values_mut().for_each(|users| users.id = None);
        self.meant.clear();
        self.waiting = 0;
        self.stale = self.routes.len();
    }

    /// How many routes are of sessions before this one.
    pub fn stale(&self) -> usize {
        self.stale
    }

    /// How many routes there are.
    pub fn routes(&self) -> usize {
        self.routes.len()
    }

    /// How many of them lead to a next hop that was not told, or is gone.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// A message was told.
    pub fn hear(&mut self, message: &Message<'_>) -> Result<(), Error> {
        match message.kind {
            Kind::NEW_ROUTE | Kind::DEL_ROUTE => {
                if let Some(change) = route::read(message)?
                    && change.protocol != BY_KERNEL
                {
                    self.change_route(change.key, change.target)?;
                }
            }
            Kind::NEW_NEXT_HOP | Kind::DEL_NEXT_HOP => {
                let change = next_hop::read(message)?;
                self.change_next_hop(change.id, change.meaning)?;
            }
            // Labels, neighbours and others are not ours.
            _ => {}
        }
        Ok(())
    }

    fn change_route(&mut self, key: RouteKey, target: Option<Target>) -> Result<(), Error> {
        // The new one joins before the old one leaves: what both share stays.
        let shared = match target {
            Some(Target::NextHop(id)) => Some(self.join(id)),
            _ => None,
        };
        let session = self.session;
        let old = match target {
            Some(target) => self.routes.insert(key, Route { target, session, shared }),
            None => self.routes.remove(&key),
        };
        self.stale -= usize::from(old.as_ref().is_some_and(|old| old.session != session));
        if let Some(shared) = old.and_then(|old| old.shared) {
            self.leave(shared);
        }
        self.changed.push(key);
        fits("the number of routes", self.routes.len())
    }

    fn change_next_hop(&mut self, id: u32, meaning: Option<NextHop>) -> Result<(), Error> {
        let known = self.numbers.get(id).map(|number| (number.shared, number.meaning.is_some()));
        if known.is_none() && meaning.is_none() {
            return Ok(());
        }
        let is_known = meaning.is_some();
        let shared = self.name(id);
        let routes = self.users.get(&shared).map_or(0, |users| users.routes);
        match (known.is_some_and(|(_, was_known)| was_known), is_known) {
            (false, true) => self.waiting -= routes,
            (true, false) => self.waiting += routes,
            _ => {}
        }
        self.meant.extend(self.numbers.explain(id, meaning));
        if !is_known && routes == 0 {
            self.numbers.forget(id);
        }
        fits("the number of next hops", self.numbers.len())?;
        fits("the number of members of all groups", self.numbers.members())
    }

    /// What the router knows a number of this session by.
    fn name(&mut self, id: u32) -> u32 {
        let shared = self.numbers.named(id, self.named);
        if shared == self.named {
            self.named = self.named.wrapping_add(1);
        }
        shared
    }

    /// One more route shares a number.
    fn join(&mut self, id: u32) -> u32 {
        let shared = self.name(id);
        let users = self.users.entry(shared).or_default();
        (users.id, users.routes) = (Some(id), users.routes + 1);
        self.left.remove(&shared);
        self.waiting += usize::from(!self.is_explained(id));
        shared
    }

    /// One less.
    fn leave(&mut self, shared: u32) {
        let Some(users) = self.users.get_mut(&shared) else { return };
        users.routes -= 1;
        let (is_last, id) = (users.routes == 0, users.id);
        if let Some(id) = id.filter(|id| !self.is_explained(*id)) {
            self.waiting -= 1;
            if is_last {
                self.numbers.forget(id);
            }
        }
        if is_last {
            self.left.insert(shared);
        }
    }

    fn is_explained(&self, id: u32) -> bool {
        self.numbers.get(id).is_some_and(|number| number.meaning.is_some())
    }

    /// Everything that no session told since the last one began goes.
    pub fn sweep(&mut self) {
        let session = self.session;
        let stale = self.routes.extract_if(|_, route| route.session != session);
        let stale: Vec<_> = stale.map(|(key, route)| (key, route.shared)).collect();
        self.stale = 0;
        for (key, shared) in stale {
            self.changed.push(key);
            if let Some(shared) = shared {
                self.leave(shared);
            }
        }
    }

    /// Where all that changed leads by now, each number and each route once.
    pub fn take_updates(&mut self) -> Vec<Update> {
        let changed = std::mem::take(&mut self.changed);
        let mut told = HashSet::with_capacity(changed.len());
        let once: Vec<RouteKey> = changed.into_iter().filter(|key| told.insert(*key)).collect();
        let mut shared = self.shared_of(&once);
        let meaningless = shared.extract_if(.., |(_, leads)| leads.is_none()).collect::<Vec<_>>();
        let tell = |(shared, leads)| Update::Shared(shared, leads);
        let mut updates: Vec<Update> = shared.into_iter().map(tell).collect();
        updates.extend(once.into_iter().map(|key| Update::Route(key, self.leads(&key))));
        updates.extend(meaningless.into_iter().map(tell));
        for shared in std::mem::take(&mut self.left) {
            if self.users.remove(&shared).is_some_and(|users| users.is_told) {
                updates.push(Update::Forgotten(shared));
            }
        }
        updates
    }

    /// The numbers in use that mean something else by now, or that these routes are the first to
    /// share.
    fn shared_of(&mut self, routes: &[RouteKey]) -> Vec<(u32, Option<Leads>)> {
        let meant = std::mem::take(&mut self.meant).into_iter();
        let meant = meant.filter_map(|id| self.numbers.get(id)).map(|number| (number.shared, true));
        let first = routes.iter().filter_map(|key| self.routes.get(key)?.shared);
        let all: Vec<(u32, bool)> = meant.chain(first.map(|shared| (shared, false))).collect();
        let mut told = Vec::new();
        for (shared, is_news) in all {
            let Some(users) = self.users.get_mut(&shared).filter(|users| users.routes > 0) else {
                continue;
            };
            // Of a session before this one nothing new is known.
            let Some(id) = users.id.filter(|_| is_news || !users.is_told) else { continue };
            users.is_told = true;
            told.push((shared, self.numbers.leads(id)));
        }
        told.sort_unstable_by_key(|(shared, _)| *shared);
        told.dedup_by_key(|(shared, _)| *shared);
        told
    }

    fn leads(&self, key: &RouteKey) -> Option<Leads> {
        let route = self.routes.get(key)?;
        match &route.target {
            Target::Ways(ways) => Some(Leads::Ways(ways.clone())),
            Target::NextHop(_) => route.shared.map(Leads::Shared),
            Target::Blackhole => Some(Leads::Blackhole),
            Target::Unreachable => Some(Leads::Unreachable),
            Target::Prohibit => Some(Leads::Prohibit),
        }
    }
}

fn fits(what: &'static str, count: usize) -> Result<(), Error> {
    let expected = "8388608 or fewer";
    if count <= MOST { Ok(()) } else { Err(Error::Field { what, found: count as u64, expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink::{Messages, Request};
    use std::net::Ipv4Addr;

    const ID: u16 = 1;
    const GROUP: u16 = 2;
    const LINK: u16 = 5;
    const GATEWAY: u16 = 6;

    fn key(third: u8) -> RouteKey {
        RouteKey { table: 254, address: Ipv4Addr::new(10, 0, third, 0).into(), length: 24 }
    }

    fn route(kind: Kind, third: u8, id: u32) -> Request {
        let request = Request::new(kind, 0, &[2, 24, 0, 0, 254, 186, 0, 1, 0, 0, 0, 0]);
        request.with(1, &[10, 0, third, 0]).with(30, &id.to_ne_bytes())
    }

    fn hop(id: u32, last: u8) -> Request {
        let request = Request::new(Kind::NEW_NEXT_HOP, 0, &[0; 8]).with(ID, &id.to_ne_bytes());
        request.with(GATEWAY, &[192, 0, 2, last]).with(LINK, &3_u32.to_ne_bytes())
    }

    fn group(id: u32, members: &[u32]) -> Request {
        let member = |id: &u32| [id.to_ne_bytes(), [0; 4]].concat();
        let members: Vec<u8> = members.iter().flat_map(member).collect();
        let request = Request::new(Kind::NEW_NEXT_HOP, 0, &[0; 8]).with(ID, &id.to_ne_bytes());
        request.with(GROUP, &members)
    }

    fn tell(learned: &mut Learned, requests: Vec<Request>) -> Vec<Update> {
        for request in requests {
            let bytes = request.finish(0);
            learned.hear(&Messages::new(&bytes).next().unwrap().unwrap()).unwrap();
        }
        learned.take_updates()
    }

    fn gone(id: u32) -> Request {
        Request::new(Kind::DEL_NEXT_HOP, 0, &[0; 8]).with(ID, &id.to_ne_bytes())
    }

    fn over(lasts: &[u8]) -> Option<Leads> {
        let way = |last: &u8| {
            let gateway = Some(Ipv4Addr::new(192, 0, 2, *last).into());
            (Hop { gateway, link: Some(3) }, 1)
        };
        Some(Leads::Ways(lasts.iter().map(way).collect()))
    }

    fn by(third: u8, shared: u32) -> Update {
        Update::Route(key(third), Some(Leads::Shared(shared)))
    }

    /// What the router knows of it, update by update; and that it is told in order.
    #[derive(Default)]
    struct Router {
        shared: HashMap<u32, Option<Leads>>,
        routes: HashMap<RouteKey, Leads>,
    }

    impl Router {
        fn take(&mut self, updates: Vec<Update>) {
            for update in updates {
                match update {
                    Update::Shared(shared, leads) => _ = self.shared.insert(shared, leads),
                    Update::Forgotten(shared) => {
                        assert!(self.shared.remove(&shared).is_some());
                        let of = Leads::Shared(shared);
                        assert!(self.routes.values().all(|leads| *leads != of));
                    }
                    Update::Route(key, Some(leads)) => {
                        if let Leads::Shared(shared) = leads {
                            assert!(self.shared.contains_key(&shared));
                        }
                        self.routes.insert(key, leads);
                    }
                    Update::Route(key, None) => _ = self.routes.remove(&key),
                }
            }
        }

        fn leads(&self, third: u8) -> Option<Leads> {
            match self.routes.get(&key(third))? {
                Leads::Shared(shared) => self.shared[shared].clone(),
                other => Some(other.clone()),
            }
        }
    }

    #[test]
    fn a_delete_and_an_add_are_one_replacement() {
        let mut learned = Learned::default();
        let first = tell(&mut learned, vec![hop(1, 1), route(Kind::NEW_ROUTE, 7, 1)]);
        assert_eq!(first, [Update::Shared(0, over(&[1])), by(7, 0)]);
        let (del, new) = (route(Kind::DEL_ROUTE, 7, 1), route(Kind::NEW_ROUTE, 7, 2));
        let second = tell(&mut learned, vec![hop(2, 2), del, new]);
        assert_eq!(second, [Update::Shared(1, over(&[2])), by(7, 1), Update::Forgotten(0)]);
        let third = tell(&mut learned, vec![route(Kind::DEL_ROUTE, 7, 2)]);
        assert_eq!(third, [Update::Route(key(7), None), Update::Forgotten(1)]);
    }

    #[test]
    fn routes_follow_their_group_and_its_members_by_one_update() {
        let mut learned = Learned::default();
        let mut all = vec![hop(1, 1), hop(2, 2), group(9, &[1, 2])];
        all.extend((0..50).map(|third| route(Kind::NEW_ROUTE, third, 9)));
        assert_eq!(tell(&mut learned, all).len(), 51);
        assert_eq!(tell(&mut learned, vec![group(9, &[2])]), [Update::Shared(2, over(&[2]))]);
        assert_eq!(tell(&mut learned, vec![hop(2, 5)]), [Update::Shared(2, over(&[5]))]);
        assert_eq!(tell(&mut learned, vec![hop(2, 5)]), []);
        assert_eq!(tell(&mut learned, vec![hop(1, 7)]), []);
    }

    #[test]
    fn a_route_waits_for_its_next_hop_and_after_it() {
        let mut learned = Learned::default();
        let early = tell(&mut learned, vec![route(Kind::NEW_ROUTE, 7, 4)]);
        assert_eq!(early, [by(7, 0), Update::Shared(0, None)]);
        assert_eq!((learned.routes(), learned.waiting()), (1, 1));
        assert_eq!(tell(&mut learned, vec![hop(4, 4)]), [Update::Shared(0, over(&[4]))]);
        assert_eq!(learned.waiting(), 0);
        assert_eq!(tell(&mut learned, vec![gone(4)]), [Update::Shared(0, None)]);
        assert_eq!((learned.routes(), learned.waiting()), (1, 1));
        let last = tell(&mut learned, vec![route(Kind::DEL_ROUTE, 7, 4)]);
        assert_eq!(last, [Update::Route(key(7), None), Update::Forgotten(0)]);
        assert_eq!((learned.waiting(), learned.numbers.len(), learned.users.len()), (0, 0, 0));
    }

    #[test]
    fn a_next_hop_that_goes_leaves_its_groups_whatever_goes_first() {
        let start = || {
            let mut learned = Learned::default();
            let all = vec![hop(1, 1), hop(2, 2), group(9, &[1, 2]), route(Kind::NEW_ROUTE, 7, 9)];
            let mut router = Router::default();
            router.take(tell(&mut learned, all));
            (learned, router)
        };
        let (mut learned, mut router) = start();
        router.take(tell(&mut learned, vec![gone(1)]));
        assert_eq!(router.leads(7), over(&[2]));
        router.take(tell(&mut learned, vec![gone(2)]));
        assert_eq!((router.leads(7), learned.waiting()), (None, 0));
        router.take(tell(&mut learned, vec![hop(1, 8)]));
        assert_eq!(router.leads(7), over(&[8]));
        // The group goes before the route that replaces it: in one batch, and in two.
        for batches in [1, 2] {
            let (mut learned, mut router) = start();
            let mut all = vec![gone(9), gone(1), gone(2)];
            let next = vec![hop(3, 3), route(Kind::NEW_ROUTE, 7, 3)];
            if batches == 1 {
                all.extend(next);
                let updates = tell(&mut learned, all);
                assert_eq!(updates[..2], [Update::Shared(3, over(&[3])), by(7, 3)]);
                router.take(updates);
            } else {
                router.take(tell(&mut learned, all));
                assert_eq!((router.leads(7), learned.waiting()), (None, 1));
                router.take(tell(&mut learned, next));
            }
            assert_eq!((router.leads(7), learned.waiting()), (over(&[3]), 0));
        }
    }

    #[test]
    fn groups_inside_groups_and_next_hops_that_lead_nowhere_are_followed() {
        let (mut learned, mut router) = (Learned::default(), Router::default());
        let nowhere = |id: u32| {
            let request = Request::new(Kind::NEW_NEXT_HOP, 0, &[0; 8]);
            request.with(ID, &id.to_ne_bytes()).with(4, &[])
        };
        // Members come last.
        let all = vec![route(Kind::NEW_ROUTE, 7, 9), group(9, &[8]), group(8, &[1, 2]), nowhere(2)];
        router.take(tell(&mut learned, all));
        assert_eq!(router.leads(7), Some(Leads::Blackhole));
        router.take(tell(&mut learned, vec![hop(1, 1)]));
        assert_eq!(router.leads(7), over(&[1]));
        router.take(tell(&mut learned, vec![hop(2, 2)]));
        assert_eq!(router.leads(7), over(&[1, 2]));
    }

    #[test]
    fn a_new_session_may_number_anew() {
        let (mut learned, mut router) = (Learned::default(), Router::default());
        let all = vec![hop(1, 1), route(Kind::NEW_ROUTE, 7, 1), route(Kind::NEW_ROUTE, 8, 1)];
        router.take(tell(&mut learned, all));
        learned.begin();
        router.take(tell(&mut learned, vec![hop(1, 5), gone(1), hop(1, 6)]));
        assert_eq!([7, 8].map(|third| router.leads(third)), [over(&[1]), over(&[1])]);
        router.take(tell(&mut learned, vec![route(Kind::NEW_ROUTE, 7, 1)]));
        assert_eq!([7, 8].map(|third| router.leads(third)), [over(&[6]), over(&[1])]);
        learned.sweep();
        router.take(learned.take_updates());
        assert_eq!([7, 8].map(|third| router.leads(third)), [over(&[6]), None]);
        assert_eq!((router.shared.len(), learned.users.len()), (1, 1));
    }

    #[test]
    fn what_a_new_session_does_not_tell_again_is_swept() {
        let mut learned = Learned::default();
        let routes = |thirds: &[u8]| {
            let routes = thirds.iter().map(|third| route(Kind::NEW_ROUTE, *third, 1));
            std::iter::once(hop(1, 1)).chain(routes).collect()
        };
        tell(&mut learned, routes(&[1, 2, 3]));
        learned.begin();
        assert_eq!(tell(&mut learned, routes(&[2])), [Update::Shared(1, over(&[1])), by(2, 1)]);
        learned.sweep();
        let mut swept = learned.take_updates();
        assert_eq!(swept.pop(), Some(Update::Forgotten(0)));
        swept.sort_by_key(|update| format!("{update:?}"));
        assert_eq!(swept, [1, 3].map(|third| Update::Route(key(third), None)));
        assert_eq!(learned.routes(), 1);
    }

    #[test]
    fn routes_of_the_kernels_own_are_left_alone() {
        let mut learned = Learned::default();
        let request =
            Request::new(Kind::NEW_ROUTE, 0, &[2, 24, 0, 0, 254, BY_KERNEL, 0, 1, 0, 0, 0, 0]);
        assert_eq!(tell(&mut learned, vec![request.with(LINK - 1, &3_u32.to_ne_bytes())]), []);
    }
}
