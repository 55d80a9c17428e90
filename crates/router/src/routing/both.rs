//! The routes of both families, and which of them an address or an adjacency is of.
//!
//! ```text
//!  IPv4 10.0.0.0/8 ─▶ adjacency 8, fe80::1 on p0, carries IPv4 ─┐ (RFC 8950)
//!  IPv6 2001:db8::/32 ─▶ adjacency 7, fe80::1 on p0, carries IPv6 ──▶ one neighbour, asked for by ND
//! ```
//! A next hop of IPv6 that IPv4 goes by is a user of IPv6's own: that one is pinned while either is
//! in use, and the MAC that it gets goes to both.

use super::family::{Family, Ip6Tables, specials_without_class_e};
use super::{InUse, LinkOf, Routing, Wish};
use dataplane::Dataplane;
use fib::FibError;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::neighbor::NeighborKey;
use nodes::tables::{VrfId, VrfTables};
use std::collections::HashSet;
use std::sync::Arc;

/// Routes of both families.
pub(crate) struct Routes {
    pub(crate) ip4: Routing<u32>,
    pub(crate) ip6: Routing<u128>,
    adjacencies: Arc<AdjacencyTable>,
    /// Neighbours of IPv6 that IPv4 goes by.
    lent: HashSet<NeighborKey>,
}

impl Routes {
    /// No routes, in the default VRF alone.
    pub(crate) fn new(dataplane: &Dataplane) -> Result<Self, FibError> {
        let adjacencies = || Arc::clone(&dataplane.adjacencies);
        let groups = || Arc::clone(&dataplane.groups);
        let (ip4, ip6) =
            (Routing::new(adjacencies(), groups()), Routing::new(adjacencies(), groups()));
        let mut routes = Self { ip4, ip6, adjacencies: adjacencies(), lent: HashSet::new() };
        let (ip4, ip6) = (Arc::clone(&dataplane.ip4), Arc::clone(&dataplane.ip6));
        routes.add_vrf(VrfId::DEFAULT, VrfTables { ip4, ip6 }, dataplane)?;
        Ok(routes)
    }

    /// A VRF without routes, of these tables.
    pub(crate) fn add_vrf(
        &mut self,
        vrf: VrfId,
        tables: VrfTables,
        dataplane: &Dataplane,
    ) -> Result<(), FibError> {
        let VrfTables { ip4, ip6: routes } = tables;
        // Link-local addresses are told apart by interface, so all VRFs share their table.
        let links = Arc::clone(&dataplane.ip6_links);
        self.ip4.add_vrf(vrf, ip4)?;
        self.ip6.add_vrf(vrf, Arc::new(Ip6Tables { routes, links }))
    }

    /// Takes a VRF away; its routes leave the tables a slice at a time.
    pub(crate) fn remove_vrf(&mut self, vrf: VrfId) -> Result<(), FibError> {
        self.ip4.remove_vrf(vrf).and(self.ip6.remove_vrf(vrf))
    }

    /// From now on what comes and goes is written down.
    pub(crate) fn keep_journals(&mut self) {
        self.ip4.keep_journals();
        self.ip6.keep_journals();
    }

    /// How many routes there are that no configuration has.
    pub(crate) fn brought(&self) -> usize {
        self.ip4.brought() + self.ip6.brought()
    }

    /// Whether routes went whose end no journal has, once.
    pub(crate) fn take_lost_routes(&mut self) -> bool {
        std::mem::take(&mut self.ip4.lost_routes) | std::mem::take(&mut self.ip6.lost_routes)
    }

    /// Whether changes have left routes to be settled.
    pub(crate) fn is_settling(&self) -> bool {
        self.ip4.is_settling() || self.ip6.is_settling()
    }

    /// Settles a slice of what changes have left.
    pub(crate) fn settle_more(&mut self, link: LinkOf<'_>) -> Result<(), FibError> {
        if self.ip4.is_settling() { self.ip4.settle_more(link) } else { self.ip6.settle_more(link) }
    }

    /// All next hops: of IPv4, then of IPv6.
    pub(crate) fn next_hops(&self) -> Vec<InUse> {
        self.ip4.ways.next_hops.each().chain(self.ip6.ways.next_hops.each()).collect()
    }

    /// Of them, how many are of IPv4: those come first.
    pub(crate) fn ip4_next_hops(&self) -> usize {
        self.ip4.ways.next_hops.each().count()
    }

    /// The next hop of a family to a neighbour, if there is one.
    pub(crate) fn next_hop(&self, is_ip4: bool, key: NeighborKey) -> Option<AdjacencyId> {
        if is_ip4 { self.ip4.existing(key) } else { self.ip6.existing(key) }
    }

    /// Keeps a neighbour as routes do that lead over it: it is asked for, and its adjacency stays
    /// until [`Routes::let_go`].
    pub(crate) fn hold(
        &mut self,
        is_ip4: bool,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        if is_ip4 { self.ip4.lend(key, link) } else { self.ip6.lend(key, link) }
    }

