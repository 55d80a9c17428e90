//! Bonds: what members receive is the bond's, what the bond sends leaves by one of them.

use crate::drops::Play;
use crate::rig::*;
use nodes::tables::{
    BondMember, BondWays, BridgeId, BridgePort, Collects, ComesBack, Injected, Mode,
};
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

fn member(rig: &mut Rig, id: u16, change: impl FnOnce(&mut BondMember)) {
    rig.change_interface(id, |row| {
        if let Mode::Member(member) = &mut row.mode {
            change(member);
        }
    });
}

/// The rig's bond in the bridge of ports 6 to 9, at whose other end nobody knows of a bond: its
/// first member is the active one. Its VLAN goes.
fn unaware(rig: &mut Rig) {
    rig.dataplane.set_interface(BOND_VLAN, None);
    for id in [6, 7, 8, 9] {
        rig.change_port(id, |port| port.comes_back = ComesBack::Elsewhere);
    }
    let port = BridgePort::new(BridgeId(BRIDGE));
    rig.change_interface(BOND, |row| {
        row.mode = Mode::Bridged(BridgePort { comes_back: ComesBack::Here, ..port });
        row.put(Some(BondWays::by_source(&BOND_MEMBERS)));
    });
    member(rig, FIRST, |member| member.collects = Collects::StationsAndGroups);
    member(rig, SECOND, |member| member.collects = Collects::Stations);
}

/// Two stations, of which the first's frames leave by the first member, the second's by the other.
fn two_stations() -> [[u8; 6]; 2] {
    let ways = BondWays::by_source(&BOND_MEMBERS);
    BOND_MEMBERS.map(|id| {
        let of = |last: u8| [0x0a, 1, 0, 0, 0, last];
        let mut all = (0..=255).map(of);
        all.find(|mac| ways.member(&frame(*mac, [0xff; 6])) == Some(id)).unwrap()
    })
}

fn frame(from: [u8; 6], to: [u8; 6]) -> Vec<u8> {
    craft::ethernet(from, to).ethertype(0x88b5).pad_to(60).build()
}

#[test]
fn beside_a_switch_that_knows_of_no_bond_nothing_comes_twice_or_back() {
    let mut rig = Rig::new();
    unaware(&mut rig);
    let all = [0xff; 6];
    let [one, other] = two_stations();
    let to = |sent: Vec<(u16, Vec<u8>)>| sent.into_iter().map(|it| it.0).collect::<BTreeSet<_>>();
    // Each station's frames leave by its member. What the switch sends back by the other, to all,
    // goes nowhere, and the station stays where it is.
    for (station, port, by, back) in [(one, 6, FIRST, SECOND), (other, 7, SECOND, FIRST)] {
        let sent = to(rig.answer(port, frame(station, all)));
        assert!(sent.contains(&by) && !sent.contains(&back), "{sent:?}");
        assert!(rig.answer(back, frame(station, all)).is_empty());
    }
    assert_eq!(to(rig.answer(FIRST, frame(HOST_MAC, one))), [6].into());
    assert_eq!(to(rig.answer(SECOND, frame(HOST_MAC, other))), [7].into());
    // From beyond: to all it comes by both, to a station that nobody knows too, and counts once.
    let unknown = [0x0a, 2, 0, 0, 0, 1];
    for group in [all, unknown] {
        let counts = BOND_MEMBERS.map(|id| rig.answer(id, frame(HOST_MAC, group)).len());
        assert!(matches!(counts, [3 | 4, 0] | [0, 3 | 4]), "{counts:?}");
    }
    // A station that is known is reached by either: the switch may not have heard that it moved.
    for id in BOND_MEMBERS {
        assert_eq!(to(rig.answer(id, frame(HOST_MAC, one))), [6].into());
    }
    // It moves beyond the bond, and says so.
    let own = [10, 0, 0, 1];
    let moved = craft::ethernet(one, all).arp_request(one, own, own).pad_to(60).build();
    assert!(!rig.answer(FIRST, moved).is_empty());
    let sent = to(rig.answer(7, frame(other, one)));
    assert_eq!(sent, [SECOND].into());
    rig.settle();
}

/// The packets that meet each reason for a drop around bonds.
pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("bond-input/interface-down", |rig| {
            rig.change_interface(BOND, |row| row.up = false);
            rig.receive(FIRST, vec![2; 60]);
        }),
        ("bond-input/not-collecting", |rig| {
            member(rig, FIRST, |member| member.collects = Collects::Nothing);
            rig.receive(FIRST, vec![2; 60]);
        }),
        ("bond-input/not-spoken", |rig| {
            member(rig, FIRST, |member| member.speaks = false);
            rig.receive(FIRST, message());
        }),
        ("bond-input/not-active", |rig| {
            unaware(rig);
            rig.receive(SECOND, frame(HOST_MAC, [0xff; 6]));
        }),
        ("bond-input/unknown-station", |rig| {
            unaware(rig);
            let [one, _] = two_stations();
            rig.receive(SECOND, frame(HOST_MAC, one));
        }),
        ("bond-input/came-back", |rig| {
            unaware(rig);
            rig.receive(FIRST, frame(our_mac(BOND), [0xff; 6]));
        }),
        ("l2-learn/came-back", |rig| {
            unaware(rig);
            rig.fix_station(HOST_MAC, 6);
            rig.receive(FIRST, frame(HOST_MAC, [0xff; 6]));
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
