//! Any valid configuration, for property tests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use sched::units::{Rate, Size};
use wire::MacAddr;

use super::super::field::Field;
use super::super::objects::acl::{Acl, AclName, Action, Fragment, Rule, TcpFlags};
use super::super::objects::arp::Arp;
use super::super::objects::bridge::{BoundAddress, Bridge, BridgeName, Flags, Member};
use super::super::objects::bridge_evpn::Evpn;
use super::super::objects::bridge_rstp::{Rstp, RstpVersion};
use super::super::objects::bridge_snooping::{Snooping, Unknown};
use super::super::objects::export::{Export, ExportName, ExportProtocol};
use super::super::objects::flows::Flows;
use super::super::objects::icmp::Icmp;
use super::super::objects::ip4::Ip4;
use super::super::objects::memory::Memory;
use super::super::objects::mirror::{Direction, Mirror, MirrorName, Source};
use super::super::objects::neighbor::{Neighbor, NeighborKey};
use super::super::objects::next_hops::NextHops;
use super::super::objects::policer::{Dscp, Mark, Pcp, Policer, PolicerName, Treatment};
use super::super::objects::port::{Port, PortName, RxMode};
use super::super::objects::port_allow::Allow;
use super::super::objects::port_export::Exported;
use super::super::objects::port_filters::{Filters, Reverse, Urpf};
use super::super::objects::port_kind::ends::{End, Ends, Remotes};
use super::super::objects::port_kind::erspan::{Erspan, Version};
use super::super::objects::port_kind::geneve::Geneve;
use super::super::objects::port_kind::gre::{Gre, Payload};
use super::super::objects::port_kind::ipip::Ipip;
use super::super::objects::port_kind::vlan::{Protocol, Vid, Vlan};
use super::super::objects::port_kind::vxlan::Vxlan;
use super::super::objects::port_kind::{self, DeviceName, PortKind, Repeat, Role};
use super::super::objects::port_policing::Policing;
use super::super::objects::route::{NextHop, Route, RouteKey};
use super::super::objects::station::{Station, StationKey};
use super::super::objects::tunnel_number::{GreKey, Vni};
use super::super::objects::tunnel_outer::{OuterDscp, OuterTtl};
use super::super::objects::twins::Twins;
use super::super::objects::vrf::{Vrf, VrfName};
use super::super::objects::vrf_twin::VrfTwin;
use super::super::objects::workers::{Placement, Workers};
use super::super::objects::xconnect::{PortPair, Xconnect};
use super::super::prefix::{InterfaceAddress, Prefix};
use super::super::{Config, Host, Report};
use super::declared::any_declared;
use super::host;

/// Ports are numbered; port n has the network 10.n.0.0/24 and everything else follows from it.
fn name(number: u8) -> PortName {
    PortName::from_text(&format!("p{number}.x")).unwrap()
}

fn station(number: u8, host: u8) -> IpAddr {
    Ipv4Addr::new(10, number, 0, host).into()
}

fn kind(number: u8) -> impl Strategy<Value = PortKind> {
    let device = DeviceName::from_text(&format!("veth{number}")).unwrap();
    let socket = format!("/run/a \"b\"\\c/{number}").into();
    let path = "[a-zA-Z0-9 \"\\\\#=é'.]{1,12}";
    prop_oneof![
        any::<bool>().prop_map({
            let device = device.clone();
            move |peer_offloads| {
                PortKind::Tap(port_kind::Tap { device: device.clone(), peer_offloads })
            }
        }),
        any::<(bool, bool)>().prop_map(move |(peer_offloads, kernel_receives)| {
            let device = device.clone();
            PortKind::AfPacket(port_kind::AfPacket { device, peer_offloads, kernel_receives })
        }),
        any::<(u32, bool)>().prop_map(move |(id, zero_copy)| PortKind::Memif(port_kind::Memif {
            socket: std::path::PathBuf::clone(&socket),
            role: Role::Client,
            id,
            zero_copy,
        })),
        (path, any::<bool>()).prop_map(|(rx, once)| PortKind::Pcap(port_kind::Pcap {
            rx: Some(rx.into()),
            tx: None,
            repeat: if once { Repeat::Once } else { Repeat::Forever },
        })),
        proptest::option::of(path).prop_map(|source| PortKind::Memory(port_kind::Memory {
            source: source.map(Into::into),
            frames: Vec::new(),
            record: None,
        })),
    ]
}

