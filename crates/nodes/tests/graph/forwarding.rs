//! What comes in by one interface leaves by another, byte for byte.

use crate::rig::*;
use wire::craft::{self, Craft, Ethernet};

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

#[test]
fn a_packet_is_forwarded_with_one_hop_less_and_new_macs() {
    let mut rig = Rig::new();
    let packet = from_host().ipv4(HOST, FAR).ttl(64).tos(0xb9).identification(7).dont_fragment();
    let sent = rig.answer(0, packet.udp(1000, 53).payload(b"question").pad_to(70).build());
    let expected = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(HOST, FAR).ttl(63);
    let expected = expected.tos(0xb9).identification(7).dont_fragment();
    assert_eq!(sent, [(1, expected.udp(1000, 53).payload(b"question").build())]);
    rig.settle();
}

#[test]
fn the_way_back_works_too() {
    let mut rig = Rig::new();
    let from_gateway = craft::ethernet(GATEWAY_MAC, our_mac(1));
    let sent = rig.answer(1, from_gateway.ipv4(FAR, HOST).ttl(9).tcp(80, 1000).build());
    let expected = craft::ethernet(our_mac(0), HOST_MAC).ipv4(FAR, HOST).ttl(8);
    assert_eq!(sent, [(0, expected.tcp(80, 1000).build())]);
    rig.settle();
}

#[test]
fn cross_connected_frames_leave_as_they_came() {
    let mut rig = Rig::new();
    let strange = vec![0xee; 15];
    assert_eq!(rig.answer(2, strange.clone()), [(3, strange.clone())]);
    assert_eq!(rig.answer(3, strange.clone()), [(2, strange)]);
    let martian = craft::ethernet([1; 6], [3; 6]).vlan(9).ipv4([127, 0, 0, 1], [0; 4]).build();
    assert_eq!(rig.answer(2, martian.clone()), [(3, martian)]);
    rig.settle();
}

#[test]
fn a_thousand_packets_of_many_kinds_keep_their_order_and_are_counted() {
    let mut rig = Rig::new();
    let packet = |n: u16, ttl: u8| from_host().ipv4(HOST, FAR).identification(n).ttl(ttl);
    for n in 0..1000 {
        let forwarded = packet(n, 9).udp(1, 2).build();
        let dropped = from_host().ipv4(HOST, [10, 1, 0, 1]).udp(1, 2).build();
        rig.receive(0, if n % 5 == 4 { dropped } else { forwarded });
        rig.receive(2, vec![n as u8; 60]);
    }
    rig.run();
    let forwarded = (0..1000).filter(|n| n % 5 != 4);
    let expected = forwarded.map(|n| {
        let link = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(HOST, FAR);
        link.identification(n).ttl(8).udp(1, 2).build()
    });
    assert!(rig.sent(1).into_iter().eq(expected));
    assert!(rig.sent(3).into_iter().eq((0..1000u16).map(|n| vec![n as u8; 60])));
    let (zero, one) = (rig.dataplane.interface_totals(0), rig.dataplane.interface_totals(1));
    assert_eq!((zero.rx_packets, zero.rx_bytes), (1000, 1000 * 42));
    assert_eq!((one.tx_packets, one.tx_bytes), (800, 800 * 42));
    assert_eq!(rig.drops(), [("ip4-lookup/blackhole".to_owned(), 200)]);
    rig.settle();
}

#[test]
fn a_long_packet_leaves_in_pieces_that_make_the_whole() {
    let mut rig = Rig::new();
    let packet = from_host().ipv4(HOST, [10, 5, 0, 1]).identification(5).ttl(9);
    let whole = packet.clone().udp(1, 2).payload_len(200).build();
    let data = &whole[34..];
    let piece = |at: usize, end: usize| {
        let link = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(HOST, [10, 5, 0, 1]);
        let link = link.identification(5).ttl(8).protocol(17);
        (1, link.fragment(at, end != data.len()).payload(&data[at..end]).build())
    };
    assert_eq!(rig.answer(0, whole.clone()), [piece(0, 80), piece(80, 160), piece(160, 208)]);
    rig.settle();
}

#[test]
fn a_vector_of_long_packets_leaves_in_pieces_in_order() {
    let mut rig = Rig::new();
    for n in 0..256 {
        let packet = from_host().ipv4(HOST, [10, 5, 0, 1]).identification(n);
        rig.receive(0, packet.udp(1, 2).payload_len(300).build());
    }
    rig.run();
    let mut next = [0; 256];
    for frame in rig.sent(1) {
        let header = wire::ipv4::Header::new(&frame[14..]).unwrap();
        let place = &mut next[usize::from(header.identification())];
        assert_eq!(header.fragment_offset(), *place);
        *place += usize::from(header.total_len()) - 20;
    }
    assert_eq!(next, [308; 256]);
    rig.settle();
}

#[test]
fn a_recorded_route_names_the_interface_that_the_packet_left_by() {
    let mut rig = Rig::new();
    let packet = from_host().ipv4(HOST, FAR).ttl(9).option(7, &[4, 0, 0, 0, 0]);
    let expected = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(HOST, FAR).ttl(8);
    let recorded = [&[8][..], &US_OUTSIDE].concat();
    let expected = expected.option(7, &recorded).udp(1, 2).build();
    assert_eq!(rig.answer(0, packet.udp(1, 2).build()), [(1, expected)]);
    rig.settle();
}
