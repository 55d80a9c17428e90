//! What scenarios have in common: hosts and their packets, next hops, the real tables.

use crate::rig::{ROUTER_MAC, Rig, RigError, interface};
use fib::Forward;
use fib::adjacency::{Adjacency, MAX_REWRITE};
use fib::route_file::{FilePrefix, FileTarget, OnWrong, load_routes};
use nodes::tables::{Interface, InterfaceId, Kind, Link, Mode, Vlan, VlanTags};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use wire::ethernet::ethertype;
use wire::{MacAddr, craft};

pub(crate) const SOURCE_MAC: [u8; 6] = [0x02, 0, 0, 0, 1, 1];
pub(crate) const NEXT_HOP_MAC: [u8; 6] = [0x02, 0, 0, 0, 2, 2];

/// A 60-byte UDP frame, as 64 on the wire.
pub(crate) fn udp(destination: u32) -> Vec<u8> {
    flow(destination, 1234)
}

/// The same, of a flow of its own.
pub(crate) fn flow(destination: u32, source_port: u16) -> Vec<u8> {
    craft::ethernet(MacAddr(SOURCE_MAC), MacAddr(ROUTER_MAC))
        .ipv4(Ipv4Addr::new(192, 0, 2, 9), Ipv4Addr::from(destination))
        .udp(source_port, 5678)
        .payload_len(18)
        .build()
}

/// A 60-byte UDP frame, the shortest that IPv6 and UDP make, and two octets more.
pub(crate) fn udp6(destination: u128) -> Vec<u8> {
    craft::ethernet(MacAddr(SOURCE_MAC), MacAddr(ROUTER_MAC))
        .ipv6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9), Ipv6Addr::from(destination))
        .udp(1234, 5678)
        .payload_len(2)
        .build()
}

/// Packets of a scenario that are told apart: more destinations than caches hold lines of.
pub(crate) const PACKETS: u32 = 65_536;

/// A host on either side of a bridge.
pub(crate) fn station(side: u8, number: u32) -> [u8; 6] {
    let [a, b, c, d] = number.to_be_bytes();
    [0x06, side, a, b, c, d]
}

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

/// Prefixes of a family and the numbers they lead to, from a file.
pub(crate) fn table_of<P>(
    file: &Path,
    of_family: impl Fn(FilePrefix) -> Option<P>,
) -> Result<Vec<(P, u32)>, RigError> {
    let file = load_routes(file, OnWrong::Refuse, &mut |_| ())?;
    let routes = file.routes.iter().filter_map(|route| match route.target {
        FileTarget::Number(number) => Some((of_family(route.prefix)?, number)),
        FileTarget::Address(_) => None,
    });
    Ok(routes.collect())
}

/// Out of interface 1, by plain Ethernet.
pub(crate) fn adjacency(next_hop: IpAddr) -> Adjacency {
    let mut rewrite = [0; MAX_REWRITE];
    let ethertype = if next_hop.is_ipv4() { ethertype::IPV4 } else { ethertype::IPV6 };
    rewrite[6..12].copy_from_slice(&ROUTER_MAC);
    rewrite[12..14].copy_from_slice(&ethertype.to_be_bytes());
    Adjacency { interface: 1, mtu: 1500, next_hop, rewrite, rewrite_len: 14 }
}

/// Where packets go by it; its MAC address is known.
pub(crate) fn way_by(rig: &Rig, adjacency: &Adjacency) -> Result<Forward, RigError> {
    let id = rig.dataplane.adjacencies.allocate(adjacency)?;
    rig.dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    Ok(Forward::new(Kind::Rewrite as u8, id.0))
}

/// Makes an interface a VLAN of a port, cross-connected with another one.
pub(crate) fn connect_vlan(rig: &mut Rig, id: u16, (parent, vid): (u16, u16), to: u16) {
    let (tags, protocol) = (VlanTags::One(vid), ethertype::VLAN);
    let link = Link::Vlan(Vlan { parent, tags, protocol, priority: None, is_native: false });
    let mode = Mode::CrossConnect(InterfaceId(to));
    let row = Interface { port: parent, link, mode, ..interface(id, Mode::Routed) };
    rig.dataplane.set_interface(id, Some(row));
}
