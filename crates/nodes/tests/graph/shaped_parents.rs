//! What stands on a shaped port waits in its scheduler, too: sub-interfaces, and tunnels that leave
//! by it.

use crate::rig::*;
use sched::units::{Rate, Size};
use sched::{ClassId, Config, Filter, HtbClass, HtbShape, Shape};
use wire::craft;

/// Fast enough that nobody waits for it, and a scheduler all the same.
fn fast() -> Config {
    Config::of(Shape::tbf(Rate(1_000_000_000), Size(1514), Shape::pfifo(10)))
}

/// Turns the router until so many frames have left by a port.
fn wait_for(rig: &mut Rig, port: u16, count: usize) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    while sent.len() < count {
        rig.turn(1);
        sent.extend(rig.sent(port));
    }
    sent
}

/// Packets and bytes that an interface was counted to send.
fn sent_by(rig: &Rig, interface: u16) -> (u64, u64) {
    let totals = rig.dataplane.interface_totals(interface);
    (totals.tx_packets, totals.tx_bytes)
}

/// Packets that a port's scheduler gave out, and their bytes.
fn scheduled(rig: &mut Rig, port: u16) -> (u64, u64) {
    let counters = rig.shaping_report(port).counters;
    (counters.sent_packets, counters.sent_bytes)
}

#[test]
fn frames_of_sub_interfaces_wait_for_their_turn_and_are_counted_once() {
    let mut rig = Rig::new();
    rig.shape(TRUNK, &fast());
    let plain = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    let with = |tags: &[u8]| [&plain[..12], tags, &plain[12..]].concat();
    let two = with(&[0x88, 0xa8, 0xa0, 200, 0x81, 0, 0xa0, 7]);
    let one = with(&[0x81, 0, 0xa1, 0x2c]);
    rig.receive(TRUNK, two.clone());
    rig.receive(TRUNK, one.clone());
    assert_eq!(wait_for(&mut rig, TRUNK, 2), [one.clone(), two.clone()]);
    let wire_bytes = (one.len() + two.len()) as u64;
    assert_eq!(scheduled(&mut rig, TRUNK), (2, wire_bytes), "the tags take time, too");
    let own = (1, plain.len() as u64);
    let all = [own, own, (2, wire_bytes)];
    assert_eq!([OTHER_VLAN, PAIR_VLAN, TRUNK].map(|id| sent_by(&rig, id)), all);
    rig.settle();
}

#[test]
fn what_is_cross_connected_to_the_port_itself_shares_its_scheduler_with_the_vlans() {
    let mut rig = Rig::new();
    rig.shape(TRUNK, &fast());
    rig.change_interface(2, |row| {
        row.mode = nodes::tables::Mode::CrossConnect(nodes::tables::InterfaceId(TRUNK));
    });
    let plain = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    let tagged = [&plain[..12], &[0x81, 0, 0xa1, 0x2c], &plain[12..]].concat();
    rig.receive(2, plain.clone());
    rig.receive(TRUNK, tagged);
    wait_for(&mut rig, TRUNK, 2);
    assert_eq!(scheduled(&mut rig, TRUNK).0, 2);
    assert_eq!([TRUNK, PAIR_VLAN].map(|id| sent_by(&rig, id).0), [2, 1]);
    rig.settle();
}

#[test]
fn packets_of_tunnels_wait_at_the_port_that_they_leave_by() {
    let mut rig = Rig::new();
    rig.shape(1, &fast());
    let frame = craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    rig.receive(BESIDE_TUNNELS, frame.clone());
    let sent = wait_for(&mut rig, 1, 3);
    let bytes = sent.iter().map(|packet| packet.len() as u64).sum();
    assert_eq!(scheduled(&mut rig, 1), (3, bytes));
    assert_eq!(sent_by(&rig, 1), (3, bytes));
    assert_eq!([VXLAN, GRE, VXLAN6].map(|id| sent_by(&rig, id)), [(1, frame.len() as u64); 3]);
    rig.settle();
}

#[test]
fn a_class_can_be_had_for_what_a_bridge_forwards() {
    let mut rig = Rig::new();
    let class = |minor| ClassId::new(1, minor);
    let classes = [1, 2].map(|minor| HtbClass::new(class(minor), None, Rate(1_000_000_000)));
    let (handle, default) = (ClassId::new(1, 0), Some(class(2)));
    let htb = HtbShape { handle, default, classes: classes.into(), ..HtbShape::default() };
    let of_bridge = Filter { bridge: Some("blue".to_owned()), ..Filter::to(class(1)) };
    rig.shape(TRUNK, &Config { filters: vec![of_bridge], ..Config::of(Shape::Htb(htb)) });
    let mode = rig.dataplane.interfaces().get(BRIDGED_VLAN).unwrap().mode;
    rig.change_interface(7, |row| (row.mode, row.bridge_name) = (mode, "blue".to_owned()));
    let frame = craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    // Flooded to the VLAN of that bridge; another goes from VLAN to VLAN.
    rig.receive(7, frame.clone());
    rig.receive(TRUNK, [&frame[..12], &[0x81, 0, 1, 0x2c], &frame[12..]].concat());
    wait_for(&mut rig, TRUNK, 2);
    let report = rig.shaping_report(TRUNK);
    let sent = [1, 2].map(|minor| report.find(class(minor)).unwrap().counters.sent_packets);
    assert_eq!(sent, [1, 1]);
    rig.settle();
}
