//! Drops of bridges of flows.

use crate::drops::Play;
use crate::rig::*;
use conntrack::{Table, Timeouts};
use dataplane::Settings;
use flow::{Flow, InTunnel, Meter, PortEntry, Snapshot};
use nodes::tables::{
    BridgeId, BridgePort, FlowBridge, FlowPort, FlowRow, Injected, Mode, Tracking,
};
use openflow::action::{self, Ct, Output, Program, PushVlan, Resubmit, SetField};
use openflow::message::{Band, MeterMod};
use openflow::{Action, Field, Match, Nat, port};
use std::sync::Arc;
use wire::craft;

/// Another worker is at the same place of the table at that moment: no test on one thread meets it.
pub(crate) const OUT_OF_REACH: [&str; 1] = ["flow-act/busy"];

/// Interfaces 0 and 1 are ports 1 and 2 of it; port 3 is one that tables know and workers do not.
const FLOWS: BridgeId = BridgeId(9);
const METER: u32 = 1;
/// The bridge of a VLAN, behind it.
const VLAN: BridgeId = BridgeId(8);

/// A bridge that does this with every frame.
fn bridge(rig: &mut Rig, program: Program) {
    for id in 0..2 {
        let port = BridgePort::new(FLOWS).with_flows(id + 1);
        rig.change_interface(id, |row| row.mode = Mode::Bridged(port));
    }
    let entry = PortEntry::all();
    let meter = Meter::new(MeterMod::KBPS, vec![Band { rate: 1, burst: 0 }], 0);
    let mut snapshot = Snapshot {
        generation: 1,
        ports: Arc::new((1..4).map(|number| (number, entry)).collect()),
        meters: Arc::new([(METER, Arc::new(meter))].into()),
        ..Snapshot::default()
    };
    let flow = Flow::new(0, 1, Match::any(), program);
    snapshot.table_mut(0).flows.insert(flow);
    let rows = (0..2).map(|interface| (interface + 1, FlowRow { interface, is_own: false }));
    let bridge = FlowBridge { snapshot, rows: Arc::new(rows.collect()), ..FlowBridge::default() };
    let mut bridges = rig.dataplane.flow_bridges.lock().unwrap();
    let all = bridges.with(FLOWS, Some(bridge));
    bridges.set(all);
}

fn to(number: u16) -> Action {
    Output::to(number).into()
}

fn frame() -> Vec<u8> {
    craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload_len(100).build()
}

/// Frames that a bridge does this with.
fn play(rig: &mut Rig, frames: usize, program: Program) {
    bridge(rig, program);
    (0..frames).for_each(|_| rig.receive(0, frame()));
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("flow-upcall/no-action", |rig| play(rig, 1, vec![])),
        ("flow-upcall/too-deep", |rig| {
            play(rig, 1, vec![Resubmit { port: None, table: None }.into()]);
        }),
        ("flow-input/no-bridge", |rig| {
            play(rig, 1, vec![]);
            let mut bridges = rig.dataplane.flow_bridges.lock().unwrap();
            let without = bridges.with(FLOWS, None);
            bridges.set(without);
        }),
        ("flow-act/told", |rig| play(rig, 1, vec![to(port::CONTROLLER)])),
        // One packet of which they are told once more than can wait.
        ("flow-act/not-told", |rig| play(rig, 1, vec![to(port::CONTROLLER); QUEUE + 1])),
        // A second of its rate passes: one frame of 114 octets, and not two.
        ("flow-act/metered", |rig| {
            play(rig, 2, vec![action::Meter { meter: METER }.into(), to(2)])
        }),
        ("flow-act/no-action", |rig| track(rig, 64, &[(1, 2)], vec![ct(Some(9), vec![])])),
        ("flow-act/too-deep", |rig| track(rig, 64, &[(1, 2)], vec![ct(Some(0), vec![])])),
        ("flow-act/no-connection", |rig| track(rig, 0, &[(1, 2)], vec![ct(None, vec![]), to(2)])),
        ("flow-act/no-port", |rig| {
            let (ip4, ports) = (Some((7, None)), Some((9, None)));
            let nat = action::Translate { nat: Nat { flags: 1, ip4, ip6: None, ports } };
            track(rig, 64, &[(1, 2), (3, 2)], vec![ct(None, vec![nat.into()]), to(2)]);
        }),
        ("flow-act/outdated", |rig| play(rig, 1, vec![to(3)])),
        ("flow-normal/not-in-vlan", |rig| of_vlan(rig, 6, &tagged(7))),
        ("flow-normal/runt", |rig| of_vlan(rig, 6, &tagged(7)[..17])),
        ("flow-normal/interface-down", |rig| {
            rig.change_interface(BRIDGED_VLAN, |row| row.up = false);
            of_vlan(rig, TRUNK, &tagged(400));
        }),
        ("flow-normal/outdated", |rig| {
            rig.inject(&frame(), |packet| Injected::Normal {
                rx: 1,
                own: InTunnel::default(),
                packet,
            });
        }),
        ("flow-act/no-room", |rig| {
            let tag = SetField::whole(Field::VlanVid, 0x1005).into();
            bridge(rig, vec![PushVlan { tpid: 0x8100 }.into(), tag, to(2)]);
            rig.receive_as(0, Incoming { bytes: frame(), segments: 1, headroom: 0 });
        }),
    ]
}