fn port(number: u8) -> impl Strategy<Value = Port> {
    let mac = proptest::option::of(any::<[u8; 5]>());
    let hosts = btree_set(1_u8..200, 0..3);
    (kind(number), any::<bool>(), 68_u16..2000, mac, hosts).prop_map(
        move |(kind, up, mtu, mac, hosts)| Port {
            up,
            mtu,
            proxy_arp: hosts.iter().map(|host| Prefix::of(station(*host, 0), 24)).collect(),
            redirects: !hosts.is_empty() && up,
            directed_broadcasts: hosts.len() == 1,
            rx_mode: [RxMode::Adaptive, RxMode::Polling, RxMode::Interrupt][usize::from(mtu % 3)],
            routing: mac.map(|mac| !hosts.is_empty() && mac[0] % 2 == 0),
            mac: mac.map(|[a, b, c, d, e]| MacAddr([2, a, b, c, d, e])),
            addresses: hosts
                .into_iter()
                .map(|host| InterfaceAddress::new(station(number, host), 24))
                .collect(),
            ..Port::new(kind)
        },
    )
}

fn sections() -> impl Strategy<Value = Config> {
    let workers = prop_oneof![
        Just(Placement::Cores(vec![1, 0])),
        Just(Placement::Cores(vec![1])),
        (1_u16..3).prop_map(Placement::Count),
        Just(Placement::SingleThread),
    ];
    let workers = (workers, any_declared::<Workers>());
    let timers = (any_declared::<Arp>(), any_declared::<Icmp>(), any_declared::<Twins>());
    let hugepages = any_declared::<Memory>().prop_map(|memory| memory.hugepages);
    (workers, timers, hugepages, 2048_u16..9000).prop_map(
        |((placement, workers), (arp, icmp, twins), hugepages, frame_bytes)| Config {
            workers: Workers { placement, ..workers },
            // Room for what is generated.
            memory: Memory { frame_bytes, hugepages, ..Memory::default() },
            arp,
            ip4: Ip4 { class_e: icmp.echo_broadcasts },
            next_hops: NextHops { counters: icmp.echo },
            flows: Flows { inner: icmp.echo, symmetric: icmp.echo_broadcasts, ..Flows::default() },
            icmp,
            twins,
            ..Config::default()
        },
    )
}

/// A route to next hops (port and weight), or to nowhere.
type RouteSeed = (Vec<(u8, u16)>, u8);

fn routes() -> impl Strategy<Value = Vec<(Prefix, RouteSeed)>> {
    let prefix = (any::<u32>(), 0_u8..=32)
        .prop_map(|(bits, length)| Prefix::of(Ipv4Addr::from(bits).into(), length));
    let seed = (vec((0_u8..6, 1_u16..=255), 1..4), 0_u8..6);
    btree_map(prefix, seed, 0..12).prop_map(|routes| routes.into_iter().collect())
}

fn route(seed: &RouteSeed, ports: &[u8]) -> Route {
    let (hops, what) = seed;
    match what {
        0 => return Route::Blackhole,
        1 => return Route::Unreachable,
        2 => return Route::Prohibit,
        _ if ports.is_empty() => return Route::Blackhole,
        _ => {}
    }
    let hops = hops.iter().enumerate().map(|(index, (pick, weight))| {
        let port = ports[usize::from(*pick) % ports.len()];
        let hop = NextHop {
            address: Some(station(port, 200 + index as u8)),
            port: (*what == 3).then(|| name(port)),
            weight: *weight,
        };
        if index == 0 && *what == 5 {
            return NextHop { address: None, port: Some(name(port)), weight: *weight };
        }
        hop
    });
    Route::Via(hops.collect())
}

