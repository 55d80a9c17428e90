//! Tunnels in a bridge of flows: flows see which number a packet came with and from which end, and
//! say which number it leaves with and to which end.

use crate::rig::*;
use flow::{Asks, Flow, InTunnel, PortEntry, Snapshot};
use nodes::tables::{
    BridgeId, BridgePort, FlowBridge, FlowRow, Injected, Link, Mode, Numbered, Tunnel, Wrap,
};
use openflow::action::{Output, Program, SetField};
use openflow::{Action, Field, Match};
use std::sync::Arc;
use wire::craft;

const FLOWS: BridgeId = BridgeId(9);
/// A port of the bridge, beside the tunnel, which is port 2; port 3 is another tunnel, port 4 one
/// of a number of its own.
const PLAIN: u16 = 2;

fn rig(flows: Vec<(u16, Match, Program)>) -> Rig {
    rig_with(Asks::Number, flows)
}

/// One whose ports 2 and 3 ask flows that.
fn rig_with(asks: Asks, flows: Vec<(u16, Match, Program)>) -> Rig {
    rig_of(asks, |_| (), flows)
}

/// One whose tunnels of ports 2 and 3 are changed so.
fn rig_of(asks: Asks, change: impl Fn(&mut Tunnel), flows: Vec<(u16, Match, Program)>) -> Rig {
    let mut rig = Rig::new();
    let ports = [(1, PLAIN), (2, VXLAN), (3, VXLAN6), (4, GRE)];
    for (number, id) in ports {
        let port = BridgePort::new(FLOWS).with_flows(number);
        rig.change_interface(id, |row| {
            row.mode = Mode::Bridged(port);
            if let (Link::Tunnel(tunnel), true) = (&mut row.link, id != GRE) {
                tunnel.key.wrap = Wrap::ByFlows(Numbered::Vxlan { port: 4789 });
                if asks >= Asks::Remote {
                    tunnel.key.ends = tunnel.key.ends.with_any_remote();
                    tunnel.is_directed = true;
                }
                change(tunnel);
            }
        });
    }
    let entry = |number| match number {
        2 | 3 => PortEntry { asks, ..PortEntry::all() },
        _ => PortEntry::all(),
    };
    let mut snapshot = Snapshot {
        generation: 1,
        ports: Arc::new((1..5).map(|number| (number, entry(number))).collect()),
        ..Snapshot::default()
    };
    for (priority, matching, program) in flows {
        let flow = Flow::new(0, priority, matching, program);
        snapshot.table_mut(0).flows.insert(flow);
    }
    let rows = ports.map(|(number, interface)| (number, FlowRow { interface, is_own: false }));
    let interfaces = rig.dataplane.interfaces();
    let tunnels = ports.into_iter().filter_map(|(number, id)| match interfaces.get(id)?.link {
        Link::Tunnel(tunnel) => Some((number, tunnel.came_by())),
        _ => None,
    });
    let (rows, tunnels) = (Arc::new(rows.into()), Arc::new(tunnels.collect()));
    let bridge = FlowBridge { snapshot, rows, tunnels, ..FlowBridge::default() };
    let mut bridges = rig.dataplane.flow_bridges.lock().unwrap();
    let all = bridges.with(FLOWS, Some(bridge));
    bridges.set(all);
    drop(bridges);
    rig
}

fn to(number: u16) -> Action {
    Output::to(number).into()
}

fn number(number: u32) -> Action {
    SetField::whole(Field::TunId, number.into()).into()
}

fn inner(last: u8) -> Vec<u8> {
    craft::ethernet(HOST_MAC, [4; 6]).ipv4(1, 2).udp(5, 6).payload(&[last]).pad_to(60).build()
}

fn from_far(vni: u8) -> Vec<u8> {
    from(FAR, vni)
}

fn from(source: [u8; 4], vni: u8) -> Vec<u8> {
    let link = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(source, US).udp(50_000, 4789);
    link.payload(&[&[8, 0, 0, 0, 0, 0, vni, 0][..], &inner(vni)].concat()).build()
}

