use super::*;
use crate::local::Twin;
use crate::tables::{LispSources, Mode};
use crate::testing::{FAR, FAR6, HOST, HOST6, INSTANCE, LISP, NONCE, RED, US, US6, VXLAN, World};
use fib::Forward;
use graph::harness::{NodeHarness, Outcome};
use wire::craft;

fn world() -> World {
    let mut world = World::new();
    world.add_lisp();
    world
}

fn run(world: &World, packet: &[u8], rx: u16) -> Outcome {
    let mut node = NodeHarness::<LispDecap>::new(&world.setup).unwrap();
    let by = |frame: &mut Frame| frame.adjacencies_mut().fill(40);
    node.run_prepared(&[packet.to_vec()], rx, 0, by).remove(0)
}

fn exit_of(world: &World, packet: &[u8]) -> String {
    run(world, packet, 0).exit
}

fn four(tos: u8, ttl: u8) -> Vec<u8> {
    craft::ipv4([10, 20, 0, 9], HOST).tos(tos).ttl(ttl).udp(5, 6).payload(b"inside").build()
}

fn six(tos: u8, ttl: u8) -> Vec<u8> {
    let packet = craft::ipv6(0x2001_0db8_0020 << 80 | 9, HOST6);
    packet.traffic_class(tos).hop_limit(ttl).udp(5, 6).payload(b"inside").build()
}

fn over4(instance: u32, tos: u8, ttl: u8, inner: &[u8]) -> Vec<u8> {
    let inside = [&lisp::header(NONCE, instance)[..], inner].concat();
    let outer = craft::ipv4(FAR, US).tos(tos).ttl(ttl).udp(50000, 4341).checksum(0);
    outer.payload(&inside).build()
}

fn over6(instance: u32, tos: u8, ttl: u8, inner: &[u8]) -> Vec<u8> {
    let inside = [&lisp::header(NONCE, instance)[..], inner].concat();
    let outer = craft::ipv6(FAR6, US6).traffic_class(tos).hop_limit(ttl).udp(50000, 4341);
    outer.checksum(0).payload(&inside).build()
}

#[test]
fn both_families_come_out_of_both() {
    let world = world();
    for over in [over4, over6] {
        for (inner, exit) in [(four(0, 60), "ip4"), (six(0, 60), "ip6")] {
            let out = run(&world, &over(INSTANCE, 0, 64, &inner), 0);
            assert_eq!((out.exit.as_str(), out.header), (exit, inner));
        }
    }
    let counted = &world.setup.counters.interfaces[usize::from(LISP)];
    let packets = counted.rx_packets.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(packets, 4);
}

#[test]
fn class_and_reach_outside_are_taken_over_unless_told_otherwise() {
    let mut world = world();
    for over in [over4, over6] {
        assert_eq!(run(&world, &over(INSTANCE, 0xb8, 9, &four(0x28, 60)), 0).header, four(0xb8, 9));
        assert_eq!(run(&world, &over(INSTANCE, 0xb8, 61, &six(0x28, 60)), 0).header, six(0xb8, 60));
    }
    world.set_lisp(false, None, []);
    assert_eq!(run(&world, &over4(INSTANCE, 0xb8, 9, &four(0x28, 60)), 0).header, four(0x28, 60));
}

#[test]
fn congestion_outside_is_told_inside_or_dropped_for() {
    let world = world();
    for outside in 0..4 {
        for within in 0..4 {
            for packet in [
                over4(INSTANCE, outside, 64, &four(within, 60)),
                over6(INSTANCE, outside, 64, &four(within, 60)),
            ] {
                let out = run(&world, &packet, 0);
                match ecn::leaving(within, outside) {
                    Some(marks) => assert_eq!(out.header, four(marks, 60)),
                    None => assert_eq!(out.exit, "congested"),
                }
            }
        }
    }
}

