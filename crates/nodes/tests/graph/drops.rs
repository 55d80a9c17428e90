//! Every reason for a drop has a packet that meets it.

use crate::bonds;
use crate::drops_flow;
use crate::drops_groups;
use crate::drops_lisp;
use crate::drops_nat;
use crate::drops_own;
use crate::drops_policy;
use crate::drops_reflect;
use crate::drops_spanning;
use crate::drops_tunnels::{self, send_long};
use crate::drops6;
use crate::rig::*;
use acl::{Acl4, Acl6, Action};
use dataplane::Settings;
use fib::Forward;
use fib::adjacency::{Adjacency, AdjacencyId};
use nodes::filter::{
    Access, AccessList, Mark, NamedPolicer, Policed, Ranges, Treatment,
    acl_input::AclInput,
    acl_output::AclOutput,
    allow_input::{AllowInput, Allowed},
    policer_input::PolicerInput,
    policer_output::PolicerOutput,
    urpf_input::{Reverse, Urpf, UrpfInput},
};
use nodes::local::Twin;
use nodes::tables::{
    BridgeId, BridgePort, CustomerVlans, Injected, Interface, InterfaceId, Kind, Leftover, Link,
    Mode, TwinClass, VlanTags,
};
use police::{Agreement, Policer};
use sched::units::{Rate, Size, Time};
use sched::{CakeShape, ClassId, CodelShape, Config, Curve, HfscClass, HfscShape, SfqShape, Shape};
use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::craft::{self, Arp, Craft, Ethernet, Ipv4};

/// Reasons that a test on one thread cannot meet, and why.
const OUT_OF_REACH: [&str; 11] = [
    // Interfaces of packets, not frames, have no twin; the node's own tests give one such a packet.
    "twin-output/no-link-header",
    // Who hands it packets has read their IP headers, and drops those without; likewise.
    "lisp-resolve/no-packet",
    // The control thread takes a cross-connect away between two nodes of one pass.
    "l2-xconnect/disconnected",
    // Or a tunnel.
    "tunnel-encap/no-tunnel",
    // Or an interface down.
    "interface-enter/interface-down",
    "tunnel-too-big/interface-down",
    // Or out of its bridge.
    "l2-learn/not-bridged",
    "l2-multicast/not-bridged",
    "l2-spanning/not-spanning",
    // Or a bridge of flows.
    "flow-upcall/no-bridge",
    // It takes a second worker; the node's own tests play that.
    "shape/handover-full",
];

fn in_vlan(vid: u16) -> Vec<u8> {
    craft::ethernet(HOST_MAC, [4; 6]).vlan(vid).build()
}

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

fn to(target: [u8; 4]) -> Craft<Ipv4> {
    from_host().ipv4(HOST, target)
}

fn ask(sender: [u8; 4], target: [u8; 4]) -> Craft<Arp> {
    craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, sender, target)
}