/// Octets of a VXLAN header that was sent, over IPv4 or IPv6.
fn vxlan(sent: &(u16, Vec<u8>), at: usize) -> [u8; 8] {
    *sent.1[at..].first_chunk().unwrap()
}

#[test]
fn each_packets_number_decides_also_once_it_is_remembered() {
    let mut rig = rig(vec![
        (1, Match::any().with(Field::TunId, 7), vec![to(1)]),
        (1, Match::any().with(Field::TunId, 8), vec![to(1), to(1)]),
    ]);
    for _ in 0..3 {
        assert_eq!(rig.answer(0, from_far(7)), [(PLAIN, inner(7))]);
        assert_eq!(rig.answer(0, from_far(8)), vec![(PLAIN, inner(8)); 2]);
        assert_eq!(rig.answer(0, from_far(9)), []);
    }
    // Of one vector each goes its own way, though all are alike inside.
    let alike = |vni: u8| {
        let link = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US).udp(50_000, 4789);
        link.payload(&[&[8, 0, 0, 0, 0, 0, vni, 0][..], &inner(0)].concat()).build()
    };
    for _ in 0..2 {
        (0..240u8).for_each(|nth| rig.receive(0, alike(7 + nth % 3)));
        rig.run();
        assert_eq!(rig.sent(PLAIN).len(), 80 + 160);
    }
    rig.settle();
}

#[test]
fn the_ends_of_a_tunnel_are_fields_and_other_packets_have_none() {
    let source = u32::from_be_bytes(FAR).into();
    let own = u32::from_be_bytes(US).into();
    let by_far = Match::any().with(Field::TunSrc, source).with(Field::TunDst, own);
    let by_none = Match::any().with(Field::TunId, 0).with(Field::TunSrc, 0);
    let fixed = Match::any().with(Field::InPort, 4).with(Field::TunId, GRE_KEY.into());
    let flows = vec![
        (2, fixed, vec![to(1), to(1)]),
        (1, by_far, vec![to(1)]),
        (1, by_none, vec![number(0x0001_0203), to(2), to(3)]),
    ];
    let mut rig = rig(flows);
    assert_eq!(rig.answer(0, from_far(7)), [(PLAIN, inner(7))]);
    // A tunnel of a number of its own has that.
    let gre = [&[0x20, 0, 0x65, 0x58, 0, 0, 0, GRE_KEY as u8][..], &inner(1)].concat();
    let link = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US).protocol(47);
    assert_eq!(rig.answer(0, link.payload(&gre).build()), vec![(PLAIN, inner(1)); 2]);
    for _ in 0..2 {
        let mut sent = rig.answer(PLAIN, inner(3));
        sent.sort_by_key(|(_, frame)| frame.len());
        assert_eq!(sent.len(), 2);
        assert_eq!(vxlan(&sent[0], 14 + 28), [8, 0, 0, 0, 1, 2, 3, 0]);
        assert_eq!(vxlan(&sent[1], 14 + 48), [8, 0, 0, 0, 1, 2, 3, 0]);
        assert!(sent.iter().all(|(_, frame)| frame.ends_with(&inner(3))));
    }
    rig.settle();
}

#[test]
fn a_number_is_that_of_the_packet_unless_a_flow_sets_another() {
    let mut rig = rig(vec![
        (2, Match::any().with(Field::TunId, 8), vec![number(5), to(3)]),
        (1, Match::any(), vec![to(3), to(4)]),
    ]);
    for _ in 0..2 {
        let sent = rig.answer(0, from_far(8));
        assert_eq!((sent.len(), vxlan(&sent[0], 14 + 48)[6]), (1, 5));
        let mut sent = rig.answer(0, from_far(7));
        sent.sort_by_key(|(_, frame)| frame.len());
        // The tunnel of a number of its own has that, whatever flows say.
        assert_eq!(sent[0].1[34..42], [0x20, 0, 0x65, 0x58, 0, 0, 0, GRE_KEY as u8]);
        assert_eq!(vxlan(&sent[1], 14 + 48)[6], 7);
        let sent = rig.answer(PLAIN, inner(0));
        assert_eq!(
            sent.iter()
                .filter(|it| it.1.len() > 110)
                .map(|it| vxlan(it, 62)[6])
                .collect::<Vec<_>>(),
            [0]
        );
    }
    rig.settle();
}

