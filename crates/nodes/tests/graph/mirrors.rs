//! Mirrors: who listens gets a copy of each frame, and nobody else notices.

use crate::drops_tunnels::copy_far;
use crate::rig::*;
use nodes::interface::{
    ForCopies, MirrorPart, MirrorParts, MirrorTo, mirror_input::MirrorInput,
    mirror_output::MirrorOutput,
};
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

/// What stands around a copy far away, its session, whether it was truncated, and the frame.
fn far(packet: &[u8]) -> (u32, u32, bool, Vec<u8>) {
    let word = |at: usize| u32::from_be_bytes(*packet[at..].first_chunk().unwrap());
    assert_eq!((packet[23], &packet[34..38]), (47, &[0x10, 0, 0x88, 0xbe][..]));
    (word(38), word(42) & 0x3ff, word(42) & 0x400 != 0, packet[50..].to_vec())
}

#[test]
fn copies_go_far_by_the_port_that_they_are_made_at_and_are_copied_once() {
    let mut rig = Rig::new();
    copy_far(&mut rig, 0);
    copy_far(&mut rig, 1);
    let frame = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
    let sent = rig.answer(0, frame.clone());
    // The packet itself, a copy of it as it came, and one as it left: all by interface 1.
    assert_eq!(sent.len(), 3, "{sent:?}");
    let plain = sent.iter().find(|(_, it)| it[23] == 17).unwrap().1.clone();
    let mut copies: Vec<_> =
        sent.iter().filter(|(_, it)| it[23] == 47).map(|(_, it)| far(it)).collect();
    copies.sort_by_key(|(number, ..)| *number);
    assert_eq!(copies, [(0, 5, false, frame.clone()), (1, 5, false, plain)]);
    let counted = rig.dataplane.interface_totals(ERSPAN);
    assert_eq!((counted.tx_packets, counted.tx_bytes), (2, 2 * frame.len() as u64));
    rig.settle();
}

#[test]
fn copies_inside_another_tunnel_are_copied_once_too() {
    let mut rig = Rig::new();
    copy_far(&mut rig, 0);
    copy_far(&mut rig, 1);
    // The way to who listens leads through a tunnel, whose packets leave by interface 1.
    if let Some(nodes::tables::Link::Tunnel(mut tunnel)) =
        rig.dataplane.interfaces().get(ERSPAN).map(|row| row.link)
    {
        tunnel.key.ends = nodes::tables::Ends::new(US.into(), INSIDE_GRE.into()).unwrap();
        rig.change_interface(ERSPAN, |row| row.link = nodes::tables::Link::Tunnel(tunnel));
    }
    let frame = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
    let sent = rig.answer(0, frame);
    let numbers: Vec<_> = sent.iter().map(|(id, it)| (*id, it[23])).collect();
    assert_eq!(numbers.iter().filter(|it| **it == (1, 17)).count(), 1);
    assert_eq!(numbers.iter().filter(|it| **it == (1, 47)).count(), 2, "{numbers:?}");
    assert_eq!(numbers.len(), 3);
    rig.settle();
}

#[test]
fn copies_in_a_vlan_have_its_tag_and_frames_of_another_vlan_both() {
    let mut rig = Rig::new();
    rig.change_interface(ROUTED_VLAN, |row| row.put(Some(ForCopies)));
    rig.change_interface(2, |row| row.set::<MirrorInput>(Some(MirrorTo(ROUTED_VLAN))));
    let plain = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
    let mut tagged = plain.clone();
    tagged.splice(12..12, [0x81, 0, 0, 9]);
    for frame in [plain, tagged] {
        let sent = rig.answer(2, frame.clone());
        let mut copy = frame.clone();
        copy.splice(12..12, [0x81, 0, 0, 100]);
        assert_eq!(of(&sent, TRUNK), [&copy[..]]);
        assert_eq!(of(&sent, 3), [&frame[..]]);
    }
    rig.settle();
}

#[test]
fn of_frames_the_beginning_is_copied_and_one_of_some() {
    let mut rig = Rig::new();
    copy_far(&mut rig, 2);
    let part = MirrorPart { most: 64, one_of: 3 };
    let parts = MirrorParts { received: part, ..MirrorParts::default() };
    rig.change_interface(2, |row| row.put(Some(parts)));
    let frame = |number: u8| {
        craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[number; 86]).build()
    };
    let mut copies = Vec::new();
    for number in 0..7 {
        let sent = rig.answer(2, frame(number));
        assert_eq!(of(&sent, 3), [&frame(number)[..]], "the frame itself is whole");
        copies.extend(sent.iter().filter(|(id, _)| *id == 1).map(|(_, it)| far(it)));
    }
    let wanted = [0, 3, 6].map(|number| frame(number)[..64].to_vec());
    let wanted: Vec<_> = (0..).zip(wanted).map(|(number, it)| (number, 5, true, it)).collect();
    assert_eq!(copies, wanted);
    // What it sends is copied whole, and every one.
    let sent = rig.answer(3, frame(9));
    let copy = sent.iter().find(|(id, _)| *id == 1).map(|(_, it)| far(it));
    assert_eq!(copy, Some((3, 5, false, frame(9))));
    let counted = rig.dataplane.mirrored_totals(2);
    assert_eq!((counted.received, counted.sent, counted.lost), (3, 1, 0));
    rig.settle();
}

#[test]
fn a_truncated_copy_does_not_share_the_frames_buffer() {
    let mut rig = Rig::new();
    listen(&mut rig, 2, true, false);
    let parts =
        MirrorParts { received: MirrorPart { most: 60, one_of: 1 }, ..MirrorParts::default() };
    rig.change_interface(2, |row| row.put(Some(parts)));
    for length in [59, 60, 61, 200] {
        let frame: Vec<u8> = (0..length).collect();
        let sent = rig.answer(2, frame.clone());
        assert_eq!(of(&sent, 3), [&frame[..]]);
        assert_eq!(of(&sent, LISTENER), [&frame[..frame.len().min(60)]]);
    }
    rig.settle();
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
