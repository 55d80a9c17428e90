//! FRR's routes: what zebra tells by FPM, in our RIB.
//!
//! ```text
//!  zebra ─▶ kernel::fpm ── slices ─▶ links to ports, tables to VRFs ─▶ RIB ─▶ forwarding tables
//! ```
//! Next hops and groups that routes share by number are told to the RIBs of those VRFs that have
//! routes over them, when the first of those comes and whenever they change.
//! One slice a turn, so that the control thread does its other work between two. The routes of who
//! may bring them no more go likewise, before the next one's come.

use crate::bulk;
use crate::core::{Core, RouteFeed, fault};
use crate::left::of_fpm;
use crate::part::{Makes, Part};
use crate::routing::{Family, InVrf};
use control::config::change::Replaced;
use control::config::objects::fpm::{Fpm as Config, Listen, MAIN_TABLE};
use control::engine::ApplyError;
use control::view;
use fib::rib::{NextHop, Protocol, Route, SharedId, Source, SourceCount, Target};
use fib::route_file::FilePrefix;
use fib::{FibError, Prefix};
use kernel::fpm::{Fpm, FpmOptions, Leads, Update};
use kernel::{KernelError, Namespace};
use netlink::route::RouteKey;
use nodes::tables::VrfId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long zebra tells no route when it has told those that it had.
const QUIET: Duration = Duration::from_secs(3);

/// Who brings routes by FPM, if anybody may.
#[derive(Default)]
pub(crate) struct Feed {
    listening: Option<(Fpm, Listen)>,
    /// VRFs whose tables zebra tells.
    vrfs: BTreeSet<VrfId>,
    /// Routes that go: of which source in which VRF, and where to go on.
    leaving: Vec<(Source, VrfId, FilePrefix)>,
    /// Where routes lead that share a number.
    shared: HashMap<u32, Shared>,
    refused: u64,
    problem: Option<String>,
}

impl Feed {
    fn start(&mut self, core: &mut Core, config: &Config) -> Result<(), KernelError> {
        let Some(listen) = &config.0 else { return Ok(()) };
        let tables = vrfs(core, listen).into_iter();
        let tables = tables.map(|(table, vrf)| (core.vrfs.name(vrf).to_owned(), table)).collect();
        let recalled = core.recalled.as_ref().map(|routes| of_fpm(routes, tables));
        let options = FpmOptions {
            listen: listen.listen,
            namespace: Namespace::new(listen.netns.as_deref()),
            hold: listen.hold,
            users: listen.users.clone(),
            from: listen.from.iter().map(|it| (it.address(), it.length())).collect(),
        };
        let fpm = Fpm::start(&options, recalled.unwrap_or_default(), Arc::clone(&core.wake))?;
        self.listening = Some((fpm, listen.clone()));
        core.fpm_preference = Some(listen.preference);
        Ok(())
    }
}

fn source_of(listen: &Listen) -> Source {
    Source { preference: listen.preference, protocol: Protocol::Fpm }
}

/// What a slice does to one family of one VRF.
struct Changes<A> {
    gone: Vec<Prefix<A>>,
    new: Vec<(Prefix<A>, Route)>,
}

impl<A: Family> Changes<A> {
    fn add(&mut self, first: A, length: u8, target: Option<Target>) -> Result<(), FibError> {
        let prefix = Prefix::new(first, length)?;
        match target {
            Some(target) => self.new.push((prefix, Route { target })),
            None => self.gone.push(prefix),
        }
        Ok(())
    }

    /// Makes them; says how many did not fit, and why not. `shared` says where those lead that
    /// share a number, which this VRF need not know yet.
    fn make(
        self,
        routes: Option<InVrf<'_, A>>,
        source: Source,
        shared: impl Fn(u32) -> Option<Option<Target>>,
    ) -> (usize, Result<(), FibError>) {
        let wanted = self.new.len();
        let Some(mut routes) = routes else { return (wanted, Ok(())) };
        let (_, mut outcome) = routes.remove_all(self.gone, source);
        let id = |(_, route): &(_, Route)| match route.target {
            Target::Shared(id) => Some(id),
            _ => None,
        };
        let ids: BTreeSet<SharedId> = self.new.iter().filter_map(id).collect();
        for id in &ids {
            if let Some(to) = shared(id.0) {
                outcome = outcome.and(routes.share_first(*id, to));
            }
        }
        let (added, made) = routes.add_all(self.new, source);
        routes.forget_unused(ids);
        (wanted - added, outcome.and(made))
    }
}

