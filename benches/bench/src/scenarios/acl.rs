//! Routed IPv4 that is held to an access list: rules like a router's, and packets that meet each as
//! often.

use super::setting::{NEXT_HOP_MAC, SOURCE_MAC, adjacency};
use crate::rig::{ROUTER_MAC, Rig, RigError};
use crate::scenario::Scenario;
use acl::synthetic::{self, Flavour, Numbers};
use acl::{Acl4, Acl6, Action, Fields, Rule, RuleCounters, Transport};
use conntrack::{Read, Table, Timeouts, read4};
use fib::{Forward, Ip4Prefix};
use nodes::filter::{Access, AccessList, Reflecting, acl_input::AclInput};
use nodes::ip::{Policy, PolicyWay};
use nodes::tables::{Interface, Kind, Mode};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::ip::protocol;
use wire::{MacAddr, craft, ethernet, ipv4};

/// Packets that are told apart.
const PACKETS: usize = 65_536;
/// What a list may take.
const ROOM: usize = 64 << 20;

pub(crate) fn all() -> Vec<Scenario> {
    // A route, and 40 or 80 for the list. What a list adds is told from the first row, which has
    // the packets of the second one and no list.
    vec![
        Scenario::new("ip4-acl-none", 50.0, || with_list(1_000, |_, _, _, _| ())),
        Scenario::new("ip4-acl-1k", 90.0, || ip4(1_000)),
        Scenario::new("ip4-acl-50k", 130.0, || ip4(50_000)),
        Scenario::new("ip4-acl-answers", 200.0, answers),
        Scenario::new("ip4-policy-1k", 130.0, || by_policy(1_000)),
    ]
}

fn ip4(rules: usize) -> Result<Rig, RigError> {
    with_list(rules, |row, list, _, _| row.set::<AclInput>(Some(Access::new(list))))
}

/// All packets answer connections that the interface keeps: no rule is asked.
fn answers() -> Result<Rig, RigError> {
    let (table, timeouts, zone) = (Arc::new(Table::new(4 * PACKETS, 7)), Timeouts::default(), 1);
    let reflecting = Reflecting { table: Arc::clone(&table), timeouts, zone };
    with_list(1_000, |row, list, _, frames| {
        let now_s = (graph::tsc() / graph::tsc_hz()) as u32;
        for frame in frames {
            if let Read::Flow { tuple, seen, .. } = read4(&frame[ethernet::Header::LEN..], zone) {
                // Two that are alike have one.
                let _ = table.create(&tuple.inverse(), &tuple, seen, &timeouts, None, now_s);
            }
        }
        row.set::<AclInput>(Some(Access::tracked(list, Some(Arc::new(reflecting)))));
    })
}

/// All packets are routed by a policy: each rule leads them to the one next hop.
fn by_policy(rules: usize) -> Result<Rig, RigError> {
    let rig = with_list(rules, |row, list, to, _| {
        let way = || {
            let way = PolicyWay::new(false);
            way.lead(to);
            Some(Arc::new(way))
        };
        row.put(Some(Policy { list, ways: (0..rules).map(|_| way()).collect() }));
    })?;
    rig.dataplane.has_policies.store(true, Ordering::Relaxed);
    Ok(rig)
}

fn with_list(
    rules: usize,
    hold: impl FnOnce(&mut Interface, Arc<AccessList>, Forward, &[Vec<u8>]),
) -> Result<Rig, RigError> {
    // What is denied costs less: here all passes.
    let permit = |(number, rule)| (number, Rule { action: Action::Permit, ..rule });
    let rules: Vec<(u32, Rule<u32>)> =
        synthetic::rules(Flavour::Acl, rules, 5).into_iter().map(permit).collect();
    let mut numbers = Numbers::new(6);
    let made = std::iter::repeat_with(|| synthetic::packet(&rules, &mut numbers));
    let frames: Vec<Vec<u8>> = made.filter_map(|fields| frame(&fields)).take(PACKETS).collect();
    let rig = Rig::new(frames.clone(), Mode::Routed)?;
    let next_hop = Ipv4Addr::new(172, 16, 0, 1).into();
    let id = rig.dataplane.adjacencies.allocate(&adjacency(next_hop))?;
    rig.dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    let to = Forward::new(Kind::Rewrite as u8, id.0);
    rig.dataplane.ip4.insert(Ip4Prefix::all(), to)?;
    let list = AccessList {
        ip4: Acl4::new(&rules, Action::Permit, ROOM)?,
        ip6: Acl6::new::<u128>(&[], Action::Permit, 0)?,
        wide: None,
        counters: [RuleCounters::new(rules.len())].into(),
    };
    let mut row = rig.dataplane.interfaces().get(0).cloned().ok_or("interface 0 is there")?;
    hold(&mut row, Arc::new(list), to, &frames);
    let mut rig = rig;
    rig.dataplane.set_interface(0, Some(row));
    Ok(rig)
}

/// The packet, if it has ports and a router forwards it.
fn frame(fields: &Fields<u32>) -> Option<Vec<u8>> {
    let Transport::Ports(from, to) = fields.transport else { return None };
    let host = |address: u32| !matches!(address >> 24, 0 | 127 | 224..);
    if !host(fields.source) || !host(fields.destination) || ipv4::is_martian_source(fields.source) {
        return None;
    }
    let [source, destination] = [fields.source, fields.destination].map(Ipv4Addr::from);
    let packet =
        craft::ethernet(MacAddr(SOURCE_MAC), MacAddr(ROUTER_MAC)).ipv4(source, destination);
    Some(match fields.protocol {
        protocol::TCP => packet.tcp(from, to).payload_len(6).build(),
        _ => packet.udp(from, to).payload_len(18).build(),
    })
}
