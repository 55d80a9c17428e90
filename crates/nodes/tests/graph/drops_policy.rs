//! The packets that meet each reason for a drop in the nodes that route by policy.

use crate::drops::Play;
use crate::rig::*;
use acl::{Acl4, Acl6, Action};
use fib::Forward;
use nodes::filter::AccessList;
use nodes::ip::{Policy, PolicyWay};
use nodes::tables::Kind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::craft::{self, Craft, Ipv4, Ipv6};
use wire::ip::protocol;

/// The number of the VRF that a rig adds.
const RED: u32 = 1;

fn four() -> Craft<Ipv4> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR)
}

fn six() -> Craft<Ipv6> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv6(HOST6, FAR6)
}

/// Has interface 0 route by a list of one rule, that all packets fit.
fn policy(rig: &mut Rig, action: Action, to: Forward) {
    let list = AccessList {
        ip4: Acl4::new::<u32>(&[(0, acl::Rule::any(action))], Action::Permit, 4096).unwrap(),
        ip6: Acl6::new::<u128>(&[(0, acl::Rule::any(action))], Action::Permit, 4096).unwrap(),
        wide: None,
        counters: Arc::default(),
    };
    let way = PolicyWay::new(true);
    way.lead(to);
    let policy = Policy { list: Arc::new(list), ways: [Some(Arc::new(way))].into() };
    rig.dataplane.has_policies.store(true, Ordering::Relaxed);
    rig.change_interface(0, |row| row.put(Some(policy.clone())));
}

/// The same of a rule that leads to another VRF, in which this becomes of packets of both families.
pub(crate) fn by_red(rig: &mut Rig, kind: Kind) {
    let (red, to) = (rig.add_vrf(), Forward::new(kind as u8, RED));
    red.ip4.insert("10.0.0.9/32".parse().unwrap(), to).unwrap();
    red.ip6.insert("2001:db8:a::/48".parse().unwrap(), to).unwrap();
    policy(rig, Action::Permit, Forward::new(Kind::Vrf as u8, RED));
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("ip4-policy/denied", |rig| {
            policy(rig, Action::Deny, Forward::NONE);
            rig.receive(0, four().udp(1, 2).build());
        }),
        ("ip6-policy/denied", |rig| {
            policy(rig, Action::Deny, Forward::NONE);
            rig.receive(0, six().udp(1, 2).build());
        }),
        ("ip4-policy/no-way", |rig| {
            policy(rig, Action::Permit, Forward::NONE);
            rig.receive(0, four().udp(1, 2).build());
        }),
        ("ip6-policy/no-way", |rig| {
            policy(rig, Action::Permit, Forward::NONE);
            rig.receive(0, six().udp(1, 2).build());
        }),
        ("ip4-policy/unreadable", |rig| {
            policy(rig, Action::Permit, Forward::NONE);
            let piece = four().fragment(8, false).protocol(protocol::TCP);
            rig.receive(0, piece.payload(&[0; 8]).build());
        }),
        ("ip6-policy/unreadable", |rig| {
            policy(rig, Action::Permit, Forward::NONE);
            rig.receive(0, six().destination_options(&[]).length(9).build());
        }),
        ("ip4-policy/blackhole", |rig| {
            by_red(rig, Kind::Blackhole);
            rig.receive(0, four().udp(1, 2).build());
        }),
        ("ip6-policy/blackhole", |rig| {
            by_red(rig, Kind::Blackhole);
            rig.receive(0, six().udp(1, 2).build());
        }),
        ("ip4-policy/martian-destination", |rig| {
            by_red(rig, Kind::Martian);
            rig.receive(0, four().udp(1, 2).build());
        }),
        ("ip6-policy/martian-destination", |rig| {
            by_red(rig, Kind::Martian);
            rig.receive(0, six().udp(1, 2).build());
        }),
        ("ip4-policy/directed-broadcast", |rig| {
            by_red(rig, Kind::Link);
            rig.receive(0, four().udp(1, 2).build());
        }),
        ("ip4-policy/vrf-ring", |rig| {
            by_red(rig, Kind::Vrf);
            rig.receive(0, four().udp(1, 2).build());
        }),
        ("ip6-policy/vrf-ring", |rig| {
            by_red(rig, Kind::Vrf);
            rig.receive(0, six().udp(1, 2).build());
        }),
    ]
}
