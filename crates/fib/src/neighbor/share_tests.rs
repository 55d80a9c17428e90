//! What a scan of one link takes from others, and from those who are known: nothing.

use super::*;
use crate::FibError;
use std::net::{Ipv4Addr, Ipv6Addr};

const S: u64 = 1_000_000_000;
const MAC: Mac = [2, 0, 0, 0, 0, 1];

fn small() -> NeighborConfig {
    NeighborConfig {
        capacity: 16,
        most_each: 8,
        most_unresolved: 4,
        least_each: 2,
        requests_per_s: 10,
        request_burst: 1,
        ..NeighborConfig::default()
    }
}

fn ip4(interface: u16, last: u32) -> NeighborKey {
    NeighborKey { interface, address: Ipv4Addr::from(0x0a00_0000 + last).into() }
}

fn ip6(interface: u16, last: u128) -> NeighborKey {
    NeighborKey { interface, address: Ipv6Addr::from(0x2001_0db8 << 96 | last).into() }
}

/// A machine whose actions are looked at one call at a time.
struct World {
    machine: Neighbors,
    now_ns: u64,
    adjacencies: u32,
}

impl World {
    fn new(config: NeighborConfig) -> World {
        World { machine: Neighbors::new(config), now_ns: S, adjacencies: 0 }
    }

    fn need(&mut self, key: NeighborKey, need: Need) -> Result<Vec<Action>, FibError> {
        let (mut out, id) = (Vec::new(), AdjacencyId(self.adjacencies));
        self.adjacencies += 1;
        self.now_ns += 1;
        self.machine.need(self.now_ns, key, id, need, &mut out).map(|()| out)
    }

    fn hear(&mut self, key: NeighborKey, heard: Heard) -> Vec<Action> {
        let mut out = Vec::new();
        self.now_ns += 1;
        self.machine.learned(self.now_ns, key, MAC, heard, &mut out);
        out
    }

    /// Packets came for it, and it answered.
    fn resolve(&mut self, key: NeighborKey) {
        self.need(key, Need::Packet).unwrap();
        self.hear(key, Heard::Reply);
    }

    /// Who is asked for while time passes.
    fn asked(&mut self, for_ns: u64) -> Vec<NeighborKey> {
        let mut out = Vec::new();
        let end_ns = self.now_ns + for_ns;
        while let Some(due_ns) = self.machine.next_due_ns().filter(|due_ns| *due_ns <= end_ns) {
            self.now_ns = self.now_ns.max(due_ns);
            self.machine.tick(self.now_ns, &|_| false, &mut out);
        }
        self.now_ns = end_ns;
        let asked = out.iter().filter_map(|action| match action {
            Action::SendRequest { key, .. } => Some(*key),
            _ => None,
        });
        asked.collect()
    }

    fn is_there(&self, key: NeighborKey) -> bool {
        self.machine.get(key).is_some()
    }

    fn share(&self, of: NeighborKey) -> ShareView {
        self.machine.shares().into_iter().find(|view| view.share == of.share()).unwrap()
    }
}

#[test]
fn a_scan_takes_the_places_of_its_own_kind_on_its_own_link() {
    let mut world = World::new(small());
    world.resolve(ip6(1, 1));
    world.resolve(ip4(2, 1));
    for last in 100..200 {
        world.need(ip6(1, last), Need::Packet).unwrap();
    }
    assert!(world.is_there(ip6(1, 1)) && world.is_there(ip4(2, 1)));
    let share = world.share(ip6(1, 1));
    assert_eq!((share.neighbors, share.unresolved, share.refused), (5, 4, 0));
    assert_eq!(share.evicted, 96);
    assert_eq!(world.machine.take_crowded(), [world.share(ip6(1, 1))]);
    assert_eq!(world.machine.take_crowded(), []);
    // Newcomers of the same link have a place, heard or asked for.
    world.hear(ip6(1, 2), Heard::Request);
    assert!(world.is_there(ip6(1, 2)));
    world.machine.clear_counts(1);
    assert_eq!(world.share(ip6(1, 1)).evicted, 0);
}

#[test]
fn who_gives_way_is_told_so_that_its_packets_and_adjacency_go() {
    let mut world = World::new(small());
    for last in 0..4 {
        world.need(ip4(1, last), Need::Packet).unwrap();
    }
    // The first was asked for and may still answer.
    let out = world.need(ip4(1, 9), Need::Packet).unwrap();
    let gone = ip4(1, 1);
    assert_eq!(
        out[..2],
        [
            Action::DropHeld { key: gone, reason: DropReason::Evicted },
            Action::Forgotten { key: gone, adjacency: Some(AdjacencyId(1)) },
        ]
    );
    assert!(world.is_there(ip4(1, 0)) && !world.is_there(gone));
    assert_eq!(world.machine.len(), 4);
}

#[test]
fn who_did_not_answer_gives_way_before_who_may() {
    let mut world = World::new(NeighborConfig { requests_per_s: 1000, ..small() });
    world.need(ip4(1, 0), Need::Packet).unwrap();
    world.asked(4 * S);
    assert_eq!(world.machine.get(ip4(1, 0)).unwrap().state, NeighborState::Failed);
    for last in 1..=4 {
        world.need(ip4(1, last), Need::Packet).unwrap();
    }
    assert!(!world.is_there(ip4(1, 0)) && world.is_there(ip4(1, 1)));
}

