//! The machine by itself, beside a second one, and beside one whose messages get lost.

use super::*;
use proptest::prelude::*;
use wire::lacp::state::{
    ACTIVITY, AGGREGATION, COLLECTING, DEFAULTED, DISTRIBUTING, EXPIRED, SHORT_TIMEOUT,
    SYNCHRONIZATION,
};

const MS: u64 = 1_000_000;

fn own(last: u8) -> Own {
    Own {
        system_priority: 0x8000,
        system: [2, 0, 0, 0, 0, last],
        key: 7,
        port_priority: 0x8000,
        is_active: true,
        is_fast: true,
    }
}

fn up(ports: &[u16]) -> BTreeMap<u16, bool> {
    ports.iter().map(|port| (*port, true)).collect()
}

/// The other end of a port, as it tells of itself.
fn other(system: u8, port: u16, state: u8) -> End {
    End {
        system_priority: 1,
        system: [4, 0, 0, 0, 0, system],
        key: 9,
        port_priority: 1,
        port,
        state,
    }
}

const READY: u8 = ACTIVITY | AGGREGATION | SYNCHRONIZATION;

fn states(machine: &Machine) -> Vec<(&'static str, &'static str)> {
    machine.members().map(|(_, it)| (it.receive.word(), it.mux.word())).collect()
}

#[test]
fn a_member_goes_from_state_to_state_as_the_standard_says() {
    let mut machine = Machine::new(own(1));
    machine.set_links(0, &up(&[1]));
    let said = machine.turn(0);
    let first = said[0].1;
    assert_eq!(first.actor.state, ACTIVITY | SHORT_TIMEOUT | AGGREGATION | EXPIRED);
    assert_eq!((first.actor.port, first.actor.key, first.partner.system), (1, 7, [0; 6]));
    assert_eq!(states(&machine), [("expired", "detached")]);
    // It hears: current, and waits for others.
    let hears = |machine: &mut Machine, now, state| {
        let partner = machine.end_of(1, &machine.members[&1]);
        machine.heard(now, 1, &Pdu { actor: other(1, 1, state), partner });
        machine.turn(now)
    };
    hears(&mut machine, 100 * MS, ACTIVITY | AGGREGATION);
    assert_eq!(states(&machine), [("current", "waiting")]);
    machine.turn(2_000 * MS);
    assert_eq!(states(&machine), [("current", "waiting")]);
    let said = machine.turn(2_100 * MS);
    assert_eq!(states(&machine), [("current", "attached")]);
    let wanted = ACTIVITY | SHORT_TIMEOUT | AGGREGATION | SYNCHRONIZATION;
    assert_eq!(said.last().unwrap().1.actor.state, wanted);
    // The other end is in sync, then collects, then no longer, then is not in sync.
    for (now, state, mux, bits) in [
        (2_200, READY, "collecting", wanted | COLLECTING),
        (2_300, READY | COLLECTING, "distributing", wanted | COLLECTING | DISTRIBUTING),
        (3_400, READY, "collecting", wanted | COLLECTING),
        (3_500, ACTIVITY | AGGREGATION, "attached", wanted),
        (3_600, READY | COLLECTING, "distributing", wanted | COLLECTING | DISTRIBUTING),
    ] {
        hears(&mut machine, now * MS, state);
        assert_eq!(states(&machine), [("current", mux)], "at {now}");
        assert_eq!(machine.end_of(1, &machine.members[&1]).state, bits, "at {now}");
    }
    // It is silent for 3 s, then for 3 more.
    machine.turn(6_599 * MS);
    assert_eq!(states(&machine), [("current", "distributing")]);
    machine.turn(6_600 * MS);
    assert_eq!(states(&machine), [("expired", "attached")]);
    assert!(machine.end_of(1, &machine.members[&1]).is(EXPIRED));
    machine.turn(9_600 * MS);
    assert_eq!(states(&machine), [("defaulted", "detached")]);
    assert!(machine.end_of(1, &machine.members[&1]).is(DEFAULTED));
    machine.set_links(10_000 * MS, &[(1, false)].into());
    assert_eq!(states(&machine), [("disabled", "detached")]);
    assert!(machine.turn(20_000 * MS).is_empty(), "a link that is down says nothing");
}

