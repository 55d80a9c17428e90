//! Bridges of VLANs behind a bridge of flows: what flows leave to NORMAL stays in its VLAN.

use crate::rig::*;
use flow::{Flow, PortEntry, Snapshot};
use nodes::tables::{
    BridgeId, BridgePort, CustomerVlans, FlowBridge, FlowPort, FlowRow, Link, Mode, Vlan, VlanTags,
};
use openflow::action::{Output, PopVlan, Program};
use openflow::{Action, Field, Match, port};
use std::sync::Arc;
use wire::craft;

const FLOWS: BridgeId = BridgeId(9);
const VLAN: BridgeId = BridgeId(8);
const OTHER: BridgeId = BridgeId(10);
/// A port of VLAN 400, one of another VLAN, one of none.
const ACCESS: u16 = 6;
const ELSEWHERE: u16 = 7;
const PLAIN: u16 = 8;

/// Ports 1 to 4: a trunk with VLAN 400, and those above. NORMAL is what flows say, or this of
/// frames from port 2.
fn rig(of_access: Option<Program>) -> Rig {
    let mut rig = Rig::new();
    let ports = [(TRUNK, FLOWS), (ACCESS, VLAN), (ELSEWHERE, OTHER), (PLAIN, FLOWS)];
    for (number, (id, bridge)) in (1..).zip(ports) {
        let flow = Some(FlowPort { bridge: FLOWS, number });
        let port = BridgePort { flow, ..BridgePort::new(bridge) };
        rig.change_interface(id, |row| row.mode = Mode::Bridged(port));
    }
    let behind = BridgePort { is_behind: true, ..BridgePort::new(VLAN) };
    rig.change_interface(BRIDGED_VLAN, |row| row.mode = Mode::Bridged(behind));
    let entry = PortEntry::all();
    let mut snapshot = Snapshot {
        generation: 1,
        ports: Arc::new((1..5).map(|number| (number, entry)).collect()),
        ..Snapshot::default()
    };
    let mut put = |priority, matching, program| {
        let flow = Flow::new(0, priority, matching, program);
        snapshot.table_mut(0).flows.insert(flow);
    };
    put(1, Match::any(), vec![to(port::NORMAL)]);
    if let Some(program) = of_access {
        let mut matching = Match::any();
        matching.set(Field::InPort, 2, 0xffff);
        put(2, matching, program);
    }
    let rows = (1..).zip(ports);
    let rows = rows.map(|(number, (interface, _))| (number, FlowRow { interface, is_own: false }));
    let bridge = FlowBridge { snapshot, rows: Arc::new(rows.collect()), ..FlowBridge::default() };
    let mut bridges = rig.dataplane.flow_bridges.lock().unwrap();
    let all = bridges.with(FLOWS, Some(bridge));
    bridges.set(all);
    drop(bridges);
    rig
}

fn to(number: u16) -> Action {
    Output::to(number).into()
}

fn frame(from: u8, to: u8) -> Vec<u8> {
    let station = |last| [2, 9, 9, 9, 9, last];
    craft::ethernet(station(from), station(to)).ethertype(0x88b5).payload(&[7; 46]).build()
}

fn tagged(mut frame: Vec<u8>, vid: u16) -> Vec<u8> {
    let [high, low] = vid.to_be_bytes();
    frame.splice(12..12, [0x81, 0, high, low]);
    frame
}

#[test]
fn a_vlan_is_flooded_by_its_own_ports_and_a_station_is_known_there_alone() {
    let mut rig = rig(None);
    // Nobody is known: VLAN 400 and no other port, with the tag or without.
    assert_eq!(rig.answer(TRUNK, tagged(frame(1, 2), 400)), [(ACCESS, frame(1, 2))]);
    assert_eq!(rig.answer(ACCESS, frame(2, 1)), [(TRUNK, tagged(frame(2, 1), 400))]);
    // The same station in no VLAN is another one: it is not known.
    assert_eq!(rig.answer(TRUNK, frame(1, 2)), [(PLAIN, frame(1, 2))]);
    // Both are known now.
    assert_eq!(rig.answer(TRUNK, tagged(frame(1, 2), 400)), [(ACCESS, frame(1, 2))]);
    assert_eq!(rig.answer(ELSEWHERE, frame(3, 1)), []);
    let sent = |id| rig.dataplane.interface_totals(id).tx_packets;
    assert_eq!((sent(BRIDGED_VLAN), sent(TRUNK), sent(ELSEWHERE)), (1, 1, 0));
    rig.settle();
}

