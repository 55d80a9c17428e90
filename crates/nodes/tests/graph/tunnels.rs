//! Tunnels: frames of a bridge go through other routers, and come out of them as they were.

use crate::rig::*;
use wire::craft;

fn inner() -> Vec<u8> {
    craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
}

#[test]
fn a_flooded_frame_leaves_by_each_tunnel_in_a_packet_of_its_own() {
    let mut rig = Rig::new();
    let mut sent = rig.answer(BESIDE_TUNNELS, inner());
    sent.sort_by_key(|(_, frame)| frame.len());
    let outer = || {
        let link = craft::ethernet(our_mac(1), GATEWAY_MAC);
        link.ipv4(US, FAR).ttl(64).identification(0).dont_fragment()
    };
    let port = u16::from_be_bytes([sent[1].1[34], sent[1].1[35]]);
    let gre = [&[0x20, 0, 0x65, 0x58, 0, 0, 0, 9][..], &inner()].concat();
    let vxlan = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &inner()].concat();
    let port6 = u16::from_be_bytes([sent[2].1[54], sent[2].1[55]]);
    let outer6 = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv6(US6, FAR6).hop_limit(64);
    let label = u32::from_be_bytes(*sent[2].1[14..].first_chunk().unwrap()) & 0xf_ffff;
    let packets = [
        outer().protocol(47).payload(&gre).build(),
        outer().udp(port, 4789).checksum(0).payload(&vxlan).build(),
        outer6.flow_label(label).udp(port6, 4789).payload(&vxlan).build(),
    ];
    assert!(port == port6 && label != 0, "the flow is the same");
    assert_eq!(sent, packets.map(|packet| (1, packet)));
    rig.settle();
}

#[test]
fn a_frame_out_of_a_tunnel_is_bridged_and_its_station_learned_behind_it() {
    let mut rig = Rig::new();
    let vxlan = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &inner()].concat();
    let from_far = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US).udp(50_000, 4789);
    // The other tunnel is of the same split-horizon group.
    let sent = rig.answer(0, from_far.payload(&vxlan).build());
    assert_eq!(sent, [(BESIDE_TUNNELS, inner())]);
    let answer = craft::ethernet([6; 6], HOST_MAC).ethertype(0x88b5).payload(&[8; 46]).build();
    let sent = rig.answer(BESIDE_TUNNELS, answer.clone());
    assert_eq!(sent.len(), 1, "the station is known to be behind the tunnel");
    assert!(sent[0].1.ends_with(&answer) && sent[0].1.len() == answer.len() + 50);
    let counted = rig.dataplane.interface_totals(VXLAN);
    assert_eq!((counted.rx_packets, counted.tx_packets, counted.rx_bytes), (1, 1, 60));
    rig.settle();
}

#[test]
fn a_routed_packet_goes_through_gre_without_a_frame_around_it() {
    let mut rig = Rig::new();
    let inside = |ttl| craft::ipv4(HOST, INSIDE_GRE).ttl(ttl).udp(1, 2).payload(b"deep").build();
    let link = craft::ethernet(HOST_MAC, our_mac(0));
    let sent = rig.answer(0, link.ipv4(HOST, INSIDE_GRE).ttl(9).udp(1, 2).payload(b"deep").build());
    let gre = [&[0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8][..], &inside(8)].concat();
    let outer = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(US, FAR).ttl(64).identification(0);
    let outer = outer.dont_fragment().protocol(47).payload(&gre).build();
    assert_eq!(sent, [(1, outer)]);
    let link = craft::ethernet(HOST_MAC, our_mac(0));
    let sent = rig.answer(0, link.ipv6(HOST6, INSIDE_GRE6).hop_limit(9).udp(1, 2).build());
    assert_eq!((sent[0].0, &sent[0].1[34..38]), (1, &[0x20, 0, 0x86, 0xdd][..]));
    let counted = rig.dataplane.interface_totals(GRE_LINK);
    assert_eq!((counted.tx_packets, counted.tx_bytes), (2, (inside(8).len() + 48) as u64));
    rig.settle();
}

#[test]
fn a_packet_out_of_gre_is_routed_and_one_for_us_answered() {
    let mut rig = Rig::new();
    let from_far = |inside: Vec<u8>, kind: [u8; 2]| {
        let [high, low] = kind;
        let gre = [&[0x20, 0, high, low, 0, 0, 0, GRE_LINK_KEY as u8][..], &inside].concat();
        craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US).protocol(47).payload(&gre).build()
    };
    let inside = craft::ipv4(INSIDE_GRE, HOST).ttl(9).udp(1, 2).build();
    let to_host = craft::ethernet(our_mac(0), HOST_MAC).ipv4(INSIDE_GRE, HOST).ttl(8).udp(1, 2);
    assert_eq!(rig.answer(0, from_far(inside, [8, 0])), [(0, to_host.build())]);
    let inside = craft::ipv6(INSIDE_GRE6, HOST6).hop_limit(9).udp(1, 2).build();
    let to_host = craft::ethernet(our_mac(0), HOST_MAC).ipv6(INSIDE_GRE6, HOST6).hop_limit(8);
    assert_eq!(rig.answer(0, from_far(inside, [0x86, 0xdd])), [(0, to_host.udp(1, 2).build())]);
    let ping = craft::ipv4(INSIDE_GRE, [203, 0, 115, 1]).icmp_echo(1, 1).build();
    let pong = rig.answer(0, from_far(ping, [8, 0]));
    assert!(pong.len() == 1 && pong[0].0 == 1 && pong[0].1[23] == 47, "{pong:?}");
    let counted = rig.dataplane.interface_totals(GRE_LINK);
    assert_eq!((counted.rx_packets, counted.tx_packets), (3, 1));
    rig.settle();
}