/// Frames that interface 0 of the usual router receives, the last of which is dropped.
fn frames() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let one = |reason, frame: Vec<u8>| (reason, vec![frame]);
    let kind = |ethertype| from_host().ethertype(ethertype).build();
    let icmp = |message_type| to(US).icmp4(message_type, 0, [0; 4]).build();
    let announcement = ask(HOST, HOST).build();
    let waits = to([198, 51, 100, 77]).udp(1, 2).build();
    vec![
        one("ethernet-input/runt", vec![0; 13]),
        one("ethernet-input/not-for-us", craft::ethernet(HOST_MAC, [4; 6]).build()),
        one("ethernet-input/group-frame", craft::ethernet(HOST_MAC, [255; 6]).ipv4(1, 2).build()),
        one("ethernet-input/unknown-ethertype", kind(0x88cc)),
        one("ethernet-input/unknown-vlan", kind(0x8100)),
        one("ethernet-input/llc-frame", kind(46)),
        one("arp-input/truncated", ask(HOST, US).build()[..41].to_vec()),
        one("arp-input/unknown-format", ask(HOST, US).hardware_type(6).build()),
        one("arp-input/unknown-operation", ask(HOST, US).operation(9).build()),
        one("arp-input/bad-sender-mac", from_host().arp_request([0; 6], HOST, US).build()),
        one("arp-input/bad-sender-address", ask([127, 0, 0, 1], US).build()),
        one("arp-input/not-for-us", ask(HOST, [192, 0, 2, 9]).build()),
        ("arp-input/slow-path-full", vec![announcement; QUEUE + 1]),
        one("ip4-input/truncated", to(FAR).build()[..33].to_vec()),
        one("ip4-input/bad-version", to(FAR).version(5).build()),
        one("ip4-input/bad-header-length", to(FAR).ihl(4).build()),
        one("ip4-input/bad-total-length", to(FAR).length(21).build()),
        one("ip4-input/bad-checksum", to(FAR).checksum(9).build()),
        one("ip4-input/martian-source", from_host().ipv4([127, 0, 0, 1], FAR).build()),
        one("ip4-options/source-route", to(FAR).option(131, &[4, 1, 2, 3, 4]).build()),
        one("ip4-lookup/blackhole", to([10, 1, 0, 1]).build()),
        one("ip4-lookup/martian-destination", to([224, 0, 0, 5]).build()),
        one("ip4-broadcast/directed-broadcast", to([192, 0, 2, 255]).build()),
        ("ip-resolve/queue-full", vec![waits; QUEUE + 1]),
        one("ip-reassemble/malformed", to(US).fragment(0, true).build()),
        (
            "ip-reassemble/too-many-pieces",
            vec![to(US).fragment(0, true).udp(1, 2).build(); QUEUE + 1],
        ),
        one("icmp4-input/truncated", to(US).protocol(1).payload(&[8]).build()),
        one("icmp4-input/bad-checksum", to(US).icmp_echo(1, 1).checksum(9).build()),
        one("icmp4-input/error-message", icmp(3)),
        one("icmp4-input/unasked", icmp(0)),
        one("icmp4-input/unknown-type", icmp(99)),
        one("icmp4-error/not-allowed", to([172, 16, 0, 1]).icmp4(3, 0, [0; 4]).build()),
        one("udp4-local/truncated", to(US).protocol(17).payload(&[0]).build()),
        one("udp4-local/bad-length", to(US).udp(1, 2).length(7).build()),
        one("udp4-local/bad-checksum", to(US).udp(1, 2).checksum(9).build()),
        one("tcp4-reset/truncated", to(US).protocol(6).payload(&[0]).build()),
        one("tcp4-reset/bad-checksum", to(US).tcp(1, 2).checksum(9).build()),
        one("tcp4-reset/was-reset", to(US).tcp(1, 2).flags(4).build()),
    ]
}

pub(crate) type Play = fn(&mut Rig);

/// Holds an interface to so little that all is too much.
fn police_all(rig: &mut Rig, id: u16, hold: impl Fn(&mut Interface, Policed)) {
    let rate = police::Rate::new(8, graph::tsc_hz()).unwrap();
    let agreement = Agreement::SingleRate { rate, burst_bytes: 1, excess_bytes: None };
    let named = NamedPolicer {
        policer: Policer::new(agreement, false).unwrap().into(),
        treatments: [Treatment::Drop; 3],
        counters: [].into(),
    };
    let policed = Policed { policer: Some(Arc::new(named)), mark: Mark::default() };
    rig.change_interface(id, |row| hold(row, policed.clone()));
}

/// A list that denies all.
fn nothing() -> Option<Access> {
    let list = AccessList {
        ip4: Acl4::new::<u32>(&[], Action::Deny, 0).unwrap(),
        ip6: Acl6::new::<u128>(&[], Action::Deny, 0).unwrap(),
        wide: None,
        counters: Arc::default(),
    };
    Some(Access::new(Arc::new(list)))
}

