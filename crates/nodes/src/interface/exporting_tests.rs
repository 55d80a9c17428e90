use super::*;
use crate::interface::{ExportInput, ExportOutput, InTurn};
use crate::testing::{FAR, FAR6, GRE_LINK, HOST, HOST6, ROUTED_VLAN, World};
use export::{Hosts, Key};
use graph::harness::NodeHarness;
use std::sync::atomic::Ordering;
use wire::craft;

fn udp(port: u16) -> Vec<u8> {
    craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR).udp(port, 53).payload_len(18).build()
}

fn exporter(wanted: Wanted, one_of: u32) -> Arc<Exporter> {
    Arc::new(Exporter::new(wanted, one_of, 1, 7))
}

/// What was noted: key, packets, octets.
fn flows(exporter: &Exporter) -> Vec<(Key, u64, u64)> {
    let mut all = Vec::new();
    let had_all = exporter.noted()[0].collect(&mut exporter.spare(1), |tally| {
        let each = tally.counted().iter();
        all.extend(each.map(|it| (Key::from_words(it.words), it.packets, it.bytes)));
    });
    assert!(had_all);
    all
}

fn received(id: u16, to: &[&Arc<Exporter>], frames: &[Vec<u8>]) {
    let mut world = World::new();
    let to = ExportTo(to.iter().map(|&it| Arc::clone(it)).collect());
    world.change_interface(id, |row| row.set::<ExportInput>(Some(to.clone())));
    let mut node = NodeHarness::<InTurn<ExportInput>>::new(&world.setup).unwrap();
    for out in node.run(frames, id, 0) {
        assert_eq!(out.exit, "enter");
    }
}

#[test]
fn what_an_interface_receives_is_counted_by_flow_and_goes_on() {
    let (one, other) = (exporter(Wanted::Flows, 1), exporter(Wanted::Flows, 1));
    let six = craft::ethernet([2; 6], [4; 6]).vlan(7).ipv6(HOST6, FAR6).udp(5, 6).build();
    received(2, &[&one, &other], &[udp(9), udp(8), udp(9), six]);
    let told = flows(&one);
    let counted: Vec<_> =
        told.iter().map(|(key, packets, bytes)| (key.source_port, *packets, *bytes)).collect();
    assert_eq!(counted, [(9, 2, 92), (8, 1, 46), (5, 1, 48)]);
    let key = told[0].0;
    assert_eq!(key.place, Place { input: 3, output: 0, is_sent: false });
    assert_eq!(key.hosts, Hosts::V4(HOST.into(), FAR.into()));
    assert_eq!((told[2].0.vlan, told[2].0.hosts), (7, Hosts::V6(HOST6, FAR6)));
    assert_eq!(flows(&other), told);
    assert_eq!(flows(&one), [], "what was told is not told again");
    let noted = &one.noted()[0];
    let numbers = [&noted.seen, &noted.noted, &noted.missed].map(|it| it.load(Ordering::Relaxed));
    assert_eq!(numbers, [4, 4, 0]);
}

#[test]
fn what_it_sends_is_told_with_both_interfaces() {
    let (mut world, one) = (World::new(), exporter(Wanted::Flows, 1));
    let to = ExportTo(vec![Arc::clone(&one)]);
    world.change_interface(ROUTED_VLAN, |row| row.set::<ExportOutput>(Some(to.clone())));
    let vlan = world.interfaces.get(ROUTED_VLAN).and_then(|row| row.outer_vlan()).unwrap();
    let mut node = NodeHarness::<InTurn<ExportOutput>>::new(&world.setup).unwrap();
    let out = node.run_prepared(&[udp(9)], 2, 0, |frame| frame.tx_mut()[0] = ROUTED_VLAN);
    assert_eq!(out[0].exit, "leave");
    let (key, packets, bytes) = flows(&one)[0];
    let place = Place { input: 3, output: u32::from(ROUTED_VLAN) + 1, is_sent: true };
    assert_eq!((key.place, key.vlan, packets, bytes), (place, vlan, 1, 46));
}

#[test]
fn packets_of_a_tunnel_have_no_link_header() {
    let (one, octets) = (exporter(Wanted::Flows, 1), exporter(Wanted::Octets(20), 1));
    received(GRE_LINK, &[&one, &octets], &[udp(9)[14..].to_vec()]);
    assert_eq!(flows(&one)[0].0.source_port, 9);
    octets.noted()[0].collect(&mut octets.spare(1), |tally| {
        for (sampled, octets) in tally.sampled() {
            assert_eq!((sampled.begins, sampled.length), (Begins::Ip4, 46));
            assert_eq!(octets, &udp(9)[14..34]);
        }
    });
}

#[test]
fn one_of_so_many_is_taken_on_an_average_and_all_are_accounted_for() {
    let octets = exporter(Wanted::Octets(64), 10);
    let (mut taken, mut of, mut spare) = (0, 0, octets.spare(1));
    let mut world = World::new();
    let to = ExportTo(vec![Arc::clone(&octets)]);
    world.change_interface(0, |row| row.set::<ExportInput>(Some(to.clone())));
    let mut node = NodeHarness::<InTurn<ExportInput>>::new(&world.setup).unwrap();
    for _ in 0..100 {
        node.run(&vec![udp(1); 100], 0, 0);
        octets.noted()[0].collect(&mut spare, |tally| {
            taken += tally.sampled().count();
            of += tally.sampled().map(|(it, _)| it.of as usize).sum::<usize>();
            assert!(tally.sampled().all(|(it, octets)| it.source == 1 && octets == udp(1)));
        });
    }
    assert!((900..1100).contains(&taken), "{taken} of 10000");
    assert!((9_980..=10_000).contains(&of), "{of}");
}

#[test]
fn while_somebody_has_one_tally_the_other_is_there() {
    let one = exporter(Wanted::Flows, 1);
    let first = one.noted()[0].tallies[0].take();
    received(0, &[&one], &[udp(1)]);
    let second = one.noted()[0].tallies[1].take();
    received(0, &[&one], &[udp(1), udp(2)]);
    drop((first, second));
    assert_eq!(flows(&one).iter().map(|it| it.1).collect::<Vec<_>>(), [1]);
    assert_eq!(one.noted()[0].missed.load(Ordering::Relaxed), 2);
}

#[test]
fn who_only_asks_is_not_told_of() {
    let one = exporter(Wanted::Flows, 1);
    let onlooker = fib::Onlooker::new();
    received(0, &[&one], &[udp(1)]);
    drop(onlooker);
    assert_eq!(flows(&one), []);
    assert_eq!(one.noted()[0].seen.load(Ordering::Relaxed), 0);
}
