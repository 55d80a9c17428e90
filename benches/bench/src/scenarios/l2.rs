//! Cross-connects; bridges: few stations and many, learned and not; VLANs; tunnels.

use super::setting::{NEXT_HOP_MAC, adjacency, connect_vlan, random, station, udp};
use crate::rig::{Rig, RigError, interface};
use crate::scenario::Scenario;
use fib::Forward;
use fib::mac::MacKey;
use nodes::tables::{
    BridgeId, BridgePort, Ends, Interface, InterfaceId, Kind, Link, Mode, Tunnel, Wrap,
};
use nodes::tunnel::TunnelHeaders;
use wire::MacAddr;

/// Ports that are wired together: the least that a router can do.
pub(crate) fn xconnects() -> Vec<Scenario> {
    let vpp = "set interface l2 xconnect pg0 pg1\nset interface l2 xconnect pg1 pg0\n";
    vec![Scenario::new("l2-xconnect", 28.0, xconnect).beside_vpp(|| vpp.into())]
}

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario::scaled("l2-bridge", 32.0, |it| bridge(it, 256, false))
            .beside_vpp(|| bridge_of_vpp(256, false)),
        Scenario::scaled("l2-bridge-learn", 42.0, |it| bridge(it, 256, true))
            .beside_vpp(|| bridge_of_vpp(256, true)),
        Scenario::scaled("l2-bridge-100k", 120.0, |it| bridge(it, 100_000, true))
            .beside_vpp(|| bridge_of_vpp(100_000, true)),
        Scenario::scaled("vlan-xconnect", 36.0, vlan_xconnect),
        Scenario::scaled("vxlan-encap", 75.0, |it| vxlan(it, false))
            .beside_vpp(|| format!("{TUNNEL_OF_VPP}set interface l2 xconnect pg0 vxlan_tunnel0\nset interface l2 xconnect vxlan_tunnel0 pg0\n")),
        Scenario::scaled("vxlan-decap", 85.0, |it| vxlan(it, true)),
        Scenario::scaled("l2-bridge-1m", 160.0, |it| bridge(it, 1_000_000, true)),
    ]
}

fn xconnect() -> Result<Rig, RigError> {
    let packets = (0..256).map(|n| udp(0x0a00_0001 + n)).collect();
    Rig::new(packets, Mode::CrossConnect(InterfaceId(1)))
}

/// VPP's tunnel as [`vxlan`] has it.
const TUNNEL_OF_VPP: &str = "set interface ip address pg1 192.0.2.1/24\n\
    set ip neighbor pg1 192.0.2.2 02:00:00:00:02:02\n\
    ip route add 10.0.0.1/32 via 192.0.2.2 pg1\n\
    create vxlan tunnel src 192.0.2.1 dst 10.0.0.1 vni 42\n";

/// VPP's bridge as [`bridge`] has it; whom packets are from it learns, or never does.
fn bridge_of_vpp(count: u32, learn: bool) -> String {
    let (on, minutes) = if learn { (1, 5) } else { (0, 0) };
    let mut commands = format!(
        "create bridge-domain 1 learn {on} mac-age {minutes}\n\
         set interface l2 bridge pg0 1\nset interface l2 bridge pg1 1\n"
    );
    for number in 0..count {
        let mac = MacAddr(station(1, number));
        commands.push_str(&format!("l2fib add {mac} 1 pg1\n"));
    }
    commands
}

/// A bridge with `count` stations on either side, all known; each packet is from and to any. The
/// table is as large as it usually is, or larger.
fn bridge(workers: usize, count: u32, learn: bool) -> Result<Rig, RigError> {
    let mut random = random();
    let mut any = move || (random() >> 32) as u32 % count;
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
    let rig = Rig::with_workers(workers, packets, mode, |it| it.stations = room.max(it.stations))?;
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
        connect_vlan(&mut rig, id, (parent, vid), 5 - id);
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
