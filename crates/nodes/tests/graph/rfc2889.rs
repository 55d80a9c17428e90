//! What RFC 2889 measures of a switch, as far as it holds whatever the speed: no frame lost that
//! may not be, none sent where it does not belong.

use crate::rig::*;
use nodes::tables::{BridgePort, Mode};
use std::collections::BTreeSet;
use wire::craft;

/// Ports of the usual bridge: it is all of one group here.
const PORTS: [u16; 4] = [6, 7, 8, 9];

fn station(port: u16, number: u32) -> [u8; 6] {
    let [_, b, c, d] = number.to_be_bytes();
    [2, port as u8, 0, b, c, d]
}

fn frame(from: [u8; 6], to: [u8; 6]) -> Vec<u8> {
    craft::ethernet(from, to).ethertype(0x88b5).pad_to(60).build()
}

/// A bridge of four equal ports with room for so many stations.
fn switch(stations: usize) -> Rig {
    let mut rig = Rig::with_settings(BUFFERS, |settings| settings.stations = stations);
    for id in PORTS {
        rig.change_interface(id, |row| {
            if let Mode::Bridged(port) = &mut row.mode {
                *port = BridgePort::new(port.bridge);
            }
        });
    }
    rig
}

/// Has stations of a port say something, a vector or more at a time.
fn teach(rig: &mut Rig, port: u16, numbers: std::ops::Range<u32>) {
    for number in numbers {
        rig.receive(port, frame(station(port, number), [0x01, 0x80, 0xc2, 0, 0, 0x0e]));
    }
    rig.run();
}

/// How many of these stations a frame from another port reaches without being flooded.
fn reached(rig: &mut Rig, behind: u16, from: u16, numbers: std::ops::Range<u32>) -> usize {
    let mut reached = 0;
    for number in numbers {
        let sent = rig.answer(from, frame(station(from, 0), station(behind, number)));
        let ports: Vec<u16> = sent.iter().map(|(port, _)| *port).collect();
        match &ports[..] {
            [port] if *port == behind => reached += 1,
            flooded => assert_eq!(
                flooded,
                PORTS.iter().filter(|it| **it != from).copied().collect::<Vec<_>>()
            ),
        }
    }
    reached
}

/// Section 5.8: addresses are learned as fast as frames come, none is missed.
#[test]
fn every_address_of_a_burst_is_learned() {
    let mut rig = switch(4096);
    teach(&mut rig, 6, 0..900);
    assert_eq!(reached(&mut rig, 6, 7, 0..900), 900);
    rig.settle();
}

/// Section 5.7: the table holds what it promises, and what does not fit is flooded, not lost.
#[test]
fn the_table_holds_its_capacity_and_the_rest_is_flooded() {
    const CAPACITY: u32 = 500;
    let mut rig = switch(CAPACITY as usize);
    // One entry is for the station that asks.
    teach(&mut rig, 7, 0..1);
    teach(&mut rig, 6, 0..CAPACITY + 200);
    assert_eq!(reached(&mut rig, 6, 7, 0..CAPACITY + 200), CAPACITY as usize - 1);
    let refused = rig.dataplane.bridged_totals(6).not_learned;
    assert_eq!(refused, 201);
    rig.settle();
}

/// Section 5.10: a broadcast leaves by every other port, once, in order.
#[test]
fn broadcasts_reach_all_ports_once_and_in_order() {
    let mut rig = switch(64);
    let frames: Vec<_> = (0..300u32).map(|n| frame(station(6, n), [0xff; 6])).collect();
    frames.iter().for_each(|frame| rig.receive(6, frame.clone()));
    rig.run();
    for id in [7, 8, 9] {
        assert_eq!(rig.sent(id), frames, "port {id}");
    }
    assert_eq!(rig.sent(6), Vec::<Vec<u8>>::new());
    rig.settle();
}

/// Section 5.9: frames that are not whole, or that nobody may have sent, are not forwarded, and are
/// counted by reason.
#[test]
fn errored_frames_are_not_forwarded() {
    let mut rig = switch(64);
    let good = frame(station(6, 1), [0xff; 6]);
    rig.receive(6, good[..13].to_vec());
    rig.receive(6, frame([0xff; 6], [0xff; 6]));
    rig.receive(6, frame([0; 6], [0xff; 6]));
    rig.receive_as(6, Incoming { bytes: good.clone(), segments: 2, headroom: 128 });
    rig.run();
    let sent: Vec<_> = PORTS.into_iter().flat_map(|id| rig.sent(id)).collect();
    assert_eq!(sent, Vec::<Vec<u8>>::new());
    // Longer than any port's MTU: it goes nowhere either, and each port says so.
    rig.receive(6, [good.clone(), vec![0; 1500]].concat());
    rig.run();
    let drops: BTreeSet<_> = rig.drops().into_iter().collect();
    let of = |reason: &str, count| (reason.to_owned(), count);
    let expected = [
        of("l2-learn/runt", 1),
        of("l2-learn/bad-source", 2),
        of("port-rx/oversize", 1),
        of("interface-output/too-big", 1),
    ];
    assert_eq!(drops, BTreeSet::from(expected));
    rig.settle();
}

/// Section 5.5: a port that takes nothing keeps no frame from the others.
#[test]
fn a_blocked_port_holds_nobody_else_up() {
    let mut rig = switch(64);
    let blocked = rows().len() as u16;
    rig.attach(blocked, 0);
    rig.change_interface(9, |row| row.port = blocked);
    let known = (station(7, 1), station(9, 1));
    for (port, mac) in [(7, known.0), (9, known.1)] {
        rig.fix_station(mac, port);
    }
    for number in 0..100 {
        rig.receive(6, frame(station(6, 1), if number % 2 == 0 { known.0 } else { known.1 }));
    }
    rig.run();
    assert_eq!(rig.sent(7).len(), 50);
    assert_eq!(rig.drops(), [("port-tx/queue-full".to_owned(), 50)]);
    rig.settle();
}
