//! Neighbours of the configuration, and what workers hear of IPv4 neighbours and want to know of
//! all.

use crate::core::{Core, fault};
use crate::neighborhood::told_full;
use crate::part::{Hears, Makes, Part};
use crate::settings::neighbor_config;
use control::config::Delta;
use control::config::change::Replaced;
use control::config::objects::arp::Arp;
use control::config::objects::neighbor::{Neighbor, NeighborKey as Key};
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use fib::neighbor::NeighborKey;
use nodes::tables::{ArpHeard, Unresolved};
use std::net::Ipv4Addr;

/// See the module. The neighbours themselves are the core's: routes lead over them.
#[derive(Default)]
pub(crate) struct StaticNeighbors;

impl Part for StaticNeighbors {
    fn link_down(&mut self, core: &mut Core, port: &PortName) {
        let Some(id) = core.ports.id_of(port) else { return };
        core.with_neighbors(|neighbors, now_ns, out| neighbors.interface_down(now_ns, id, out));
    }

    fn link_up(&mut self, core: &mut Core, port: &PortName) {
        let Some(id) = core.ports.id_of(port) else { return };
        core.with_neighbors(|neighbors, now_ns, out| neighbors.flush(now_ns, Some(id), out));
    }
}

/// Timers change for what is asked and heard from now on.
impl Makes<Replaced<Arp>> for StaticNeighbors {
    fn make(&mut self, core: &mut Core, change: &Replaced<Arp>) -> Result<(), ApplyError> {
        let arp = &change.new;
        core.neighborhood.set_config(neighbor_config(arp), arp.hold_packets.into());
        Ok(())
    }
}

impl Makes<Delta<Key, Neighbor>> for StaticNeighbors {
    fn make(&mut self, core: &mut Core, change: &Delta<Key, Neighbor>) -> Result<(), ApplyError> {
        let (key, wanted) = change.outcome();
        let field = format!("neighbor {}", key.address);
        let Some(interface) = core.ports.id_of(&key.port) else {
            return Err(fault(&field, format!("there is no port `{}`", key.port)));
        };
        let neighbor = NeighborKey { interface, address: key.address };
        let Some(wanted) = wanted else {
            core.free_neighbor(neighbor);
            return Ok(());
        };
        let fixed = core.fix_neighbor(neighbor, wanted.mac.0);
        fixed.map_err(|error| fault(&field, error.to_string()))
    }
}

/// A packet waits until its next hop's MAC is known.
impl Hears<Unresolved> for StaticNeighbors {
    fn hear(&mut self, core: &mut Core, punt: Unresolved) {
        let Unresolved { next_hop, interface, packet, .. } = punt;
        let key = NeighborKey { interface, address: next_hop };
        let now_ns = core.now_ns();
        match core.adjacency(key) {
            Ok(Some(id)) => {
                if !core.neighborhood.hold(now_ns, key, id, packet) {
                    // Nobody keeps what was made for it.
                    core.routing.forget(key).unwrap_or_else(|error| told_full(&error));
                }
            }
            // Its interface is gone by now.
            Ok(None) => core.neighborhood.discard(packet),
            Err(error) => {
                told_full(&error);
                core.neighborhood.discard(packet);
            }
        }
    }
}

