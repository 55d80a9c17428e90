use super::*;
use crate::tables::{Numbered, Tunnel};
use crate::testing::{
    FAR, FAR6, GRE, GRE_KEY, HOST, HOST_MAC, US, US_OUTSIDE, US6, VNI, VXLAN, VXLAN6, World,
};
use graph::harness::NodeHarness;
use std::sync::atomic::Ordering::Relaxed;
use wire::craft;

fn inner() -> Vec<u8> {
    craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
}

fn vxlan(vni: u32, source: [u8; 4]) -> Vec<u8> {
    let tunnel = craft::ipv4(source, US).udp(50000, 4789).vxlan(vni);
    tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
}

fn vxlan6() -> Vec<u8> {
    let tunnel = craft::ipv6(FAR6, US6).udp(50000, 4789).vxlan(VNI);
    tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
}

fn gre(flags: u16, kind: u16, rest: &[u8]) -> Vec<u8> {
    let header = [&flags.to_be_bytes()[..], &kind.to_be_bytes(), rest, &inner()].concat();
    craft::ipv4(FAR, US).protocol(47).payload(&header).build()
}

fn run(world: &World, packet: Vec<u8>, rx: u16, upper: u32) -> (String, Vec<u8>) {
    let mut node = NodeHarness::<TunnelDecap>::new(&world.setup).unwrap();
    let by = |frame: &mut Frame| frame.adjacencies_mut().fill(upper);
    let out = node.run_prepared(&[packet], rx, 0, by).remove(0);
    (out.exit, out.header)
}

fn exit_of(packet: Vec<u8>, rx: u16) -> String {
    run(&World::new(), packet, rx, 40).0
}

#[test]
fn the_frame_inside_comes_in_by_the_tunnel() {
    let mut node = NodeHarness::<TunnelDecap>::new(&World::new().setup).unwrap();
    let mut by = Vec::new();
    let out = node.run(&[vxlan(VNI, FAR), vxlan(VNI, FAR)], 0, 0);
    by.extend(out.iter().map(|out| (out.exit.as_str(), &out.header)));
    assert_eq!(by, [("bridge", &inner()); 2]);
}

#[test]
fn ipv6_is_opened_as_well_behind_extension_headers_too() {
    assert_eq!(run(&World::new(), vxlan6(), 0, 40), ("bridge".to_owned(), inner()));
    let mut behind = vxlan6();
    behind.splice(40..40, [17, 0, 1, 4, 0, 0, 0, 0]);
    behind[6] = 60;
    assert_eq!(run(&World::new(), behind, 0, 48), ("bridge".to_owned(), inner()));
}

#[test]
fn a_datagram_over_ipv6_needs_a_checksum_unless_the_tunnel_needs_none() {
    let mut bare = vxlan6();
    bare[46..48].fill(0);
    let mut world = World::new();
    assert_eq!(run(&world, bare.clone(), 0, 40).0, "no-checksum");
    world.change_interface(VXLAN6, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.summed = false;
        }
    });
    assert_eq!(run(&world, bare, 0, 40).0, "bridge");
    assert_eq!(run(&world, vxlan6(), 0, 40).0, "bridge");
}

#[test]
fn packets_of_no_tunnel_are_told_apart() {
    let mut flags = vxlan(VNI, FAR);
    flags[28] = 0;
    let runt = craft::ipv4(FAR, US).udp(50000, 4789).vxlan(VNI).payload(&[0; 13]).build();
    let short = craft::ipv4(FAR, US).udp(50000, 4789).payload(&[8; 7]).build();
    for (packet, exit) in [
        (vxlan(VNI + 1, FAR), "unknown-tunnel"),
        (vxlan(VNI, US), "unknown-tunnel"),
        (flags, "bad-vxlan-flags"),
        (runt, "inner-runt"),
        (short, "truncated"),
    ] {
        assert_eq!(exit_of(packet, 0), exit);
    }
    assert_eq!(exit_of(vxlan(VNI, FAR), VXLAN), "nested");
}

/// A world whose tunnel of VXLAN is one that lets flows say its number.
fn numbered(wrap: Numbered) -> World {
    let mut world = World::new();
    world.change_interface(VXLAN, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.key.wrap = Wrap::ByFlows(wrap);
        }
    });
    world
}

/// Exit and number of a packet.
fn led(world: &World, packet: Vec<u8>) -> (String, u32) {
    let mut node = NodeHarness::<TunnelDecap>::new(&world.setup).unwrap();
    let out = node.run(&[packet], 0, 0).remove(0);
    (out.exit, out.adjacency)
}

