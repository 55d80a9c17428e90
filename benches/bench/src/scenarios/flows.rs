//! Bridges of flows: what is remembered exactly, by megaflows, not at all, and behind connection
//! tracking; and translated IPv4.

use super::setting::{NEXT_HOP_MAC, adjacency, flow, random};
use crate::rig::{Rig, RigError};
use crate::scenario::Scenario;
use ::flow::{Flow, PortEntry, Snapshot};
use conntrack::{Pool, Seen, Table, Timeouts, Tuple};
use fib::{Forward, Ip4Prefix};
use nodes::nat::{Nat44, Nat44Input, Nat44Output, Translated};
use nodes::tables::{BridgeId, BridgePort, FlowBridge, FlowRow, Kind, Mode, Tracking};
use openflow::action::{Ct, DecTtl, Output, Program, SetField, ct::Zone};
use openflow::{Action, Field, Match};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::ip::protocol;

const BRIDGE: BridgeId = BridgeId(1);
/// Flows of the scenarios of many.
const MANY: u32 = 100_000;
/// Connections that are known.
const CONNECTIONS: u32 = 4096;

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario::new("flow-exact-1", 60.0, || exact(1)),
        Scenario::new("flow-exact-1k", 60.0, || exact(1000)),
        Scenario::new("flow-mega-10", 110.0, || megaflows(10)),
        Scenario::new("flow-mega-100", 500.0, || megaflows(100)),
        Scenario::new("flow-route-1", 100.0, || routed(1)),
        Scenario::new("flow-route-10k", 150.0, || routed(10_000)),
        Scenario::new("flow-slow", 5000.0, upcalls),
        Scenario::new("flow-ct", 120.0, tracked),
        Scenario::new("nat44", 130.0, translated),
    ]
}

fn to(number: u16) -> Program {
    vec![Output::to(number).into()]
}

fn udp() -> Match {
    Match::any().with(Field::EthType, 0x800).with(Field::IpProto, 17)
}

/// Interfaces 0 and 1 are ports 1 and 2 of a bridge with these flows.
fn bridge(
    packets: Vec<Vec<u8>>,
    tracking: Option<Tracking>,
    flows: impl Iterator<Item = Flow>,
) -> Result<Rig, RigError> {
    let mut rig = Rig::new(packets, Mode::Bridged(BridgePort::new(BRIDGE)))?;
    for id in 0..2u16 {
        let mut row = rig.dataplane.interfaces().get(id).cloned().ok_or("two interfaces")?;
        row.mode = Mode::Bridged(BridgePort::new(BRIDGE).with_flows(id + 1));
        rig.dataplane.set_interface(id, Some(row));
    }
    let entry = PortEntry::all();
    let mut snapshot = Snapshot { generation: 1, ..Snapshot::default() };
    snapshot.ports = Arc::new([(1, entry), (2, entry)].into());
    for flow in flows {
        snapshot.table_mut(flow.table).flows.insert(flow);
    }
    let rows: BTreeMap<_, _> =
        (0..2).map(|interface| (interface + 1, FlowRow { interface, is_own: false })).collect();
    let tracking = tracking.map(Arc::new);
    let it = FlowBridge { snapshot, rows: Arc::new(rows), tracking, ..FlowBridge::default() };
    let mut bridges = rig.dataplane.flow_bridges.lock().map_err(|_| "a lock of ours")?;
    let all = bridges.with(BRIDGE, Some(it));
    bridges.set(all);
    drop(bridges);
    Ok(rig)
}

/// So many flows, each of one packet.
fn exact(count: u32) -> Result<Rig, RigError> {
    let destination = |number: u32| 0x0a00_0001 + number;
    let packets = (0..count.max(256)).map(|n| flow(destination(n % count), 1234)).collect();
    let flows = (0..count).map(|number| {
        let matching = udp().with(Field::IpDst, destination(number).into());
        Flow::new(0, 9, matching.with(Field::UdpSrc, 1234), to(2))
    });
    bridge(packets, None, flows)
}

/// Many flows of so many masks, and packets of which no two are alike.
fn megaflows(masks: u32) -> Result<Rig, RigError> {
    let (wide, mut any) = (masks.min(10), random());
    // The mask of a number: how much of the destination, and of the port that it comes from.
    let mask_of = |number: u32| {
        let bits = |cut: u32| u128::from(u32::MAX << cut);
        (bits(number % wide), bits(number / wide % (masks / wide)) & 0xffff)
    };
    let destination = |number: u32| 0x0a00_0000 + (number << 4);
    let flows = (0..MANY).map(|number| {
        let (address, port) = mask_of(number);
        let mut it = udp();
        it.set(Field::IpDst, u128::from(destination(number)) & address, address);
        it.set(Field::UdpSrc, 0x4000 & port, port);
        Flow::new(0, 9, it, to(2))
    });
    let packets = (0..65_536)
        .map(|_| {
            let chance = any();
            let number = chance as u32 % MANY;
            let (address, port) = mask_of(number);
            let cut = |mask: u128| !(mask as u32) & (chance >> 40) as u32;
            let source = 0x4000 + (cut(port) & 0x3ff) as u16;
            flow(destination(number) + (cut(address) & 0xf), source)
        })
        .collect();
    bridge(packets, None, flows)
}