#[test]
fn what_the_other_end_knows_of_us_must_be_right() {
    let mut machine = Machine::new(own(1));
    machine.set_links(0, &up(&[1]));
    machine.turn(0);
    let right = machine.end_of(1, &machine.members[&1]);
    for (partner, is_in_sync) in [
        (right, true),
        (End { key: 8, ..right }, false),
        (End { system: [9; 6], ..right }, false),
        (End { port: 2, ..right }, false),
        (End { state: 0, ..right }, false),
    ] {
        machine.heard(0, 1, &Pdu { actor: other(1, 1, READY), partner });
        assert_eq!(machine.members[&1].partner.is(SYNCHRONIZATION), is_in_sync, "{partner:?}");
    }
}

#[test]
fn periods_are_the_other_ends_and_no_more_than_three_messages_go_in_a_second() {
    let mut machine = Machine::new(own(1));
    machine.set_links(0, &up(&[1]));
    let count = |machine: &mut Machine, from: u64, until: u64| {
        (from..until).step_by(10).map(|at| machine.turn(at * MS).len()).sum::<usize>()
    };
    assert_eq!(count(&mut machine, 0, 3_000), 3, "one a second, while nobody is there");
    let partner = machine.end_of(1, &machine.members[&1]);
    machine.heard(3_000 * MS, 1, &Pdu { actor: other(1, 1, READY | COLLECTING), partner });
    count(&mut machine, 3_000, 6_000);
    let partner = machine.end_of(1, &machine.members[&1]);
    let pdu = Pdu { actor: other(1, 1, READY | COLLECTING), partner };
    let mut slow = 0;
    for at in (6_000..66_000).step_by(10) {
        if at % 1_000 == 0 {
            machine.heard(at * MS, 1, &pdu);
        }
        slow += machine.turn(at * MS).len();
    }
    assert!((2..=3).contains(&slow), "{slow} messages in a minute");
    // One that is told something else each time says so, three times a second.
    let flood = (66_000..67_000).step_by(10).map(|at| {
        machine.heard(at * MS, 1, &Pdu { partner: End::default(), ..pdu });
        machine.turn(at * MS).len()
    });
    assert_eq!(flood.sum::<usize>(), 3);
}

#[test]
fn two_that_are_both_passive_say_nothing() {
    let mut machine = Machine::new(Own { is_active: false, ..own(1) });
    machine.set_links(0, &up(&[1]));
    assert!(machine.turn(0).is_empty());
    let partner = machine.end_of(1, &machine.members[&1]);
    machine.heard(0, 1, &Pdu { actor: other(1, 1, AGGREGATION), partner });
    assert!((0..50).all(|at| machine.turn(at * 1_000 * MS).is_empty()));
    machine.heard(60_000 * MS, 1, &Pdu { actor: other(1, 1, READY), partner });
    assert_eq!(machine.turn(60_000 * MS).len(), 1, "it answers who speaks");
}

#[test]
fn of_one_group_are_those_whose_other_ends_are_and_it_stays() {
    let mut machine = Machine::new(own(1));
    let links = up(&[1, 2, 3]);
    machine.set_links(0, &links);
    machine.turn(0);
    let hears = |machine: &mut Machine, now: u64, systems: [u8; 3]| {
        for (port, system) in (1..).zip(systems) {
            let partner = machine.end_of(port, &machine.members[&port]);
            machine.heard(
                now,
                port,
                &Pdu { actor: other(system, port, READY | COLLECTING), partner },
            );
        }
        machine.turn(now);
    };
    let distributing = |machine: &Machine| {
        machine
            .members()
            .filter(|(_, it)| it.distributes())
            .map(|(port, _)| port)
            .collect::<Vec<_>>()
    };
    for at in 0..5 {
        hears(&mut machine, at * 1_000 * MS, [8, 5, 5]);
    }
    assert_eq!(distributing(&machine), [2, 3], "the group of most");
    // Another has most now: what carries goes on.
    for at in 5..10 {
        hears(&mut machine, at * 1_000 * MS, [8, 8, 5]);
    }
    assert_eq!(distributing(&machine), [3]);
    for at in 10..15 {
        hears(&mut machine, at * 1_000 * MS, [8, 8, 8]);
    }
    assert_eq!(distributing(&machine), [1, 2, 3]);
    assert_eq!(machine.group(), Some((1, [4, 0, 0, 0, 0, 8], 9)));
}