/// Has interface 0 check sources as strictly as can be.
fn check_sources(rig: &mut Rig) {
    let urpf = Urpf { ip4: Some(Reverse::Strict), ip6: None, allow_default: false };
    rig.change_interface(0, |row| row.set::<UrpfInput>(Some(urpf)));
}

/// Has interface 0 receive nothing at all.
fn allow_nobody(rig: &mut Rig) {
    let (ip4, ip6) = (Ranges::of([]), Ranges::of([]));
    let nobody = Allowed { ip4, ip6, vrf: None, non_ip: false };
    rig.change_interface(0, |row| row.set::<AllowInput>(Some(nobody)));
}

/// Has a twin of interface 0 get nothing of a class, and a packet come in that is of it.
fn limit_twin(rig: &mut Rig, class: TwinClass, frame: Vec<u8>) {
    rig.change_interface(0, |row| row.put(Some(Twin)));
    rig.dataplane.twin_limits.0[class as usize].store(0, Ordering::Relaxed);
    rig.receive(0, frame);
}

/// Drops that want a router of another kind, or another way in.
fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("port-rx/interface-down", |rig| rig.receive(4, vec![0; 60])),
        ("port-rx/oversize", |rig| {
            rig.receive_as(0, Incoming { bytes: vec![0; 60], segments: 2, headroom: 128 });
        }),
        ("icmp4-broadcast/not-for-us", |rig| {
            rig.dataplane.icmp.echoes_broadcasts.store(true, Ordering::Relaxed);
            let to_all = craft::ethernet(HOST_MAC, [255; 6]).ipv4(HOST, [255; 4]);
            rig.receive(0, to_all.udp(68, 67).build());
        }),
        ("ethernet-input/not-routed", |rig| {
            rig.change_interface(0, |row| row.routes = false);
            rig.receive(0, to(FAR).udp(1, 2).build());
        }),
        ("acl-input/denied", |rig| {
            rig.change_interface(0, |row| row.set::<AclInput>(nothing()));
            rig.receive(0, to(FAR).udp(1, 2).build());
        }),
        ("acl-input/unreadable", |rig| {
            rig.change_interface(0, |row| row.set::<AclInput>(nothing()));
            rig.receive(0, to(FAR).version(5).build());
        }),
        ("policer-input/exceeding", |rig| {
            police_all(rig, 0, |row, policed| row.set::<PolicerInput>(Some(policed)));
            rig.receive(0, to(FAR).udp(1, 2).build());
        }),
        ("policer-output/exceeding", |rig| {
            police_all(rig, 1, |row, policed| row.set::<PolicerOutput>(Some(policed)));
            rig.receive(0, to(FAR).udp(1, 2).build());
        }),
        ("acl-output/denied", |rig| {
            rig.change_interface(1, |row| row.set::<AclOutput>(nothing()));
            rig.receive(0, to(FAR).udp(1, 2).build());
        }),
        ("acl-output/unreadable", |rig| {
            rig.change_interface(3, |row| row.set::<AclOutput>(nothing()));
            rig.receive(2, to(FAR).version(5).build());
        }),
        ("allow-input/not-allowed", |rig| {
            allow_nobody(rig);
            rig.receive(0, to(FAR).udp(1, 2).build());
        }),
        ("allow-input/not-ip", |rig| {
            allow_nobody(rig);
            rig.receive(0, ask(HOST, HOST).build());
        }),
        ("allow-input/truncated", |rig| {
            allow_nobody(rig);
            rig.receive(0, to(FAR).build()[..33].to_vec());
        }),
        ("urpf-input/no-reverse-route", |rig| {
            check_sources(rig);
            rig.receive(0, from_host().ipv4([172, 16, 0, 1], FAR).build());
        }),
        ("urpf-input/wrong-interface", |rig| {
            check_sources(rig);
            rig.receive(0, from_host().ipv4(GATEWAY, FAR).build());
        }),
        ("urpf-input/truncated", |rig| {
            check_sources(rig);
            rig.receive(0, to(FAR).build()[..33].to_vec());
        }),
        ("twin-output/neighbors-limited", |rig| {
            limit_twin(rig, TwinClass::Neighbors, ask(HOST, HOST).build());
        }),
        ("twin-output/routing-limited", |rig| {
            let hello = craft::ethernet(HOST_MAC, [1, 0, 0x5e, 0, 0, 5]).ipv4(HOST, [224, 0, 0, 5]);
            limit_twin(rig, TwinClass::Routing, hello.protocol(89).build());
        }),
        ("twin-output/tcp-limited", |rig| {
            limit_twin(rig, TwinClass::Tcp, to(US).tcp(1000, 22).build());
        }),
        ("twin-output/rest-limited", |rig| {
            limit_twin(rig, TwinClass::Rest, to(US).udp(1, 53).build());
        }),
        ("twin-output/queue-full", |rig| {
            rig.change_interface(0, |row| row.put(Some(Twin)));
            (0..=QUEUE).for_each(|_| rig.receive(0, to(US).tcp(1000, 22).build()));
        }),
        ("inject/unresolved", |rig| rig.inject(&[0], |packet| Injected::Discard { rx: 0, packet })),
        ("ip4-lookup/vrf-ring", |rig| {
            let table = rig.add_vrf().ip4;
            let around = Forward::new(Kind::Vrf as u8, 1);
            table.insert("10.0.0.9/32".parse().unwrap(), around).unwrap();
            rig.receive(1, craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv4(HOST, FAR).build());
        }),
        ("icmp4-error/no-address", |rig| {
            rig.receive(
                5,
                craft::ethernet(HOST_MAC, our_mac(5)).ipv4(HOST, [172, 16, 0, 1]).build(),
            );
        }),
        ("icmp4-error/no-headroom", |rig| {
            let bytes = to([172, 16, 0, 1]).build();
            rig.receive_as(0, Incoming { bytes, segments: 1, headroom: 0 });
        }),
        ("ip4-rewrite/no-headroom", |rig| {
            route_by(rig, 22, 1500);
            let bytes = to(FAR).build();
            rig.receive_as(0, Incoming { bytes, segments: 1, headroom: 0 });
        }),
        ("ip4-fragment/mtu-too-small", |rig| {
            route_by(rig, 14, 27);
            rig.receive(0, to(FAR).udp(1, 2).build());
        }),
        ("ip-resolve/adjacency-gone", |rig| {
            let id = route_by(rig, 14, 1500);
            rig.dataplane.adjacencies.free(id);
            rig.receive(0, to(FAR).build());
        }),
        ("interface-output/interface-down", |rig| {
            rig.change_interface(3, |row| row.up = false);
            rig.receive(2, vec![0; 60]);
        }),
        ("interface-output/too-big", |rig| rig.receive(2, vec![0; 1523])),
        ("shape/queue-full", |rig| {
            shape(rig, slow(Shape::pfifo(1)), |_| ());
            wait_for(rig, 3, &[vec![0; 60], vec![0; 60]], 1);
        }),
        ("shape/longest-queue", |rig| {
            shape(rig, slow(Shape::Sfq(SfqShape { limit: 2, ..SfqShape::default() })), |_| ());
            wait_for(rig, 3, &[vec![0; 60], vec![0; 60], vec![0; 60]], 2);
        }),
        ("shape/delay", |rig| {
            let (target, interval) = (Time(2_000), Time(10_000));
            let codel = CodelShape { target, interval, ..CodelShape::default() };
            shape(rig, slow(Shape::Codel(codel)), |_| ());
            wait_for(rig, 3, &vec![vec![0; 1500]; 6], 5);
        }),
        ("shape/acknowledged", |rig| {
            let (bandwidth, ack_filter) = (Some(Rate(1_200_000)), true);
            shape(rig, CakeShape { bandwidth, ack_filter, ..CakeShape::default() }.into(), |_| ());
            let ack = |number| to(FAR).tcp(1000, 80).flags(0x10).acknowledgement(number).build();
            // The same number again, a selective one, data and the end of it are no such thing.
            let tcp = || to(FAR).tcp(1000, 80).flags(0x10).acknowledgement(3000);
            let sack = tcp().option(5, &[0; 8]).build();
            let data = tcp().payload(b"x").build();
            let end = to(FAR).tcp(1000, 80).flags(0x11).acknowledgement(4000).build();
            wait_for(rig, 3, &[ack(1000), ack(2000), ack(2000), sack, data, end], 5);
        }),
        ("shape/no-class", |rig| {
            let class = HfscClass {
                ls: Some(Curve::straight(Rate(1_000_000))),
                ..HfscClass::new(ClassId::new(1, 1), None)
            };
            let handle = ClassId::new(1, 0);
            let hfsc = HfscShape { handle, default: None, classes: vec![class] };
            shape(rig, Shape::Hfsc(hfsc), |_| ());
            rig.receive(2, vec![0; 60]);
        }),
        ("shape/too-long", |rig| {
            shape(rig, slow(Shape::pfifo(10)), |_| ());
            rig.receive(2, vec![0; 1515]);
        }),
        ("shape/pool-exhausted", |rig| {
            shape(rig, slow(Shape::pfifo(10)), |config| config.pool_packets = Some(1));
            wait_for(rig, 3, &[vec![0; 1000], vec![0; 1000]], 1);
        }),
        ("shape/port-gone", |rig| {
            shape(rig, slow(Shape::pfifo(10)), |_| ());
            wait_for(rig, 3, &[vec![0; 1500], vec![0; 1500]], 1);
            rig.unshape(3, Leftover::Dropped);
        }),
        ("port-tx/no-port", |rig| {
            rig.change_interface(3, |row| row.port = 99);
            rig.receive(2, vec![0; 60]);
        }),
        ("l2-learn/runt", |rig| rig.receive(6, vec![0; 13])),
        ("l2-learn/bad-source", |rig| rig.receive(6, craft::ethernet([255; 6], [2; 6]).build())),
        ("l2-learn/fixed-elsewhere", |rig| {
            rig.fix_station(HOST_MAC, 7);
            rig.receive(6, craft::ethernet(HOST_MAC, [2; 6]).build());
        }),
        ("l2-forward/runt", |rig| rig.receive(9, vec![0; 13])),
        ("l2-forward/not-forwarding", |rig| {
            rig.change_port(6, |port| port.forward = false);
            rig.receive(6, craft::ethernet(HOST_MAC, [2; 6]).build());
        }),
        ("l2-forward/reserved-address", |rig| {
            rig.receive(6, craft::ethernet(HOST_MAC, [1, 0x80, 0xc2, 0, 0, 0]).build());
        }),
        ("l2-forward/same-port", |rig| {
            rig.fix_station(GATEWAY_MAC, 6);
            rig.receive(6, craft::ethernet(HOST_MAC, GATEWAY_MAC).build());
        }),
        ("l2-forward/isolated", |rig| {
            rig.fix_station(GATEWAY_MAC, 9);
            rig.receive(6, craft::ethernet(HOST_MAC, GATEWAY_MAC).build());
        }),
        ("l2-flood/nowhere", |rig| {
            (7..=9).for_each(|id| rig.change_port(id, |port| port.flood_groups = false));
            rig.receive(6, craft::ethernet(HOST_MAC, [255; 6]).build());
        }),
        ("l2-flood/storm", |rig| {
            rig.change_port(6, |port| port.storm_pps = 1);
            (0..2).for_each(|_| rig.receive(6, craft::ethernet(HOST_MAC, [255; 6]).build()));
        }),
        ("vlan-input/runt", |rig| rig.receive(TRUNK, vec![0; 13])),
        ("vlan-input/unknown-vlan", |rig| rig.receive(TRUNK, in_vlan(5))),
        ("vlan-input/interface-down", |rig| {
            rig.change_interface(ROUTED_VLAN, |row| row.up = false);
            rig.receive(TRUNK, in_vlan(100));
        }),
        ("vlan-output/no-headroom", |rig| {
            rig.change_interface(2, |row| row.mode = Mode::CrossConnect(InterfaceId(ROUTED_VLAN)));
            rig.receive_as(2, Incoming { bytes: vec![0; 60], segments: 1, headroom: 0 });
        }),
        ("vlan-output/not-in-vlan", |rig| {
            rig.change_interface(2, |row| row.mode = Mode::CrossConnect(InterfaceId(ROUTED_VLAN)));
            rig.change_interface(ROUTED_VLAN, |row| {
                row.put(Some(CustomerVlans::new([5])));
                if let Link::Vlan(vlan) = &mut row.link {
                    vlan.tags = VlanTags::Any;
                }
            });
            rig.receive(2, in_vlan(6));
        }),
        ("port-tx/queue-full", |rig| {
            // A port more, which takes one frame a burst.
            let more = rows().len() as u16;
            rig.attach(more, 1);
            rig.change_interface(3, |row| row.port = more);
            rig.receive(2, vec![0; 60]);
            rig.receive(2, vec![0; 60]);
        }),
    ]
}

