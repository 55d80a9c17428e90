//! Two VRFs with the same addresses: each answers and complains by its own routes.

use crate::rig::*;
use fib::Forward;
use nodes::tables::{Kind, Link, VrfId, VrfTables};
use wire::craft::{self, Craft, Ethernet};
use wire::{ethernet, icmp4, icmp6, ipv4, ipv6};

/// A host in VRF 1, behind interface 1, with the addresses of the host behind interface 0.
fn from_twin() -> Craft<Ethernet> {
    craft::ethernet(GATEWAY_MAC, our_mac(1))
}

/// A router whose VRF 1 has our addresses again, and leads to the twin.
fn twins() -> (Rig, VrfTables) {
    let mut rig = Rig::new();
    let tables = rig.add_vrf();
    rig.change_interface(1, |row| {
        row.ip4 = vec![(u32::from_be_bytes(US), 24)];
        row.ip6 = vec![(US6.into(), 64)];
    });
    for (prefix, kind, id) in
        [("192.0.2.1/32", Kind::Local, 0), ("192.0.2.2/32", Kind::Rewrite, TO_GATEWAY)]
    {
        tables.ip4.insert(prefix.parse().unwrap(), Forward::new(kind as u8, id)).unwrap();
    }
    for (prefix, kind, id) in
        [("2001:db8::1/128", Kind::Local, 0), ("2001:db8::2/128", Kind::Rewrite, TO_GATEWAY6)]
    {
        tables.ip6.insert(prefix.parse().unwrap(), Forward::new(kind as u8, id)).unwrap();
    }
    (rig, tables)
}

/// The type of the ICMP message that left by interface 1 and by no other.
fn only_answer(rig: &mut Rig) -> u8 {
    rig.run();
    let sent = [rig.sent(0), rig.sent(1)];
    assert!(sent[0].is_empty() && sent[1].len() == 1, "{sent:?}");
    let packet = &sent[1][0][ethernet::Header::LEN..];
    match wire::ip::version(packet) {
        6 => packet[ipv6::Header::LEN],
        _ => packet[ipv4::Header::LEN],
    }
}

#[test]
fn our_address_answers_in_the_vrf_where_it_was_asked() {
    let (mut rig, _) = twins();
    rig.receive(1, from_twin().ipv4(HOST, US).icmp_echo(7, 1).build());
    assert_eq!(only_answer(&mut rig), icmp4::message::ECHO_REPLY);
    rig.receive(1, from_twin().ipv6(HOST6, US6).icmp_echo(7, 1).build());
    assert_eq!(only_answer(&mut rig), icmp6::message::ECHO_REPLY);
}

#[test]
fn errors_go_to_the_sender_in_its_vrf_from_an_address_there() {
    let (mut rig, _) = twins();
    // Both are ways that the default VRF has, and VRF 1 has not.
    rig.receive(1, from_twin().ipv4(HOST, FAR).udp(1, 2).build());
    assert_eq!(only_answer(&mut rig), icmp4::message::UNREACHABLE);
    rig.receive(1, from_twin().ipv6(HOST6, FAR6).udp(1, 2).build());
    assert_eq!(only_answer(&mut rig), icmp6::message::UNREACHABLE);
}

#[test]
fn what_is_ours_in_one_vrf_is_not_in_another() {
    let (mut rig, tables) = twins();
    tables.ip4.remove("192.0.2.1/32".parse().unwrap());
    rig.receive(1, from_twin().ipv4(HOST, US).icmp_echo(7, 1).build());
    assert_eq!(only_answer(&mut rig), icmp4::message::UNREACHABLE);
}

#[test]
fn a_route_that_leads_to_another_vrf_is_followed_there() {
    let (mut rig, tables) = twins();
    let elsewhere = Forward::new(Kind::Vrf as u8, 0);
    tables.ip4.insert("10.0.0.0/8".parse().unwrap(), elsewhere).unwrap();
    rig.receive(1, from_twin().ipv4(HOST, FAR).udp(1, 2).build());
    rig.run();
    let sent = rig.sent(1);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0][ethernet::Header::LEN + 16..][..4], FAR);
}

#[test]
fn a_tunnel_ends_where_its_vrf_has_its_address() {
    let tunnelled = |from: Craft<Ethernet>| {
        let inner = craft::ethernet(HOST_MAC, GATEWAY_MAC).ipv4(HOST, FAR).build();
        let vxlan: Vec<u8> = [wire::vxlan::header(VNI).to_vec(), inner].concat();
        from.ipv4(FAR, US).udp(9, wire::udp::port::VXLAN).payload(&vxlan).build()
    };
    let (mut rig, _) = twins();
    rig.receive(1, tunnelled(from_twin()));
    rig.run();
    assert_eq!(rig.drops(), [("tunnel-decap/unknown-tunnel".to_owned(), 1)]);
    let (mut rig, _) = twins();
    put_under(&mut rig, VXLAN, VrfId(1));
    rig.receive(1, tunnelled(from_twin()));
    rig.run();
    assert_eq!((rig.drops(), rig.sent(BESIDE_TUNNELS).len()), (vec![], 1));
}

/// Has a tunnel's packets be in a VRF.
fn put_under(rig: &mut Rig, tunnel: u16, vrf: VrfId) {
    rig.change_interface(tunnel, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.underlay = vrf;
        }
    });
}

#[test]
fn what_is_inside_a_tunnel_is_of_one_vrf_and_its_packets_of_another() {
    let (mut rig, tables) = twins();
    let to_host = Forward::new(Kind::Rewrite as u8, TO_HOST);
    tables.ip4.insert("10.0.0.0/8".parse().unwrap(), to_host).unwrap();
    // The default VRF inside, VRF 1 around it: the same address leads elsewhere there.
    put_under(&mut rig, GRE_LINK, VrfId(1));
    rig.receive(0, craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, INSIDE_GRE).udp(1, 2).build());
    rig.run();
    let sent = rig.sent(0);
    assert_eq!((sent.len(), sent[0][23], &sent[0][30..34]), (1, 47, &FAR[..]));
    // The other way round: an answer comes out of it into VRF 1, by whose route it goes on.
    put_under(&mut rig, GRE_LINK, VrfId::DEFAULT);
    rig.change_interface(GRE_LINK, |row| row.vrf = VrfId(1));
    let inside = craft::ipv4(INSIDE_GRE, FAR).ttl(9).udp(1, 2).build();
    let gre = [&[0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8][..], &inside].concat();
    let outer = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US).protocol(47).payload(&gre);
    rig.receive(0, outer.build());
    rig.run();
    let on = craft::ethernet(our_mac(0), HOST_MAC).ipv4(INSIDE_GRE, FAR).ttl(8).udp(1, 2);
    assert_eq!(rig.sent(0), [on.build()]);
}