#[test]
fn a_tunnel_that_flows_number_takes_packets_of_any_and_tells_which() {
    let world = numbered(Numbered::Vxlan { port: 4789 });
    for vni in [0, 5, 0x00ff_ffff] {
        let (exit, number) = led(&world, vxlan(vni, FAR));
        assert_eq!((exit.as_str(), number), ("bridge", vni));
    }
    assert_eq!(led(&world, vxlan(5, US)).0, "unknown-tunnel");
    let world = numbered(Numbered::Gre);
    let (exit, number) = led(&world, gre(0x2000, 0x6558, &[1, 2, 3, 4]));
    assert_eq!((exit.as_str(), number), ("bridge", 0x0102_0304));
    let (exit, number) = led(&world, gre(0, 0x6558, &[]));
    assert_eq!((exit.as_str(), number), ("bridge", 0));
    // One of its own number comes first, and has no other in flows.
    let counted = |world: &World, key: u32| {
        led(world, gre(0x2000, 0x6558, &key.to_be_bytes()));
        let received =
            |id: u16| world.setup.counters.interfaces[usize::from(id)].rx_packets.load(Relaxed);
        (received(VXLAN), received(GRE))
    };
    let world = numbered(Numbered::Gre);
    assert_eq!(counted(&world, GRE_KEY), (0, 1));
    assert_eq!(counted(&world, GRE_KEY + 100), (1, 1));
}

#[test]
fn a_tunnel_without_an_end_of_ours_takes_packets_to_any_of_our_addresses_and_tells_which() {
    let mut world = World::new();
    world.change_interface(VXLAN, |row| {
        let Link::Tunnel(tunnel) = &mut row.link else { unreachable!() };
        tunnel.key.ends = tunnel.key.ends.with_any_local();
    });
    let to = |vni: u32, source: [u8; 4], ours: [u8; 4]| {
        let tunnel = craft::ipv4(source, ours).udp(50000, 4789).vxlan(vni);
        tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    };
    let mut node = NodeHarness::<TunnelDecap>::new(&world.setup).unwrap();
    let packets = [US, US_OUTSIDE, US].map(|ours| to(VNI, FAR, ours));
    let out = node.run(&packets, 0, 0);
    let told = out.iter().map(|out| (out.exit.as_str(), out.local));
    let wanted = [US, US_OUTSIDE, US].map(|ours| ("bridge", Some(IpAddr::from(ours))));
    assert_eq!(told.collect::<Vec<_>>(), wanted);
    assert_eq!(run(&world, to(VNI, HOST, US), 0, 40).0, "unknown-tunnel");
    assert_eq!(run(&world, to(VNI + 1, FAR, US), 0, 40).0, "unknown-tunnel");
    // One with an end of ours comes first, even with another beside it.
    world.change_interface(GRE, |row| {
        let ends = Ends::new(IpAddr::from(US), IpAddr::from(FAR)).unwrap();
        row.link = Link::Tunnel(Tunnel::new(Wrap::vxlan(VNI), ends));
    });
    let counted = |ours: [u8; 4]| {
        run(&world, to(VNI, FAR, ours), 0, 40);
        let received =
            |id: u16| world.setup.counters.interfaces[usize::from(id)].rx_packets.load(Relaxed);
        (received(VXLAN), received(GRE))
    };
    let before = counted(US);
    assert_eq!(counted(US), (before.0, before.1 + 1));
    assert_eq!(counted(US_OUTSIDE), (before.0 + 1, before.1 + 1));
}

#[test]
fn a_tunnel_whose_ends_are_all_the_packets_takes_both_families() {
    let mut world = World::new();
    world.change_interface(VXLAN, |row| {
        let Link::Tunnel(tunnel) = &mut row.link else { unreachable!() };
        tunnel.key.ends = tunnel.key.ends.with_any_remote().with_any_local();
        tunnel.is_directed = true;
    });
    world.change_interface(VXLAN6, |row| row.link = Link::Port);
    for packet in [vxlan(VNI, HOST), vxlan(VNI, FAR), vxlan6()] {
        assert_eq!(run(&world, packet, 0, 40).0, "bridge");
    }
    assert_eq!(run(&world, vxlan(VNI + 1, FAR), 0, 40).0, "unknown-tunnel");
}

