//! Sub-interfaces: tags come off on the way in and go on on the way out, whatever happens between.

use crate::rig::*;
use nodes::filter::{Mark, Policed, policer_input::PolicerInput, policer_output::PolicerOutput};
use nodes::tables::Injected;
use wire::craft::{self, Craft, Ethernet};

const ROUTED: [u8; 4] = [203, 0, 113, 1];
const NEAR_ROUTED: [u8; 4] = [203, 0, 113, 9];
const OWN: [u8; 4] = [203, 0, 114, 1];
const NEAR_OWN: [u8; 4] = [203, 0, 114, 9];

/// The frame with a tag of priority 5.
fn tagged(frame: Vec<u8>, vid: u16) -> Vec<u8> {
    let [high, low] = (5 << 13 | vid).to_be_bytes();
    with_tags(frame, &[0x81, 0, high, low])
}

/// The frame with tags put in, whole tags each.
fn with_tags(mut frame: Vec<u8>, tags: &[u8]) -> Vec<u8> {
    frame.splice(12..12, tags.iter().copied());
    frame
}

#[test]
fn cross_connected_vlans_are_translated_and_keep_their_priority() {
    let mut rig = Rig::new();
    let plain = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    let two = with_tags(plain.clone(), &[0x88, 0xa8, 0xa0, 200, 0x81, 0, 0xa0, 7]);
    let one = with_tags(plain, &[0x81, 0, 0xa1, 0x2c]);
    assert_eq!(rig.answer(TRUNK, two.clone()), [(TRUNK, one.clone())]);
    assert_eq!(rig.answer(TRUNK, one), [(TRUNK, two)]);
    let sent = |id| rig.dataplane.interface_totals(id).tx_packets;
    assert_eq!((sent(PAIR_VLAN), sent(OTHER_VLAN), sent(TRUNK)), (1, 1, 2));
    let trunk = rig.dataplane.interface_totals(TRUNK);
    assert_eq!(trunk.tx_bytes, trunk.rx_bytes, "with their tags, as what comes in");
    rig.settle();
}

#[test]
fn a_vlan_with_an_address_answers_with_its_tag() {
    let mut rig = Rig::new();
    let ask =
        craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, NEAR_ROUTED, ROUTED).build();
    let answers = rig.answer(TRUNK, tagged(ask.clone(), 100));
    let (port, reply) = &answers[0];
    assert_eq!(
        (*port, &reply[..6], &reply[12..18]),
        (TRUNK, &HOST_MAC[..], &[0x81, 0, 0xa0, 100, 8, 6][..])
    );
    assert_eq!(reply[6..12], our_mac(ROUTED_VLAN));
    assert_eq!(rig.answer(TRUNK, ask), []);
    rig.settle();
}

#[test]
fn the_tag_of_a_vlan_has_the_priority_that_its_frames_are_marked_with() {
    let mut rig = Rig::new();
    let marked = |pcp| Some(Policed { policer: None, mark: Mark { dscp: None, pcp: Some(pcp) } });
    let ask =
        craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, NEAR_ROUTED, ROUTED).build();
    rig.change_interface(ROUTED_VLAN, |row| row.set::<PolicerInput>(marked(2)));
    let answer = rig.answer(TRUNK, tagged(ask.clone(), 100)).remove(0).1;
    assert_eq!(answer[12..16], [0x81, 0, 0x40, 100]);
    rig.change_interface(ROUTED_VLAN, |row| row.set::<PolicerOutput>(marked(3)));
    let answer = rig.answer(TRUNK, tagged(ask.clone(), 100)).remove(0).1;
    assert_eq!(answer[12..16], [0x81, 0, 0x60, 100]);
    // One that no tag came with.
    rig.inject(&ask, |packet| Injected::Frame { interface: ROUTED_VLAN, packet });
    rig.run();
    assert_eq!(rig.sent(TRUNK), [with_tags(ask, &[0x81, 0, 0x60, 100])]);
    rig.settle();
}

#[test]
fn the_sender_of_a_packet_that_came_by_a_vlan_hears_of_errors() {
    let mut rig = Rig::new();
    let inside = craft::ethernet(HOST_MAC, our_mac(ROUTED_VLAN)).ipv4(HOST, FAR).ttl(1);
    let errors = rig.answer(TRUNK, tagged(inside.udp(5, 6).build(), 100));
    let (port, error) = &errors[0];
    // Time exceeded (RFC 792), in ICMP, in IPv4, in a frame without tags.
    assert_eq!((errors.len(), *port, error[14 + 9], error[14 + 20]), (1, 0, 1, 11));
    rig.settle();
}

#[test]
fn a_packet_is_routed_out_of_a_vlan() {
    let mut rig = Rig::new();
    let inside =
        |frame: Craft<Ethernet>, ttl| frame.ipv4(NEAR_ROUTED, FAR).ttl(ttl).udp(5, 6).build();
    let sent =
        rig.answer(TRUNK, tagged(inside(craft::ethernet(HOST_MAC, our_mac(ROUTED_VLAN)), 9), 100));
    assert_eq!(sent, [(1, inside(craft::ethernet(our_mac(1), GATEWAY_MAC), 8))]);
    rig.settle();
}

#[test]
fn the_routers_own_station_in_a_bridge_is_found_and_answers() {
    let mut rig = Rig::new();
    let ask = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, NEAR_OWN, OWN).build();
    let answers = rig.answer(TRUNK, tagged(ask, 400));
    let (port, reply) = &answers[0];
    assert_eq!((answers.len(), *port, &reply[..6]), (1, TRUNK, &HOST_MAC[..]));
    assert_eq!(reply[14..18], [0xa1, 0x90, 8, 6], "the priority is kept");
    rig.settle();
}

#[test]
fn a_flooded_frame_is_tagged_for_one_port_and_not_for_another() {
    let mut rig = Rig::new();
    let mode = rig.dataplane.interfaces().get(BRIDGED_VLAN).unwrap().mode;
    rig.change_interface(7, |row| row.mode = mode);
    rig.change_interface(8, |row| row.mode = mode);
    rig.change_interface(OWN_STATION, |row| row.mode = nodes::tables::Mode::Routed);
    let frame = craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    let mut sent = rig.answer(7, frame.clone());
    sent.sort();
    let with_tag = with_tags(frame.clone(), &[0x81, 0, 1, 0x90]);
    assert_eq!(sent, [(8, frame), (TRUNK, with_tag)]);
    rig.settle();
}