/// VLANs of these ports, and tunnels that begin at their addresses.
fn virtual_ports(config: &mut Config, ports: &[u8]) {
    let mut kinds = Vec::new();
    for (index, &number) in ports.iter().enumerate() {
        let parent = name(number);
        let Some(own) = config.ports.get(&parent).and_then(|port| port.addresses.first()) else {
            continue;
        };
        let to = |remotes| {
            let local = Some(End::At(own.address()));
            Ends { local, remotes, underlay_vrf: None }
        };
        let one = || to(Remotes::One(station(number, 240)));
        let from_any = || Ends { local: None, ..one() };
        let several = [None, Some(vec![]), Some(vec![station(number, 241), station(number, 242)])];
        let several = several[index % 3].clone().map(|flood| {
            let learn = flood.is_empty() || index > 3;
            to(Remotes::Several { flood, learn })
        });
        let payload = if index % 2 == 0 { Payload::Frames } else { Payload::Packets };
        let inner = [None, Some(Vid::Any), Some(Vid::Exact(7))][index % 3];
        kinds.extend([
            PortKind::Vlan(Vlan {
                parent: parent.clone(),
                vlan: Vid::Exact(100 + u16::from(number)),
                inner,
                protocol: if index == 0 { Protocol::Service } else { Protocol::Customer },
                priority: inner.map(|_| 5),
                native: inner.is_none() && index > 0,
                customers: Vec::new(),
            }),
            PortKind::Vlan(Vlan {
                parent,
                vlan: if index == 0 { Vid::Untagged } else { Vid::Any },
                inner: None,
                protocol: Protocol::Customer,
                priority: None,
                native: false,
                customers: if index > 1 { vec![5, 7] } else { Vec::new() },
            }),
            PortKind::Vxlan(Vxlan {
                checksum: inner.map(|_| index > 1),
                udp_port: if index == 0 { 4789 } else { 8472 },
                dscp: if index == 0 { OuterDscp::Inherit } else { OuterDscp::Is(Dscp(46)) },
                ttl: if index == 0 { OuterTtl::Is(1) } else { OuterTtl::Inherit },
                ..Vxlan::new(u32::from(number).into(), one())
            }),
            PortKind::Geneve(Geneve {
                udp_port: if index == 0 { 6081 } else { 6082 },
                checksum: inner.map(|_| index > 1),
                ttl: if index == 0 { OuterTtl::Is(1) } else { OuterTtl::Inherit },
                ..Geneve::new(u32::from(number).into(), from_any())
            }),
            PortKind::Gre(Gre {
                key: inner.map(|_| GreKey::Is(9)),
                key_in: (index == 1).then_some(10),
                key_out: (index > 0).then_some(11),
                payload,
                ..Gre::new(one())
            }),
            PortKind::Erspan(Erspan {
                version: if index == 1 { Version::Three } else { Version::Two },
                index: number.into(),
                ..Erspan::new(u16::from(number), one())
            }),
            PortKind::Ipip(Ipip {
                dscp: if index == 1 { OuterDscp::Is(Dscp(10)) } else { OuterDscp::Inherit },
                ttl: if index == 0 { OuterTtl::Inherit } else { OuterTtl::Is(64) },
                ..Ipip::new(one())
            }),
        ]);
        let vxlan = |ends| PortKind::Vxlan(Vxlan::new(Vni::Is(1000), ends));
        kinds.extend(several.map(vxlan));
    }
    for (number, kind) in kinds.into_iter().enumerate() {
        let name = PortName::from_text(&format!("v{number}")).unwrap();
        config.ports.insert(name, Port::new(kind));
    }
}