/// Shapes port 3, to which interface 2 is cross-connected.
fn shape(rig: &mut Rig, root: Shape, change: impl FnOnce(&mut Config)) {
    let mut config = Config::of(root);
    change(&mut config);
    rig.shape(3, &config);
}

/// Has interface 2 receive frames for port 3, and turns the worker until so many have left.
fn wait_for(rig: &mut Rig, port: u16, frames: &[Vec<u8>], count: usize) {
    frames.iter().for_each(|frame| rig.receive(2, frame.clone()));
    rig.run();
    let mut left = 0;
    while left < count {
        rig.turn(1);
        left += rig.sent(port).len();
    }
}

/// A full packet in 10 ms, and one at once.
fn slow(leaf: Shape) -> Shape {
    Shape::tbf(Rate(1_200_000), Size(1514), leaf)
}

/// Routes `FAR` by a link with so long a header and so small an MTU.
pub(crate) fn route_by(rig: &mut Rig, rewrite_len: u8, mtu: u16) -> AdjacencyId {
    let next_hop = std::net::Ipv4Addr::from(GATEWAY).into();
    let made = Adjacency { interface: 1, mtu, next_hop, rewrite: [0; 22], rewrite_len };
    let id = rig.dataplane.adjacencies.allocate(&made).unwrap();
    rig.dataplane.adjacencies.complete_as_is(id);
    let prefix = "10.0.0.9/32".parse().unwrap();
    rig.dataplane.ip4.insert(prefix, Forward::new(Kind::Rewrite as u8, id.0)).unwrap();
    id
}