    /// Keeps it no longer.
    pub(crate) fn let_go(&mut self, is_ip4: bool, key: NeighborKey) {
        if is_ip4 { self.ip4.take_back(key) } else { self.ip6.take_back(key) }
    }

    /// Next hops that began since the last call.
    pub(crate) fn take_begun(&mut self) -> Vec<AdjacencyId> {
        let mut begun = self.ip4.ways.next_hops.take_begun();
        begun.extend(self.ip6.ways.next_hops.take_begun());
        begun
    }

    /// Whether 240.0.0.0/4 is routed like other networks.
    pub(crate) fn set_class_e(&mut self, routed: bool, link: LinkOf<'_>) -> Result<(), FibError> {
        let specials = if routed { specials_without_class_e() } else { u32::specials() };
        self.ip4.set_specials(specials, link)
    }

    /// The adjacency of a neighbour, made if need be; none if there is no such interface.
    pub(crate) fn adjacency(
        &mut self,
        key: NeighborKey,
        link: LinkOf<'_>,
    ) -> Result<Option<AdjacencyId>, FibError> {
        match key.address.is_ipv4() {
            true => self.ip4.adjacency(key, link),
            false => self.ip6.adjacency(key, link),
        }
    }

    /// The adjacency by which packets of IPv4 go to a neighbour of IPv6, if any route has them go.
    pub(crate) fn ip4_by(&self, key: NeighborKey) -> Option<AdjacencyId> {
        self.ip4.existing(key).filter(|_| key.address.is_ipv6())
    }

    /// The same of the neighbour that IPv6's adjacency leads to.
    fn beside(&self, id: AdjacencyId) -> Option<AdjacencyId> {
        self.ip4_by(self.ip6.neighbor(id)?)
    }

    /// A neighbour's MAC is known.
    pub(crate) fn complete(&mut self, id: AdjacencyId, mac: [u8; 6]) -> Result<(), FibError> {
        if let Some(beside) = self.beside(id) {
            self.ip4.complete(beside, mac)?;
        }
        // An adjacency is of one family; the other does not know it.
        self.ip4.complete(id, mac)?;
        self.ip6.complete(id, mac)
    }

    /// A neighbour's MAC is not known any more.
    pub(crate) fn incomplete(&mut self, id: AdjacencyId) -> Result<(), FibError> {
        if let Some(beside) = self.beside(id) {
            self.ip4.incomplete(beside)?;
        }
        self.ip4.incomplete(id)?;
        self.ip6.incomplete(id)
    }

    /// Whether packets left by an adjacency since the last call.
    pub(crate) fn take_used(&self, id: AdjacencyId) -> bool {
        let beside = self.beside(id).is_some_and(|beside| self.adjacencies.take_used(beside));
        self.adjacencies.take_used(id) || beside
    }

    /// A neighbour does not answer.
    pub(crate) fn silent(&mut self, key: NeighborKey) {
        // Routes of IPv4 may lead over a neighbour of either family.
        self.ip4.silent(key);
        if key.address.is_ipv6() {
            self.ip6.silent(key);
        }
    }

    /// Nobody keeps the neighbour.
    pub(crate) fn forget(&mut self, key: NeighborKey) -> Result<(), FibError> {
        match key.address.is_ipv4() {
            true => self.ip4.forget(key),
            false => self.ip6.forget(key),
        }
    }

    /// An interface begins or ceases to carry packets.
    pub(crate) fn set_interface(
        &mut self,
        interface: u16,
        up: bool,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        self.ip4.set_interface(interface, up, link)?;
        self.ip6.set_interface(interface, up, link)
    }

    /// The link of an interface takes packets of this length now: next hops behind it, too.
    pub(crate) fn set_mtu(&self, interface: u16, mtu: u16) {
        self.ip4.set_mtu(interface, mtu);
        self.ip6.set_mtu(interface, mtu);
    }

    /// What neighbours are to be asked since the last call, and whether all of them found room.
    pub(crate) fn take_wishes(&mut self, link: LinkOf<'_>) -> (Vec<Wish>, Result<(), FibError>) {
        let (mut wishes, mut outcome) = (Vec::new(), Ok(()));
        for wish in self.ip4.take_wishes() {
            match wish {
                Wish::Pin(key, id) if key.address.is_ipv6() => {
                    outcome = outcome.and(self.lend(key, id, link));
                }
                Wish::Release(key) if key.address.is_ipv6() => {
                    if self.lent.remove(&key) {
                        self.ip6.take_back(key);
                    }
                }
                Wish::Pin(..) | Wish::Release(_) => wishes.push(wish),
            }
        }
        wishes.extend(self.ip6.take_wishes());
        (wishes, outcome)
    }

