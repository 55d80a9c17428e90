//! Traffic that is not all alike: what vectors cost that are split, and short ones.

use super::setting::{
    NEXT_HOP_MAC, SOURCE_MAC, adjacency, connect_vlan, random, station, udp, udp6, way_by,
};
use crate::rig::{ROUTER_MAC, Rig, RigError, interface};
use crate::scenario::Scenario;
use fib::adjacency::Adjacency;
use fib::mac::MacKey;
use fib::{Ip4Prefix, Ip6Prefix};
use nodes::tables::{BridgeId, BridgePort, Mode};
use packet::{MemorySink, TxQueue};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::{MacAddr, craft};

/// Packets of a scenario.
const PACKETS: u32 = 1024;
/// Ports that packets leave by, and VLANs that they come by.
const PORTS: u16 = 8;
const VLANS: u16 = 4;

pub(crate) fn all() -> Vec<Scenario> {
    let in_vectors_of = |name, aim, count| {
        Scenario::new(name, aim, move || in_vectors_of(count))
            .beside_vpp(|| routed_of_vpp(1))
            .vpp_in_vectors_of(count)
    };
    vec![
        Scenario::new("mixed-families", 80.0, || routed(|_| (), |n| family(n % 2 == 0, n)))
            .beside_vpp(|| routed_of_vpp(1)),
        // VPP does not forward those with options.
        Scenario::new("mixed-options", 80.0, || routed(|_| (), |n| options(n % 10 == 0, n))),
        Scenario::new("mixed-ports", 80.0, ports).beside_vpp(|| routed_of_vpp(PORTS)),
        Scenario::new("mixed-bridge", 60.0, bridge).beside_vpp(bridge_of_vpp),
        Scenario::new("mixed-vlans", 60.0, vlans).beside_vpp(vlans_of_vpp),
        in_vectors_of("ip4-vectors-of-8", 100.0, 8),
        in_vectors_of("ip4-vectors-of-32", 70.0, 32),
    ]
}

/// VPP's ports up to this one, but for the two that there are.
fn ports_of_vpp(most: u16) -> String {
    let port = |port| {
        format!(
            "create packet-generator interface pg{port}\n\
             set interface mac address pg{port} {}\n\
             set interface state pg{port} up\n",
            MacAddr(ROUTER_MAC)
        )
    };
    (2..=most).map(port).collect()
}

/// VPP's routes as [`routed`] has them, and as [`ports`] has them.
fn routed_of_vpp(ports: u16) -> String {
    let mac = MacAddr(NEXT_HOP_MAC);
    let mut commands = format!(
        "set interface ip address pg0 192.0.2.1/24\n\
         set interface ip address pg0 2001:db8::1/64\n\
         set interface ip address pg1 2001:db8:0:1::1/64\n\
         set ip neighbor pg1 2001:db8:0:1::2 {mac}\n\
         ip route add 2001:db8:a::/48 via 2001:db8:0:1::2 pg1\n"
    );
    commands.push_str(&ports_of_vpp(ports));
    for port in 1..=ports {
        let network = match ports {
            1 => "10.0.0.0/8".to_owned(),
            _ => format!("10.{}.0.0/16", port - 1),
        };
        commands.push_str(&format!(
            "set interface ip address pg{port} 192.0.{net}.1/24\n\
             set ip neighbor pg{port} 192.0.{net}.2 {mac}\n\
             ip route add {network} via 192.0.{net}.2 pg{port}\n",
            net = 2 + port
        ));
    }
    commands
}

/// VPP's VLANs as [`vlans`] has them: one tag goes, another comes.
fn vlans_of_vpp() -> String {
    let mut commands = String::new();
    for vlan in 0..VLANS {
        let ends = [format!("pg0.{}", 100 + vlan), format!("pg1.{}", 200 + vlan)];
        commands.push_str(&format!(
            "create sub-interfaces pg0 {}\ncreate sub-interfaces pg1 {}\n",
            100 + vlan,
            200 + vlan
        ));
        for (end, other) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
            commands.push_str(&format!(
                "set interface state {end} up\n\
                 set interface l2 xconnect {end} {other}\n\
                 set interface l2 tag-rewrite {end} pop 1\n"
            ));
        }
    }
    commands
}

/// In an order that nobody foresees, the same in every run.
fn shuffled(mut packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut random = random();
    for place in (1..packets.len()).rev() {
        packets.swap(place, random() as usize % (place + 1));
    }
    packets
}

fn family(is_ip4: bool, number: u32) -> Vec<u8> {
    if is_ip4 {
        return udp(0x0a00_0001 + number);
    }
    udp6(0x2001_0db8_000a << 80 | u128::from(number))
}

fn options(has_some: bool, number: u32) -> Vec<u8> {
    if !has_some {
        return udp(0x0a00_0001 + number);
    }
    craft::ethernet(MacAddr(SOURCE_MAC), MacAddr(ROUTER_MAC))
        .ipv4(Ipv4Addr::new(192, 0, 2, 9), Ipv4Addr::from(0x0a00_0001 + number))
        .raw_options(&[1, 1, 1, 0])
        .udp(1234, 5678)
        .payload_len(14)
        .build()
}