#[test]
fn a_tag_of_no_vlan_here_stays_where_there_are_no_vlans_and_is_dropped_elsewhere() {
    let mut rig = rig(None);
    assert_eq!(rig.answer(TRUNK, tagged(frame(1, 2), 401)), [(PLAIN, tagged(frame(1, 2), 401))]);
    assert_eq!(rig.answer(ACCESS, tagged(frame(2, 1), 400)), []);
    assert_eq!(rig.drops(), [("flow-normal/not-in-vlan".to_owned(), 1)]);
    rig.settle();
}

#[test]
fn flows_come_first_and_say_which_vlan_it_is() {
    // What comes from the port of VLAN 400 goes to the trunk as it is.
    let mut rig_to = rig(Some(vec![to(1)]));
    assert_eq!(rig_to.answer(ACCESS, frame(2, 1)), [(TRUNK, frame(2, 1))]);
    rig_to.settle();
    // Without its tag, a frame of the trunk is of no VLAN.
    let mut untags = rig(None);
    let mut matching = Match::any();
    matching.set(Field::VlanTci, 0x1000 | 400, 0x1fff);
    let program = vec![PopVlan.into(), to(port::NORMAL)];
    let mut bridges = untags.dataplane.flow_bridges.lock().unwrap();
    let mut bridge = FlowBridge::clone(bridges.get(FLOWS).unwrap());
    let flow = Flow::new(0, 9, matching, program);
    bridge.snapshot.table_mut(0).flows.insert(flow);
    bridge.snapshot.generation += 1;
    let all = bridges.with(FLOWS, Some(bridge));
    bridges.set(all);
    drop(bridges);
    assert_eq!(untags.answer(TRUNK, tagged(frame(1, 2), 400)), [(PLAIN, frame(1, 2))]);
    untags.settle();
}

#[test]
fn customers_tags_pass_a_services_vlan_as_they_are_and_those_of_others_do_not() {
    let mut rig = rig(None);
    // Port 2 has all of its frames in VLAN 400, whose tag is a service's, by a part of its own.
    rig.change_port(ACCESS, |port| {
        port.bridge = FLOWS;
        (port.learn, port.forward, port.flood_unknown, port.flood_groups) =
            (false, false, false, false);
    });
    rig.change_interface(BRIDGED_VLAN, |row| {
        if let Link::Vlan(vlan) = &mut row.link {
            vlan.protocol = 0x88a8;
        }
    });
    rig.change_interface(ROUTED_VLAN, |row| {
        row.mode = Mode::Bridged(BridgePort { is_behind: true, ..BridgePort::new(VLAN) });
        row.port = ACCESS;
        row.link = Link::Vlan(Vlan {
            parent: ACCESS,
            tags: VlanTags::Any,
            protocol: 0x8100,
            priority: None,
            is_native: true,
        });
        row.put(Some(CustomerVlans::new([5, 6])));
    });
    let service = |mut frame: Vec<u8>, priority: u8| {
        frame.splice(12..12, [0x88, 0xa8, priority | 1, 0x90]);
        frame
    };
    let (there, back) = (frame(2, 1), frame(1, 2));
    assert_eq!(rig.answer(ACCESS, there.clone()), [(TRUNK, service(there.clone(), 0))]);
    // A tag of theirs, and one of a priority alone, stay; a service's gets their priority.
    for (tci, priority) in [(0xa005, 0xa0), (5, 0), (0x6000, 0x60)] {
        let customers = tagged(there.clone(), tci);
        let sent = [(TRUNK, service(customers.clone(), priority))];
        assert_eq!(rig.answer(ACCESS, customers), sent, "{tci:#x}");
    }
    assert_eq!(rig.answer(TRUNK, service(back.clone(), 0)), [(ACCESS, back.clone())]);
    let customers = tagged(back.clone(), 6);
    assert_eq!(rig.answer(TRUNK, service(customers.clone(), 0xe0)), [(ACCESS, customers)]);
    assert_eq!(rig.drops(), []);
    // Those of a VLAN that is not theirs go no further, either way.
    assert_eq!(rig.answer(ACCESS, tagged(there, 7)), []);
    assert_eq!(rig.answer(TRUNK, service(tagged(back, 7), 0)), []);
    let mut drops = rig.drops();
    drops.sort();
    let once = |reason: &str| (reason.to_owned(), 1);
    assert_eq!(drops, [once("l2-forward/not-forwarding"), once("vlan-output/not-in-vlan")]);
    rig.settle();
}
