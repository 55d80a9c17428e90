//! What is measured: each scenario by name, with the figure it is compared with and our aim.

use crate::rig::{ROUTER_MAC, Rig, RigError};
use fib::adjacency::{Adjacency, MAX_REWRITE};
use fib::mac::MacKey;
use fib::{Forward, Ip4Prefix};
use nodes::plumbing::{BridgeId, BridgePort, InterfaceId, Kind, Mode};
use std::net::{IpAddr, Ipv4Addr};
use wire::{MacAddr, craft};

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Cycles per packet of VPP 26.10 in the same scenario.
    pub(crate) vpp: Option<f64>,
    /// Most that we want to need.
    pub(crate) aim: f64,
    pub(crate) make: fn() -> Result<Rig, RigError>,
}

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario { name: "l2-xconnect", vpp: Some(53.0), aim: 28.0, make: xconnect },
        Scenario { name: "l2-bridge", vpp: Some(70.0), aim: 32.0, make: || bridge(256, false) },
        Scenario {
            name: "l2-bridge-learn",
            vpp: Some(88.0),
            aim: 42.0,
            make: || bridge(256, true),
        },
        Scenario {
            name: "l2-bridge-100k",
            vpp: Some(379.0),
            aim: 120.0,
            make: || bridge(100_000, true),
        },
        Scenario { name: "l2-bridge-1m", vpp: None, aim: 160.0, make: || bridge(1_000_000, true) },
        Scenario { name: "ip4-1", vpp: Some(102.0), aim: 50.0, make: || ip4(1) },
        Scenario { name: "ip4-255k", vpp: Some(304.0), aim: 75.0, make: || ip4(255_000) },
        Scenario { name: "ip4-1m", vpp: Some(370.0), aim: 85.0, make: || ip4(1_000_000) },
    ]
}

const SOURCE_MAC: [u8; 6] = [0x02, 0, 0, 0, 1, 1];
const NEXT_HOP_MAC: [u8; 6] = [0x02, 0, 0, 0, 2, 2];

/// A 60-byte UDP frame, as 64 on the wire.
fn udp(destination: u32) -> Vec<u8> {
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

/// The same numbers in every run.
fn random() -> impl FnMut() -> u32 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    }
}

/// A bridge with `count` stations on either side, all known; each packet is from and to any.
fn bridge(count: u32, learn: bool) -> Result<Rig, RigError> {
    let mut random = random();
    let station = |side: u8, number: u32| {
        let [a, b, c, d] = number.to_be_bytes();
        [0x06, side, a, b, c, d]
    };
    let packets = (0..count)
        .map(|_| {
            let mut frame = udp(0x0a00_0001);
            frame[..6].copy_from_slice(&station(1, random() % count));
            frame[6..12].copy_from_slice(&station(0, random() % count));
            frame
        })
        .collect();
    let port = BridgePort { learn, ..BridgePort::new(BridgeId(1)) };
    let room = 3 * count as usize;
    let rig = Rig::with_settings(packets, Mode::Bridged(port), |it| it.stations = room)?;
    for (side, number) in (0..2u8).flat_map(|side| (0..count).map(move |number| (side, number))) {
        rig.dataplane.stations.table.learn(MacKey::new(1, station(side, number)), side.into(), 0);
    }
    Ok(rig)
}

/// Routes of `count` /24 prefixes, destinations uniform over them in random order.
fn ip4(count: u32) -> Result<Rig, RigError> {
    const PACKETS: u32 = 65_536;
    let mut random = random();
    let prefix_of = |n: u32| 0x0a00_0000 + (n << 8);
    let packets = (0..PACKETS.min(count.max(256) * 4))
        .map(|_| udp(prefix_of(random() % count) + 1 + random() % 250))
        .collect();
    let rig = Rig::new(packets, Mode::Routed)?;
    let id = rig.dataplane.adjacencies.allocate(&adjacency())?;
    rig.dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    for n in 0..count {
        let prefix = Ip4Prefix::new(prefix_of(n), 24)?;
        rig.dataplane.ip4.insert(prefix, Forward::new(Kind::Rewrite as u8, id.0))?;
    }
    Ok(rig)
}

/// Out of interface 1, by plain Ethernet.
fn adjacency() -> Adjacency {
    let mut rewrite = [0; MAX_REWRITE];
    rewrite[6..12].copy_from_slice(&ROUTER_MAC);
    rewrite[12..14].copy_from_slice(&0x0800_u16.to_be_bytes());
    Adjacency {
        interface: 1,
        mtu: 1500,
        next_hop: IpAddr::V4(Ipv4Addr::new(192, 0, 3, 9)),
        rewrite,
        rewrite_len: 14,
    }
}
