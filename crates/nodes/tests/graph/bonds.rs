//! Bonds: what members receive is the bond's, what the bond sends leaves by one of them.

use crate::drops::Play;
use crate::rig::*;
use nodes::tables::{BondMember, BondWays, Injected};
use std::collections::BTreeSet;
use wire::craft;
use wire::lacp::{End, Pdu};

const FIRST: u16 = BOND_MEMBERS[0];
const SECOND: u16 = BOND_MEMBERS[1];
const BOND_IP: [u8; 4] = [203, 0, 118, 1];

fn message() -> Vec<u8> {
    Pdu { actor: End { system: [4; 6], ..End::default() }, partner: End::default() }
        .frame([4; 6])
        .to_vec()
}

/// Members of the rig's bond of which only these carry.
fn carrying(rig: &mut Rig, members: &[u16]) {
    let members = members.to_vec();
    rig.change_interface(BOND, |row| row.put(Some(BondWays { members, ..BondWays::default() })));
}

#[test]
fn who_asks_by_a_member_is_answered_by_the_bond_with_its_mac() {
    let mut rig = Rig::new();
    let question = craft::ethernet(HOST_MAC, [255; 6]);
    let question = question.arp_request(HOST_MAC, [203, 0, 118, 9], BOND_IP).pad_to(60).build();
    for id in BOND_MEMBERS {
        let sent = rig.answer(id, question.clone());
        assert_eq!(sent.len(), 1, "{sent:?}");
        assert!(BOND_MEMBERS.contains(&sent[0].0));
        assert_eq!((&sent[0].1[..6], &sent[0].1[6..12]), (&HOST_MAC[..], &our_mac(BOND)[..]));
    }
    let counted = rig.dataplane.interface_totals(BOND);
    assert_eq!((counted.rx_packets, counted.tx_packets), (2, 2));
    let members = BOND_MEMBERS.map(|id| rig.dataplane.interface_totals(id));
    assert_eq!(members.map(|it| it.rx_packets), [1, 1]);
    assert_eq!(members.iter().map(|it| it.tx_packets).sum::<u64>(), 2);
    rig.settle();
}

#[test]
fn a_vlan_of_a_bond_has_its_tag_on_the_members_and_flows_stay_together() {
    let mut rig = Rig::new();
    let frame = |port: u16| craft::ethernet(HOST_MAC, [4; 6]).ipv4(HOST, FAR).udp(port, 9).build();
    let mut by = BTreeSet::new();
    for port in 0..32 {
        let mut tagged = frame(port);
        tagged.splice(12..12, [0x81, 0, 1, 0xf4]);
        let sent = rig.answer(BESIDE_BOND, frame(port));
        assert_eq!((sent.len(), &sent[0].1), (1, &tagged));
        assert_eq!(rig.answer(BESIDE_BOND, frame(port)), sent, "the flow stays");
        by.insert(sent[0].0);
        for member in BOND_MEMBERS {
            assert_eq!(rig.answer(member, tagged.clone()), [(BESIDE_BOND, frame(port))]);
        }
    }
    assert_eq!(by, BOND_MEMBERS.into());
    let counted = |id| {
        let it = rig.dataplane.interface_totals(id);
        (it.rx_packets, it.tx_packets)
    };
    assert_eq!([BOND_VLAN, BOND].map(counted), [(64, 64), (64, 64)]);
    // Without the first member all of them go by the second.
    carrying(&mut rig, &[SECOND]);
    assert!((0..32).all(|port| rig.answer(BESIDE_BOND, frame(port))[0].0 == SECOND));
    rig.settle();
}

#[test]
fn slow_protocols_go_nowhere() {
    let mut rig = Rig::new();
    rig.change_interface(BOND, |row| {
        row.mode = nodes::tables::Mode::CrossConnect(nodes::tables::InterfaceId(2));
    });
    assert!(rig.answer(FIRST, message()).is_empty());
    assert_eq!(rig.answer(FIRST, vec![2; 60]).len(), 1);
    let told = rig.punts();
    assert!(matches!(told[..], [nodes::tables::Punt::Lacp(_)]), "{told:?}");
    rig.settle();
}

#[test]
fn our_own_messages_leave_by_their_member_whatever_that_carries() {
    let mut rig = Rig::new();
    carrying(&mut rig, &[FIRST]);
    let bytes = message();
    rig.inject(&bytes, |packet| Injected::Frame { interface: SECOND, packet });
    rig.run();
    assert_eq!(rig.sent(SECOND), [bytes]);
    rig.settle();
}

fn member(rig: &mut Rig, change: impl FnOnce(&mut BondMember)) {
    rig.change_interface(FIRST, |row| {
        if let nodes::tables::Mode::Member(member) = &mut row.mode {
            change(member);
        }
    });
}

/// The packets that meet each reason for a drop around bonds.
pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("bond-input/interface-down", |rig| {
            rig.change_interface(BOND, |row| row.up = false);
            rig.receive(FIRST, vec![2; 60]);
        }),
        ("bond-input/not-collecting", |rig| {
            member(rig, |member| member.collects = false);
            rig.receive(FIRST, vec![2; 60]);
        }),
        ("bond-input/not-spoken", |rig| {
            member(rig, |member| member.speaks = false);
            rig.receive(FIRST, message());
        }),
        ("bond-input/malformed", |rig| rig.receive(FIRST, message()[..60].to_vec())),
        ("bond-input/unknown-slow", |rig| {
            let mut other = message();
            other[14] = 3;
            rig.receive(FIRST, other);
        }),
        ("bond-input/too-many-messages", |rig| {
            (0..=QUEUE).for_each(|_| rig.receive(FIRST, message()));
        }),
        ("bond-output/no-member", |rig| {
            carrying(rig, &[]);
            rig.receive(BESIDE_BOND, vec![2; 60]);
        }),
    ]
}