#[test]
fn what_a_controller_sends_by_a_tunnel_has_the_number_that_it_says() {
    let mut rig = rig(vec![]);
    let own = InTunnel::numbered(99);
    rig.inject(&inner(1), |packet| Injected::InTunnel { interface: VXLAN, own, packet });
    rig.run();
    let sent = rig.sent(1);
    assert_eq!((sent.len(), vxlan(&(1, sent[0].clone()), 42)[6]), (1, 99));
    rig.settle();
}

#[test]
fn who_sends_too_much_into_a_tunnel_is_told_so_by_flows_of_its_number() {
    let told = Match::any().with(Field::InPort, 2).with(Field::TunId, 33);
    let rig = rig(vec![
        (2, told, vec![to(1)]),
        (1, Match::any().with(Field::InPort, 1), vec![number(33), to(2)]),
    ]);
    sends_too_much(rig);
}

/// Has a packet that must not be cut leave by the tunnel, longer than its way: its sender is told.
fn sends_too_much(mut rig: Rig) {
    rig.change_interface(VXLAN, |row| row.mtu_bytes = 2000);
    rig.change_interface(PLAIN, |row| row.mtu_bytes = 2000);
    let long = craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR).dont_fragment();
    let sent = rig.answer(PLAIN, long.udp(1, 2).payload_len(1480).build());
    // An error of ICMP: fragmentation needed.
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].0, &sent[0].1[34..36]), (PLAIN, &[3, 4][..]));
    rig.settle();
}

/// Another end than `FAR`, that the same way leads to.
const FURTHER: [u8; 4] = [10, 0, 0, 8];

fn to_end(end: [u8; 4]) -> Action {
    SetField::whole(Field::TunDst, u32::from_be_bytes(end).into()).into()
}

fn by_end(end: [u8; 4]) -> Match {
    Match::any().with(Field::TunSrc, u32::from_be_bytes(end).into())
}

/// Where a packet over IPv4 goes, and the network that it is of.
fn led((_, frame): &(u16, Vec<u8>)) -> ([u8; 4], u8) {
    (*frame[30..].first_chunk().unwrap(), frame[48])
}

#[test]
fn each_packets_other_end_decides_also_once_it_is_remembered() {
    let mut rig = rig_with(
        Asks::Remote,
        vec![
            (2, by_end(FAR).with(Field::TunId, 7), vec![to(1)]),
            (1, by_end(FURTHER).with(Field::TunId, 7), vec![to(1), to(1)]),
        ],
    );
    for _ in 0..3 {
        assert_eq!(rig.answer(0, from(FAR, 7)), [(PLAIN, inner(7))]);
        assert_eq!(rig.answer(0, from(FURTHER, 7)), vec![(PLAIN, inner(7)); 2]);
        assert_eq!(rig.answer(0, from([10, 0, 0, 7], 7)), []);
        assert_eq!(rig.answer(0, from(FAR, 8)), []);
    }
    // Of one vector each goes its own way, though all are alike inside.
    for _ in 0..2 {
        (0..240u8).for_each(|nth| rig.receive(0, from([10, 0, 0, 7 + nth % 3], 7)));
        rig.run();
        assert_eq!(rig.sent(PLAIN).len(), 80 + 160);
    }
    rig.settle();
}

