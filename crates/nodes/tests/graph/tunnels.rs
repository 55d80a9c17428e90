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
    let packets = [
        outer().protocol(47).payload(&gre).build(),
        outer().udp(port, 4789).checksum(0).payload(&vxlan).build(),
    ];
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