    /// Packets of IPv4 go by a neighbour of IPv6 from now on, by an adjacency of their own.
    fn lend(
        &mut self,
        key: NeighborKey,
        id: AdjacencyId,
        link: LinkOf<'_>,
    ) -> Result<(), FibError> {
        let Some(own) = self.ip6.lend(key, link)? else { return Ok(()) };
        self.lent.insert(key);
        let known = self.adjacencies.entry(own).filter(|entry| entry.fields().is_complete());
        // By now it may have gone again.
        let is_there = self.ip4.existing(key) == Some(id);
        match known.filter(|_| is_there).map(|entry| entry.destination()) {
            Some(mac) => self.ip4.complete(id, mac),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::Router;
    use control::config::{Config, Host, Source, edit, parse};
    use fib::Forward;
    use nodes::tables::{Kind, NdHeard, NdSaid, Punt};
    use std::sync::Arc;

    const TEXT: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
port.p0 = { kind = "memory", addresses = ["fe80::1/64", "2001:db8::1/64"] }
[[route]]
prefix = "10.0.0.0/8"
via = [{ address = "fe80::9", port = "p0" }]
"#;

    struct Rig {
        router: Router,
        config: Config,
    }

    impl Rig {
        fn new() -> Self {
            let config = parse(&Source::new("router.toml", TEXT), &Host::any()).unwrap();
            let mut router = Router::start(&config, Arc::new(|| ())).unwrap();
            let (workers, memory) = (config.workers.clone(), config.memory.clone());
            let empty = Config { workers, memory, ..Config::default() };
            router.apply_all(&Config::diff(&empty, &config)).unwrap();
            Self { router, config }
        }

        fn change(&mut self, command: &str) {
            let new = edit(&self.config, &Source::new("test", command), &Host::any()).unwrap();
            self.router.apply_all(&Config::diff(&self.config, &new)).unwrap();
            self.config = new;
        }

        /// The neighbour says that this is its MAC.
        fn answer(&mut self, mac: [u8; 6]) {
            let target = 0xfe80_u128 << 112 | 9;
            let said = NdSaid::Advertised { target, solicited: true, overrides: true };
            let mac = Some(mac);
            let heard = NdHeard { interface: key().interface, source: target, mac, said };
            self.router.parts.hear(&mut self.router.core, Punt::Nd(heard));
            self.router.settle();
        }

        /// Ethertype and destination of what follows a route, once the MAC is known.
        fn leaves(&self, to: Option<Forward>) -> Option<([u8; 2], [u8; 6])> {
            let to = to.filter(|to| to.kind() == Kind::Rewrite as u8)?;
            let entry = self.router.core.dataplane.adjacencies.entry(AdjacencyId(to.id()))?;
            let [ethertype_high, ethertype_low] = [12, 13].map(|at| entry.rewrite_bytes()[at]);
            let whole = entry.fields().is_complete();
            whole.then(|| ([ethertype_high, ethertype_low], entry.destination()))
        }

        fn ip4(&self, prefix: &str) -> Option<([u8; 2], [u8; 6])> {
            self.leaves(self.router.core.dataplane.ip4.get(prefix.parse().unwrap()))
        }

        fn ip6(&self, prefix: &str) -> Option<([u8; 2], [u8; 6])> {
            self.leaves(self.router.core.dataplane.ip6.get(prefix.parse().unwrap()))
        }
    }

    fn key() -> NeighborKey {
        NeighborKey { interface: 0, address: "fe80::9".parse().unwrap() }
    }

    const IP4: [u8; 2] = [8, 0];
    const IP6: [u8; 2] = [0x86, 0xdd];

    #[test]
    fn both_families_leave_by_the_mac_that_one_neighbour_says() {
        let mut rig = Rig::new();
        assert_eq!(rig.ip4("10.0.0.0/8"), None);
        rig.answer([6; 6]);
        assert_eq!(rig.ip4("10.0.0.0/8"), Some((IP4, [6; 6])));
        // Who comes later need not ask.
        rig.change("route add 2001:db8:9::/48 via fe80::9 port p0");
        assert_eq!(rig.ip6("2001:db8:9::/48"), Some((IP6, [6; 6])));
        rig.change("route del 10.0.0.0/8");
        rig.change("route add 10.9.0.0/16 via fe80::9 port p0");
        assert_eq!(rig.ip4("10.9.0.0/16"), Some((IP4, [6; 6])));
        rig.answer([8; 6]);
        assert_eq!(rig.ip4("10.9.0.0/16"), Some((IP4, [8; 6])));
        assert_eq!(rig.ip6("2001:db8:9::/48"), Some((IP6, [8; 6])));
    }

    #[test]
    fn use_by_ipv4_keeps_the_neighbour_and_the_last_route_lets_it_go() {
        let mut rig = Rig::new();
        rig.answer([6; 6]);
        let routing = &mut rig.router.core.routing;
        let (own, by) = (routing.ip6.existing(key()).unwrap(), routing.ip4_by(key()).unwrap());
        rig.router.core.dataplane.adjacencies.entry(by).unwrap().mark_used();
        let routing = &mut rig.router.core.routing;
        assert_eq!([routing.take_used(own), routing.take_used(own)], [true, false]);
        routing.forget(key()).unwrap();
        assert_eq!(routing.ip6.existing(key()), Some(own), "a route of IPv4 leads over it");
        rig.change("route del 10.0.0.0/8");
        let routing = &mut rig.router.core.routing;
        assert_eq!(routing.ip4_by(key()), None);
        routing.forget(key()).unwrap();
        assert_eq!(routing.ip6.existing(key()), None);
    }
}
