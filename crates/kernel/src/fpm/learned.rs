//! What zebra told: routes, and the next hops that they share.
//!
//! ```text
//!  route ── number ──▶ next hop or group ── numbers ──▶ next hops
//!  a new session: all are stale; what is told again is fresh; the sweep removes the rest
//! ```
//! An update says where a route leads by now, next hops looked up; one batch tells of a route once
//! at most, so that a delete and an add in one frame are one replacement.

use netlink::next_hop::{self, Hop, NextHop};
use netlink::route::{self, BY_KERNEL, RouteKey, Target};
use netlink::{Error, Kind, Message};
use std::collections::{HashMap, HashSet};

/// Most routes, and most next hops: more than any table holds.
const MOST: usize = 1 << 23;

/// Where a route leads, next hops looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// These ways, with their weights.
    Ways(Vec<(Hop, u16)>),
    /// Nowhere, silently.
    Blackhole,
    /// Nowhere; the sender is told.
    Unreachable,
    /// Nowhere; the sender is told that it is forbidden.
    Prohibit,
}

/// A route comes, changes or goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The route: its table, its prefix.
    pub key: RouteKey,
    /// Where it leads from now on; nowhere at all if it goes.
    pub leads: Option<Leads>,
}

struct Route {
    target: Target,
    session: u32,
}

/// What was learned, over all sessions.
#[derive(Default)]
pub struct Learned {
    routes: HashMap<RouteKey, Route>,
    next_hops: HashMap<u32, NextHop>,
    /// Numbers that routes lead to and nobody explained yet.
    unknown: HashSet<u32>,
    session: u32,
    /// What changed since the last [`Learned::take_updates`].
    changed: Vec<RouteKey>,
}

impl Learned {
    /// A session begins: what it does not tell again is swept away later.
    pub fn begin(&mut self) {
        self.session = self.session.wrapping_add(1);
        self.next_hops.clear();
    }

    /// How many routes there are.
    pub fn routes(&self) -> usize {
        self.routes.len()
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
        match target {
            None => drop(self.routes.remove(&key)),
            Some(target) => {
                if let Target::NextHop(id) = target
                    && !self.next_hops.contains_key(&id)
                {
                    self.unknown.insert(id);
                }
                self.routes.insert(key, Route { target, session: self.session });
                fits("the number of routes", self.routes.len())?;
            }
        }
        self.changed.push(key);
        Ok(())
    }

    fn change_next_hop(&mut self, id: u32, meaning: Option<NextHop>) -> Result<(), Error> {
        // One that goes was left by its routes before: the kernel would remove them with it.
        let Some(meaning) = meaning else {
            self.next_hops.remove(&id);
            return Ok(());
        };
        let known = self.next_hops.insert(id, meaning.clone());
        fits("the number of next hops", self.next_hops.len())?;
        let was_waited_for = self.unknown.remove(&id);
        if was_waited_for || known.is_some_and(|known| known != meaning) {
            let has = |group: &NextHop| match group {
                NextHop::Group(members) => members.iter().any(|(member, _)| *member == id),
                NextHop::One(_) | NextHop::Blackhole => false,
            };
            let groups = self.next_hops.iter().filter(|(_, group)| has(group)).map(|(id, _)| *id);
            let meant: HashSet<u32> = groups.chain([id]).collect();
            let over = self.routes.iter().filter(|(_, route)| match route.target {
                Target::NextHop(id) => meant.contains(&id),
                _ => false,
            });
            self.changed.extend(over.map(|(key, _)| *key));
        }
        Ok(())
    }

    /// Everything that no session told since the last one began goes.
    pub fn sweep(&mut self) {
        let session = self.session;
        let stale = self.routes.extract_if(|_, route| route.session != session);
        self.changed.extend(stale.map(|(key, _)| key));
    }

