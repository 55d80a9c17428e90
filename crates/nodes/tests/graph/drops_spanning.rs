//! Drops of bridges that are part of a spanning tree, and what passes there.

use crate::drops::Play;
use crate::rig::*;
use nodes::tables::{Punt, Spanning};
use wire::craft;

fn frame(to: [u8; 6]) -> Vec<u8> {
    from(HOST_MAC, to)
}

fn from(station: [u8; 6], to: [u8; 6]) -> Vec<u8> {
    craft::ethernet(station, to).ethertype(0x27).payload(&[0x42, 0x42, 3]).pad_to(60).build()
}

fn message() -> Vec<u8> {
    frame([0x01, 0x80, 0xc2, 0, 0, 0])
}

/// A port is part of a tree, which has it do this.
fn set(rig: &mut Rig, id: u16, spanning: Spanning) {
    rig.change_port(id, |port| {
        port.spanning = spanning;
        port.forward = spanning == Spanning::Forwarding;
    });
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("l2-spanning/discarding", |rig| {
            set(rig, 6, Spanning::Discarding);
            rig.receive(6, frame([0xff; 6]));
        }),
        ("l2-spanning/too-many-messages", |rig| {
            set(rig, 6, Spanning::Forwarding);
            (0..=QUEUE).for_each(|_| rig.receive(6, message()));
        }),
    ]
}

#[test]
fn a_port_that_does_not_forward_gets_nothing_and_its_messages_are_heard() {
    const OTHER: [u8; 6] = [0x0a, 0, 0, 0, 0, 0x77];
    let mut rig = Rig::new();
    let to_all = frame([0xff; 6]);
    let before = rig.answer(7, to_all.clone());
    assert!(before.iter().any(|(id, _)| *id == 8), "{before:?}");
    for spanning in [Spanning::Discarding, Spanning::Learning] {
        set(&mut rig, 8, spanning);
        let mut rest = before.clone();
        rest.retain(|(id, _)| *id != 8);
        assert_eq!(rig.answer(7, to_all.clone()), rest);
        assert!(rig.answer(8, from(OTHER, [0xff; 6])).is_empty());
        assert!(rig.answer(8, message()).is_empty());
        let told = rig.punts();
        assert!(matches!(told[..], [Punt::Bpdu(it)] if it.interface == 8), "{told:?}");
    }
    // What was learned meanwhile leads there as soon as it forwards.
    set(&mut rig, 8, Spanning::Forwarding);
    assert_eq!(rig.answer(7, frame(OTHER)), [(8, frame(OTHER))]);
    assert_eq!(rig.answer(7, to_all).len(), before.len());
    rig.settle();
}
