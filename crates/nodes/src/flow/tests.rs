//! Frames through the three nodes of a bridge of flows.

use crate::flow::{FlowAct, FlowInput, FlowUpcall};
use crate::tables::{BridgeId, BridgePort, FlowBridge, FlowRow, Mode, Punt};
use crate::testing::World;
use flow::{Flow, PortEntry, Snapshot};
use graph::harness::{NodeHarness, Outcome};
use openflow::action::{DecTtl, GotoTable, Mpls, Output, Program, PushVlan, SetField};
use openflow::{Action, Field, Match, port};
use std::sync::Arc;
use wire::craft;

const BRIDGE: BridgeId = BridgeId(77);

/// Interfaces 0 to 2 are ports 1 to 3 of a bridge with these flows.
fn world(flows: Vec<(u16, Match, Program)>) -> World {
    let mut world = World::new();
    let mut it = FlowBridge {
        snapshot: Snapshot { generation: 1, ..Snapshot::default() },
        ..FlowBridge::default()
    };
    let entry = PortEntry::all();
    it.snapshot.ports = Arc::new((1..4).map(|number| (number, entry)).collect());
    let row = |number: u16| (number, FlowRow { interface: number - 1, is_own: false });
    it.rows = Arc::new((1..4).map(row).collect());
    for (priority, matching, program) in flows {
        let flow = Flow::new(0, priority, matching, program);
        it.snapshot.table_mut(0).flows.insert(flow);
    }
    for id in 0..3 {
        let port = BridgePort::new(BRIDGE).with_flows(id + 1);
        world.change_interface(id, |row| row.mode = Mode::Bridged(port));
    }
    let bridges = world.flow_bridges.with(BRIDGE, Some(it));
    world.flow_bridges.set(bridges);
    world
}

