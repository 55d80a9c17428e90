//! IPv4: one route, networks in a row, lengths as on the Internet, a real table, shared flows.

use super::setting::{NEXT_HOP_MAC, adjacency, flow, random, table_of, udp, way_by};
use crate::rig::{Rig, RigError};
use crate::scenario::Scenario;
use fib::adjacency::Adjacency;
use fib::ecmp::Member;
use fib::route_file::FilePrefix;
use fib::{Forward, Ip4Prefix};
use nodes::tables::{FlowRule, Kind, Mode, flow_field};
use std::collections::HashSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::atomic::Ordering;
use wire::MacAddr;

/// Where the real table is in the folder of data: prefixes and the systems that announce them.
const REAL_TABLE: &str = "internet-ipv4.txt.zst";
/// Next hops of the large tables: as many adjacencies as a large router has.
const NEXT_HOPS: usize = 4096;
/// Packets that are told apart: of the large tables more than caches hold lines of.
const PACKETS: usize = 1 << 20;
/// Next hops that share flows.
const SHARED: u32 = 16;

/// Routes of each length in a thousand, as on the Internet; the rest are /24.
const LENGTHS: [(u8, u64); 9] =
    [(16, 16), (18, 14), (19, 25), (20, 42), (21, 52), (22, 110), (23, 105), (28, 4), (32, 4)];

pub(crate) fn all(data: Option<&Path>) -> Vec<Scenario> {
    let mut all = vec![
        Scenario::new("ip4-1", 50.0, || ip4(in_a_row(1), 1))
            .beside_vpp(|| ip4_of_vpp(&in_a_row(1), 1)),
        Scenario::new("ip4-255k", 75.0, || ip4(in_a_row(255_000), 1))
            .beside_vpp(|| ip4_of_vpp(&in_a_row(255_000), 1)),
        Scenario::new("ip4-1m", 85.0, || ip4(like_the_internet(1_000_000), NEXT_HOPS))
            .beside_vpp(|| ip4_of_vpp(&like_the_internet(1_000_000), NEXT_HOPS)),
        Scenario::new("ip4-16m", 145.0, || ip4(like_the_internet(16_000_000), NEXT_HOPS)),
        Scenario::new("ip4-1m-counted", 95.0, || {
            counted(ip4(like_the_internet(1_000_000), NEXT_HOPS)?)
        }),
        Scenario::new("ip4-via-ip6", 50.0, via_ip6),
        Scenario::new("ip4-ecmp-16", 65.0, shared),
        Scenario::new("ip4-ecmp-16-by-rule", 95.0, || {
            let rig = shared()?;
            let bits = flow_field::USUAL | flow_field::INNER | flow_field::SYMMETRIC;
            rig.dataplane.flows.set(FlowRule { bits, ..FlowRule::USUAL });
            Ok(rig)
        }),
    ];
    if let Some(data) = data {
        let table = data.join(REAL_TABLE);
        let routes = move || {
            let of_family = |prefix| match prefix {
                FilePrefix::V4(prefix) => Some(prefix),
                FilePrefix::V6(_) => None,
            };
            ip4(table_of(&table, of_family)?, NEXT_HOPS)
        };
        all.push(Scenario::new("ip4-real", 75.0, routes));
    }
    all
}

/// A prefix, and a number that stands for its next hop.
type Routes = Vec<(Ip4Prefix, u32)>;

fn in_a_row(count: u32) -> Routes {
    let prefixes = (0..count).map(|n| Ip4Prefix::new(0x0a00_0000 + (n << 8), 24));
    prefixes.flatten().map(|prefix| (prefix, 0)).collect()
}

fn like_the_internet(count: usize) -> Routes {
    let mut random = random();
    let mut known = HashSet::with_capacity(count);
    let mut routes = Vec::with_capacity(count);
    while routes.len() < count {
        let (bits, mut place) = (random(), random() % 1000);
        let length = LENGTHS.iter().find(|(_, share)| {
            let found = place < *share;
            place = place.wrapping_sub(*share);
            found
        });
        let address = 0x0100_0000 + (bits >> 32) as u32 % 0xdf00_0000;
        let Ok(prefix) = Ip4Prefix::new(address, length.map_or(24, |(length, _)| *length)) else {
            continue;
        };
        if known.insert(prefix) {
            routes.push((prefix, bits as u32));
        }
    }
    routes
}