/// Two VRFs with the same network on the first two of these ports, a route from one to the other,
/// one over the other's port, and one to the default VRF.
fn vrfs(config: &mut Config, ports: &[u8]) {
    let [red, blue] = ["red", "blue.1"].map(|name| VrfName::from_text(name).unwrap());
    let to = |vrf: &VrfName, prefix: &str| RouteKey {
        vrf: Some(vrf.clone()),
        prefix: prefix.parse().unwrap(),
    };
    let beside = "192.168.0.9".parse().ok();
    for (number, vrf) in ports.iter().zip([&red, &blue]) {
        let twin = VrfTwin::new(1000 + u32::from(*number));
        let twin = (number % 2 == 0).then(|| Box::new(twin));
        config.vrfs.insert(vrf.clone(), Vrf { twin });
        let (own, port) = (format!("r{number}"), Port::new(PortKind::Bvi));
        let own = PortName::from_text(&own).unwrap();
        let addresses = vec![InterfaceAddress::from_text("192.168.0.1/24").unwrap()];
        let vrf = Some(vrf.clone());
        config.ports.insert(own.clone(), Port { addresses, vrf, ..port });
        let hop = NextHop { address: beside, port: Some(own), weight: 1 };
        let key = to(&red, &format!("10.{number}.0.0/16"));
        if config.vrfs.contains(&red) {
            config.routes.insert(key, Route::Via(vec![hop]));
        }
    }
    if let [first, second, ..] = ports {
        let local = Some(End::At("192.168.0.1".parse().unwrap()));
        let remotes = Remotes::One(beside.unwrap());
        let ends = Ends { local, remotes, underlay_vrf: Some(red.clone()) };
        let kind = PortKind::Vxlan(Vxlan::new(u32::from(*first).into(), ends));
        let (over, vrf) = (format!("o{second}"), Some(blue.clone()));
        config.ports.insert(PortName::from_text(&over).unwrap(), Port { vrf, ..Port::new(kind) });
        config.routes.insert(to(&red, "172.16.0.0/12"), Route::Vrf(Some(blue.clone())));
        config.routes.insert(to(&blue, "0.0.0.0/0"), Route::Vrf(None));
    }
}

/// A bridge of these ports, each of which may do something else, the router's own station, and a
/// tunnel with several ends if there is one; stations behind the last port and behind an end.
fn bridge(config: &mut Config, ports: &[u8]) {
    let member = |number: &u8| Member {
        flags: Flags { learn: number & 1 == 0, flood_groups: *number > 3, ..Flags::default() },
        group: (number & 1 == 0).then_some(u16::from(*number) + 1),
        isolated: *number == 4,
        ..Member::new(name(*number))
    };
    let lan = BridgeName::from_text("lan.1").unwrap();
    let mut members: Vec<_> = ports.iter().map(member).collect();
    let own = PortName::from_text("own").unwrap();
    let addresses = vec![InterfaceAddress::new(Ipv4Addr::new(10, 98, 0, 1).into(), 24)];
    config.ports.insert(own.clone(), Port { addresses, ..Port::new(PortKind::Bvi) });
    members.push(Member::new(own));
    let tunnel = config.ports.iter().find(|(_, port)| port.kind.has_remotes());
    let tunnel = tunnel.map(|(name, _)| name.clone());
    members.extend(tunnel.iter().cloned().map(Member::new));
    let ageing = Duration::from_secs(30 + ports.len() as u64);
    let bound = |number: &u8| BoundAddress {
        address: match number % 2 {
            0 => Ipv4Addr::new(10, 99, 0, *number + 1).into(),
            _ => Ipv6Addr::new(0x2001, 0xdb8, 99, 0, 0, 0, 0, u16::from(*number) + 1).into(),
        },
        mac: MacAddr([2, 0, 0, 0, 1, *number]),
        router: number % 4 == 3,
    };
    let bindings: Vec<_> = ports.iter().map(bound).collect();
    let (answer_arp, answer_nd) = (bindings.len() > 1, bindings.len() > 2);
    let is_vxlan = |name: &PortName| {
        config.ports.get(name).is_some_and(|port| matches!(port.kind, PortKind::Vxlan(_)))
    };
    let evpn = tunnel.iter().find(|name| is_vxlan(name)).map(|_| {
        let netns = answer_nd.then(|| Field::from_text("frr").unwrap());
        Box::new(Evpn { netns, routes: answer_arp, ..Evpn::default() })
    });
    let made = Bridge {
        ports: members,
        ageing,
        answer_arp,
        answer_nd,
        bindings,
        evpn,
        snooping: answer_arp.then(|| {
            let unknown = if answer_nd { Unknown::Routers } else { Unknown::Flood };
            Box::new(Snooping { querier: answer_nd, unknown, ..Snooping::default() })
        }),
        rstp: answer_nd.then(|| {
            let version = if answer_arp { RstpVersion::Stp } else { RstpVersion::Rstp };
            Box::new(Rstp { version, priority: 4096, ..Rstp::default() })
        }),
        ..Bridge::default()
    };
    config.bridges.insert(lan.clone(), made);
    if let Some(port) = tunnel {
        let key = StationKey { bridge: lan.clone(), address: MacAddr([2, 0, 0, 0, 2, 1]) };
        let remote = Some(Ipv4Addr::new(172, 16, 0, 9).into());
        config.stations.insert(key, Station { port, remote });
    }
    if let Some(last) = ports.last() {
        let key = StationKey { bridge: lan, address: MacAddr([2, 0, 0, 0, 0, *last]) };
        config.stations.insert(key, Station { port: name(*last), remote: None });
    }
}