/// A frame that a bridge leaves to NORMAL, from a port whose frames without a tag are of a VLAN;
/// the trunk has VLAN 400 beside it.
fn of_vlan(rig: &mut Rig, id: u16, frame: &[u8]) {
    bridge(rig, vec![to(port::NORMAL)]);
    let behind = BridgePort { is_behind: true, ..BridgePort::new(VLAN) };
    let flow = Some(FlowPort { bridge: FLOWS, number: 1 });
    rig.change_interface(BRIDGED_VLAN, |row| row.mode = Mode::Bridged(behind));
    rig.change_interface(id, |row| row.mode = Mode::Bridged(BridgePort { flow, ..behind }));
    rig.receive(id, frame.to_vec());
}

fn tagged(vid: u16) -> Vec<u8> {
    let mut frame = frame();
    let [high, low] = vid.to_be_bytes();
    frame.splice(12..12, [0x81, 0, high, low]);
    frame
}

/// Packets of connections, in a bridge that knows so many.
fn track(rig: &mut Rig, room: usize, packets: &[(u16, u16)], program: Program) {
    bridge(rig, program);
    let mut bridges = rig.dataplane.flow_bridges.lock().unwrap();
    let mut it = FlowBridge::clone(bridges.get(FLOWS).unwrap());
    let tracking = Tracking { table: Table::new(room, 1), timeouts: Timeouts::default() };
    it.tracking = Some(Arc::new(tracking));
    let all = bridges.with(FLOWS, Some(it));
    bridges.set(all);
    drop(bridges);
    for (from, to) in packets {
        let packet = craft::ethernet(HOST_MAC, [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]);
        rig.receive(0, packet.udp(*from, *to).payload_len(60).build());
    }
}

fn ct(table: Option<u8>, actions: Vec<Action>) -> Action {
    let zone = action::ct::Zone::Number(1);
    Ct { flags: 1, zone, table, helper: 0, actions }.into()
}

/// What one frame alone, or the ordinary router, does not meet.
pub(crate) fn others() -> Vec<String> {
    // The first asks the tables, the second is told by what they said.
    let mut rig = Rig::new();
    play(&mut rig, 1, vec![]);
    rig.run();
    rig.receive(0, frame());
    rig.run();
    let drop = |reason: &str| (reason.to_owned(), 1);
    assert_eq!(rig.drops(), [drop("flow-input/no-action"), drop("flow-upcall/no-action")]);
    rig.settle();
    // There is a buffer for the frame, and none for its copy.
    let mut rig = Rig::with_settings(1, |_: &mut Settings| ());
    play(&mut rig, 1, vec![to(2), to(2)]);
    rig.run();
    assert_eq!(rig.drops(), [drop("flow-act/no-buffer")]);
    rig.settle();
    ["flow-input/no-action", "flow-act/no-buffer"].map(str::to_owned).into()
}