/// ARP is believed; a claim on an address of ours is told and answered.
impl Hears<ArpHeard> for StaticNeighbors {
    fn hear(&mut self, core: &mut Core, punt: ArpHeard) {
        let (port, now_ns) = (core.ports.of_id(punt.interface), core.now_ns());
        let row = core.dataplane.interfaces().get(punt.interface);
        let own = port.filter(|_| row.is_some_and(|row| row.has_ip4(punt.address)));
        match own.map(|port| port.mac) {
            Some(mac) => {
                let own = Ipv4Addr::from(punt.address).into();
                core.neighborhood.defend(now_ns, punt.interface, own, punt.mac, mac);
            }
            None => core.neighborhood.heard(now_ns, &punt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::Router;
    use control::config::field::Field;
    use control::config::{Config, Host, Source, parse};
    use control::view::{All, Answer, NeighborShare};
    use fib::neighbor::{NeighborConfig, NeighborState};
    use nodes::tables::{Injected, Punt};
    use packet::PacketBuf;
    use std::net::{IpAddr, Ipv6Addr};
    use std::sync::Arc;
    use std::time::Duration;
    use wire::craft;

    const TEXT: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
port.p1 = { kind = "memory", addresses = ["2001:db8:1::1/64", "198.51.100.1/24"] }
port.p2 = { kind = "memory", addresses = ["192.0.2.1/24"] }
"#;

    fn router() -> Router {
        let config = parse(&Source::new("router.toml", TEXT), &Host::any()).unwrap();
        let mut router = Router::start(&config, Arc::new(|| ())).unwrap();
        let empty = Config {
            workers: config.workers.clone(),
            memory: config.memory.clone(),
            ..Config::default()
        };
        router.apply_all(&Config::diff(&empty, &config)).unwrap();
        router
    }

    fn scanned(last: u32) -> IpAddr {
        Ipv6Addr::from(0x2001_0db8_0001_u128 << 80 | u128::from(last) << 8).into()
    }

    fn id(router: &Router, port: &str) -> u16 {
        router.core.ports.id_of(&PortName::from_text(port).unwrap()).unwrap()
    }

    /// A worker has a packet for a neighbour whose MAC it does not know.
    fn need(router: &mut Router, port: &str, next_hop: IpAddr) {
        let bytes = craft::ipv4([192, 0, 2, 7], [192, 0, 2, 9]).udp(1, 2).build();
        let packet = router.core.pool.cache().copy_of(&bytes).unwrap();
        let interface = id(router, port);
        let punt = Unresolved { adjacency: None, next_hop, interface, packet };
        router.parts.hear(&mut router.core, Punt::Unresolved(punt));
    }

    fn answer(router: &mut Router, address: [u8; 4]) {
        let key = NeighborKey { interface: id(router, "p2"), address: address.into() };
        heard(router, key, true);
    }

    /// An IPv4 neighbour answers, or asks for us.
    fn heard(router: &mut Router, key: NeighborKey, is_reply: bool) {
        let IpAddr::V4(address) = key.address else { return };
        let heard = ArpHeard {
            interface: key.interface,
            address: address.into(),
            mac: [6, 0, 0, 0, 0, 9],
            is_reply,
            is_gratuitous: false,
            is_for_us: true,
        };
        router.parts.hear(&mut router.core, Punt::Arp(heard));
    }

    /// What there is to do is done, and what was injected has left.
    fn turn(router: &mut Router) {
        router.settle();
        while router.core.turn_local() {}
    }

    fn share(router: &mut Router, port: &str, family: &str) -> NeighborShare {
        let shares = Answer::<NeighborShare>::answer(router, &All).unwrap().whole();
        shares.into_iter().find(|it| it.port == port && it.family == family).unwrap()
    }

    #[test]
    fn a_scan_of_a_network_locks_out_nobody_and_leaves_nothing_behind() {
        let mut router = router();
        let used = |router: &Router| router.core.dataplane.adjacencies.used();
        let (free, hops) = (router.core.pool.usage().free, used(&router));
        for last in 0..140_000 {
            need(&mut router, "p1", scanned(last));
            if last % 200 == 199 {
                turn(&mut router);
            }
        }
        let scanned = share(&mut router, "p1", "ip6");
        assert_eq!((scanned.neighbors, scanned.unresolved, scanned.refused), (4096, 4096, 0));
        assert_eq!(scanned.evicted, 140_000 - 4096);
        assert!(used(&router) <= hops + 4096 + 200);
        // A host that nobody knew, of another port and family.
        need(&mut router, "p2", [192, 0, 2, 9].into());
        turn(&mut router);
        answer(&mut router, [192, 0, 2, 9]);
        turn(&mut router);
        let key = NeighborKey { interface: id(&router, "p2"), address: [192, 0, 2, 9].into() };
        let known = router.core.neighborhood.machine.get(key).unwrap();
        assert_eq!(known.state, NeighborState::Reachable);
        assert_eq!(router.core.neighborhood.held_for(key), 0);
        // The port goes, and with it all that waited.
        let interface = id(&router, "p1");
        router.core.end_interface(interface);
        turn(&mut router);
        assert_eq!(share(&mut router, "p1", "ip6").neighbors, 0);
        assert_eq!(router.core.neighborhood.held_packets(), 0);
        // Free next hops are counted as such when the next one is made; caches keep some buffers.
        need(&mut router, "p2", [192, 0, 2, 10].into());
        turn(&mut router);
        assert!(used(&router) <= hops + 3, "{} of {hops}", used(&router));
        assert!(router.core.pool.usage().free + 600 > free);
    }

    #[test]
    fn what_waited_for_one_that_gave_way_leaves_if_it_came_again_by_itself() {
        let mut router = router();
        let few = NeighborConfig { most_unresolved: 1, ..NeighborConfig::default() };
        router.core.neighborhood.set_config(few, 16);
        need(&mut router, "p2", [192, 0, 2, 8].into());
        turn(&mut router);
        // All of it before anybody carries out what is to be done.
        need(&mut router, "p2", [192, 0, 2, 9].into());
        let key = NeighborKey { interface: id(&router, "p2"), address: [192, 0, 2, 8].into() };
        assert_eq!(router.core.neighborhood.machine.get(key), None, "it did not give way");
        heard(&mut router, key, false);
        assert_eq!(router.core.neighborhood.held_for(key), 1);
        turn(&mut router);
        assert_eq!(router.core.neighborhood.held_for(key), 0);
        assert_eq!(router.core.neighborhood.held_packets(), 1, "the other one's waits");
    }

    /// All buffers of the pool, and of what the control thread has of it.
    fn take_buffers(router: &mut Router) -> Vec<PacketBuf> {
        let mut cache = router.core.pool.cache();
        let mut taken = Vec::new();
        loop {
            taken.extend(std::iter::from_fn(|| cache.allocate_one()));
            let discard = |packet| Injected::Discard { rx: 0, packet };
            if !router.core.neighborhood.inject_copy(&[0; 20], discard) {
                return taken;
            }
            while router.core.turn_local() {}
        }
    }

    fn sent(router: &mut Router, port: &str) -> u64 {
        let ports = Answer::<control::view::Port>::answer(router, &All).unwrap().whole();
        ports.into_iter().find(|it| it.name == port).unwrap().tx.packets
    }

    #[test]
    fn who_cannot_be_asked_without_buffers_is_asked_when_there_are_some() {
        /// Longer than until a question follows that found no buffer.
        const SOON: Duration = Duration::from_millis(60);
        let mut router = router();
        turn(&mut router);
        let address = [192, 0, 2, 9];
        let key = NeighborKey { interface: id(&router, "p2"), address: address.into() };
        need(&mut router, "p2", address.into());
        let taken = take_buffers(&mut router);
        let before = sent(&mut router, "p2");
        turn(&mut router);
        // Where the machine stalls in between, it has been tried again already.
        let tried = |router: &mut Router| share(router, "p2", "ip4").no_buffer;
        let at_first = tried(&mut router);
        assert!(at_first >= 1);
        assert_eq!(router.core.neighborhood.held_for(key), 1);
        // What waited as long as for one that does not answer gives its buffer back.
        let patience = NeighborConfig { retry_ns: 1, ..NeighborConfig::default() };
        router.core.neighborhood.set_config(patience, 16);
        std::thread::sleep(SOON);
        turn(&mut router);
        let in_all = tried(&mut router);
        assert!(in_all > at_first, "{in_all} of {at_first}");
        assert_eq!(router.core.neighborhood.held_for(key), 0);
        let state = |router: &Router| router.core.neighborhood.machine.get(key).unwrap().state;
        assert_eq!(state(&router), NeighborState::Incomplete);
        assert_eq!(sent(&mut router, "p2"), before);
        router.core.neighborhood.set_config(NeighborConfig::default(), 16);
        let mut cache = router.core.pool.cache();
        taken.into_iter().for_each(|packet| cache.release_one(packet));
        drop(cache);
        std::thread::sleep(SOON);
        need(&mut router, "p2", address.into());
        turn(&mut router);
        assert_eq!(sent(&mut router, "p2"), before + 1, "the question");
        answer(&mut router, address);
        turn(&mut router);
        assert_eq!(state(&router), NeighborState::Reachable);
        assert_eq!(sent(&mut router, "p2"), before + 2, "and what waited");
        assert_eq!(tried(&mut router), in_all);
    }

    #[test]
    fn who_finds_no_room_costs_no_next_hop() {
        let mut router = router();
        let few = NeighborConfig { most_each: 2, ..NeighborConfig::default() };
        router.core.neighborhood.set_config(few, 16);
        for last in [8, 9] {
            need(&mut router, "p2", [192, 0, 2, last].into());
            answer(&mut router, [192, 0, 2, last]);
            turn(&mut router);
        }
        let used = router.core.dataplane.adjacencies.used();
        for last in 10..200 {
            need(&mut router, "p2", [192, 0, 2, last].into());
            turn(&mut router);
        }
        let full = share(&mut router, "p2", "ip4");
        assert_eq!((full.neighbors, full.most, full.refused), (2, 2, 190));
        // One waits until workers have passed.
        assert!(router.core.dataplane.adjacencies.used() <= used + 1);
        need(&mut router, "p1", scanned(1));
        turn(&mut router);
        assert_eq!(share(&mut router, "p1", "ip6").neighbors, 1);
    }
}