/// Mirrors to a port that carries nothing, of each of these ports one direction or both.
fn mirrors(config: &mut Config, destination: u8, sources: &[u8]) {
    let directions = [Direction::Both, Direction::Received, Direction::Sent];
    for (index, direction) in directions.into_iter().enumerate() {
        let mine = sources.iter().skip(index).step_by(directions.len());
        let sources: Vec<_> = mine.map(|port| Source { port: name(*port), direction }).collect();
        if !sources.is_empty() {
            let mirror = MirrorName::from_text(&format!("m.{index}")).unwrap();
            let truncate = (index == 1).then_some(128);
            let sample = if index == 2 { 100 } else { 1 };
            let mirrored = Mirror { sources, truncate, sample, ..Mirror::new(name(destination)) };
            config.mirrors.insert(mirror, mirrored);
        }
    }
}

/// An access list of one rule of each kind for each of these ports.
fn acls(config: &mut Config, ports: &[u8]) {
    for &number in ports {
        let acl = AclName::from_text(&format!("acl.{number}")).unwrap();
        let tcp = Rule {
            source: Some(Prefix::of(station(number, 0), 24)),
            protocol: Some(Field::from_text("tcp").unwrap()),
            destination_port: Some(Field::from_text("80-443").unwrap()),
            tcp_flags: Some(TcpFlags { set: 2, of: 0x12 }),
            vlan: Some(number.into()),
            inner_vlan: Some(7),
            fragment: Some(Fragment::First),
            ..Rule::new(Action::Permit)
        };
        let icmp = Rule {
            protocol: Some(Field::from_text("icmp").unwrap()),
            icmp_type: Some(8),
            source_mac: Some(MacAddr([2, 0, 0, 0, 0, number])),
            destination_mac: Some(MacAddr([2, 0, 0, 0, 1, number])),
            dscp: Some(Dscp(number % 64)),
            ttl: Some(number),
            ..Rule::new(Action::Deny)
        };
        let rules = vec![tcp, icmp, Rule::new(Action::Reflect)].into();
        config.acls.insert(acl.clone(), Acl { default: Action::Permit, rules });
        if let Some(port) = config.ports.get_mut(&name(number)) {
            let strict = Some(Reverse::Strict);
            let urpf = Urpf { ip4: strict, ip6: None, allow_default: number % 2 == 0 };
            // Only what is routed has a route back.
            let urpf = Some(urpf).filter(|_| !port.addresses.is_empty());
            let (acl_in, acl_out) = (Some(acl.clone()), Some(acl));
            let from = vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
            let allow = Some(Allow { from, vrf: None, non_ip: number % 2 == 0 });
            *port.filters = Filters { acl_in, acl_out, policy: None, urpf, allow };
        }
    }
}

