//! Networks of bridges: roles, loops, and how long it takes until all is as it should be.
#![allow(clippy::unwrap_used)]

mod net;

use net::{MS, Net, SECOND, address};
use proptest::prelude::*;
use rstp::{
    Action, Bpdu, Bridge, BridgeId, Configuration, Kind, PortSettings, Role, Said, Settings, State,
    Times, Vector,
};

#[test]
fn a_line_forwards_within_a_few_messages() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    let took = net.converge(SECOND);
    assert!(took < 100, "{took} ms");
    assert_eq!(net.role((0, 1)), Role::Designated);
    assert_eq!([net.role((1, 1)), net.role((1, 2))], [Role::Root, Role::Designated]);
    assert_eq!(net.role((2, 1)), Role::Root);
    assert_eq!(net.bridges[2].root().cost, 40_000);
}

#[test]
fn a_triangle_blocks_one_port_and_its_link_takes_over_at_once() {
    let mut net = Net::new(3, &[(0, 1), (1, 2), (2, 0)]);
    net.converge(SECOND);
    // The link that is farthest from the root: the better bridge is its way there.
    assert_eq!([net.role((1, 2)), net.role((2, 1))], [Role::Designated, Role::Alternate]);
    assert_eq!(net.state((2, 1)), State::Discarding);
    net.flushed.clear();
    net.set_link(2, false);
    let took = net.converge(SECOND);
    assert!(took < 50, "{took} ms");
    assert_eq!((net.role((2, 1)), net.role((2, 2))), (Role::Root, Role::Disabled));
    // Who was reached by the link is behind another port now.
    for end in [(0, 2), (2, 2), (1, 1)] {
        assert!(net.flushed.contains(&end), "{:?}", net.flushed);
    }
    assert_eq!(net.bridges[2].changes().0, 2);
    net.set_link(2, true);
    let took = net.converge(SECOND);
    assert!(took < 50, "{took} ms");
    assert_eq!(net.role((2, 1)), Role::Alternate);
}

#[test]
fn a_ring_of_five_survives_any_of_its_links() {
    for link in 0..5 {
        let mut net = Net::new(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
        net.converge(SECOND);
        net.set_link(link, false);
        net.converge(SECOND);
        net.set_link(link, true);
        net.converge(3 * SECOND);
    }
}

#[test]
fn of_parallel_links_the_lowest_port_carries_and_the_next_takes_over() {
    let mut net = Net::new(2, &[(0, 1), (0, 1), (0, 1)]);
    net.converge(SECOND);
    let roles = |net: &Net| [1, 2, 3].map(|port| net.role((1, port)));
    assert_eq!(roles(&net), [Role::Root, Role::Alternate, Role::Alternate]);
    net.set_link(0, false);
    assert!(net.converge(SECOND) < 50);
    assert_eq!(roles(&net), [Role::Disabled, Role::Root, Role::Alternate]);
    // A port that is to be preferred at the other end is the root port.
    let preferred = PortSettings { priority: 16, ..PortSettings::new(3, 20_000) };
    net.bridges[0].set_port(3, preferred, true);
    net.act(0);
    net.converge(SECOND);
    assert_eq!(roles(&net), [Role::Disabled, Role::Alternate, Role::Root]);
    // And one that costs less.
    net.bridges[1].set_port(2, PortSettings::new(2, 200), true);
    net.act(1);
    net.converge(SECOND);
    assert_eq!(roles(&net), [Role::Disabled, Role::Root, Role::Alternate]);
}

#[test]
fn a_cable_between_two_ports_of_a_bridge_has_a_backup() {
    let mut net = Net::new(1, &[(0, 0)]);
    net.converge(40 * SECOND);
    assert_eq!([net.role((0, 1)), net.role((0, 2))], [Role::Designated, Role::Backup]);
}

#[test]
fn a_host_gets_what_it_is_sent_when_nobody_else_speaks_there() {
    let mut bridge = Bridge::new(Settings::new(address(0)), 0);
    bridge.set_port(1, PortSettings::new(1, 20_000), true);
    bridge.set_port(2, PortSettings { admin_edge: true, ..PortSettings::new(2, 20_000) }, true);
    let states = |bridge: &Bridge| [1, 2].map(|port| bridge.port(port).unwrap().state());
    assert_eq!(states(&bridge), [State::Discarding, State::Forwarding]);
    for second in 1..=3 {
        assert_eq!(states(&bridge)[0], State::Discarding);
        bridge.turn(second * SECOND);
    }
    assert_eq!(states(&bridge), [State::Forwarding; 2]);
    assert!(bridge.port(1).unwrap().is_edge());
    // Ports to hosts are no change of the topology.
    assert_eq!(bridge.changes().0, 0);
}

#[test]
fn without_agreement_a_port_waits_as_long_as_the_standard_says() {
    let mut bridge = Bridge::new(Settings::new(address(0)), 0);
    let patient = PortSettings { auto_edge: false, ..PortSettings::new(1, 20_000) };
    bridge.set_port(1, patient, true);
    let mut seen = Vec::new();
    for second in 1..=30 {
        bridge.turn(second * SECOND);
        let state = bridge.port(1).unwrap().state();
        if seen.last().is_none_or(|(_, last)| *last != state) {
            seen.push((second, state));
        }
    }
    assert_eq!(seen, [(1, State::Discarding), (20, State::Learning), (22, State::Forwarding)]);
}

#[test]
fn when_the_root_dies_silently_the_next_best_is_it() {
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)]);
    net.converge(SECOND);
    // It would forward still, if it were not dead.
    net.no_loops_ever = false;
    net.silent.insert(0);
    // What it said ages; those that remain are looked at alone.
    net.run(40 * SECOND);
    let known: Vec<_> = (1..4).map(|at| net.bridges[at].root().root).collect();
    assert_eq!(known, vec![net.bridges[1].id(); 3]);
    assert_eq!(net.state((1, 2)), State::Forwarding);
    net.silent.clear();
    net.converge(10 * SECOND);
}

