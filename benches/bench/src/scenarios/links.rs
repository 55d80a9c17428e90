//! Packets that are routed into tunnels: GRE of packets, LISP, whose locators a map cache tells,
//! and beside them VXLAN, by the router's own port of a bridge.
//!
//! ```text
//!  0 ── ip4-input … ip4-rewrite ── tunnel ── around it IPv4 ── ip4-rewrite ── 1
//!                       └ bridge ─────┘ VXLAN
//! ```

use super::setting::{NEXT_HOP_MAC, adjacency, udp};
use crate::rig::{Rig, RigError, interface};
use crate::scenario::Scenario;
use fib::Forward;
use fib::adjacency::Adjacency;
use fib::mac::MacKey;
use nodes::tables::{
    BridgeId, BridgePort, Ends, Inside, Interface, Kind, Link, Lisp, LispInstance, LispLink, Mode,
    Tunnel, VrfId, Wrap,
};
use nodes::tunnel::TunnelHeaders;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::MacAddr;

const LOCAL: u32 = 0xc000_0201;
const REMOTE: u32 = 0xcb00_7101;
const TUNNEL: u16 = 2;
const STATION: [u8; 6] = [0x06, 0, 0, 0, 0, 1];
/// Sites of the map cache: each a /24, all at one locator.
const SITES: u32 = 256;

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario::scaled("gre-encap", 125.0, |it| routed_into(it, false)),
        Scenario::scaled("lisp-encap", 140.0, |it| routed_into(it, true)),
        Scenario::scaled("vxlan-routed", 140.0, vxlan_routed),
        Scenario::scaled("vxlan-bridged", 90.0, vxlan_bridged).beside_vpp(vxlan_bridged_of_vpp),
    ]
}

/// The router's own port of a bridge, and a VXLAN tunnel in it that the next hop is behind.
fn vxlan_routed(workers: usize) -> Result<Rig, RigError> {
    const OWN: u16 = 3;
    let packets = (0..SITES).map(|number| udp(0x0a00_0001 + (number << 8))).collect();
    let mut rig = Rig::with_workers(workers, packets, Mode::Routed, |_| ())?;
    let tunnel = Tunnel::new(Wrap::vxlan(42), Ends::V4 { local: LOCAL, remote: REMOTE });
    let mode = Mode::Bridged(BridgePort::new(BridgeId(1)));
    for (id, link) in [(TUNNEL, Link::Tunnel(tunnel)), (OWN, Link::Bridge)] {
        let row = Interface { link, port: id, ..interface(id, mode) };
        rig.dataplane.set_interface(id, Some(row));
    }
    rig.dataplane.stations.table.insert_static(MacKey::new(1, STATION), TUNNEL.into())?;
    let into = Adjacency { interface: OWN, ..adjacency(Ipv4Addr::new(10, 0, 0, 1).into()) };
    let into = rig.dataplane.adjacencies.allocate(&into)?;
    rig.dataplane.adjacencies.complete(into, STATION);
    let out = rig.dataplane.adjacencies.allocate(&adjacency(Ipv4Addr::from(REMOTE).into()))?;
    rig.dataplane.adjacencies.complete(out, NEXT_HOP_MAC);
    for (prefix, kind, id) in [
        ("10.0.0.0/8", Kind::Rewrite, into.0),
        ("203.0.113.1/32", Kind::Rewrite, out.0),
        ("192.0.2.1/32", Kind::Local, 0),
    ] {
        rig.dataplane.ip4.insert(prefix.parse()?, Forward::new(kind as u8, id))?;
    }
    Ok(rig)
}

