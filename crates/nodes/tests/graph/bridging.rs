//! A bridge: stations are learned, frames go where they are, or everywhere they may.

use crate::rig::*;
use nodes::tables::Mode;
use wire::craft;

const BROADCAST: [u8; 6] = [0xff; 6];

fn frame(from: [u8; 6], to: [u8; 6]) -> Vec<u8> {
    craft::ethernet(from, to).ethertype(0x88b5).payload(b"unchanged").pad_to(60).build()
}

fn by_port(sent: Vec<(u16, Vec<u8>)>, frame: &[u8]) -> Vec<u16> {
    assert!(sent.iter().all(|(_, sent)| sent == frame), "a frame was changed");
    sent.into_iter().map(|(port, _)| port).collect()
}

#[test]
fn a_frame_is_flooded_until_its_station_has_been_heard() {
    let mut rig = Rig::new();
    let (there, back) = (frame(HOST_MAC, GATEWAY_MAC), frame(GATEWAY_MAC, HOST_MAC));
    // Port 8 wants no unknown stations.
    assert_eq!(by_port(rig.answer(7, there.clone()), &there), [6, 9]);
    assert_eq!(by_port(rig.answer(6, back.clone()), &back), [7]);
    assert_eq!(by_port(rig.answer(7, there.clone()), &there), [6]);
    // The station moves.
    assert_eq!(by_port(rig.answer(8, back.clone()), &back), [7]);
    assert_eq!(by_port(rig.answer(7, there.clone()), &there), [8]);
    rig.settle();
}

#[test]
fn broadcasts_reach_all_ports_but_those_of_the_same_group() {
    let mut rig = Rig::new();
    let all = frame(HOST_MAC, BROADCAST);
    assert_eq!(by_port(rig.answer(7, all.clone()), &all), [6, 8, 9]);
    assert_eq!(by_port(rig.answer(9, all.clone()), &all), [7, 8]);
    // Port 9 does not learn: the host is behind 7 still.
    let to_host = frame(GATEWAY_MAC, HOST_MAC);
    assert_eq!(by_port(rig.answer(8, to_host.clone()), &to_host), [7]);
    rig.settle();
}

#[test]
fn a_vector_of_broadcasts_is_flooded_whole_and_in_order() {
    let mut rig = Rig::new();
    let numbered: Vec<_> = (0..250u8)
        .map(|n| craft::ethernet(HOST_MAC, BROADCAST).ethertype(0x88b5).payload(&[n]).build())
        .collect();
    numbered.iter().for_each(|frame| rig.receive(7, frame.clone()));
    rig.run();
    for port in [6, 8, 9] {
        assert_eq!(rig.sent(port), numbered, "port {port}");
    }
    rig.settle();
}

#[test]
fn a_station_whose_port_left_the_bridge_is_looked_for_everywhere() {
    let mut rig = Rig::new();
    rig.fix_station(GATEWAY_MAC, 6);
    let frame = frame(HOST_MAC, GATEWAY_MAC);
    assert_eq!(by_port(rig.answer(7, frame.clone()), &frame), [6]);
    rig.change_interface(6, |row| row.mode = Mode::Routed);
    assert_eq!(by_port(rig.answer(7, frame.clone()), &frame), [9]);
    rig.settle();
}