#[test]
fn geneve_is_opened_behind_options_that_need_not_be_understood() {
    let mut world = World::new();
    world.change_interface(VXLAN, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.key.wrap = Wrap::geneve(42);
        }
    });
    let with = |header: &[u8]| {
        let bytes = [header, &inner()].concat();
        craft::ipv4(FAR, US).udp(50_000, 6081).payload(&bytes).build()
    };
    let plain = with(&[0, 0, 0x65, 0x58, 0, 0, 42, 0]);
    assert_eq!(run(&world, plain.clone(), 0, 40), ("bridge".to_owned(), inner()));
    let options = with(&[2, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(run(&world, options, 0, 40), ("bridge".to_owned(), inner()));
    let long = craft::ipv4(FAR, US).udp(50_000, 6081).payload(&[3, 0, 0x65, 0x58, 0, 0, 42, 0]);
    for (packet, exit) in [
        (with(&[1, 0x40, 0x65, 0x58, 0, 0, 42, 0, 1, 1, 0x81, 0]), "critical-options"),
        (with(&[0, 0x80, 0x65, 0x58, 0, 0, 42, 0]), "bad-geneve-header"),
        (with(&[0x40, 0, 0x65, 0x58, 0, 0, 42, 0]), "bad-geneve-header"),
        (with(&[0, 0, 0x65, 0x58, 0, 0, 43, 0]), "unknown-tunnel"),
        (with(&[0, 0, 0x08, 0x00, 0, 0, 42, 0]), "wrong-payload"),
        (long.build(), "truncated"),
    ] {
        assert_eq!(run(&world, packet, 0, 40).0, exit);
    }
    let world = numbered(Numbered::Geneve { port: 6081 });
    assert_eq!(led(&world, plain.clone()), ("bridge".to_owned(), 42));
    // At another port it is another tunnel.
    let mut far = plain.clone();
    far[22..24].copy_from_slice(&6082_u16.to_be_bytes());
    assert_eq!(run(&world, far.clone(), 0, 40).0, "bad-vxlan-flags");
    let world = numbered(Numbered::Geneve { port: 6082 });
    assert_eq!(led(&world, far), ("bridge".to_owned(), 42));
    assert_eq!(led(&world, plain).0, "unknown-tunnel");
}

#[test]
fn gre_is_checked_and_its_key_tells_tunnels_apart() {
    let key = GRE_KEY.to_be_bytes();
    for (packet, exit) in [
        (gre(0x2000, 0x6558, &key), "bridge"),
        (gre(0, 0x6558, &[]), "unknown-tunnel"),
        (gre(0x2000, 0x0800, &key), "wrong-payload"),
        (gre(0x4000, 0x6558, &[]), "bad-gre-header"),
        (gre(0x8000, 0x6558, &[0, 1, 0, 0]), "bad-gre-header"),
    ] {
        assert_eq!(exit_of(packet, 0), exit);
    }
    let short = craft::ipv4(FAR, US).protocol(47).payload(&[0x20, 0]).build();
    assert_eq!(exit_of(short, 0), "truncated");
}

#[test]
fn congestion_outside_is_told_inside_or_dropped_for() {
    let inside = |tos| craft::ipv4([10, 9, 0, 1], [10, 9, 0, 2]).tos(tos).udp(5, 6).build();
    let frame = |tos| {
        [&craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x0800).build()[..], &inside(tos)].concat()
    };
    let over4 = |tos: u8, inner: &[u8]| {
        let outer = craft::ipv4(FAR, US).tos(tos).udp(50000, 4789).checksum(0).vxlan(VNI);
        outer.payload(inner).build()
    };
    let over6 = |class: u8, inner: &[u8]| {
        let outer = craft::ipv6(FAR6, US6).traffic_class(class).udp(50000, 4789).vxlan(VNI);
        outer.payload(inner).build()
    };
    for outside in 0..4 {
        for within in 0..4 {
            let (inner, outer) = (frame(0x28 | within), 0xb8 | outside);
            for packet in [over4(outer, &inner), over6(outer, &inner)] {
                let (exit, packet) = run(&World::new(), packet, 0, 40);
                match ecn::leaving(within, outside) {
                    Some(marks) => {
                        assert_eq!((exit.as_str(), packet), ("bridge", frame(0x28 | marks)));
                    }
                    None => assert_eq!(exit, "congested"),
                }
            }
        }
    }
    for packet in [over4(3, &inner()), over6(3, &inner())] {
        assert_eq!(run(&World::new(), packet, 0, 40), ("bridge".to_owned(), inner()));
    }
}

#[test]
fn another_udp_port_is_another_tunnel() {
    let at = |port| {
        let tunnel = craft::ipv4(FAR, US).udp(50000, port).vxlan(VNI);
        tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    };
    let mut world = World::new();
    world.change_interface(VXLAN, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.key.wrap = Wrap::Vxlan { vni: VNI, port: 8472 };
        }
    });
    assert_eq!(run(&world, at(8472), 0, 40), ("bridge".to_owned(), inner()));
    assert_eq!(run(&world, at(4789), 0, 40).0, "unknown-tunnel");
}

