//! Cross-connects; bridges: few stations and many, learned and not; VLANs; tunnels.

use super::setting::{NEXT_HOP_MAC, adjacency, random, udp};
use crate::rig::{Rig, RigError, interface};
use crate::scenario::Scenario;
use fib::Forward;
use fib::mac::MacKey;
use nodes::tables::{
    BridgeId, BridgePort, Ends, Interface, InterfaceId, Kind, Link, Mode, Tunnel, Vlan, VlanTags,
    Wrap,
};
use nodes::tunnel::TunnelHeaders;
use wire::ethernet::ethertype;

/// Ports that are wired together: the least that a router can do.
pub(crate) fn xconnects() -> Vec<Scenario> {
    vec![Scenario::new("l2-xconnect", 28.0, xconnect)]
}

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario::scaled("l2-bridge", 32.0, |it| bridge(it, 256, false)),
        Scenario::scaled("l2-bridge-learn", 42.0, |it| bridge(it, 256, true)),
        Scenario::scaled("l2-bridge-100k", 120.0, |it| bridge(it, 100_000, true)),
        Scenario::scaled("vlan-xconnect", 36.0, vlan_xconnect),
        Scenario::scaled("vxlan-encap", 75.0, |it| vxlan(it, false)),
        Scenario::scaled("vxlan-decap", 85.0, |it| vxlan(it, true)),
        Scenario::scaled("l2-bridge-1m", 160.0, |it| bridge(it, 1_000_000, true)),
    ]
}

fn xconnect() -> Result<Rig, RigError> {
    let packets = (0..256).map(|n| udp(0x0a00_0001 + n)).collect();
    Rig::new(packets, Mode::CrossConnect(InterfaceId(1)))
}

/// A bridge with `count` stations on either side, all known; each packet is from and to any.
fn bridge(workers: usize, count: u32, learn: bool) -> Result<Rig, RigError> {
    let mut random = random();
    let mut any = move || (random() >> 32) as u32 % count;
    let station = |side: u8, number: u32| {
        let [a, b, c, d] = number.to_be_bytes();
        [0x06, side, a, b, c, d]
    };
    let packets = (0..count)
        .map(|_| {
            let mut frame = udp(0x0a00_0001);
            frame[..6].copy_from_slice(&station(1, any()));
            frame[6..12].copy_from_slice(&station(0, any()));
            frame
        })
        .collect();
    let port = BridgePort { learn, ..BridgePort::new(BridgeId(1)) };
    let room = 3 * count as usize;
    let mode = Mode::Bridged(port);
    let rig = Rig::with_workers(workers, packets, mode, |it| it.stations = room)?;
    for (side, number) in (0..2u8).flat_map(|side| (0..count).map(move |number| (side, number))) {
        rig.dataplane.stations.table.learn(MacKey::new(1, station(side, number)), side.into(), 0);
    }
    Ok(rig)
}

/// VLAN 100 of interface 0 leaves as VLAN 200 of interface 1.
fn vlan_xconnect(workers: usize) -> Result<Rig, RigError> {
    let tagged = |number: u32| {
        let mut frame = udp(0x0a00_0001 + number);
        frame.splice(12..12, [0x81, 0, 0, 100]);
        frame
    };
    let packets = (0..256).map(tagged).collect();
    let mut rig = Rig::with_workers(workers, packets, Mode::Routed, |_| ())?;
    for (id, parent, vid) in [(2, 0, 100), (3, 1, 200)] {
        let (tags, protocol) = (VlanTags::One(vid), ethertype::VLAN);
        let link = Link::Vlan(Vlan { parent, tags, protocol, priority: None });
        let row = interface(id, Mode::CrossConnect(InterfaceId(5 - id)));
        let mode = Mode::CrossConnect(InterfaceId(5 - id));
        rig.dataplane.set_interface(id, Some(Interface { port: parent, link, mode, ..row }));
    }
    Ok(rig)
}

/// Interface 0 is cross-connected with a tunnel to a host behind interface 1; or packets of the
/// tunnel come in by interface 0, and what is inside leaves by interface 1.
fn vxlan(workers: usize, decap: bool) -> Result<Rig, RigError> {
    const LOCAL: u32 = 0xc000_0201;
    const REMOTE: u32 = 0x0a00_0001;
    const TUNNEL: u16 = 2;
    let between = |local, remote| Tunnel::new(Wrap::vxlan(42), Ends::V4 { local, remote });
    let (tunnel, there) = (between(LOCAL, REMOTE), between(REMOTE, LOCAL));
    let packets = (0..256).map(|number| {
        let frame = udp(0x0a00_0001 + number);
        if !decap {
            return frame;
        }
        let mut packet = frame[..14].to_vec();
        packet.resize(14 + there.header_bytes(), 0);
        packet.extend_from_slice(&frame);
        TunnelHeaders::new(there).write(&mut packet[14..]);
        packet
    });
    let mut rig = Rig::with_workers(workers, packets.collect(), Mode::Routed, |_| ())?;
    let connect = |id: u16, peer: u16| Interface {
        mode: Mode::CrossConnect(InterfaceId(peer)),
        ..interface(id, Mode::Routed)
    };
    let port = u16::from(decap);
    if decap {
        rig.dataplane.set_interface(1, Some(connect(1, TUNNEL)));
    } else {
        rig.dataplane.set_interface(0, Some(connect(0, TUNNEL)));
    }
    let row = Interface { link: Link::Tunnel(tunnel), ..connect(TUNNEL, port) };
    rig.dataplane.set_interface(TUNNEL, Some(row));
    let id =
        rig.dataplane.adjacencies.allocate(&adjacency(std::net::Ipv4Addr::from(REMOTE).into()))?;
    rig.dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    for (prefix, kind, id) in
        [("10.0.0.1/32", Kind::Rewrite, id.0), ("192.0.2.1/32", Kind::Local, 0)]
    {
        rig.dataplane.ip4.insert(prefix.parse()?, Forward::new(kind as u8, id))?;
    }
    Ok(rig)
}