#[test]
fn a_routed_packet_goes_through_ip_in_ip_and_comes_out_of_it() {
    let mut rig = Rig::new();
    let link = || craft::ethernet(HOST_MAC, our_mac(0));
    let outer4 = |number: u8, inside: &[u8]| {
        let outer = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(US, FAR).identification(0);
        outer.ttl(64).dont_fragment().protocol(number).payload(inside).build()
    };
    let outer6 = |number: u8, label: u32, inside: &[u8]| {
        let outer = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv6(US6, FAR6).hop_limit(64);
        outer.flow_label(label).next_header(number).payload(inside).build()
    };
    let four = |ttl, to: [u8; 4]| craft::ipv4(HOST, to).ttl(ttl).udp(1, 2).payload(b"deep").build();
    let six = |ttl, to| craft::ipv6(HOST6, to).hop_limit(ttl).udp(1, 2).build();
    let framed = |kind: u16, packet: &[u8]| [&link().ethertype(kind).build()[..], packet].concat();
    let sent = rig.answer(0, framed(0x0800, &four(9, INSIDE_IPIP)));
    assert_eq!(sent, [(1, outer4(4, &four(8, INSIDE_IPIP)))]);
    let sent = rig.answer(0, framed(0x86dd, &six(9, INSIDE_IPIP6)));
    let label = u32::from_be_bytes(*sent[0].1[14..].first_chunk().unwrap()) & 0xf_ffff;
    assert_eq!(sent, [(1, outer6(41, label, &six(8, INSIDE_IPIP6)))]);
    // And IPv6 over IPv4, IPv4 over IPv6: a route each that leads into the other tunnel.
    let lead = |id| fib::Forward::new(nodes::tables::Kind::Rewrite as u8, id);
    rig.dataplane.ip4.insert("203.0.117.0/24".parse().unwrap(), lead(OVER_IPIP6)).unwrap();
    rig.dataplane.ip6.insert("2001:db8:e::/48".parse().unwrap(), lead(OVER_IPIP)).unwrap();
    let sent = rig.answer(0, framed(0x0800, &four(9, [203, 0, 117, 9])));
    let label = u32::from_be_bytes(*sent[0].1[14..].first_chunk().unwrap()) & 0xf_ffff;
    assert_eq!(sent, [(1, outer6(4, label, &four(8, [203, 0, 117, 9])))]);
    let to = std::net::Ipv6Addr::new(0x2001, 0xdb8, 0xe, 0, 0, 0, 0, 9);
    let sent = rig.answer(0, framed(0x86dd, &six(9, to)));
    assert_eq!(sent, [(1, outer4(41, &six(8, to)))]);
    let back = craft::ipv4(INSIDE_IPIP, HOST).ttl(9).udp(1, 2).build();
    let sent = rig.answer(0, link().ipv4(FAR, US).protocol(4).payload(&back).build());
    let to_host = craft::ethernet(our_mac(0), HOST_MAC).ipv4(INSIDE_IPIP, HOST).ttl(8).udp(1, 2);
    assert_eq!(sent, [(0, to_host.build())]);
    let back = craft::ipv6(INSIDE_IPIP6, HOST6).hop_limit(9).udp(1, 2).build();
    let sent = rig.answer(0, link().ipv4(FAR, US).protocol(41).payload(&back).build());
    let to_host = craft::ethernet(our_mac(0), HOST_MAC).ipv6(INSIDE_IPIP6, HOST6).hop_limit(8);
    assert_eq!(sent, [(0, to_host.udp(1, 2).build())]);
    let counted = [IPIP, IPIP6].map(|id| rig.dataplane.interface_totals(id));
    let packets = counted.map(|it| (it.rx_packets, it.tx_packets));
    assert_eq!(packets, [(2, 2), (0, 2)]);
    rig.settle();
}

#[test]
fn an_error_about_a_packet_out_of_gre_goes_back_into_it() {
    let mut rig = Rig::new();
    let inside = craft::ipv4(INSIDE_GRE, [172, 16, 0, 1]).udp(1, 2).build();
    let gre = [&[0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8][..], &inside].concat();
    let link = craft::ethernet(HOST_MAC, our_mac(0));
    let sent = rig.answer(0, link.ipv4(FAR, US).protocol(47).payload(&gre).build());
    // Ethernet 14, IPv4 20, GRE 8, IPv4 20: then the message.
    assert!(sent.len() == 1 && sent[0].0 == 1, "{sent:?}");
    assert_eq!((sent[0].1[23], sent[0].1[62]), (47, 3));
    rig.settle();
}