#[test]
fn another_priority_moves_the_root() {
    let mut net = Net::new(3, &[(0, 1), (1, 2), (2, 0)]);
    net.converge(SECOND);
    let low = Settings { priority: 4096, ..Settings::new(address(2)) };
    net.bridges[2].set(low);
    net.act(2);
    net.converge(3 * SECOND);
    assert_eq!(net.bridges[0].root().root, BridgeId::new(4096, address(2)));
    assert_eq!((net.bridges[2].root_port(), net.role((1, 1))), (None, Role::Alternate));
    assert_eq!(net.bridges[0].times(), Times { message_age: 1, ..Times::default() });
}

#[test]
fn a_neighbor_of_the_old_protocol_is_spoken_to_in_it() {
    let mut net = Net::new(3, &[(0, 1), (1, 2), (2, 0)]);
    net.bridges[1].set(Settings { is_rapid: false, ..Settings::new(address(1)) });
    net.act(1);
    net.converge(60 * SECOND);
    let rapid =
        |at: usize| net.bridges[at].ports().map(|(_, it)| it.is_rapid()).collect::<Vec<_>>();
    assert_eq!([rapid(0), rapid(1), rapid(2)], [[false, true], [false, false], [false, true]]);
    // Its port towards the others waits twice; a link that fails is noticed at once all the same.
    net.set_link(2, false);
    let took = net.converge(60 * SECOND);
    assert!(took < 35_000, "{took} ms");
    // It learns the new protocol, and is asked.
    net.bridges[1].set(Settings::new(address(1)));
    net.act(1);
    for (at, port) in [(0, 1), (2, 1), (1, 1), (1, 2)] {
        net.run(4 * SECOND);
        net.bridges[at].check_protocol(port);
        net.act(at);
    }
    net.set_link(2, true);
    net.converge(10 * SECOND);
    assert!(net.bridges.iter().all(|it| it.ports().all(|(_, port)| port.is_rapid())));
}

/// What somebody says who is no bridge of the network.
fn said(root: u64, role: Role, learning: bool) -> Bpdu {
    Bpdu::Configuration(Configuration {
        kind: Kind::Rapid,
        vector: Vector { root: BridgeId(root), cost: u32::MAX, bridge: BridgeId(root), port: 1 },
        times: Times { message_age: 0, max_age: 255, hello: 255, forward_delay: 0 },
        said: Said { proposal: true, learning, ..Said::by(role) },
    })
}

#[test]
fn a_flood_of_messages_is_answered_no_faster_than_the_standard_allows() {
    let mut bridge = Bridge::new(Settings::new(address(0)), 0);
    for port in 1..=3 {
        bridge.set_port(port, PortSettings::new(port, 20_000), true);
    }
    bridge.turn(10 * SECOND);
    let _ = bridge.take_actions();
    for root in 0..10_000 {
        bridge.receive(1, &said(10_000 - root, Role::Designated, true));
    }
    let sent = |bridge: &mut Bridge| {
        let actions = bridge.take_actions();
        let to = |port| {
            actions.iter().filter(|it| matches!(it, Action::Send(to, _) if *to == port)).count()
        };
        [1, 2, 3].map(to)
    };
    assert!(sent(&mut bridge).iter().all(|count| *count <= 6));
    bridge.turn(11 * SECOND);
    assert!(sent(&mut bridge).iter().all(|count| *count <= 1));
    assert_eq!(bridge.port(1).unwrap().received(), 10_000);
    // What it claimed does not add up beyond what can be said, and its times are not believed.
    assert_eq!((bridge.root().root, bridge.root().cost), (BridgeId(1), u32::MAX));
    assert_eq!(bridge.times(), Times { message_age: 1, max_age: 40, hello: 10, forward_delay: 4 });
    // When it ends, all is as before.
    bridge.turn(60 * SECOND);
    assert_eq!(bridge.root().root, bridge.id());
}