#[test]
fn packets_inside_gre_go_to_their_protocol() {
    let mut world = World::new();
    world.change_interface(GRE, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.inside = Inside::Packets;
        }
    });
    let key = GRE_KEY.to_be_bytes();
    for (kind, exit) in [(0x0800, "ip4"), (0x86dd, "ip6"), (0x6558, "wrong-payload")] {
        assert_eq!(run(&world, gre(0x2000, kind, &key), 0, 40).0, exit);
    }
}

#[test]
fn packets_inside_ip_are_told_by_the_outer_protocol() {
    let world = World::new();
    let four = craft::ipv4([203, 0, 116, 9], FAR).udp(1, 2).build();
    let six = craft::ipv6(FAR6, US6).udp(1, 2).build();
    let over4 =
        |number: u8, inner: &[u8]| craft::ipv4(FAR, US).protocol(number).payload(inner).build();
    let over6 = |number: u8, inner: &[u8]| {
        craft::ipv6(FAR6, US6).next_header(number).payload(inner).build()
    };
    for (number, inner, exit) in [(4, &four, "ip4"), (41, &six, "ip6")] {
        for packet in [over4(number, inner), over6(number, inner)] {
            assert_eq!(run(&world, packet, 0, 40), (exit.to_owned(), inner.clone()));
        }
    }
    for (packet, exit) in [
        (over4(41, &four), "wrong-version"),
        (over4(4, &six), "wrong-version"),
        (over6(4, &[0x50; 20]), "wrong-version"),
        (over4(4, &[]), "truncated"),
        (over6(41, &[]), "truncated"),
        (craft::ipv4(HOST, US).protocol(4).payload(&four).build(), "unknown-tunnel"),
    ] {
        assert_eq!(run(&world, packet, 0, 40).0, exit);
    }
    // Behind the option of Linux that limits how deep tunnels are put into each other.
    let mut limited = over6(4, &four);
    limited.splice(40..40, [4, 0, 4, 1, 4, 1, 1, 0]);
    limited[6] = 60;
    assert_eq!(run(&world, limited, 0, 48), ("ip4".to_owned(), four));
}

#[test]
fn a_remote_that_is_not_known_is_told_where_remotes_are_learned() {
    let mut world = World::new();
    let hub = |learns: bool| {
        let ends = Ends::new(std::net::Ipv4Addr::from(US).into(), [0, 0, 0, 0].into());
        let tunnel = Tunnel::new(Wrap::vxlan(7), ends.unwrap());
        Link::Tunnel(Tunnel { learns, ..tunnel })
    };
    world.change_interface(VXLAN, |row| row.link = hub(false));
    assert_eq!(run(&world, vxlan(7, FAR), 0, 40).0, "unknown-tunnel");
    world.change_interface(VXLAN, |row| row.link = hub(true));
    assert_eq!(run(&world, vxlan(7, FAR), 0, 40).0, "new-remote");
    assert_eq!(run(&world, vxlan(8, FAR), 0, 40).0, "unknown-tunnel");
    let punts = world.all_punts();
    assert!(
        matches!(punts[..], [Punt::RemoteHeard(RemoteHeard { interface: VXLAN, underlay: 0, remote })]
            if remote == std::net::IpAddr::from(FAR)),
        "{punts:?}"
    );
}

#[test]
fn a_flood_of_remotes_from_one_network_leaves_another_heard() {
    let mut world = World::new();
    let ends = Ends::new(std::net::Ipv4Addr::from(US).into(), [0, 0, 0, 0].into());
    let tunnel = Tunnel { learns: true, ..Tunnel::new(Wrap::vxlan(7), ends.unwrap()) };
    world.change_interface(VXLAN, |row| row.link = Link::Tunnel(tunnel));
    let mut packets: Vec<_> = (0..200).map(|last| vxlan(7, [203, 0, 113, last])).collect();
    packets.push(vxlan(7, [198, 18, 0, 1]));
    let mut node = NodeHarness::<TunnelDecap>::new(&world.setup).unwrap();
    let heard: Vec<IpAddr> = packets
        .chunks(1)
        .flat_map(|packet| {
            node.run_prepared(packet, 0, 0, |frame| frame.adjacencies_mut().fill(40));
            world.all_punts()
        })
        .map(|punt| match punt {
            Punt::RemoteHeard(heard) => heard.remote,
            punt => panic!("{punt:?}"),
        })
        .collect();
    assert!(heard.len() < 100, "{}", heard.len());
    assert_eq!(heard.last(), Some(&IpAddr::from([198, 18, 0, 1])));
}
