//! Routed IPv4 whose sources are checked as strictly as can be: each has a route back by the
//! interface.

use super::setting::{NEXT_HOP_MAC, PACKETS, SOURCE_MAC, adjacency, random};
use crate::rig::{ROUTER_MAC, Rig, RigError};
use crate::scenario::Scenario;
use fib::adjacency::Adjacency;
use fib::{Forward, Ip4Prefix};
use nodes::filter::urpf_input::{Reverse, Urpf, UrpfInput};
use nodes::tables::{Kind, Mode};
use std::net::Ipv4Addr;
use wire::{MacAddr, craft};

/// Networks that sources are of.
const NETWORKS: u32 = 65_536;

pub(crate) fn all() -> Vec<Scenario> {
    // As ip4-1, and one lookup more among many routes.
    vec![Scenario::new("ip4-urpf", 75.0, ip4)]
}

fn ip4() -> Result<Rig, RigError> {
    let mut random = random();
    let network = |n: u32| 0x0b00_0000 + (n << 8);
    let packets = (0..PACKETS).map(|_| {
        let source = network((random() >> 32) as u32 % NETWORKS) + 9;
        craft::ethernet(MacAddr(SOURCE_MAC), MacAddr(ROUTER_MAC))
            .ipv4(Ipv4Addr::from(source), Ipv4Addr::new(10, 0, 0, 9))
            .udp(1234, 5678)
            .payload_len(18)
            .build()
    });
    let mut rig = Rig::new(packets.collect(), Mode::Routed)?;
    let plane = &mut rig.dataplane;
    let way = |next_hop: [u8; 4], interface: u16| -> Result<Forward, RigError> {
        let made = Adjacency { interface, ..adjacency(Ipv4Addr::from(next_hop).into()) };
        let id = plane.adjacencies.allocate(&made)?;
        plane.adjacencies.complete(id, NEXT_HOP_MAC);
        Ok(Forward::new(Kind::Rewrite as u8, id.0))
    };
    let (on, back) = (way([172, 16, 0, 1], 1)?, way([192, 0, 2, 9], 0)?);
    plane.ip4.insert(Ip4Prefix::new(0x0a00_0000, 8)?, on)?;
    let networks = (0..NETWORKS).map(|n| Ok((Ip4Prefix::new(network(n), 24)?, back)));
    let networks: Vec<_> = networks.collect::<Result<_, RigError>>()?;
    plane.ip4.insert_bulk(&networks).map_err(|(_, error)| error)?;
    let mut row = plane.interfaces().get(0).cloned().ok_or("interface 0 is there")?;
    let urpf = Urpf { ip4: Some(Reverse::Strict), ip6: None, allow_default: false };
    row.set::<UrpfInput>(Some(urpf));
    plane.set_interface(0, Some(row));
    Ok(rig)
}