/// A host on a port of a bridge sends to one behind the bridge's VXLAN tunnel.
fn vxlan_bridged(workers: usize) -> Result<Rig, RigError> {
    let packets = (0..SITES).map(|number| {
        let mut frame = udp(0x0a00_0001 + (number << 8));
        frame[..6].copy_from_slice(&STATION);
        frame
    });
    let bridged = Mode::Bridged(BridgePort::new(BridgeId(1)));
    let mut rig = Rig::with_workers(workers, packets.collect(), Mode::Routed, |_| ())?;
    let tunnel = Tunnel::new(Wrap::vxlan(42), Ends::V4 { local: LOCAL, remote: REMOTE });
    let tunnel = Interface { link: Link::Tunnel(tunnel), port: 1, ..interface(TUNNEL, bridged) };
    for (id, row) in [(0, interface(0, bridged)), (TUNNEL, tunnel)] {
        rig.dataplane.set_interface(id, Some(row));
    }
    rig.dataplane.stations.table.insert_static(MacKey::new(1, STATION), TUNNEL.into())?;
    let out = rig.dataplane.adjacencies.allocate(&adjacency(Ipv4Addr::from(REMOTE).into()))?;
    rig.dataplane.adjacencies.complete(out, NEXT_HOP_MAC);
    for (prefix, kind, id) in
        [("203.0.113.1/32", Kind::Rewrite, out.0), ("192.0.2.1/32", Kind::Local, 0)]
    {
        rig.dataplane.ip4.insert(prefix.parse()?, Forward::new(kind as u8, id))?;
    }
    Ok(rig)
}

/// The same as VPP's commands.
fn vxlan_bridged_of_vpp() -> String {
    let (local, remote) = (Ipv4Addr::from(LOCAL), Ipv4Addr::from(REMOTE));
    let (station, next_hop) = (MacAddr(STATION), MacAddr(NEXT_HOP_MAC));
    format!(
        "set interface ip address pg1 {local}/24\n\
         set ip neighbor pg1 192.0.2.2 {next_hop}\n\
         ip route add {remote}/32 via 192.0.2.2 pg1\n\
         create vxlan tunnel src {local} dst {remote} vni 42\n\
         create bridge-domain 1 learn 1 mac-age 5\n\
         set interface l2 bridge pg0 1\n\
         set interface l2 bridge vxlan_tunnel0 1\n\
         l2fib add {station} 1 vxlan_tunnel0\n"
    )
}

fn routed_into(workers: usize, by_lisp: bool) -> Result<Rig, RigError> {
    let packets = (0..SITES).map(|number| udp(0x0a00_0001 + (number << 8))).collect();
    let mut rig = Rig::with_workers(workers, packets, Mode::Routed, |_| ())?;
    let ends = Ends::V4 { local: LOCAL, remote: REMOTE };
    let wrap =
        if by_lisp { Wrap::Lisp { instance: 7, nonce: 0x00ab_cdef } } else { Wrap::Gre(None) };
    let tunnel = Tunnel { inside: Inside::Packets, ..Tunnel::new(wrap, ends) };
    let link = match by_lisp {
        true => Link::Lisp(LispLink {
            instance: 7,
            underlay: VrfId::DEFAULT,
            local4: Some(LOCAL),
            local6: None,
            reencapsulates: false,
        }),
        false => Link::Tunnel(tunnel),
    };
    let row = Interface { link, port: 1, ..interface(TUNNEL, Mode::Routed) };
    rig.dataplane.set_interface(TUNNEL, Some(row));
    if by_lisp {
        let maps = rig.dataplane.make_vrf_tables()?;
        for site in 0..SITES {
            let prefix = fib::Prefix::new(0x0a00_0000 | site << 8, 24)?;
            maps.ip4.insert(prefix, Forward::new(Kind::Rewrite as u8, 0))?;
        }
        let instance = Arc::new(LispInstance { maps, sources: None, uniform: true });
        let locators = vec![Some(Arc::new(TunnelHeaders::new(tunnel)))];
        rig.dataplane.set_lisp(Lisp::new(HashMap::from([(TUNNEL, instance)]), locators, false));
    }
    let there = Ipv4Addr::from(REMOTE).into();
    let into = Adjacency { interface: TUNNEL, rewrite_len: 0, ..adjacency(there) };
    let into = rig.dataplane.adjacencies.allocate(&into)?;
    rig.dataplane.adjacencies.complete(into, [0; 6]);
    let out = rig.dataplane.adjacencies.allocate(&adjacency(there))?;
    rig.dataplane.adjacencies.complete(out, NEXT_HOP_MAC);
    for (prefix, kind, id) in [
        ("10.0.0.0/8", Kind::Rewrite, into.0),
        ("203.0.113.1/32", Kind::Rewrite, out.0),
        ("192.0.2.1/32", Kind::Local, 0),
    ] {
        rig.dataplane.ip4.insert(prefix.parse()?, Forward::new(kind as u8, id))?;
    }
    Ok(rig)
}