#[test]
fn a_share_full_of_known_neighbours_refuses_and_counts() {
    let mut world = World::new(NeighborConfig { requests_per_s: 1000, ..small() });
    (0..8).for_each(|last| world.resolve(ip4(1, last)));
    let refused = world.need(ip4(1, 8), Need::Packet);
    assert!(matches!(refused, Err(FibError::Full { capacity: 8, .. })));
    assert_eq!(world.hear(ip4(1, 9), Heard::Request), []);
    assert_eq!(world.share(ip4(1, 0)).refused, 2);
    // What is configured has room all the same; so has the other family, and another link.
    world.need(ip4(1, 10), Need::Route).unwrap();
    world.machine.add_static(world.now_ns, ip4(1, 11), MAC, &mut Vec::new()).unwrap();
    world.resolve(ip6(1, 1));
    world.resolve(ip4(2, 1));
    assert!((0..8).all(|last| world.is_there(ip4(1, last))));
}

#[test]
fn what_was_heard_and_never_used_gives_way_and_what_was_used_stays() {
    let mut world = World::new(small());
    world.hear(ip4(1, 0), Heard::Request);
    world.need(ip4(1, 0), Need::Packet).unwrap();
    for last in 1..100 {
        world.hear(ip4(1, last), Heard::Request);
    }
    assert!(world.is_there(ip4(1, 0)) && !world.is_there(ip4(1, 92)));
    assert!((93..100).all(|last| world.is_there(ip4(1, last))));
}

#[test]
fn a_full_table_has_room_for_a_link_that_has_few_and_takes_it_from_who_has_most_to_spare() {
    let config = NeighborConfig { capacity: 8, least_each: 0, requests_per_s: 1000, ..small() };
    let mut world = World::new(config);
    (0..4).for_each(|last| world.resolve(ip4(1, last)));
    (0..3).for_each(|last| drop(world.need(ip4(2, last), Need::Packet).unwrap()));
    world.need(ip4(3, 0), Need::Packet).unwrap();
    world.resolve(ip4(4, 0));
    assert_eq!(world.share(ip4(2, 0)).neighbors, 2);
    assert!((0..4).all(|last| world.is_there(ip4(1, last))) && world.is_there(ip4(3, 0)));
    // All that is there is needed: each share has its own places still, where it has any.
    let config = NeighborConfig { capacity: 4, ..small() };
    let mut world = World::new(NeighborConfig { requests_per_s: 1000, ..config });
    (0..6).for_each(|last| world.resolve(ip4(1, last)));
    assert!(world.need(ip4(1, 6), Need::Packet).is_err());
    world.resolve(ip4(2, 0));
    world.resolve(ip4(2, 1));
    assert!(world.need(ip4(2, 2), Need::Packet).is_err());
}

#[test]
fn links_take_turns_at_asking_and_the_newest_is_asked_first() {
    let mut world = World::new(small());
    for last in 0..4 {
        world.need(ip6(1, last), Need::Packet).unwrap();
    }
    world.need(ip4(2, 1), Need::Packet).unwrap();
    // The first took what there was at once.
    assert_eq!(world.asked(S / 5), [ip6(1, 3), ip4(2, 1)]);
}

#[test]
fn known_neighbours_are_asked_before_those_of_a_scan() {
    let mut world = World::new(small());
    world.resolve(ip4(1, 1));
    world.machine.set_config(NeighborConfig { keep: true, ..small() });
    world.now_ns += 1196 * S;
    for last in 100..103 {
        world.need(ip4(1, last), Need::Packet).unwrap();
    }
    assert_eq!(world.asked(2 * S)[..2], [ip4(1, 1), ip4(1, 102)]);
}

#[test]
fn books_agree_with_the_table_whatever_happens() {
    let mut world = World::new(NeighborConfig { requests_per_s: 3, ..small() });
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..20_000 {
        let (interface, last) = (random(3) as u16, random(20) as u32);
        let key = if random(2) == 0 { ip4(interface, last) } else { ip6(interface, last.into()) };
        match random(10) {
            0..=2 => drop(world.need(key, Need::Packet)),
            3 => drop(world.need(key, Need::Route)),
            4 => world.machine.release(key),
            5 => drop(world.hear(key, Heard::Request)),
            6 => drop(world.hear(key, Heard::Reply)),
            7 => drop(world.asked(random(3) * S)),
            8 => world.machine.no_buffer(world.now_ns, key),
            _ if random(20) == 0 => {
                world.machine.interface_down(world.now_ns, interface, &mut Vec::new());
            }
            _ => drop(world.machine.remove_static(world.now_ns, key, &mut Vec::new())),
        }
        let list = world.machine.list();
        for share in world.machine.shares() {
            let own = list.iter().filter(|it| it.key.share() == share.share);
            let is_waiting = |it: &&NeighborView| {
                matches!(it.state, NeighborState::Incomplete | NeighborState::Failed)
            };
            assert_eq!(own.clone().count(), share.neighbors);
            assert!(share.unresolved <= own.filter(is_waiting).count() && share.unresolved <= 4);
        }
    }
    // All of it ends when nobody needs anything any more.
    (0..3).for_each(|it| world.machine.interface_down(world.now_ns, it, &mut Vec::new()));
    world.machine.list().iter().for_each(|it| world.machine.release(it.key));
    world.asked(1000 * S);
    assert!(world.machine.is_empty() && world.machine.next_due_ns().is_none());
}