/// One route of each family.
fn routed(
    change: impl FnOnce(&mut dataplane::Settings),
    packet: impl Fn(u32) -> Vec<u8>,
) -> Result<Rig, RigError> {
    let packets = shuffled((0..PACKETS).map(packet).collect());
    let rig = Rig::with_settings(packets, Mode::Routed, change)?;
    let to_ip4 = way_by(&rig, &adjacency(Ipv4Addr::new(192, 0, 3, 2).into()))?;
    let to_ip6 = way_by(&rig, &adjacency(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 2).into()))?;
    rig.dataplane.ip4.insert(Ip4Prefix::new(0x0a00_0000, 8)?, to_ip4)?;
    rig.dataplane.ip6.insert(Ip6Prefix::new(0x2001_0db8_000a << 80, 48)?, to_ip6)?;
    Ok(rig)
}

fn in_vectors_of(count: usize) -> Result<Rig, RigError> {
    routed(|settings| settings.reception.vector_packets = count, |number| family(true, number))
}

/// One more port that packets leave by.
fn add_port(rig: &mut Rig, port: u16, mode: Mode) -> Result<(), RigError> {
    let tx = vec![Box::new(MemorySink::new()) as Box<dyn TxQueue>];
    rig.dataplane.attach_port(port, port, dataplane::PortQueues { rx: Vec::new(), tx })?;
    rig.dataplane.set_interface(port, Some(interface(port, mode)));
    Ok(())
}

/// Packets leave by eight ports, in no order.
fn ports() -> Result<Rig, RigError> {
    let packets = (0..PACKETS).map(|number| udp(0x0a00_0001 + ((number % u32::from(PORTS)) << 16)));
    let mut rig = Rig::new(shuffled(packets.collect()), Mode::Routed)?;
    for port in 1..=PORTS {
        if port > 1 {
            add_port(&mut rig, port, Mode::Routed)?;
        }
        let next_hop = Ipv4Addr::new(192, 0, 2 + port as u8, 2).into();
        let way = way_by(&rig, &Adjacency { interface: port, ..adjacency(next_hop) })?;
        let network = Ip4Prefix::new(0x0a00_0000 + (u32::from(port - 1) << 16), 16)?;
        rig.dataplane.ip4.insert(network, way)?;
    }
    Ok(rig)
}

/// Stations of a bridge that learns.
const STATIONS: u32 = 256;

/// The port that a station is behind to which packets go.
fn port_of(number: u32) -> u16 {
    1 + (number % u32::from(PORTS)) as u16
}

/// Frames to stations behind eight ports of a bridge, in no order.
fn bridge() -> Result<Rig, RigError> {
    let mut random = random();
    let mut any = move || (random() >> 32) as u32 % STATIONS;
    let frame = |_| {
        let mut frame = udp(0x0a00_0001);
        frame[..6].copy_from_slice(&station(1, any()));
        frame[6..12].copy_from_slice(&station(0, any()));
        frame
    };
    let mode = Mode::Bridged(BridgePort::new(BridgeId(1)));
    let mut rig = Rig::new((0..PACKETS).map(frame).collect(), mode)?;
    for port in 2..=PORTS {
        add_port(&mut rig, port, mode)?;
    }
    for number in 0..STATIONS {
        let table = &rig.dataplane.stations.table;
        table.learn(MacKey::new(1, station(0, number)), 0, 0);
        table.learn(MacKey::new(1, station(1, number)), port_of(number).into(), 0);
    }
    Ok(rig)
}

/// VPP's bridge as [`bridge`] has it.
fn bridge_of_vpp() -> String {
    let mut commands = ports_of_vpp(PORTS);
    commands.push_str("create bridge-domain 1 learn 1 mac-age 5\n");
    for port in 0..=PORTS {
        commands.push_str(&format!("set interface l2 bridge pg{port} 1\n"));
    }
    for number in 0..STATIONS {
        let (mac, port) = (MacAddr(station(1, number)), port_of(number));
        commands.push_str(&format!("l2fib add {mac} 1 pg{port}\n"));
    }
    commands
}

/// Packets of four VLANs, in no order, each cross-connected with another VLAN of the other port.
fn vlans() -> Result<Rig, RigError> {
    let tagged = |number: u32| {
        let mut frame = udp(0x0a00_0001 + number);
        frame.splice(12..12, [0x81, 0, 0, 100 + (number % u32::from(VLANS)) as u8]);
        frame
    };
    let mut rig = Rig::new(shuffled((0..PACKETS).map(tagged).collect()), Mode::Routed)?;
    for vlan in 0..VLANS {
        let ids = [2 + 2 * vlan, 3 + 2 * vlan];
        for (parent, vid) in [(0, 100 + vlan), (1, 200 + vlan)] {
            let (id, other) = (ids[usize::from(parent)], ids[1 - usize::from(parent)]);
            connect_vlan(&mut rig, id, (parent, vid), other);
        }
    }
    Ok(rig)
}