/// These routes, destinations uniform over them in random order, any host of each.
fn ip4(routes: Routes, next_hops: usize) -> Result<Rig, RigError> {
    let mut random = random();
    let packets = (0..PACKETS.min(routes.len().max(256) * 4)).map(|_| {
        let (prefix, _) = routes[random() as usize % routes.len()];
        let below = u32::MAX.checked_shr(prefix.length().into()).unwrap_or(0);
        udp(prefix.address() | (random() >> 32) as u32 & below)
    });
    let rig = Rig::with_settings(packets.collect(), Mode::Routed, |settings| {
        settings.ip4_nodes = routes.len().max(1 << 20);
    })?;
    let ways = next_hops_of(&rig, next_hops)?;
    let mut forwards: Vec<(Ip4Prefix, Forward)> =
        routes.iter().map(|(prefix, hop)| (*prefix, ways[*hop as usize % ways.len()])).collect();
    forwards.sort_unstable_by_key(|(prefix, _)| *prefix);
    rig.dataplane.ip4.insert_bulk(&forwards).map_err(|(_, error)| error)?;
    Ok(rig)
}

/// The same as VPP's commands.
fn ip4_of_vpp(routes: &Routes, next_hops: usize) -> String {
    let mut commands = String::from(
        "set interface ip address pg0 192.0.2.1/24\nset interface ip address pg1 192.0.3.1/24\n",
    );
    let mac = MacAddr(NEXT_HOP_MAC);
    for hop in 0..next_hops as u32 {
        commands.push_str(&format!("set ip neighbor pg1 {} {mac}\n", next_hop(hop)));
    }
    for (prefix, hop) in routes {
        let via = next_hop(*hop % next_hops as u32);
        commands.push_str(&format!("ip route add {prefix} via {via} pg1\n"));
    }
    commands
}

/// The same, and packets are counted by next hop.
fn counted(rig: Rig) -> Result<Rig, RigError> {
    rig.dataplane.counts_next_hops.store(true, Ordering::Relaxed);
    Ok(rig)
}

/// One route by a next hop of IPv6 (RFC 8950).
fn via_ip6() -> Result<Rig, RigError> {
    let packets = (0..1024).map(|number| udp(0x0a00_0001 + number)).collect();
    let rig = Rig::with_settings(packets, Mode::Routed, |_| ())?;
    let of_ip4 = adjacency(Ipv4Addr::UNSPECIFIED.into());
    let next_hop = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1).into();
    let id = rig.dataplane.adjacencies.allocate(&Adjacency { next_hop, ..of_ip4 })?;
    rig.dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    rig.dataplane.ip4.insert(Ip4Prefix::new(0x0a00_0000, 8)?, plain(Kind::Rewrite, id.0))?;
    Ok(rig)
}

/// One route over several next hops, every packet a flow of its own.
fn shared() -> Result<Rig, RigError> {
    let mut random = random();
    let packets = (0..65_536).map(|_| flow(0x0a00_0000 | random() as u32 >> 8, random() as u16));
    let rig = Rig::new(packets.collect(), Mode::Routed)?;
    let ways = next_hops_of(&rig, SHARED as usize)?;
    let members: Vec<Member> = ways.into_iter().map(|to| Member { to, weight: 1 }).collect();
    let group = rig.dataplane.groups.create(&members)?;
    rig.dataplane.ip4.insert(Ip4Prefix::new(0x0a00_0000, 8)?, plain(Kind::Group, group.0))?;
    Ok(rig)
}

fn next_hops_of(rig: &Rig, count: usize) -> Result<Vec<Forward>, RigError> {
    let made = (0..count as u32).map(|n| way_by(rig, &adjacency(next_hop(n).into())));
    made.collect()
}

fn next_hop(number: u32) -> Ipv4Addr {
    Ipv4Addr::from(0xac10_0000 + number)
}

fn plain(kind: Kind, id: u32) -> Forward {
    Forward::new(kind as u8, id)
}
