use super::*;
use crate::tables::{InterfaceCounters, VrfId};
use crate::testing::{
    FAR, FAR6, GATEWAY, HOST, HOST6, INSTANCE, LISP, NONCE, TO_GATEWAY, TO_GATEWAY6, US, US6,
    World, lisp_link,
};
use fib::Forward;
use graph::harness::{NodeHarness, Outcome};
use std::net::Ipv6Addr;
use std::sync::atomic::Ordering;
use wire::{craft, lisp};

fn world() -> World {
    let mut world = World::new();
    world.add_lisp();
    world
}

fn run_from(world: &World, packets: &[Vec<u8>], rx: u16, tx: u16) -> Vec<Outcome> {
    let mut node = NodeHarness::<LispEncap>::new(&world.setup).unwrap();
    node.run_prepared(packets, rx, 0, |frame| frame.tx_mut().fill(tx))
}

fn run(world: &World, packet: Vec<u8>) -> Outcome {
    run_from(world, &[packet], 0, LISP).remove(0)
}

fn four(to: [u8; 4]) -> Vec<u8> {
    craft::ipv4(HOST, to).tos(0x2a).ttl(17).udp(5, 6).payload(b"inside").build()
}

fn six(to: &str) -> Vec<u8> {
    let to: Ipv6Addr = to.parse().unwrap();
    craft::ipv6(HOST6, to).traffic_class(0x2a).hop_limit(17).udp(5, 6).payload(b"inside").build()
}

/// What a packet must look like between locators.
fn wrapped(over_ip6: bool, port: u16, inner: &[u8]) -> Vec<u8> {
    let inside = [&lisp::header(NONCE, INSTANCE)[..], inner].concat();
    // Counted down once more as it leaves, as the packet inside was before.
    match over_ip6 {
        false => {
            let outer = craft::ipv4(US, FAR).tos(0x2a).ttl(18).identification(0).dont_fragment();
            outer.udp(port, 4341).checksum(0).payload(&inside).build()
        }
        true => {
            let packet = craft::ipv6(US6, FAR6).traffic_class(0x2a).hop_limit(18);
            packet.udp(port, 4341).checksum(0).payload(&inside).build()
        }
    }
}

#[test]
fn both_families_go_over_both_octet_by_octet() {
    let world = world();
    for (inner, over_ip6) in [
        (four([10, 20, 0, 1]), false),
        (four([10, 21, 0, 1]), true),
        (six("2001:db8:20::1"), false),
        (six("2001:db8:21::1"), true),
    ] {
        let out = run(&world, inner.clone());
        let (exit, way, ip_bytes) = match over_ip6 {
            false => ("rewrite4", TO_GATEWAY, 20),
            true => ("rewrite6", TO_GATEWAY6, 40),
        };
        assert_eq!((out.exit.as_str(), out.adjacency), (exit, way));
        let mut packet = out.header;
        let port = u16::from_be_bytes([packet[ip_bytes], packet[ip_bytes + 1]]);
        assert!(port >= 0xc000);
        if over_ip6 {
            assert_ne!(u32::from_be_bytes([0, packet[1] & 15, packet[2], packet[3]]), 0, "label");
            packet[1] &= 0xf0;
            packet[2..4].fill(0);
        }
        assert_eq!(packet, wrapped(over_ip6, port, &inner));
    }
}

#[test]
fn flows_have_ports_of_their_own_and_keep_them() {
    let world = world();
    let port = |source: u16| {
        let packet = craft::ipv4(HOST, [10, 20, 0, 1]).udp(source, 6).build();
        let out = run(&world, packet).header;
        u16::from_be_bytes([out[20], out[21]])
    };
    let ports: std::collections::BTreeSet<u16> = (0..50).map(port).collect();
    assert!(ports.len() > 40, "{ports:?}");
    assert_eq!(port(9), port(9));
}

#[test]
fn locators_of_one_priority_share_flows_by_weight() {
    let world = world();
    let packet = |n: u32| craft::ipv4(HOST, [10, 22, 0, 1]).udp(n as u16, 53).build();
    let packets: Vec<_> = (0..200).map(packet).collect();
    let exits: Vec<String> =
        run_from(&world, &packets, 0, LISP).into_iter().map(|out| out.exit).collect();
    let over4 = exits.iter().filter(|exit| *exit == "rewrite4").count();
    assert!((30..70).contains(&over4), "{over4} of 200, where a quarter was asked for");
    assert!(exits.iter().all(|exit| exit.starts_with("rewrite")));
}