impl<A> Default for Changes<A> {
    fn default() -> Self {
        Self { gone: Vec::new(), new: Vec::new() }
    }
}

impl Makes<Replaced<Config>> for Feed {
    /// Listens as the configuration says, from the beginning: zebra tells all its routes again.
    fn make(&mut self, core: &mut Core, change: &Replaced<Config>) -> Result<(), ApplyError> {
        self.end(core);
        self.start(core, &change.new).map_err(|error| {
            if let Err(again) = self.start(core, &change.old) {
                tracing::warn!(fault = "fpm-routes", "while taking back: {again}");
            }
            fault("fpm.listen", error.to_string())
        })
    }
}

impl Feed {
    fn end(&mut self, core: &mut Core) {
        let Some((fpm, listen)) = self.listening.take() else { return };
        drop(fpm);
        core.fpm_preference = None;
        core.route_feed = None;
        self.shared.clear();
        self.vrfs.clear();
        (self.refused, self.problem) = (0, None);
        let (source, first) = (source_of(&listen), FilePrefix::V4(Prefix::all()));
        let vrfs = vrfs(core, &listen).into_values();
        self.leaving.extend(vrfs.map(|vrf| (source, vrf, first)));
        (core.wake)();
    }

    /// Routes go with the twin of their VRF: nobody will take them back.
    fn leave_vrfs(&mut self, core: &Core) {
        let Some((_, listen)) = &self.listening else { return };
        let now: BTreeSet<VrfId> = vrfs(core, listen).into_values().collect();
        let gone = self.vrfs.difference(&now);
        let (source, first) = (source_of(listen), FilePrefix::V4(Prefix::all()));
        self.leaving.extend(gone.map(|vrf| (source, *vrf, first)));
        self.vrfs = now;
    }

    /// Removes a slice of the routes that go, if there are any; true if there were.
    fn remove_some(&mut self, core: &mut Core) -> bool {
        let Some((source, vrf, from)) = self.leaving.pop() else { return false };
        match bulk::sweep(core, vrf, source, from, &|_| false) {
            Ok((_, next)) => self.leaving.extend(next.map(|next| (source, vrf, next))),
            Err(error) => {
                tracing::warn!(fault = "fpm-routes", "routes of FPM: {error}");
            }
        }
        true
    }
}

impl Part for Feed {
    /// Takes what zebra told, a slice of it; says whether there may be more.
    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        self.leave_vrfs(core);
        if self.remove_some(core) {
            return true;
        }
        let Some((fpm, listen)) = &mut self.listening else { return false };
        let slice = fpm.next_slice();
        follow_session(core, fpm, listen, slice.is_some());
        let Some(slice) = slice else { return false };
        let (source, listen) = (source_of(listen), listen.clone());
        let (vrfs, ports) = (vrfs(core, &listen), ports_by_link(core));
        let mut changes: BTreeMap<VrfId, (Changes<u32>, Changes<u128>)> = BTreeMap::new();
        for update in slice {
            match update {
                Update::Route(key, leads) => {
                    self.add_route(key, leads, &vrfs, &ports, &mut changes);
                }
                Update::Shared(number, leads) => {
                    // Routes that come before it in the slice come first.
                    self.make(core, std::mem::take(&mut changes), source);
                    self.share(core, number, leads, &vrfs, &ports);
                }
                Update::Forgotten(number) => _ = self.shared.remove(&number),
            }
        }
        self.make(core, changes, source);
        true
    }
}

/// Others are to know whether somebody tells routes, and when it last did.
fn follow_session(core: &mut Core, fpm: &Fpm, listen: &Listen, is_heard: bool) {
    let (session, now) = (fpm.session(), Instant::now());
    if core.route_feed.as_ref().map(|feed| feed.session) != session {
        let netns = listen.netns.as_deref().map(str::to_owned);
        let new = |session| RouteFeed { netns, session, heard: now, has_told: false };
        core.route_feed = session.map(new);
    } else if let Some(feed) = core.route_feed.as_mut().filter(|feed| !feed.has_told) {
        feed.has_told = !is_heard && now.duration_since(feed.heard) >= QUIET;
        feed.heard = if is_heard { now } else { feed.heard };
    }
}

