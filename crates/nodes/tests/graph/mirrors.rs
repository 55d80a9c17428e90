//! Mirrors: who listens gets a copy of each frame, and nobody else notices.

use crate::rig::*;
use nodes::interface::{MirrorTo, mirror_input::MirrorInput, mirror_output::MirrorOutput};
use wire::craft;

/// Where copies leave.
const LISTENER: u16 = 5;

fn listen(rig: &mut Rig, id: u16, received: bool, sent: bool) {
    let to = |wanted: bool| wanted.then_some(MirrorTo(LISTENER));
    rig.change_interface(id, |row| {
        row.set::<MirrorInput>(to(received));
        row.set::<MirrorOutput>(to(sent));
    });
}

/// What leaves for a frame without mirrors, and with them.
fn both(id: u16, frame: &[u8], mirrors: &[(u16, bool, bool)]) -> [Vec<(u16, Vec<u8>)>; 2] {
    let mut rig = Rig::new();
    let plain = rig.answer(id, frame.to_vec());
    mirrors.iter().for_each(|&(id, received, sent)| listen(&mut rig, id, received, sent));
    let heard = rig.answer(id, frame.to_vec());
    rig.settle();
    [plain, heard]
}

fn of(sent: &[(u16, Vec<u8>)], id: u16) -> Vec<&[u8]> {
    sent.iter().filter(|(tx, _)| *tx == id).map(|(_, frame)| &frame[..]).collect()
}

#[test]
fn a_routed_packet_is_copied_as_it_came_and_as_it_left() {
    let frame = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
    let [plain, heard] = both(0, &frame, &[(0, true, true), (1, false, true)]);
    assert_eq!(of(&heard, 1), of(&plain, 1));
    let mut copies = of(&heard, LISTENER);
    copies.sort_by_key(|copy| *copy != frame);
    assert_eq!(copies, [&frame[..], of(&plain, 1)[0]]);
}

#[test]
fn bridged_and_cross_connected_frames_share_their_buffer_with_the_copy() {
    let broadcast = craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(0x88b5).pad_to(60).build();
    for (id, mirrors) in [
        (2, &[(2, true, false)][..]),
        (2, &[(2, true, false), (3, false, true)]),
        (6, &[(6, true, true)]),
        (6, &[(6, true, false), (7, false, true), (8, false, true)]),
    ] {
        let [plain, heard] = both(id, &broadcast, mirrors);
        let copies = of(&heard, LISTENER);
        assert_eq!(copies, vec![&broadcast[..]; mirrors.len()]);
        let others: Vec<_> = heard.iter().filter(|(tx, _)| *tx != LISTENER).cloned().collect();
        assert_eq!(others, plain);
    }
}

#[test]
fn a_port_is_heard_with_its_tags_and_a_sub_interface_without() {
    let plain = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    let mut tagged = plain.clone();
    tagged.splice(12..12, [0x81, 0, 1, 0x90]);
    for (id, copy) in [(TRUNK, &tagged), (BRIDGED_VLAN, &plain)] {
        let [_, heard] = both(TRUNK, &tagged, &[(id, true, false)]);
        assert_eq!(of(&heard, LISTENER), [&copy[..]]);
    }
}

#[test]
fn a_tunnel_is_heard_without_its_headers() {
    let inner = craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    let vxlan = [&[8, 0, 0, 0, 0, 0, VNI as u8, 0][..], &inner].concat();
    let from_far = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US).udp(50_000, 4789);
    let arriving = from_far.payload(&vxlan).build();
    let [_, heard] = both(0, &arriving, &[(VXLAN, true, false)]);
    assert_eq!(of(&heard, LISTENER), [&inner[..]]);
    let [plain, heard] = both(BESIDE_TUNNELS, &inner, &[(VXLAN, false, true), (GRE, false, true)]);
    assert_eq!(of(&heard, LISTENER), [&inner[..], &inner]);
    assert_eq!(of(&heard, 1).len(), of(&plain, 1).len());
}

#[test]
fn copies_are_counted() {
    let mut rig = Rig::new();
    listen(&mut rig, 2, true, true);
    rig.answer(2, vec![1; 60]);
    rig.answer(3, vec![1; 60]);
    let counted = rig.dataplane.mirrored_totals(2);
    assert_eq!((counted.received, counted.sent, counted.lost), (1, 1, 0));
    assert_eq!(rig.dataplane.interface_totals(LISTENER).tx_packets, 2);
    rig.settle();
}