#[test]
fn a_packet_goes_to_the_end_that_flows_say_and_an_answer_to_where_it_came_from() {
    let answer = openflow::action::MoveField {
        from: openflow::Sub::whole(Field::TunSrc),
        to: openflow::Sub::whole(Field::TunDst),
    };
    let at_once = Output { port: openflow::port::IN_PORT, max_len: 0 };
    let mut rig = rig_with(
        Asks::Remote,
        vec![
            (2, Match::any().with(Field::InPort, 2), vec![answer.into(), at_once.into()]),
            (1, Match::any(), vec![number(5), to_end(FAR), to(2), to_end(FURTHER), to(2), to(4)]),
        ],
    );
    for _ in 0..2 {
        let mut sent = rig.answer(PLAIN, inner(3));
        sent.sort_by_key(|(_, frame)| (frame.len(), frame[33]));
        // GRE's end is its own.
        assert_eq!((sent.len(), &sent[0].1[30..34]), (3, &FAR[..]));
        assert_eq!([&sent[1], &sent[2]].map(led), [(FURTHER, 5), (FAR, 5)]);
        for end in [FAR, FURTHER] {
            let sent = rig.answer(0, from(end, 9));
            assert_eq!((sent.len(), led(&sent[0])), (1, (end, 9)));
        }
    }
    // What a controller sends goes where it says.
    for end in [FAR, FURTHER] {
        let own = InTunnel { remote: Some(end.into()), ..InTunnel::numbered(99) };
        rig.inject(&inner(1), |packet| Injected::InTunnel { interface: VXLAN, own, packet });
        rig.run();
        let sent = rig.sent(1);
        assert_eq!((sent.len(), led(&(1, sent[0].clone()))), (1, (end, 99)));
    }
    rig.settle();
}

/// The tunnel has no end of ours.
fn without_local(tunnel: &mut Tunnel) {
    tunnel.key.ends = tunnel.key.ends.with_any_local();
}

fn from_to_us(ours: [u8; 4], vni: u8) -> Vec<u8> {
    let link = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, ours).udp(50_000, 4789);
    link.payload(&[&[8, 0, 0, 0, 0, 0, vni, 0][..], &inner(vni)].concat()).build()
}

#[test]
fn which_of_our_addresses_a_packet_was_for_decides_also_once_it_is_remembered() {
    let to_us = |ours: [u8; 4]| {
        let bits = u32::from_be_bytes(ours).into();
        Match::any().with(Field::InPort, 2).with(Field::TunDst, bits)
    };
    let flows = vec![
        (2, to_us(US), vec![to(1)]),
        (1, to_us(US_OUTSIDE), vec![to(1), to(1)]),
        (0, Match::any().with(Field::InPort, 1), vec![number(5), to(2)]),
    ];
    let mut rig = rig_of(Asks::Number, without_local, flows);
    for _ in 0..3 {
        assert_eq!(rig.answer(0, from_to_us(US, 7)), [(PLAIN, inner(7))]);
        assert_eq!(rig.answer(0, from_to_us(US_OUTSIDE, 7)), vec![(PLAIN, inner(7)); 2]);
        // It leaves from the address of the way to the other end.
        let sent = rig.answer(PLAIN, inner(3));
        assert_eq!((sent.len(), &sent[0].1[26..30]), (1, &US_OUTSIDE[..]));
        assert_eq!(led(&sent[0]), (FAR, 5));
    }
    for _ in 0..2 {
        (0..200).for_each(|nth| {
            rig.receive(0, from_to_us(if nth % 2 == 0 { US } else { US_OUTSIDE }, 7));
        });
        rig.run();
        assert_eq!(rig.sent(PLAIN).len(), 100 + 200);
    }
    rig.settle();
}

#[test]
fn a_packet_leaves_from_where_flows_say() {
    let from = |ours: [u8; 4]| -> Action {
        SetField::whole(Field::TunSrc, u32::from_be_bytes(ours).into()).into()
    };
    let program =
        vec![number(5), to_end(FAR), from(US), to(2), from([0; 4]), to(2), from(FURTHER), to(2)];
    let local_by_flows = |tunnel: &mut Tunnel| {
        without_local(tunnel);
        tunnel.local_by_flows = true;
    };
    let flows = vec![(1, Match::any().with(Field::InPort, 1), program)];
    let mut rig = rig_of(Asks::Ends, local_by_flows, flows);
    for _ in 0..2 {
        let sent = rig.answer(PLAIN, inner(3));
        let mut sources: Vec<&[u8]> = sent.iter().map(|(_, frame)| &frame[26..30]).collect();
        sources.sort_unstable();
        assert_eq!(sources, [&FURTHER[..], &US, &US_OUTSIDE]);
        assert!(sent.iter().all(|it| led(it) == (FAR, 5)));
    }
    // Flows said nothing of what others have sent: it goes nowhere.
    rig.inject(&inner(1), |packet| Injected::Frame { interface: VXLAN, packet });
    rig.run();
    assert_eq!(rig.drops(), [("tunnel-encap/no-remote".to_owned(), 1)]);
    rig.settle();
}