/// Runs the router and checks that exactly one packet was dropped, for this reason.
fn expect(mut rig: Rig, reason: &str) {
    rig.run();
    assert_eq!(rig.drops(), [(reason.to_owned(), 1)]);
    rig.settle();
}

fn reached_by_settings() -> Vec<String> {
    let mut met = Vec::new();
    let mut meet = |reason: &str, frame: Vec<u8>, buffers: usize, change: fn(&mut Settings)| {
        let mut rig = Rig::with_settings(buffers, change);
        rig.receive(0, frame);
        expect(rig, reason);
        met.push(reason.to_owned());
    };
    let no_errors: fn(&mut Settings) = |settings| settings.icmp_errors_per_second = 0;
    let no_echoes: fn(&mut Settings) = |settings| settings.icmp_echoes_per_second = 0;
    let nowhere: Ipv6Addr = "3fff::1".parse().unwrap();
    meet("icmp4-error/rate-limited", to([172, 16, 0, 1]).build(), BUFFERS, no_errors);
    meet("icmp6-error/rate-limited", from_host().ipv6(HOST6, nowhere).build(), BUFFERS, no_errors);
    meet("icmp4-echo/rate-limited", to(US).icmp_echo(1, 1).build(), BUFFERS, no_echoes);
    let ping = from_host().ipv6(HOST6, US6).icmp_echo(1, 1).build();
    meet("icmp6-echo/rate-limited", ping, BUFFERS, no_echoes);
    let long = to([10, 5, 0, 1]).udp(1, 2).payload_len(200).build();
    meet("ip4-fragment/no-buffer", long, 1, |_| ());
    let mut rig = Rig::with_settings(BUFFERS, no_errors);
    send_long(&mut rig, VXLAN);
    expect(rig, "tunnel-too-big/rate-limited");
    met.push("tunnel-too-big/rate-limited".to_owned());
    // One frame passes at once; of ten buffers not all may wait.
    let mut rig = Rig::with_settings(10, |_| ());
    shape(&mut rig, Shape::tbf(Rate(8), Size(1514), Shape::pfifo(100)), |_| ());
    while rig.drops().is_empty() {
        rig.receive(2, vec![0; 1514]);
        rig.run();
    }
    rig.unshape(3, Leftover::Sent);
    expect(rig, "shape/no-buffers");
    met.push("shape/no-buffers".to_owned());
    // One port of the bridge wants a tagged copy.
    let mut rig = Rig::with_settings(1, |_| ());
    let bridged = Mode::Bridged(BridgePort::new(BridgeId(OWN_BRIDGE)));
    rig.change_interface(7, |row| row.mode = bridged);
    rig.receive(7, craft::ethernet(HOST_MAC, [255; 6]).build());
    expect(rig, "l2-flood/no-buffer");
    met.push("l2-flood/no-buffer".to_owned());
    let (rig, reason) = drops_nat::no_buffer();
    expect(rig, reason);
    met.push(reason.to_owned());
    let (rig, reason) = drops_groups::no_buffer();
    expect(rig, reason);
    met.push(reason.to_owned());
    met
}