#[test]
fn our_own_messages_come_back_and_make_no_group() {
    let mut machine = Machine::new(own(1));
    machine.set_links(0, &up(&[1]));
    for at in 0..10 {
        for (port, pdu) in machine.turn(at * 1_000 * MS) {
            machine.heard(at * 1_000 * MS, port, &pdu);
        }
    }
    assert_eq!(states(&machine), [("current", "detached")]);
}

/// Two machines on so many wires, of which some lose what they carry.
struct Pair {
    ends: [Machine; 2],
    now: u64,
}

impl Pair {
    fn new(first: Own, second: Own, wires: u16) -> Self {
        let ports: Vec<u16> = (1..=wires).collect();
        let mut ends = [Machine::new(first), Machine::new(second)];
        ends.iter_mut().for_each(|end| end.set_links(0, &up(&ports)));
        Self { ends, now: 0 }
    }

    fn run(&mut self, ms: u64, mut loses: impl FnMut(u16) -> bool) {
        for _ in 0..ms / 50 {
            self.now += 50 * MS;
            for from in 0..2 {
                for (port, pdu) in self.ends[from].turn(self.now) {
                    if !loses(port) {
                        self.ends[1 - from].heard(self.now, port, &pdu);
                    }
                }
            }
        }
    }

    fn carrying(&self) -> [usize; 2] {
        [0, 1].map(|end| self.ends[end].members().filter(|(_, it)| it.distributes()).count())
    }
}

#[test]
fn two_of_us_agree_in_seconds_and_a_wire_that_loses_all_is_left_out() {
    for (is_active, is_fast) in [(true, true), (false, true), (true, false), (false, false)] {
        let second = Own { is_active, is_fast, ..own(2) };
        let mut pair = Pair::new(own(1), second, 4);
        pair.run(4_000, |_| false);
        assert_eq!(pair.carrying(), [4, 4], "{is_active} {is_fast}");
    }
    let mut pair = Pair::new(own(1), own(2), 3);
    pair.run(5_000, |_| false);
    pair.run(4_000, |port| port == 2);
    assert_eq!(pair.carrying(), [2, 2]);
    pair.run(5_000, |_| false);
    assert_eq!(pair.carrying(), [3, 3]);
    // A link that goes down on one side alone: the other side finds out by silence.
    pair.ends[0].set_links(pair.now, &[(1, true), (2, true), (3, false)].into());
    pair.run(100, |_| false);
    assert_eq!(pair.carrying()[0], 2);
    pair.run(4_000, |_| false);
    assert_eq!(pair.carrying(), [2, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_is_heard_nobody_says_more_than_allowed_and_ends_agree_afterwards(
        heard in prop::collection::vec(
            (0u16..3, any::<[u8; 6]>(), any::<u8>(), any::<u16>(), 0u64..3_000), 0..60
        )
    ) {
        let mut pair = Pair::new(own(1), own(2), 3);
        let mut last: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
        for (port, system, bits, key, wait) in heard {
            pair.now += wait * MS;
            let end = End { system, state: bits, key, port, ..End::default() };
            pair.ends[0].heard(pair.now, port + 1, &Pdu { actor: end, partner: end });
            for (port, _) in pair.ends[0].turn(pair.now) {
                let sent = last.entry(port).or_default();
                sent.push(pair.now);
                sent.retain(|at| at + SECOND_NS > pair.now);
                prop_assert!(sent.len() <= MOST_SENT);
            }
        }
        pair.run(10_000, |_| false);
        prop_assert_eq!(pair.carrying(), [3, 3]);
    }
}