#[test]
fn who_sends_too_much_into_a_tunnel_without_an_end_of_ours_is_told_so_as_if_it_came_back_by_it() {
    let us = Match::any().with(Field::InPort, 2).with(Field::TunId, 33);
    let us = us.with(Field::TunDst, u32::from_be_bytes(US_OUTSIDE).into());
    let flows = vec![
        (2, us, vec![to(1)]),
        (1, Match::any().with(Field::InPort, 1), vec![number(33), to(2)]),
    ];
    sends_too_much(rig_of(Asks::Number, without_local, flows));
}

#[test]
fn over_ipv6_as_well() {
    let end = SetField::whole(Field::TunIp6Dst, FAR6.into());
    let by = Match::any().with(Field::TunIp6Src, FAR6.into());
    let mut rig = rig_with(
        Asks::Remote,
        vec![
            (2, by, vec![to(1)]),
            (1, Match::any().with(Field::InPort, 1), vec![end.into(), to(3)]),
        ],
    );
    let link = craft::ethernet(HOST_MAC, our_mac(0)).ipv6(FAR6, US6).udp(50_000, 4789);
    let frame = link.payload(&[&[8, 0, 0, 0, 0, 0, 7, 0][..], &inner(7)].concat()).build();
    for _ in 0..2 {
        assert_eq!(rig.answer(0, frame.clone()), [(PLAIN, inner(7))]);
        let sent = rig.answer(PLAIN, inner(3));
        assert_eq!((sent.len(), &sent[0].1[38..54]), (1, &FAR6.octets()[..]));
    }
    rig.settle();
}

#[test]
fn what_flows_say_no_end_of_goes_nowhere() {
    let zero = to_end([0; 4]);
    let six = SetField::whole(Field::TunIp6Dst, FAR6.into()).into();
    for program in [vec![to(2)], vec![to_end(FAR), zero, to(2)], vec![six, to(2)]] {
        let flows = vec![(1, Match::any(), vec![to_end(FURTHER), to(2)])];
        let mut rig = rig_with(Asks::Remote, flows);
        // A buffer that once was sent to another end goes to none.
        (0..100).for_each(|_| assert_eq!(rig.answer(PLAIN, inner(3)).len(), 1));
        let mut bridges = rig.dataplane.flow_bridges.lock().unwrap();
        let mut changed = FlowBridge::clone(bridges.get(FLOWS).unwrap());
        changed.snapshot.generation += 1;
        changed.snapshot.table_mut(0).flows.insert(Flow::new(0, 9, Match::any(), program));
        let all = bridges.with(FLOWS, Some(changed));
        bridges.set(all);
        drop(bridges);
        assert_eq!(rig.answer(PLAIN, inner(3)), []);
        // By the interface that it came by.
        let drop = ("tunnel-encap/no-remote".to_owned(), 1);
        assert_eq!(rig.drops(), std::slice::from_ref(&drop));
        rig.inject(&inner(1), |packet| Injected::Frame { interface: VXLAN, packet });
        rig.run();
        assert_eq!(rig.drops(), [drop.clone(), drop]);
        rig.settle();
    }
}

#[test]
fn who_sends_too_much_to_an_end_is_told_so_as_if_by_that() {
    let rig = rig_with(
        Asks::Remote,
        vec![
            (2, by_end(FURTHER).with(Field::TunId, 33), vec![to(1)]),
            (1, Match::any().with(Field::InPort, 1), vec![number(33), to_end(FURTHER), to(2)]),
        ],
    );
    sends_too_much(rig);
}