fn frame() -> Vec<u8> {
    craft::ethernet([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ethertype(0x88b5)
        .payload(&[7; 46])
        .build()
}

/// A frame through all three, as the engine would lead it: the exits, and what comes out.
fn pass(world: &World, frame: &[u8]) -> (Vec<String>, Vec<Outcome>) {
    let mut input = NodeHarness::<FlowInput>::new(&world.setup).unwrap();
    let mut exits = Vec::new();
    let mut out = input.run(&[frame.to_vec()], 0, 0);
    exits.push(out[0].exit.clone());
    if out[0].exit == "upcall" {
        let mut upcall = NodeHarness::<FlowUpcall>::new(&world.setup).unwrap();
        out = upcall.run(&[frame.to_vec()], 0, 0);
        exits.push(out[0].exit.clone());
    }
    if out[0].exit == "act" {
        let mut act = NodeHarness::<FlowAct>::new(&world.setup).unwrap();
        let adjacency = out[0].adjacency;
        out = act.run_prepared(&[frame.to_vec()], 0, 0, |vector| {
            (vector.tx_mut()[0], vector.adjacencies_mut()[0]) = (0, adjacency);
        });
        exits.push(out[0].exit.clone());
        out.extend(act.emitted());
    }
    (exits, out)
}

fn to(number: u16) -> Action {
    Output::to(number).into()
}

#[test]
fn the_first_packet_asks_tables_and_the_next_is_remembered() {
    let world = world(vec![(1, Match::any(), vec![to(2)])]);
    let (exits, out) = pass(&world, &frame());
    assert_eq!(exits, ["upcall", "act", "output"]);
    assert_eq!((out[0].tx, &out[0].header), (1, &frame()));
    let (exits, out) = pass(&world, &frame());
    assert_eq!((exits, out[0].tx), (vec!["output".to_owned()], 1));
}

#[test]
fn what_flows_sample_is_noted_with_what_they_say_and_goes_on() {
    use crate::interface::{Exporter, Wanted};
    use openflow::action::Sample;
    use openflow::action::sample::{Direction, Form};
    use std::sync::atomic::Ordering;
    let sample = |probability, port, direction| {
        let (set, domain, point, form) = (5, 7, 0xff00_0001, Form::Third);
        Sample { probability, set, domain, point, port, direction, form }
    };
    let flow = |program: Vec<Action>| {
        let mut world = world(vec![(1, Match::any(), program)]);
        let exporter = Arc::new(Exporter::new(Wanted::Flows, 1, 1, 7));
        let mut bridge = (**world.flow_bridges.get(BRIDGE).unwrap()).clone();
        bridge.snapshot.collectors = Arc::new([5].into());
        bridge.collectors = Arc::new([(5, Arc::clone(&exporter))].into());
        let bridges = world.flow_bridges.with(BRIDGE, Some(bridge));
        world.flow_bridges.set(bridges);
        (world, exporter)
    };
    let noted = |exporter: &Exporter| {
        let mut all = Vec::new();
        exporter.noted()[0].collect(&mut exporter.spare(1), |tally| {
            let counted = tally.counted().iter();
            all.extend(counted.map(|it| (export::Key::from_words(it.words), it.packets, it.bytes)));
        });
        all
    };
    // All that come, where they come in and where they leave, as they are by then.
    let program = vec![
        sample(u16::MAX, port::NONE, Direction::Unsaid).into(),
        SetField::whole(Field::EthDst, 9).into(),
        sample(u16::MAX, 2, Direction::Unsaid).into(),
        to(2),
    ];
    let (world, exporter) = flow(program);
    let (exits, out) = pass(&world, &frame());
    assert_eq!((exits.last().unwrap().as_str(), out[0].tx), ("output", 1));
    let told = noted(&exporter);
    assert_eq!(told.iter().map(|it| (it.1, it.2)).collect::<Vec<_>>(), [(1, 60), (1, 60)]);
    assert!(told.iter().all(|it| it.0.observed == (7, 0xff00_0001)));
    let places: Vec<_> = told.iter().map(|it| it.0.place).collect();
    let place = |output, is_sent| export::Place { input: 1, output, is_sent };
    assert_eq!(places, [place(0, false), place(2, true)]);
    assert_eq!(told.iter().map(|it| it.0.stations.1[5]).collect::<Vec<_>>(), [2, 9]);
    // Some of them, each of which stands for the others; the packet itself goes nowhere.
    let (world, exporter) = flow(vec![sample(655, 3, Direction::Ingress).into()]);
    for _ in 0..2_000 {
        assert_eq!(pass(&world, &frame()).0.last().unwrap(), "told");
    }
    let told = noted(&exporter);
    let [(key, packets, bytes)] = told[..] else { panic!("{told:?}") };
    assert_eq!((key.place, bytes), (place(3, false), packets * 60));
    let taken = exporter.noted()[0].noted.load(Ordering::Relaxed);
    assert_eq!((packets, exporter.noted()[0].seen.load(Ordering::Relaxed)), (taken * 100, 2_000));
    assert!((5..40).contains(&taken), "{taken}");
}

#[test]
fn a_vector_of_many_kinds_is_led_like_each_packet_alone_also_by_other_tables() {
    let to_port = |port: u16| {
        let udp = Match::any().with(Field::EthType, 0x800).with(Field::IpProto, 17);
        (2, udp.with(Field::UdpDst, port.into()), vec![to(3)])
    };
    let mut world = world(vec![to_port(53), (1, Match::any(), vec![to(2)])]);
    let datagram = |number: u16| {
        let ethernet = craft::ethernet([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let port = if number.is_multiple_of(2) { 53 } else { 1000 + number };
        ethernet.ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(number, port).payload(&[7; 20]).build()
    };
    // Runs of one kind, kinds in turn, and more than are looked up together.
    let frames: Vec<_> = (0..75)
        .map(|number: u16| if number.is_multiple_of(5) { frame() } else { datagram(number) })
        .collect();
    let wanted = |number: usize, even: u16, odd: u16| match number {
        _ if number.is_multiple_of(5) => 1,
        _ if number.is_multiple_of(2) => even,
        _ => odd,
    };
    let mut input = NodeHarness::<FlowInput>::new(&world.setup).unwrap();
    let mut upcall = NodeHarness::<FlowUpcall>::new(&world.setup).unwrap();
    for (generation, ports) in [(1, (2, 1)), (2, (1, 1))] {
        let first = input.run(&frames, 0, 0);
        assert!(first.iter().all(|it| it.exit == "upcall"));
        upcall.run(&frames, 0, 0);
        for _ in 0..3 {
            for (number, it) in input.run(&frames, 0, 0).iter().enumerate() {
                assert_eq!((it.exit.as_str(), it.tx), ("output", wanted(number, ports.0, ports.1)));
            }
        }
        world.setup.flow.take().unwrap().flush(5);
        let bridge = Arc::clone(world.flow_bridges.get(BRIDGE).unwrap());
        let mut counted = 0;
        bridge.snapshot.tables[&0].flows.each(|flow| counted += flow.counters.get().0);
        assert_eq!(counted, 4 * 75, "of generation {generation}");
        // Without the first flow all go to the other port, and nothing remembered says otherwise.
        let mut next = (*bridge).clone();
        next.snapshot =
            Snapshot { generation: 2, ports: next.snapshot.ports, ..Snapshot::default() };
        let flow = Flow::new(0, 1, Match::any(), vec![to(2)]);
        next.snapshot.table_mut(0).flows.insert(flow);
        let bridges = world.flow_bridges.with(BRIDGE, Some(next));
        world.flow_bridges.set(bridges);
    }
}

#[test]
fn what_no_flow_wants_is_dropped_both_times() {
    let world = world(vec![(1, Match::any().with(Field::InPort, 3), vec![to(2)])]);
    assert_eq!(pass(&world, &frame()).0, ["upcall", "no-action"]);
    assert_eq!(pass(&world, &frame()).0, ["no-action"]);
}

#[test]
fn copies_are_as_the_packet_was_then() {
    let tag = vec![
        to(2),
        PushVlan { tpid: 0x8100 }.into(),
        SetField::whole(Field::VlanVid, 0x1005).into(),
        to(3),
    ];
    let world = world(vec![(1, Match::any(), tag)]);
    let (exits, out) = pass(&world, &frame());
    assert_eq!(exits, ["upcall", "act", "output"]);
    let mut tagged = frame();
    tagged.splice(12..12, [0x81, 0, 0, 5]);
    let mut found: Vec<_> = out.iter().map(|it| (it.tx, it.header.clone())).collect();
    found.sort_unstable();
    assert_eq!(found, [(1, frame()), (2, tagged)]);
}

#[test]
fn routes_among_packets_of_which_more_is_asked_are_written_each_as_itself() {
    let route = |last: u64| -> Program {
        vec![
            DecTtl { controllers: Vec::new() }.into(),
            SetField::whole(Field::EthDst, u128::from(0x0244_0000_0000 + last)).into(),
            to(2),
        ]
    };
    let ip_to = |last: u8| {
        Match::any()
            .with(Field::EthType, 0x800)
            .with(Field::IpDst, (0x0a00_0000 + u32::from(last)).into())
    };
    let both = vec![SetField::whole(Field::EthSrc, 5).into(), to(3), to(2)];
    let world =
        world(vec![(2, ip_to(1), route(1)), (2, ip_to(2), route(2)), (1, Match::any(), both)]);
    let packet = |last: u8, hops: u8| {
        let ethernet = craft::ethernet([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        ethernet.ipv4([10, 0, 1, 1], [10, 0, 0, last]).ttl(hops).udp(1, 2).payload(&[7; 20]).build()
    };
    let tagged = |mut frame: Vec<u8>| {
        frame.splice(12..12, [0x81, 0, 0, 5]);
        frame
    };
    // Routes in a row and alone, behind a tag, where the hop limit is another place, and what goes
    // to two ports; more than are looked at together.
    let kind = |number: usize| [1, 1, 1, 2, 3, 0, 1][number % 7];
    let with_hops = |number: usize, hops: u8| match kind(number) {
        0 => frame(),
        3 => tagged(packet(2, hops)),
        last => packet(last, hops),
    };
    let frames: Vec<_> = (0..75).map(|number| with_hops(number, 64)).collect();
    let mut upcall = NodeHarness::<FlowUpcall>::new(&world.setup).unwrap();
    let adjacencies: Vec<_> = upcall.run(&frames, 0, 0).iter().map(|it| it.adjacency).collect();
    let mut act = NodeHarness::<FlowAct>::new(&world.setup).unwrap();
    let out = act.run_prepared(&frames, 0, 0, |vector| {
        vector.tx_mut()[..75].fill(0);
        vector.adjacencies_mut()[..75].copy_from_slice(&adjacencies);
    });
    for (number, it) in out.iter().enumerate() {
        let mut expected = with_hops(number, 63);
        match kind(number) {
            0 => expected[6..12].copy_from_slice(&[0, 0, 0, 0, 0, 5]),
            kind => expected[..6].copy_from_slice(&[2, 0x44, 0, 0, 0, kind.min(2)]),
        }
        assert_eq!((it.exit.as_str(), it.tx, &it.header), ("output", 1, &expected), "{number}");
    }
    assert_eq!(act.emitted().iter().filter(|it| it.tx == 2).count(), 10);
}

#[test]
fn controllers_are_told_and_counters_of_flows_are_exact() {
    let world = world(vec![(1, Match::any(), vec![to(port::CONTROLLER)])]);
    let exits = pass(&world, &frame()).0;
    assert_eq!(exits, ["upcall", "act", "told"]);
    let Some(Punt::FlowTold(told)) = world.punts.next() else { panic!("nobody was told") };
    assert_eq!((told.bridge, told.interface, told.packet.bytes()), (BRIDGE, 0, &frame()[..]));
    pass(&world, &frame());
    world.setup.flow.take().unwrap().flush(5);
    let bridge = world.flow_bridges.get(BRIDGE).unwrap();
    bridge.snapshot.tables[&0].flows.each(|flow| {
        assert_eq!(flow.counters.get(), (2, 2 * frame().len() as u64));
    });
}

#[test]
fn normal_is_an_ordinary_bridges_way() {
    let world = world(vec![(1, Match::any(), vec![to(port::NORMAL)])]);
    assert_eq!(pass(&world, &frame()).0, ["upcall", "act", "normal"]);
}

#[test]
fn labels_go_around_packets_and_what_is_behind_them_is_known_when_they_are_gone() {
    let inside = craft::ethernet([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .vlan(5)
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2])
        .ttl(7)
        .udp(1, 53)
        .payload(&[9; 30])
        .build();
    let labelled = |label: [u8; 4]| {
        let mut frame = inside.clone();
        frame.splice(16..18, [&[0x88, 0x47], &label[..]].concat());
        frame
    };
    let label = vec![Mpls::Push(0x8847).into(), Mpls::SetLabel(17).into(), to(2)];
    let out = pass(&world(vec![(1, Match::any(), label)]), &inside).1;
    assert_eq!((out[0].tx, &out[0].header), (1, &labelled([0, 1, 0x11, 7])));
    // A copy leaves as it is by then, the packet itself is looked up for what it has become.
    let mut world = world(vec![(
        1,
        Match::any().with(Field::EthType, 0x8847),
        vec![Mpls::DecTtl.into(), to(2), Mpls::Pop(0x0800).into(), GotoTable { table: 1 }.into()],
    )]);
    let dns = Match::any().with(Field::EthType, 0x0800).with(Field::IpProto, 17);
    let dns = dns.with(Field::UdpDst, 53);
    let program = vec![SetField::whole(Field::UdpDst, 54).into(), to(3)];
    let mut bridge = (**world.flow_bridges.get(BRIDGE).unwrap()).clone();
    bridge.snapshot.table_mut(1).flows.insert(Flow::new(1, 1, dns, program));
    let bridges = world.flow_bridges.with(BRIDGE, Some(bridge));
    world.flow_bridges.set(bridges);
    let (exits, out) = pass(&world, &labelled([0, 1, 0x11, 9]));
    assert_eq!(exits.last().unwrap(), "output");
    let mut changed = inside.clone();
    changed[41] = 54;
    assert_eq!((out[0].tx, &out[0].header[..44]), (2, &changed[..44]));
    assert_eq!((out[1].tx, &out[1].header), (1, &labelled([0, 1, 0x11, 8])));
}
