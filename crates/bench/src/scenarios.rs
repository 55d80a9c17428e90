//! What is measured: each scenario by name, with the figure it is compared with and our aim.

use crate::rig::{ROUTER_MAC, Rig, RigError};
use crate::{scenarios_l2, scenarios6};
use fib::adjacency::{Adjacency, MAX_REWRITE};
use fib::{Forward, Ip4Prefix};
use nodes::plumbing::{InterfaceId, Kind, Mode};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use wire::ethernet::ethertype;
use wire::{MacAddr, craft};

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Cycles per packet of VPP 26.10 in the same scenario, where that was measured.
    pub(crate) vpp: Option<f64>,
    /// Most that we want to need.
    pub(crate) aim: f64,
    pub(crate) make: Box<dyn Fn() -> Result<Rig, RigError>>,
}

impl Scenario {
    pub(crate) fn new(
        name: &'static str,
        vpp: Option<f64>,
        aim: f64,
        make: impl Fn() -> Result<Rig, RigError> + 'static,
    ) -> Self {
        Self { name, vpp, aim, make: Box::new(make) }
    }
}

/// Every scenario; those of real tables where `data` is the folder that has them.
pub(crate) fn all(data: Option<&Path>) -> Vec<Scenario> {
    let mut all = vec![
        Scenario::new("l2-xconnect", Some(53.0), 28.0, xconnect),
        Scenario::new("ip4-1", Some(102.0), 50.0, || ip4(1)),
        Scenario::new("ip4-255k", Some(304.0), 75.0, || ip4(255_000)),
        Scenario::new("ip4-1m", Some(370.0), 85.0, || ip4(1_000_000)),
    ];
    all.extend(scenarios_l2::all());
    all.extend(scenarios6::all(data));
    all
}

pub(crate) const SOURCE_MAC: [u8; 6] = [0x02, 0, 0, 0, 1, 1];
pub(crate) const NEXT_HOP_MAC: [u8; 6] = [0x02, 0, 0, 0, 2, 2];

/// A 60-byte UDP frame, as 64 on the wire.
pub(crate) fn udp(destination: u32) -> Vec<u8> {
    craft::ethernet(MacAddr(SOURCE_MAC), MacAddr(ROUTER_MAC))
        .ipv4(Ipv4Addr::new(192, 0, 2, 9), Ipv4Addr::from(destination))
        .udp(1234, 5678)
        .payload_len(18)
        .build()
}

fn xconnect() -> Result<Rig, RigError> {
    let packets = (0..256).map(|n| udp(0x0a00_0001 + n)).collect();
    Rig::new(packets, Mode::CrossConnect(InterfaceId(1)))
}

/// Packets of a scenario that are told apart: more destinations than caches hold lines of.
pub(crate) const PACKETS: u32 = 65_536;

/// The same numbers in every run (xorshift).
pub(crate) fn random() -> impl FnMut() -> u64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Routes of `count` /24 prefixes, destinations uniform over them in random order.
fn ip4(count: u32) -> Result<Rig, RigError> {
    let mut random = random();
    let mut random = move || (random() >> 32) as u32;
    let prefix_of = |n: u32| 0x0a00_0000 + (n << 8);
    let packets = (0..PACKETS.min(count.max(256) * 4))
        .map(|_| udp(prefix_of(random() % count) + 1 + random() % 250))
        .collect();
    let rig = Rig::new(packets, Mode::Routed)?;
    let next_hop = Ipv4Addr::new(192, 0, 3, 9).into();
    let id = rig.dataplane.adjacencies.allocate(&adjacency(next_hop))?;
    rig.dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    for n in 0..count {
        let prefix = Ip4Prefix::new(prefix_of(n), 24)?;
        rig.dataplane.ip4.insert(prefix, Forward::new(Kind::Rewrite as u8, id.0))?;
    }
    Ok(rig)
}

/// Out of interface 1, by plain Ethernet.
pub(crate) fn adjacency(next_hop: IpAddr) -> Adjacency {
    let mut rewrite = [0; MAX_REWRITE];
    let ethertype = if next_hop.is_ipv4() { ethertype::IPV4 } else { ethertype::IPV6 };
    rewrite[6..12].copy_from_slice(&ROUTER_MAC);
    rewrite[12..14].copy_from_slice(&ethertype.to_be_bytes());
    Adjacency { interface: 1, mtu: 1500, next_hop, rewrite, rewrite_len: 14 }
}