#[test]
fn a_neighbor_that_forwards_and_does_not_hear_us_is_not_forwarded_to() {
    let mut bridge = Bridge::new(Settings::new(address(0)), 0);
    let patient = PortSettings { auto_edge: false, ..PortSettings::new(1, 20_000) };
    bridge.set_port(1, patient, true);
    let worse = said(u64::MAX, Role::Designated, true);
    for second in 1..=120 {
        bridge.turn(second * SECOND);
        bridge.receive(1, &worse);
        assert_ne!(bridge.port(1).unwrap().state(), State::Forwarding, "{second}");
    }
}

#[test]
fn our_own_message_that_comes_back_changes_nothing() {
    let mut bridge = Bridge::new(Settings::new(address(0)), 0);
    bridge.set_port(1, PortSettings::new(1, 20_000), true);
    let Some(Action::Send(_, own)) = bridge.take_actions().pop() else { unreachable!() };
    bridge.receive(1, &own);
    assert_eq!(
        (bridge.port(1).unwrap().role(), bridge.root().root),
        (Role::Designated, bridge.id())
    );
    bridge.receive_frame(1, &[0; 60]);
    assert_eq!(bridge.port(1).unwrap().malformed(), 1);
}

/// How many bridges, links between any of them, priorities, and which links fail.
type Network = (usize, Vec<(usize, usize)>, Vec<u8>, Vec<bool>);

fn network() -> impl Strategy<Value = Network> {
    (2usize..8).prop_flat_map(|count| {
        let links = prop::collection::vec((0..count, 0..count), 1..14);
        links.prop_flat_map(move |links| {
            let count_of_links = links.len();
            (
                Just(count),
                Just(links),
                prop::collection::vec(0u8..16, count),
                prop::collection::vec(any::<bool>(), count_of_links),
            )
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_network_ends_as_a_tree_and_stays_one(
        (count, links, priorities, fails) in network(),
    ) {
        let mut net = Net::new(count, &links);
        // While links come and go, what a root said that is gone may go round for a moment; what is
        // asserted is what remains.
        net.no_loops_ever = false;
        for (at, priority) in priorities.iter().enumerate() {
            let priority = u16::from(*priority) << 12;
            net.bridges[at].set(Settings { priority, ..Settings::new(address(at)) });
            net.act(at);
        }
        net.run(60 * SECOND);
        net.assert_tree();
        let still = net.still_since;
        net.no_loops_ever = true;
        net.run(30 * SECOND);
        prop_assert_eq!(net.still_since, still);
        net.no_loops_ever = false;
        for (link, _) in fails.iter().enumerate().filter(|(_, fails)| **fails) {
            net.set_link(link, false);
            net.run(50 * MS);
        }
        net.run(60 * SECOND);
        net.assert_tree();
        for (link, _) in fails.iter().enumerate().filter(|(_, fails)| **fails) {
            net.set_link(link, true);
        }
        net.run(60 * SECOND);
        net.assert_tree();
    }

    #[test]
    fn whatever_is_said_the_machines_come_to_rest(
        said in prop::collection::vec(
            (1u16..4, prop::collection::vec(any::<u8>(), 31), 0u8..3, 0u64..4),
            1..60,
        ),
    ) {
        let mut bridge = Bridge::new(Settings::new(address(0)), 0);
        for port in 1..4 {
            bridge.set_port(port, PortSettings::new(port, 20_000), true);
        }
        let mut now = 0;
        for (port, fields, kind, wait) in said {
            let kind = [0, 2, 0x80][usize::from(kind)];
            let message = [&[0, 0, 2, kind][..], &fields, &[0]].concat();
            if let Ok(bpdu) = Bpdu::read(&message) {
                bridge.receive(port, &bpdu);
            }
            now += wait * SECOND;
            bridge.turn(now);
            let sent = bridge.take_actions().len();
            prop_assert!(sent <= 3 * 3 * (6 + wait as usize), "{sent}");
        }
        bridge.turn(now + 60 * SECOND);
        bridge.turn(now + 120 * SECOND);
        prop_assert_eq!(bridge.root().root, bridge.id());
    }
}

#[test]
fn what_came_too_far_makes_nobody_the_root_not_even_for_a_moment() {
    let mut bridge = Bridge::new(Settings::new(address(5)), 0);
    for port in 1..=2 {
        bridge.set_port(port, PortSettings::new(port, 20_000), true);
    }
    bridge.turn(40 * SECOND);
    bridge.take_actions();
    let better = BridgeId::new(0, address(1));
    let vector = Vector { root: better, cost: 0, bridge: better, port: 0x8001 };
    let told = |message_age| {
        let times = Times { message_age, ..Times::default() };
        let said = Said::by(Role::Designated);
        Bpdu::Configuration(Configuration { kind: Kind::Rapid, vector, times, said })
    };
    let (own, changes) = (bridge.id(), bridge.root_changes());
    for message_age in [20, 255] {
        bridge.receive(1, &told(message_age));
        assert_eq!((bridge.root().root, bridge.root_changes()), (own, changes));
        for action in bridge.take_actions() {
            let Action::Send(_, Bpdu::Configuration(sent)) = action else { continue };
            assert_eq!((sent.vector.root, sent.times.message_age), (own, 0));
        }
    }
    // Through one bridge less it is believed.
    bridge.receive(1, &told(19));
    assert_eq!(bridge.root().root, better);
}