/// So many routes as flows, each of which counts a hop and writes both addresses: packets to all of
/// them.
fn routed(routes: u32) -> Result<Rig, RigError> {
    let mut any = random();
    let destination = |number: u32| 0x0a00_0001 + number;
    let packets = (0..65_536).map(|_| flow(destination(any() as u32 % routes), 1234)).collect();
    let flows = (0..routes).map(|number| {
        let matching = Match::any().with(Field::EthType, 0x800);
        let hop = u128::from(0x0200_0000_0000 + u64::from(number));
        let actions = vec![
            DecTtl { controllers: Vec::new() }.into(),
            SetField::whole(Field::EthSrc, 0x0244_0000_0002).into(),
            SetField::whole(Field::EthDst, hop).into(),
            Output::to(2).into(),
        ];
        Flow::new(0, 9, matching.with(Field::IpDst, destination(number).into()), actions)
    });
    bridge(packets, None, flows)
}

/// Packets that nobody remembers: twice as many as there is room for, each a megaflow of its own.
fn upcalls() -> Result<Rig, RigError> {
    let packets = (0..1 << 17).map(|number| flow(0x0a00_0000 + number, 1234)).collect();
    let flows = (0..1 << 17).map(|number: u32| {
        Flow::new(0, 9, udp().with(Field::IpDst, (0x0a00_0000 + number).into()), to(2))
    });
    bridge(packets, None, flows)
}

/// The second that it is, as workers count them.
fn now_s() -> u32 {
    (graph::tsc() / graph::tsc_hz()) as u32
}

/// A stateful firewall, and packets of connections that were answered.
fn tracked() -> Result<Rig, RigError> {
    let timeouts = Timeouts { udp_stream: 86_400, ..Timeouts::default() };
    let table = Table::new(4 * CONNECTIONS as usize, 1);
    let source = u32::from_be_bytes([192, 0, 2, 9]);
    for number in 0..CONNECTIONS {
        let (from, to) = ((source, 1234), (0x0a00_0001 + number, 5678));
        let tuple = Tuple::ip4(from, to, protocol::UDP, 5);
        let begun = table.create(&tuple, &tuple.inverse(), Seen::Other, &timeouts, None, now_s());
        let begun = begun.map_err(|why| format!("{why:?}"))?;
        let answer = begun.reversed();
        table.advance(&answer, protocol::UDP, Seen::Other, &timeouts, now_s());
    }
    let ct = Ct { flags: 0, zone: Zone::Number(5), table: Some(1), helper: 0, actions: vec![] };
    let ip = Match::any().with(Field::EthType, 0x800);
    let state = |value: u128, mask: u128| {
        let mut it = ip.clone();
        it.set(Field::CtState, value, mask);
        it
    };
    let flows = [
        Flow::new(0, 9, state(0, 0x20), vec![Action::from(ct)]),
        Flow::new(1, 9, state(0x22, 0x22), to(2)),
        Flow::new(1, 1, state(0x21, 0x21), vec![]),
    ];
    let packets = (0..CONNECTIONS).map(|number| flow(0x0a00_0001 + number, 1234)).collect();
    bridge(packets, Some(Tracking { table, timeouts }), flows.into_iter())
}

/// From inside, as if an outer address had sent it.
fn translated() -> Result<Rig, RigError> {
    let packets = (0..CONNECTIONS).map(|n| flow(0x0a00_0001 + n, 2000 + (n % 1000) as u16));
    let mut rig = Rig::new(packets.collect(), Mode::Routed)?;
    let next_hop = Ipv4Addr::new(172, 16, 0, 1).into();
    let id = rig.dataplane.adjacencies.allocate(&adjacency(next_hop))?;
    rig.dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    rig.dataplane.ip4.insert(Ip4Prefix::all(), Forward::new(Kind::Rewrite as u8, id.0))?;
    let outer = u32::from_be_bytes([203, 0, 113, 1]);
    let nat = Translated(Arc::new(Nat44 {
        name: "home".to_owned(),
        table: Arc::new(Table::new(8 * CONNECTIONS as usize, 1)),
        timeouts: Timeouts { udp: 86_400, ..Timeouts::default() },
        zone: 1,
        inside: vec![0],
        pool: Pool { addresses: vec![outer..=outer], ports: 1024..=65_535, reserved: Vec::new() },
        forwards: Vec::new(),
        own: Vec::new(),
        open: false,
        nat64: None,
    }));
    for id in 0..2u16 {
        let mut row = rig.dataplane.interfaces().get(id).cloned().ok_or("two interfaces")?;
        row.set::<Nat44Input>(Some(nat.clone()));
        row.set::<Nat44Output>(Some(nat.clone()).filter(|_| id == 1));
        rig.dataplane.set_interface(id, Some(row));
    }
    Ok(rig)
}
