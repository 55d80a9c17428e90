//! IPv6: routes that are random, the hard case for a compressed table, and those of a real table.

use super::setting::{NEXT_HOP_MAC, PACKETS, adjacency, random, table_of, udp6, way_by};
use crate::rig::{Rig, RigError};
use crate::scenario::Scenario;
use fib::Ip6Prefix;
use fib::route_file::FilePrefix;
use nodes::tables::Mode;
use std::net::Ipv6Addr;
use std::path::Path;
use wire::MacAddr;

/// Where the real table is in the folder of data: prefixes and the systems that announce them.
const REAL_TABLE: &str = "internet-ipv6.txt.zst";
/// Next hops of the real table.
const NEXT_HOPS: u32 = 64;

pub(crate) fn all(data: Option<&Path>) -> Vec<Scenario> {
    let mut all = vec![
        Scenario::new("ip6-1", 65.0, || ip6(random_routes(1)))
            .beside_vpp(|| ip6_of_vpp(&random_routes(1))),
        Scenario::new("ip6-255k", 160.0, || ip6(random_routes(255_000)))
            .beside_vpp(|| ip6_of_vpp(&random_routes(255_000))),
        Scenario::new("ip6-1m", 200.0, || ip6(random_routes(1_000_000))),
    ];
    if let Some(data) = data {
        let table = data.join(REAL_TABLE);
        all.push(Scenario::new("ip6-real", 150.0, move || ip6(routes_of(&table)?)));
    }
    all
}

/// Routes that come between two turns of the worker.
const ROUTES_A_TURN: usize = 256;

/// A prefix, and which next hop it leads over.
type Routes = Vec<(Ip6Prefix, u32)>;

/// So many /64 prefixes anywhere in 2000::/3.
fn random_routes(count: usize) -> Routes {
    let mut random = random();
    let network = |bits: u64| u128::from(bits >> 3 | 1 << 61) << 64;
    let prefixes = std::iter::repeat_with(|| Ip6Prefix::new(network(random()), 64));
    prefixes.flatten().take(count).map(|prefix| (prefix, 0)).collect()
}

/// The same as VPP's commands.
fn ip6_of_vpp(routes: &Routes) -> String {
    let mac = MacAddr(NEXT_HOP_MAC);
    let mut commands = format!(
        "set interface ip address pg0 2001:db8::1/64\n\
         set interface ip address pg1 2001:db8:0:1::1/64\n\
         set ip neighbor pg1 2001:db8:0:1::2 {mac}\n"
    );
    for (prefix, _) in routes {
        commands.push_str(&format!("ip route add {prefix} via 2001:db8:0:1::2 pg1\n"));
    }
    commands
}

fn routes_of(table: &Path) -> Result<Routes, RigError> {
    let of_family = |prefix| match prefix {
        FilePrefix::V6(prefix) => Some(prefix),
        FilePrefix::V4(_) => None,
    };
    let routes = table_of(table, of_family)?.into_iter();
    Ok(routes.map(|(prefix, system)| (prefix, system % NEXT_HOPS)).collect())
}

/// These routes, destinations uniform over them in random order, any host of each.
fn ip6(routes: Routes) -> Result<Rig, RigError> {
    let mut random = random();
    let count = PACKETS.min((routes.len() as u32).max(256) * 4);
    let packets = (0..count).map(|_| {
        let (prefix, _) = routes[random() as usize % routes.len()];
        let host = u128::from(random()) << 64 | u128::from(random());
        let below = u128::MAX.checked_shr(u32::from(prefix.length())).unwrap_or(0);
        udp6(prefix.address() | host & below)
    });
    let mut rig = Rig::new(packets.collect(), Mode::Routed)?;
    let mut ways = Vec::new();
    for hop in 0..NEXT_HOPS as u16 {
        let next_hop = Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 1, hop).into();
        ways.push(way_by(&rig, &adjacency(next_hop))?);
    }
    for routes in routes.chunks(ROUTES_A_TURN) {
        for (prefix, hop) in routes {
            rig.dataplane.ip6.insert(*prefix, ways[*hop as usize])?;
        }
        // As in a router that learns routes: what changes leave over serves the next ones.
        rig.turn();
    }
    Ok(rig)
}