impl Feed {
    fn add_route(
        &mut self,
        key: RouteKey,
        leads: Option<Leads>,
        vrfs: &HashMap<u32, VrfId>,
        ports: &HashMap<u32, u16>,
        changes: &mut BTreeMap<VrfId, (Changes<u32>, Changes<u128>)>,
    ) {
        let Some(vrf) = vrfs.get(&key.table) else {
            return self.refuse(1, || format!("no VRF has table {}", key.table));
        };
        let is_ip4 = key.address.is_ipv4();
        let target = leads.and_then(|leads| {
            let target = target(&leads, is_ip4, ports);
            let leads_nowhere = match &leads {
                // One that nobody explained is waited for.
                Leads::Shared(number) => {
                    self.shared.get(number).is_some_and(|known| known.leads_nowhere(is_ip4))
                }
                _ => target.is_none(),
            };
            if leads_nowhere {
                let route = format!("{}/{}", key.address, key.length);
                self.refuse(1, || format!("{route} leads over no port of ours"));
            }
            target
        });
        let (ip4, ip6) = changes.entry(*vrf).or_default();
        let added = match key.address {
            IpAddr::V4(first) => ip4.add(first.into(), key.length, target),
            IpAddr::V6(first) => ip6.add(first.into(), key.length, target),
        };
        added.unwrap_or_else(|error| self.refuse(1, || error.to_string()));
    }

    fn make(
        &mut self,
        core: &mut Core,
        changes: BTreeMap<VrfId, (Changes<u32>, Changes<u128>)>,
        source: Source,
    ) {
        let shared = &self.shared;
        let mut made = Vec::new();
        for (vrf, (ip4, ip6)) in changes {
            made.extend(core.change_routes(|routes, link| {
                let of4 = |number| Some(shared.get(&number)?.ip4.clone());
                let of6 = |number| Some(shared.get(&number)?.ip6.clone());
                let ip4 = ip4.make(routes.ip4.in_vrf(vrf, link), source, of4);
                [ip4, ip6.make(routes.ip6.in_vrf(vrf, link), source, of6)]
            }));
        }
        for (refused, outcome) in made {
            self.refused += refused as u64;
            outcome.unwrap_or_else(|error| self.refuse(0, || error.to_string()));
        }
    }

    /// All routes that share this lead there from now on.
    fn share(
        &mut self,
        core: &mut Core,
        number: u32,
        leads: Option<Leads>,
        vrfs: &HashMap<u32, VrfId>,
        ports: &HashMap<u32, u16>,
    ) {
        let to = |is_ip4| leads.as_ref().and_then(|leads| target(leads, is_ip4, ports));
        let shared = Shared { ip4: to(true), ip6: to(false), is_known: leads.is_some() };
        let id = SharedId(number);
        let outcome = core.change_routes(|routes, link| {
            let change = |vrf: &VrfId| {
                let ip4 = routes.ip4.in_vrf(*vrf, link).map(|mut it| it.share(id, &shared.ip4));
                let ip6 = routes.ip6.in_vrf(*vrf, link).map(|mut it| it.share(id, &shared.ip6));
                ip4.unwrap_or(Ok(())).and(ip6.unwrap_or(Ok(())))
            };
            vrfs.values().map(change).fold(Ok(()), Result::and)
        });
        self.shared.insert(number, shared);
        outcome.unwrap_or_else(|error: FibError| self.refuse(0, || error.to_string()));
    }
}

/// Where routes lead that share a number, each family's.
struct Shared {
    ip4: Option<Target>,
    ip6: Option<Target>,
    is_known: bool,
}

impl Shared {
    /// Whether it is known where it leads, and that is over no port of ours.
    fn leads_nowhere(&self, is_ip4: bool) -> bool {
        self.is_known && if is_ip4 { self.ip4.is_none() } else { self.ip6.is_none() }
    }
}

impl Feed {
    pub(crate) fn show(&self, core: &Core) -> view::Fpm {
        let Some((fpm, listen)) = &self.listening else { return view::Fpm::default() };
        let (state, source) = (fpm.state(), source_of(listen));
        let counts = vrfs(core, listen).into_values();
        let counts = counts.map(|vrf| bulk::count(core, vrf, source));
        let count = counts.fold(SourceCount::default(), |sum, one| SourceCount {
            routes: sum.routes + one.routes,
            active: sum.active + one.active,
        });
        view::Fpm {
            listen: Some(listen.listen.to_string()),
            netns: listen.netns.as_ref().map(ToString::to_string),
            peer: state.peer.map(|peer| peer.to_string()),
            sessions: state.sessions,
            told: state.routes,
            waiting: state.waiting,
            stale: state.stale,
            groups: self.shared.len(),
            routes: count.routes,
            active: count.active,
            refused: self.refused,
            problem: self.problem.clone().or(state.ended),
        }
    }

    fn refuse(&mut self, routes: u64, why: impl FnOnce() -> String) {
        self.refused += routes;
        self.problem = Some(why());
    }
}