#[test]
fn the_map_cache_says_what_else_becomes_of_packets() {
    let world = world();
    for (to, exit) in [
        ([10, 99, 0, 1], "ask"),
        ([10, 23, 0, 1], "dropped"),
        ([10, 25, 0, 1], "no-route"),
        ([10, 26, 0, 1], "entry-gone"),
    ] {
        assert_eq!(run(&world, four(to)).exit, exit, "{to:?}");
    }
    assert_eq!(run(&world, six("2001:db8:99::1")).exit, "ask");
    assert_eq!(run(&world, vec![0x55; 40]).exit, "no-packet");
    assert_eq!(run(&world, vec![0x45; 19]).exit, "no-packet");
    assert_eq!(run_from(&world, &[four([10, 20, 0, 1])], 0, 0)[0].exit, "entry-gone");
}

#[test]
fn what_is_native_goes_as_the_underlay_routes_it_and_unwrapped() {
    let mut world = world();
    let out = run(&world, four([10, 24, 0, 1]));
    assert_eq!((out.exit.as_str(), out.adjacency), ("rewrite4", TO_GATEWAY));
    assert_eq!(out.header, four([10, 24, 0, 1]));
    assert_eq!(run(&world, six("2001:db8:24::1")).exit, "no-route");
    // The route of the underlay leads into LISP itself.
    let mut row = world.interfaces.get(1).cloned();
    row.as_mut().unwrap().link = world.interfaces.get(LISP).unwrap().link;
    world.interfaces.set(world.interfaces.with(1, row));
    let instance =
        crate::tables::LispInstance { maps: world.maps.clone(), sources: None, uniform: true };
    let instances = std::collections::HashMap::from([(1, Arc::new(instance))]);
    world.lisp.set(Lisp::new(instances, Vec::new(), false));
    assert_eq!(run_from(&world, &[four([10, 24, 0, 1])], 0, 1)[0].exit, "native-loop");
}

#[test]
fn what_came_by_lisp_leaves_by_it_again_only_where_it_may() {
    let mut world = world();
    let again = |world: &World| run_from(world, &[four([10, 20, 0, 1])], LISP, LISP).remove(0).exit;
    assert_eq!(again(&world), "hairpin");
    let link = crate::tables::LispLink { reencapsulates: true, ..lisp_link() };
    world.change_interface(LISP, |row| row.link = Link::Lisp(link));
    assert_eq!(again(&world), "rewrite4");
}

#[test]
fn the_way_is_that_of_the_underlay_to_the_locator() {
    for (locator, exit) in [
        (GATEWAY, "resolve"),
        (US, "to-ourselves"),
        ([172, 16, 0, 1], "no-route"),
        ([10, 1, 0, 1], "no-route"),
        ([10, 6, 0, 1], "rewrite4"),
    ] {
        let mut world = world();
        world.set_lisp(true, None, [locator.into()]);
        assert_eq!(run(&world, four([10, 20, 0, 1])).exit, exit, "{locator:?}");
    }
}

#[test]
fn what_leaves_is_counted_and_what_is_dropped_is_not() {
    let world = world();
    let packets =
        [four([10, 20, 0, 1]), four([10, 23, 0, 1]), four([10, 24, 0, 1]), four([10, 99, 0, 1])];
    run_from(&world, &packets, 0, LISP);
    let InterfaceCounters { tx_packets, tx_bytes, .. } =
        &world.setup.counters.interfaces[usize::from(LISP)];
    let counted = (tx_packets.load(Ordering::Relaxed), tx_bytes.load(Ordering::Relaxed));
    assert_eq!(counted, (2, 2 * packets[0].len() as u64));
}

#[test]
fn an_underlay_of_another_vrf_is_looked_up_there() {
    let mut world = world();
    let red = crate::testing::RED;
    let to_gateway = Forward::new(Kind::Rewrite as u8, TO_GATEWAY);
    world.add_red().ip4.insert("10.24.0.0/16".parse().unwrap(), to_gateway).unwrap();
    let link = crate::tables::LispLink { underlay: red, ..lisp_link() };
    world.change_interface(LISP, |row| row.link = Link::Lisp(link));
    assert_eq!(run(&world, four([10, 24, 0, 1])).exit, "rewrite4");
    let link = crate::tables::LispLink { underlay: VrfId(9), ..lisp_link() };
    world.change_interface(LISP, |row| row.link = Link::Lisp(link));
    assert_eq!(run(&world, four([10, 24, 0, 1])).exit, "no-route");
}