#[test]
fn every_reason_has_a_packet_that_meets_it() {
    let mut met: BTreeSet<String> = reached_by_settings().into_iter().collect();
    met.extend(OUT_OF_REACH.map(str::to_owned));
    met.extend(drops_nat::OUT_OF_REACH.map(str::to_owned));
    met.extend(drops_reflect::OUT_OF_REACH.map(str::to_owned));
    met.extend(drops_flow::OUT_OF_REACH.map(str::to_owned));
    met.extend(drops_flow::others());
    for (reason, frames) in frames().into_iter().chain(drops6::frames()) {
        let mut rig = Rig::new();
        frames.into_iter().for_each(|frame| rig.receive(0, frame));
        expect(rig, reason);
        assert!(met.insert(reason.to_owned()), "{reason} twice");
    }
    let others = [
        drops6::plays(),
        drops_flow::plays(),
        drops_groups::plays(),
        drops_lisp::plays(),
        drops_nat::plays(),
        drops_nat::plays64(),
        drops_own::plays(),
        drops_policy::plays(),
        drops_reflect::plays(),
        drops_spanning::plays(),
        drops_tunnels::plays(),
        bonds::plays(),
    ];
    for (reason, play) in plays().into_iter().chain(others.into_iter().flatten()) {
        let mut rig = Rig::new();
        play(&mut rig);
        expect(rig, reason);
        assert!(met.insert(reason.to_owned()), "{reason} twice");
    }
    let layout = Rig::new().dataplane.layout;
    let named = |reason: &graph::Reason| format!("{}/{}", reason.node, reason.exit);
    // What senders are told is met in `answers`.
    let drops = layout.reasons.iter().filter(|reason| reason.answer.is_none());
    let all: BTreeSet<String> = drops.map(named).collect();
    assert_eq!(met, all);
}

#[test]
fn a_cross_connect_to_a_routed_interface_is_one_way() {
    let mut rig = Rig::new();
    rig.change_interface(3, |row| row.mode = Mode::Routed);
    assert_eq!(rig.answer(2, vec![1; 60]), [(3, vec![1; 60])]);
    assert_eq!(rig.answer(3, vec![1; 60]), []);
    rig.settle();
}