/// VRFs by the numbers of the kernel's tables: those whose twin zebra sees, and those said.
fn vrfs(core: &Core, listen: &Listen) -> HashMap<u32, VrfId> {
    let seen =
        core.vrf_twins.iter().filter(|(_, twin)| twin.netns.as_deref() == listen.netns.as_deref());
    let seen = seen.map(|(id, twin)| (twin.table, *id));
    let named = listen.vrfs.iter().map(|it| (it.table, core.vrfs.of(Some(&it.vrf))));
    seen.chain(named).chain([(MAIN_TABLE, VrfId::DEFAULT)]).collect()
}

/// Ports by the kernel's numbers of their twins. Numbers of two namespaces may be the same: the
/// first port's counts.
fn ports_by_link(core: &Core) -> HashMap<u32, u16> {
    let mut links = HashMap::new();
    for port in core.ports.values() {
        for link in port.twin_link.into_iter().chain(port.route_link) {
            links.entry(link).or_insert(port.id);
        }
    }
    links
}

/// Where a route leads, links of twins being ports; none if no way is left that we could go.
fn target(leads: &Leads, is_ip4: bool, ports: &HashMap<u32, u16>) -> Option<Target> {
    let ways = match leads {
        Leads::Ways(ways) => ways,
        Leads::Shared(number) => return Some(Target::Shared(SharedId(*number))),
        Leads::Blackhole => return Some(Target::Blackhole),
        Leads::Unreachable => return Some(Target::Unreachable),
        Leads::Prohibit => return Some(Target::Prohibit),
    };
    let hop = |(hop, weight): &(netlink::next_hop::Hop, u16)| {
        let interface = hop.link.and_then(|link| ports.get(&link).copied());
        // IPv4 may go by next hops of IPv6 (RFC 8950), IPv6 by none of IPv4; those are asked for on
        // the link that is said.
        let is_own = |gateway: IpAddr| gateway.is_ipv4() == is_ip4;
        let fits = hop.gateway.is_none_or(|it| is_own(it) || is_ip4 && interface.is_some());
        let goes = interface.is_some() || hop.gateway.is_some() && hop.link.is_none();
        (fits && goes).then_some(NextHop { address: hop.gateway, interface, weight: *weight })
    };
    let hops: Vec<NextHop> = ways.iter().filter_map(hop).collect();
    (!hops.is_empty()).then(|| Target::Via(hops.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink::next_hop::Hop;

    fn way(gateway: Option<&str>, link: Option<u32>, weight: u16) -> (Hop, u16) {
        (Hop { gateway: gateway.map(|it| it.parse().unwrap()), link }, weight)
    }

    fn hops(ways: Vec<(Hop, u16)>) -> Option<Vec<NextHop>> {
        let ports = HashMap::from([(7, 1), (8, 2)]);
        match target(&Leads::Ways(ways), true, &ports)? {
            Target::Via(hops) => Some(hops.to_vec()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn links_of_twins_are_ports() {
        let address = "10.0.0.1".parse().ok();
        let expected = NextHop { address, interface: Some(2), weight: 3 };
        assert_eq!(hops(vec![way(Some("10.0.0.1"), Some(8), 3)]), Some(vec![expected]));
        let expected = NextHop { address: None, interface: Some(1), weight: 1 };
        assert_eq!(hops(vec![way(None, Some(7), 1)]), Some(vec![expected]));
        let expected = NextHop { address, interface: None, weight: 1 };
        assert_eq!(hops(vec![way(Some("10.0.0.1"), None, 1)]), Some(vec![expected]));
    }

    #[test]
    fn ways_that_we_cannot_go_are_left_out() {
        let other_link = way(Some("10.0.0.1"), Some(99), 1);
        let nowhere = way(Some("2001:db8::1"), None, 1);
        let good = way(Some("10.0.0.2"), Some(7), 1);
        assert_eq!(hops(vec![other_link, nowhere]), None);
        assert_eq!(hops(vec![other_link, nowhere, good]).unwrap().len(), 1);
        let ports = HashMap::from([(7, 1)]);
        assert_eq!(target(&Leads::Ways(vec![good]), false, &ports), None);
    }

    #[test]
    fn packets_of_ipv4_go_by_routers_of_ipv6() {
        let address = "fe80::1".parse().ok();
        let expected = NextHop { address, interface: Some(1), weight: 1 };
        assert_eq!(hops(vec![way(Some("fe80::1"), Some(7), 1)]), Some(vec![expected]));
    }
}
