//! The small router that tests run packets through, node by node and whole.
//!
//! ```text
//!  HOST 192.0.2.2 ── 0: 192.0.2.1/24 │ router │ 1: 198.51.100.1/24 ── GATEWAY 198.51.100.2 ── 10/8
//!                    2 ══ 3 cross-connected    4 down    5 without address
//! ```

use super::{Interface, InterfaceId, Kind, Mode};
use fib::Forward;
use fib::adjacency::{Adjacency, AdjacencyTable};
use fib::ip4::Ip4Table;
use std::net::Ipv4Addr;

pub(crate) const US: [u8; 4] = [192, 0, 2, 1];
pub(crate) const HOST: [u8; 4] = [192, 0, 2, 2];
pub(crate) const US_OUTSIDE: [u8; 4] = [198, 51, 100, 1];
pub(crate) const GATEWAY: [u8; 4] = [198, 51, 100, 2];
/// Behind the gateway.
pub(crate) const FAR: [u8; 4] = [10, 0, 0, 9];

pub(crate) const HOST_MAC: [u8; 6] = [0x0a, 0, 0, 0, 0, 2];
pub(crate) const GATEWAY_MAC: [u8; 6] = [0x0a, 0, 0, 0, 0, 3];

/// Adjacencies by id.
pub(crate) const TO_HOST: u32 = 0;
pub(crate) const TO_GATEWAY: u32 = 1;
pub(crate) const INCOMPLETE: u32 = 2;
/// To the gateway, with an MTU of 100.
pub(crate) const NARROW: u32 = 3;

/// The router's own MAC on an interface.
pub(crate) fn our_mac(interface: u16) -> [u8; 6] {
    [2, 0, 0, 0, 0, interface as u8]
}

/// The interfaces of the drawing.
pub(crate) fn rows() -> Vec<Option<Interface>> {
    let (to_3, to_2) = (Mode::CrossConnect(InterfaceId(3)), Mode::CrossConnect(InterfaceId(2)));
    let modes = [Mode::Routed, Mode::Routed, to_3, to_2, Mode::Routed, Mode::Routed];
    let row = |id: u16, mode: Mode| Interface {
        name: format!("p{id}"),
        port: id,
        up: id != 4,
        shaped: false,
        mode,
        mac: our_mac(id),
        mtu_bytes: 1500,
        ip4: match id {
            0 => vec![(u32::from_be_bytes(US), 24)],
            1 => vec![(u32::from_be_bytes(US_OUTSIDE), 24)],
            _ => Vec::new(),
        },
    };
    (0..).zip(modes).map(|(id, mode)| Some(row(id, mode))).collect()
}

/// Adds the next hops and the routes of the drawing.
pub(crate) fn add_routes(ip4: &Ip4Table, adjacencies: &AdjacencyTable) {
    let add = |interface: u16, next_hop: [u8; 4], mtu: u16, mac: Option<[u8; 6]>| {
        let mut rewrite = [0; 22];
        rewrite[6..12].copy_from_slice(&our_mac(interface));
        rewrite[12] = 8;
        let next_hop = Ipv4Addr::from(next_hop).into();
        let adjacency = Adjacency { interface, mtu, next_hop, rewrite, rewrite_len: 14 };
        let id = adjacencies.allocate(&adjacency).unwrap();
        if let Some(mac) = mac {
            adjacencies.complete(id, mac);
        }
    };
    add(0, HOST, 1500, Some(HOST_MAC));
    add(1, GATEWAY, 1500, Some(GATEWAY_MAC));
    add(1, [198, 51, 100, 3], 1500, None);
    add(1, GATEWAY, 100, Some(GATEWAY_MAC));
    for (prefix, kind, id) in [
        ("192.0.2.0/24", Kind::Glean, 0),
        ("192.0.2.1/32", Kind::Local, 0),
        ("192.0.2.2/32", Kind::Rewrite, TO_HOST),
        ("192.0.2.255/32", Kind::Broadcast, 0),
        ("198.51.100.0/24", Kind::Glean, 1),
        ("198.51.100.1/32", Kind::Local, 0),
        ("10.0.0.0/8", Kind::Rewrite, TO_GATEWAY),
        ("10.1.0.0/16", Kind::Blackhole, 0),
        ("10.2.0.0/16", Kind::Unreachable, 0),
        ("10.3.0.0/16", Kind::Prohibit, 0),
        ("10.4.0.0/16", Kind::Rewrite, INCOMPLETE),
        ("10.5.0.0/16", Kind::Rewrite, NARROW),
        ("224.0.0.0/4", Kind::Martian, 0),
    ] {
        ip4.insert(prefix.parse().unwrap(), Forward::new(kind as u8, id)).unwrap();
    }
}