    /// Where all that changed leads by now, each route once.
    pub fn take_updates(&mut self) -> Vec<Update> {
        let changed = std::mem::take(&mut self.changed);
        let mut told = HashSet::with_capacity(changed.len());
        let once = changed.into_iter().filter(|key| told.insert(*key));
        once.map(|key| Update { key, leads: self.leads(&key) }).collect()
    }

    fn leads(&self, key: &RouteKey) -> Option<Leads> {
        match &self.routes.get(key)?.target {
            Target::Ways(ways) => Some(Leads::Ways(ways.clone())),
            Target::NextHop(id) => self.meaning(*id),
            Target::Blackhole => Some(Leads::Blackhole),
            Target::Unreachable => Some(Leads::Unreachable),
            Target::Prohibit => Some(Leads::Prohibit),
        }
    }

    fn meaning(&self, id: u32) -> Option<Leads> {
        match self.next_hops.get(&id)? {
            NextHop::One(hop) => Some(Leads::Ways(vec![(*hop, 1)])),
            NextHop::Blackhole => Some(Leads::Blackhole),
            NextHop::Group(members) => {
                let way = |(id, weight): &(u32, u16)| match self.next_hops.get(id)? {
                    NextHop::One(hop) => Some((*hop, *weight)),
                    // Groups have no groups inside (RFC 8349 and the kernel's rule).
                    NextHop::Blackhole | NextHop::Group(_) => None,
                };
                let ways: Vec<_> = members.iter().filter_map(way).collect();
                (!ways.is_empty()).then_some(Leads::Ways(ways))
            }
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

    fn over(lasts: &[u8]) -> Option<Leads> {
        let way = |last: &u8| {
            let gateway = Some(Ipv4Addr::new(192, 0, 2, *last).into());
            (Hop { gateway, link: Some(3) }, 1)
        };
        Some(Leads::Ways(lasts.iter().map(way).collect()))
    }

    #[test]
    fn a_delete_and_an_add_are_one_replacement() {
        let mut learned = Learned::default();
        let first = tell(&mut learned, vec![hop(1, 1), route(Kind::NEW_ROUTE, 7, 1)]);
        assert_eq!(first, [Update { key: key(7), leads: over(&[1]) }]);
        let (gone, new) = (route(Kind::DEL_ROUTE, 7, 1), route(Kind::NEW_ROUTE, 7, 2));
        let second = tell(&mut learned, vec![hop(2, 2), gone, new]);
        assert_eq!(second, [Update { key: key(7), leads: over(&[2]) }]);
        let third = tell(&mut learned, vec![route(Kind::DEL_ROUTE, 7, 2)]);
        assert_eq!(third, [Update { key: key(7), leads: None }]);
    }

    #[test]
    fn routes_follow_their_group_and_its_members() {
        let mut learned = Learned::default();
        let all = vec![hop(1, 1), hop(2, 2), group(9, &[1, 2]), route(Kind::NEW_ROUTE, 7, 9)];
        assert_eq!(tell(&mut learned, all), [Update { key: key(7), leads: over(&[1, 2]) }]);
        assert_eq!(tell(&mut learned, vec![group(9, &[2])])[0].leads, over(&[2]));
        assert_eq!(tell(&mut learned, vec![hop(2, 5)])[0].leads, over(&[5]));
        assert_eq!(tell(&mut learned, vec![hop(2, 5)]), []);
    }

    #[test]
    fn a_route_waits_for_its_next_hop() {
        let mut learned = Learned::default();
        let early = tell(&mut learned, vec![route(Kind::NEW_ROUTE, 7, 4)]);
        assert_eq!(early, [Update { key: key(7), leads: None }]);
        assert_eq!(tell(&mut learned, vec![hop(4, 4)])[0].leads, over(&[4]));
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
        assert_eq!(tell(&mut learned, routes(&[2])).len(), 1);
        learned.sweep();
        let mut swept = learned.take_updates();
        swept.sort_by_key(|update| update.key);
        assert_eq!(swept, [1, 3].map(|third| Update { key: key(third), leads: None }));
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