#[test]
fn wrong_packets_are_told_apart() {
    let world = world();
    let inner = four(0, 60);
    let whole = over4(INSTANCE, 0, 64, &inner);
    let flags = |bits: u8| {
        let mut packet = whole.clone();
        packet[28] = bits;
        packet
    };
    let short = |length: usize| {
        craft::ipv4(FAR, US).udp(9, 4341).checksum(0).payload(&whole[28..28 + length]).build()
    };
    for (packet, exit) in [
        (whole.clone(), "ip4"),
        (flags(0x98), "bad-header"),
        (flags(0x89), "encrypted"),
        (flags(0x80), "unknown-instance"),
        (flags(0x6c), "ip4"),
        (over4(INSTANCE + 1, 0, 64, &inner), "unknown-instance"),
        (over4(INSTANCE, 0, 64, &[0x50; 40]), "wrong-payload"),
        (over4(INSTANCE, 0, 64, &[0x45; 19]), "truncated"),
        (over4(INSTANCE, 0, 64, &[0x60; 39]), "truncated"),
        (short(8), "truncated"),
        (short(7), "truncated"),
        (short(0), "truncated"),
    ] {
        assert_eq!(exit_of(&world, &packet), exit, "{packet:x?}");
    }
}

#[test]
fn instances_are_told_apart_by_the_underlay_too() {
    let mut world = world();
    world.add_red();
    let packet = over4(INSTANCE, 0, 64, &four(0, 60));
    assert_eq!(run(&world, &packet, 0).exit, "ip4");
    world.change_interface(0, |row| row.vrf = RED);
    assert_eq!(run(&world, &packet, 0).exit, "unknown-instance");
}

#[test]
fn tunnels_in_tunnels_are_not_opened() {
    let world = world();
    let packet = over4(INSTANCE, 0, 64, &four(0, 60));
    assert_eq!(run(&world, &packet, VXLAN).exit, "nested");
    assert_eq!(run(&world, &packet, LISP).exit, "nested");
}

#[test]
fn an_interface_that_is_down_or_does_not_route_takes_nothing() {
    let mut world = world();
    let packet = over4(INSTANCE, 0, 64, &four(0, 60));
    world.change_interface(LISP, |row| row.routes = false);
    assert_eq!(run(&world, &packet, 0).exit, "not-routed");
    world.change_interface(LISP, |row| row.up = false);
    assert_eq!(run(&world, &packet, 0).exit, "interface-down");
    assert_eq!(world.interfaces.get(LISP).unwrap().mode, Mode::Routed);
}

#[test]
fn who_is_not_at_an_endpoints_site_may_not_send_for_it() {
    let mut world = world();
    let known = Forward::new(1, 0);
    world.sources.ip4.insert("10.20.0.0/16".parse().unwrap(), known).unwrap();
    world.sources.ip6.insert("2001:db8:20::/48".parse().unwrap(), known).unwrap();
    let sources = |strict| LispSources {
        tables: world.sources.clone(),
        sets: vec![Arc::from([IpAddr::from(FAR)])],
        strict,
    };
    let (loose, strict) = (sources(false), sources(true));
    let unknown = craft::ipv4([10, 99, 0, 9], HOST).udp(5, 6).build();
    world.set_lisp(true, Some(loose), []);
    assert_eq!(exit_of(&world, &over4(INSTANCE, 0, 64, &four(0, 60))), "ip4");
    assert_eq!(exit_of(&world, &over4(INSTANCE, 0, 64, &six(0, 60))), "ip6");
    assert_eq!(exit_of(&world, &over6(INSTANCE, 0, 64, &four(0, 60))), "spoofed");
    assert_eq!(exit_of(&world, &over4(INSTANCE, 0, 64, &unknown)), "ip4");
    world.all_punts();
    world.set_lisp(true, Some(strict), []);
    assert_eq!(exit_of(&world, &over4(INSTANCE, 0, 64, &four(0, 60))), "ip4");
    assert_eq!(exit_of(&world, &over4(INSTANCE, 0, 64, &unknown)), "unknown-source");
    let punts = world.all_punts();
    assert!(
        matches!(punts[..], [Punt::EidWanted(EidWanted { interface: LISP, endpoint, packet: None })]
            if endpoint == IpAddr::from([10, 99, 0, 9])),
        "{punts:?}"
    );
}

#[test]
fn without_lisp_the_port_is_nobodys_or_the_kernels() {
    let mut world = World::new();
    let packets = [over4(INSTANCE, 0, 64, &four(0, 60)), over6(INSTANCE, 0, 64, &four(0, 60))];
    assert_eq!(exit_of(&world, &packets[0]), "unreachable4");
    assert_eq!(exit_of(&world, &packets[1]), "unreachable6");
    world.change_interface(0, |row| row.put(Some(Twin)));
    assert_eq!(exit_of(&world, &packets[0]), "twin");
}