/// A policer of each kind for each of these ports, and marks.
fn policers(config: &mut Config, ports: &[u8]) {
    for &number in ports {
        let name_of_it = PolicerName::from_text(&format!("policer.{number}")).unwrap();
        let (two_rates, excess) = (number % 3 == 0, number % 3 == 1);
        let mark = Mark { dscp: Some(Dscp(number)), pcp: two_rates.then_some(Pcp(5)) };
        let marked = Treatment::Pass(mark);
        let policer = Policer {
            rate: Some(Rate(1_000_000 * (u64::from(number) + 1))),
            burst: Some(Size(64_000)),
            excess_burst: excess.then_some(Size(1_500)),
            peak_rate: two_rates.then_some(Rate(1_000_000_000)),
            peak_burst: two_rates.then_some(Size(128_000)),
            packet_rate: (number % 2 == 1).then_some(5_000),
            packet_burst: (number % 2 == 1).then_some(100),
            colour_aware: number > 2,
            conform: Treatment::PASS,
            exceed: if two_rates || excess { marked } else { Treatment::PASS },
            violate: if number % 2 == 0 { marked } else { Treatment::Drop },
        };
        config.policers.insert(name_of_it.clone(), policer);
        if let Some(port) = config.ports.get_mut(&name(number)) {
            let output = (number % 2 == 0).then(|| name_of_it.clone());
            *port.policing = Policing {
                police_in: Some(name_of_it),
                police_out: output,
                mark_dscp: mark.dscp,
                mark_pcp: mark.pcp,
            };
        }
    }
}

/// An exporter of each protocol for each of these ports, what they receive or send.
fn exports(config: &mut Config, ports: &[u8]) {
    let protocols = [
        ExportProtocol::Ipfix,
        ExportProtocol::NetFlow9,
        ExportProtocol::NetFlow5,
        ExportProtocol::Sflow5,
    ];
    for (&number, protocol) in ports.iter().zip(protocols) {
        let named = ExportName::from_text(&format!("export.{number}")).unwrap();
        let collectors = vec![([192, 0, 2, number + 1], 4739).into()];
        let (source, sample) =
            ((number % 2 == 0).then(|| [192, 0, 2, 1].into()), 1 + u32::from(number));
        let export = Export {
            protocol,
            collectors,
            source,
            sample,
            point: (protocol == ExportProtocol::Ipfix).then(|| number.into()),
            engine_in_interfaces: protocol == ExportProtocol::NetFlow5,
            ..Export::default()
        };
        config.exports.insert(named.clone(), export);
        if let Some(port) = config.ports.get_mut(&name(number)) {
            let export_out = if number % 2 == 0 { vec![named.clone()] } else { Vec::new() };
            *port.exported = Exported { export_in: vec![named], export_out };
        }
    }
}

/// A configuration without a fault.
pub(crate) fn config() -> impl Strategy<Value = Config> {
    let ports: Vec<_> = (0_u8..6).map(|number| proptest::option::of(port(number))).collect();
    (sections(), ports, routes(), any::<bool>()).prop_map(
        |(mut config, ports, routes, neighbor)| {
            let (mut routed, mut bare) = (Vec::new(), Vec::new());
            for (number, port) in (0..).zip(ports) {
                let Some(port) = port else { continue };
                if port.addresses.is_empty() {
                    bare.push(number)
                } else {
                    routed.push(number)
                }
                config.ports.insert(name(number), port);
            }
            acls(&mut config, &bare);
            policers(&mut config, &bare);
            policers(&mut config, &routed);
            exports(&mut config, &bare);
            virtual_ports(&mut config, &routed);
            if neighbor {
                vrfs(&mut config, &bare);
            }
            for (prefix, seed) in &routes {
                config.routes.insert((*prefix).into(), route(seed, &routed));
            }
            if let ([first, second, ..], true) = (&bare[..], neighbor) {
                config.xconnects.insert(PortPair::of(name(*second), name(*first)), Xconnect::new());
            }
            if let ([_, _, rest @ ..], true) = (&bare[..], neighbor) {
                bridge(&mut config, rest);
            }
            if let ([first, rest @ ..], false) = (&bare[..], neighbor) {
                mirrors(&mut config, *first, &[rest, &routed[..]].concat());
            }
            if let ([first, ..], true) = (&routed[..], neighbor) {
                let key = NeighborKey { port: name(*first), address: station(*first, 250) };
                config.neighbors.insert(key, Neighbor { mac: MacAddr([2, 0, 0, 0, 0, 1]) });
            }
            config
        },
    )
}

proptest! {
    #[test]
    fn every_generated_configuration_is_without_fault(config in config()) {
        let mut report = Report::default();
        config.check(&host(), &mut report);
        config.check(&Host::any(), &mut report);
        prop_assert!(report.is_empty(), "{report:?}\n{}", super::render(&config));
    }
}
