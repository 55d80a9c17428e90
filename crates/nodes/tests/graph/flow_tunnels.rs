//! Tunnels in a bridge of flows: flows see which number a packet came with, and say which it leaves
//! with.

use crate::rig::*;
use flow::{Flow, PortEntry, Snapshot};
use nodes::tables::{
    BridgeId, BridgePort, FlowBridge, FlowRow, Injected, Link, Mode, Numbered, Wrap,
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
    let mut rig = Rig::new();
    let ports = [(1, PLAIN), (2, VXLAN), (3, VXLAN6), (4, GRE)];
    for (number, id) in ports {
        let port = BridgePort::new(FLOWS).with_flows(number);
        rig.change_interface(id, |row| {
            row.mode = Mode::Bridged(port);
            if let (Link::Tunnel(tunnel), true) = (&mut row.link, id != GRE) {
                tunnel.key.wrap = Wrap::ByFlows(Numbered::Vxlan { port: 4789 });
            }
        });
    }
    let entry = |number| PortEntry { is_numbered: matches!(number, 2 | 3), ..PortEntry::all() };
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
    let link = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US).udp(50_000, 4789);
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
    rig.inject(&inner(1), |packet| Injected::Numbered { interface: VXLAN, number: 99, packet });
    rig.run();
    let sent = rig.sent(1);
    assert_eq!((sent.len(), vxlan(&(1, sent[0].clone()), 42)[6]), (1, 99));
    rig.settle();
}

#[test]
fn who_sends_too_much_into_a_tunnel_is_told_so_by_flows_of_its_number() {
    let told = Match::any().with(Field::InPort, 2).with(Field::TunId, 33);
    let mut rig = rig(vec![
        (2, told, vec![to(1)]),
        (1, Match::any().with(Field::InPort, 1), vec![number(33), to(2)]),
    ]);
    rig.change_interface(VXLAN, |row| row.mtu_bytes = 2000);
    rig.change_interface(PLAIN, |row| row.mtu_bytes = 2000);
    let long = craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR).dont_fragment();
    let sent = rig.answer(PLAIN, long.udp(1, 2).payload_len(1480).build());
    // An error of ICMP: fragmentation needed.
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].0, &sent[0].1[34..36]), (PLAIN, &[3, 4][..]));
    rig.settle();
}
