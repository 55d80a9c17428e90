//! The packets that meet each reason for a drop in lists that keep connections.

use crate::drops::Play;
use crate::rig::*;
use acl::{Acl4, Acl6, Action, Rule};
use conntrack::{Table, Timeouts};
use nodes::filter::{Access, AccessList, Reflecting, acl_input::AclInput, acl_output::AclOutput};
use std::sync::Arc;
use wire::craft::{self, Craft, Ethernet};

/// Another worker is at the same place of the table at that moment.
pub(crate) const OUT_OF_REACH: [&str; 2] = ["acl-input/busy", "acl-output/busy"];

/// A list that has all connections begin, of which there is room for so many.
fn reflect(entries: usize) -> Option<Access> {
    let list = AccessList {
        ip4: Acl4::new::<u32>(&[(0, Rule::any(Action::Reflect))], Action::Deny, 4096).unwrap(),
        ip6: Acl6::new::<u128>(&[], Action::Deny, 0).unwrap(),
        wide: None,
        counters: Arc::default(),
    };
    let (table, timeouts) = (Arc::new(Table::new(entries, 7)), Timeouts::default());
    let reflecting = Some(Arc::new(Reflecting { table, timeouts, zone: 1 }));
    Some(Access::tracked(Arc::new(list), reflecting))
}

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("acl-input/no-connection", |rig| {
            rig.change_interface(0, |row| row.set::<AclInput>(reflect(0)));
            rig.receive(0, from_host().ipv4(HOST, FAR).udp(1, 2).build());
        }),
        ("acl-output/no-connection", |rig| {
            rig.change_interface(1, |row| row.set::<AclOutput>(reflect(0)));
            rig.receive(0, from_host().ipv4(HOST, FAR).udp(1, 2).build());
        }),
        ("acl-input/tagged", |rig| {
            rig.change_interface(2, |row| row.set::<AclInput>(reflect(64)));
            rig.receive(2, from_host().vlan(7).ipv4(HOST, FAR).udp(1, 2).build());
        }),
        ("acl-output/tagged", |rig| {
            rig.change_interface(3, |row| row.set::<AclOutput>(reflect(64)));
            rig.receive(2, from_host().vlan(7).ipv4(HOST, FAR).udp(1, 2).build());
        }),
    ]
}
