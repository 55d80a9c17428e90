//! The small router that tests run packets through, node by node and whole.
//!
//! ```text
//!  HOST 192.0.2.2 ── 0: 192.0.2.1/24 │ router │ 1: 198.51.100.1/24 ── GATEWAY 198.51.100.2 ── 10/8
//!                    2 ══ 3 cross-connected    4 down    5 without address
//!                    6 7 8 9 bridged: 6 and 9 of one group, 8 takes no unknown stations, 9 does not learn
//!                    10 a trunk: 11 its VLAN 100, routed; 12 its 200 and 7, cross-connected with 13, its 300;
//!                    14 its VLAN 400, bridged (in a bridge with 15, the router's own station there)
//!                    16 a VXLAN and 17 a GRE tunnel from US to FAR, 19 a VXLAN tunnel from US6 to FAR6, in a
//!                    bridge with 18; 20 a GRE tunnel of packets from US to FAR: 203.0.115/24, 2001:db8:c::/48;
//!                    21 and 22 tunnels of IP in IP from US to FAR, 203.0.116/24, and US6 to FAR6, 2001:db8:d::/48;
//!                    23 a way for copies from US to FAR
//!                    24 a bond of 25 and 26, both carrying; 27 its VLAN 500, cross-connected with 28
//!
//!  IPv6 likewise: HOST6 2001:db8::2 ── 0: 2001:db8::1/64 │ 1: 2001:db8:1::1/64 ── GATEWAY6 2001:db8:1::2
//!  ── 2001:db8:a::/48; link-local addresses made from MACs; on 0 2001:db8::7e is tentative.
//! ```

use super::{
    BondMember, BondWays, BridgeId, BridgePort, Collects, Ends, Erspan, ErspanVersion, Inside,
    Interface, InterfaceId, Kind, Link, Mode, Tunnel, Vlan, VlanTags, Wrap, link_key,
};
use fib::adjacency::{Adjacency, AdjacencyTable};
use fib::ecmp::{EcmpTable, Member};
use fib::ip4::Ip4Table;
use fib::ip6::Ip6Table;
use fib::{Forward, Ip6Prefix};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{MacAddr, ipv6};

pub(crate) const US: [u8; 4] = [192, 0, 2, 1];
pub(crate) const HOST: [u8; 4] = [192, 0, 2, 2];
pub(crate) const US_OUTSIDE: [u8; 4] = [198, 51, 100, 1];
pub(crate) const GATEWAY: [u8; 4] = [198, 51, 100, 2];
/// Behind the gateway.
pub(crate) const FAR: [u8; 4] = [10, 0, 0, 9];

pub(crate) const US6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
pub(crate) const HOST6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);
pub(crate) const US6_OUTSIDE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);
pub(crate) const GATEWAY6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2);
/// Whether somebody else has it is being found out on interface 0.
pub(crate) const TENTATIVE6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x7e);
/// Behind the gateway.
pub(crate) const FAR6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xa, 0, 0, 0, 0, 9);
/// The host, as its link knows it.
pub(crate) const LINK_HOST: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x800, 0xff, 0xfe00, 2);

pub(crate) const HOST_MAC: [u8; 6] = [0x0a, 0, 0, 0, 0, 2];
pub(crate) const GATEWAY_MAC: [u8; 6] = [0x0a, 0, 0, 0, 0, 3];

/// Adjacencies by id.
pub(crate) const TO_HOST: u32 = 0;
pub(crate) const TO_GATEWAY: u32 = 1;
pub(crate) const INCOMPLETE: u32 = 2;
/// To the gateway, with an MTU of 100.
pub(crate) const NARROW: u32 = 3;

pub(crate) const TO_HOST6: u32 = 4;
pub(crate) const TO_GATEWAY6: u32 = 5;
pub(crate) const INCOMPLETE6: u32 = 6;
/// To the IPv6 gateway, with an MTU of 1280.
pub(crate) const NARROW6: u32 = 7;
pub(crate) const TO_LINK_HOST: u32 = 8;

/// The bridge.
pub(crate) const BRIDGE: u16 = 1;
/// A port with sub-interfaces, and those.
pub(crate) const TRUNK: u16 = 10;
pub(crate) const ROUTED_VLAN: u16 = 11;
pub(crate) const PAIR_VLAN: u16 = 12;
pub(crate) const OTHER_VLAN: u16 = 13;
pub(crate) const BRIDGED_VLAN: u16 = 14;
/// The router's own station in the second bridge.
pub(crate) const OWN_STATION: u16 = 15;
pub(crate) const OWN_BRIDGE: u16 = 2;
/// Tunnels from `US` to `FAR`, and a port in one bridge with them.
pub(crate) const VXLAN: u16 = 16;
pub(crate) const VNI: u32 = 42;
pub(crate) const GRE: u16 = 17;
pub(crate) const GRE_KEY: u32 = 9;
pub(crate) const BESIDE_TUNNELS: u16 = 18;
/// One from `US6` to `FAR6`, in the same bridge.
pub(crate) const VXLAN6: u16 = 19;
/// A tunnel of packets from `US` to `FAR`, and two adjacencies over it.
pub(crate) const GRE_LINK: u16 = 20;
pub(crate) const GRE_LINK_KEY: u32 = 10;
pub(crate) const OVER_GRE: u32 = 9;
pub(crate) const OVER_GRE6: u32 = 10;
/// Behind it.
pub(crate) const INSIDE_GRE: [u8; 4] = [203, 0, 115, 9];
pub(crate) const INSIDE_GRE6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xc, 0, 0, 0, 0, 9);
pub(crate) const TUNNEL_BRIDGE: u16 = 3;
/// Tunnels of IP in IP from `US` to `FAR` and from `US6` to `FAR6`, and an adjacency over each.
pub(crate) const IPIP: u16 = 21;
pub(crate) const IPIP6: u16 = 22;
pub(crate) const OVER_IPIP: u32 = 11;
pub(crate) const OVER_IPIP6: u32 = 12;
/// A way for copies from `US` to `FAR`.
pub(crate) const ERSPAN: u16 = 23;
/// A bond, its members, its VLAN 500, and what that is cross-connected with.
pub(crate) const BOND: u16 = 24;
pub(crate) const BOND_MEMBERS: [u16; 2] = [25, 26];
pub(crate) const BOND_VLAN: u16 = 27;
pub(crate) const BESIDE_BOND: u16 = 28;
/// Behind the tunnels of IP in IP.
pub(crate) const INSIDE_IPIP: [u8; 4] = [203, 0, 116, 9];
pub(crate) const INSIDE_IPIP6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xd, 0, 0, 0, 0, 9);

/// The router's own MAC on an interface.
pub(crate) fn our_mac(interface: u16) -> [u8; 6] {
    [2, 0, 0, 0, 0, interface as u8]
}

/// The router's own link-local address on an interface.
pub(crate) fn link_local(interface: u16) -> Ipv6Addr {
    ipv6::link_local_of(MacAddr(our_mac(interface))).into()
}

/// The interfaces of the drawing.
pub(crate) fn rows() -> Vec<Option<Interface>> {
    let (to_3, to_2) = (Mode::CrossConnect(InterfaceId(3)), Mode::CrossConnect(InterfaceId(2)));
    let free = BridgePort::new(BridgeId(BRIDGE));
    let collects = Collects::All;
    let member = BondMember { bond: InterfaceId(BOND), collects, speaks: true };
    let of_bond = Mode::Member(member);
    let modes = [
        Mode::Routed,
        Mode::Routed,
        to_3,
        to_2,
        Mode::Routed,
        Mode::Routed,
        Mode::Bridged(BridgePort { groups: 1, ..free }),
        Mode::Bridged(free),
        Mode::Bridged(BridgePort { flood_unknown: false, ..free }),
        Mode::Bridged(BridgePort { groups: 1, learn: false, ..free }),
        Mode::Routed,
        Mode::Routed,
        Mode::CrossConnect(InterfaceId(OTHER_VLAN)),
        Mode::CrossConnect(InterfaceId(PAIR_VLAN)),
        Mode::Bridged(BridgePort::new(BridgeId(OWN_BRIDGE))),
        Mode::Bridged(BridgePort::new(BridgeId(OWN_BRIDGE))),
        Mode::Bridged(BridgePort { groups: 1, ..BridgePort::new(BridgeId(TUNNEL_BRIDGE)) }),
        Mode::Bridged(BridgePort { groups: 1, ..BridgePort::new(BridgeId(TUNNEL_BRIDGE)) }),
        Mode::Bridged(BridgePort::new(BridgeId(TUNNEL_BRIDGE))),
        Mode::Bridged(BridgePort { groups: 1, ..BridgePort::new(BridgeId(TUNNEL_BRIDGE)) }),
        Mode::Routed,
        Mode::Routed,
        Mode::Routed,
        Mode::Routed,
        Mode::Routed,
        of_bond,
        of_bond,
        Mode::CrossConnect(InterfaceId(BESIDE_BOND)),
        Mode::CrossConnect(InterfaceId(BOND_VLAN)),
    ];
    let over4 = |wrap| Tunnel::new(wrap, Ends::new(US.into(), FAR.into()).unwrap());
    let over6 = |wrap| Tunnel::new(wrap, Ends::new(US6.into(), FAR6.into()).unwrap());
    let vlan = |tags, protocol| {
        Link::Vlan(Vlan { parent: TRUNK, tags, protocol, priority: None, is_native: false })
    };
    let link = |id: u16| match id {
        ROUTED_VLAN => vlan(VlanTags::One(100), 0x8100),
        PAIR_VLAN => vlan(VlanTags::Two(200, 7), 0x88a8),
        OTHER_VLAN => vlan(VlanTags::One(300), 0x8100),
        BRIDGED_VLAN => vlan(VlanTags::One(400), 0x8100),
        OWN_STATION => Link::Bridge,
        VXLAN => Link::Tunnel(over4(Wrap::vxlan(VNI))),
        GRE => Link::Tunnel(over4(Wrap::Gre(Some(GRE_KEY)))),
        VXLAN6 => Link::Tunnel(over6(Wrap::vxlan(VNI))),
        GRE_LINK => {
            let tunnel = over4(Wrap::Gre(Some(GRE_LINK_KEY)));
            Link::Tunnel(Tunnel { inside: Inside::Packets, ..tunnel })
        }
        IPIP => Link::Tunnel(over4(Wrap::Ip)),
        IPIP6 => Link::Tunnel(over6(Wrap::Ip)),
        ERSPAN => {
            let shape = Erspan { session: 5, version: ErspanVersion::II, index: 7 };
            Link::Tunnel(over4(Wrap::Erspan(shape)))
        }
        BOND => Link::Bond,
        BOND_VLAN => Link::Vlan(Vlan {
            parent: BOND,
            tags: VlanTags::One(500),
            protocol: 0x8100,
            priority: None,
            is_native: false,
        }),
        _ => Link::Port,
    };
    let port = |id| match id {
        ROUTED_VLAN..=BRIDGED_VLAN => TRUNK,
        BOND_VLAN => BOND,
        id => id,
    };
    let row = |id: u16, mode: Mode| Interface {
        link: link(id),
        up: id != 4,
        mode,
        mac: our_mac(id),
        ip4: match id {
            0 => vec![(u32::from_be_bytes(US), 24)],
            1 => vec![(u32::from_be_bytes(US_OUTSIDE), 24)],
            ROUTED_VLAN => vec![(0xcb00_7101, 24)],
            OWN_STATION => vec![(0xcb00_7201, 24)],
            GRE_LINK => vec![(0xcb00_7301, 24)],
            IPIP => vec![(0xcb00_7401, 24)],
            BOND => vec![(0xcb00_7601, 24)],
            _ => Vec::new(),
        },
        ip6: match id {
            0 => vec![(US6.into(), 64), (link_local(0).into(), 64)],
            1 => vec![(US6_OUTSIDE.into(), 64), (link_local(1).into(), 64)],
            _ => Vec::new(),
        },
        tentative6: if id == 0 { vec![TENTATIVE6.into()] } else { Vec::new() },
        ..Interface::new(&format!("p{id}"), port(id))
    };

    let mut rows: Vec<_> = (0..).zip(modes).map(|(id, mode)| row(id, mode)).collect();
    let members = BOND_MEMBERS.to_vec();
    rows[usize::from(BOND)].put(Some(BondWays { members, ..BondWays::default() }));
    rows.into_iter().map(Some).collect()
}

/// A group's member that leads to an adjacency.
pub(crate) fn member(id: u32, weight: u32) -> Member {
    Member { to: Forward::new(Kind::Rewrite as u8, id), weight }
}

/// Adds the next hops and the routes of the drawing; those to 10.6/16 and 2001:db8:a:6/64 share two
/// next hops each, 1 to 3.
pub(crate) fn add_routes(
    ip4: &Ip4Table,
    ip6: &Ip6Table,
    ip6_links: &Ip6Table,
    adjacencies: &AdjacencyTable,
    groups: &EcmpTable,
) {
    add_next_hops(adjacencies);
    let shared = |members: [(u32, u32); 2]| {
        let members = members.map(|(id, weight)| member(id, weight));
        groups.create(&members).unwrap().0
    };
    let shared4 = shared([(TO_HOST, 1), (TO_GATEWAY, 3)]);
    let shared6 = shared([(TO_HOST6, 1), (TO_GATEWAY6, 3)]);
    for (prefix, kind, id) in [
        ("192.0.2.0/24", Kind::Glean, 0),
        ("192.0.2.1/32", Kind::Local, 0),
        ("192.0.2.2/32", Kind::Rewrite, TO_HOST),
        ("192.0.2.255/32", Kind::Link, 0),
        ("198.51.100.0/24", Kind::Glean, 1),
        ("198.51.100.1/32", Kind::Local, 0),
        ("10.0.0.0/8", Kind::Rewrite, TO_GATEWAY),
        ("203.0.113.1/32", Kind::Local, 0),
        ("203.0.114.1/32", Kind::Local, 0),
        ("203.0.115.0/24", Kind::Rewrite, OVER_GRE),
        ("203.0.115.1/32", Kind::Local, 0),
        ("203.0.116.0/24", Kind::Rewrite, OVER_IPIP),
        ("203.0.116.1/32", Kind::Local, 0),
        ("203.0.118.0/24", Kind::Glean, 24),
        ("203.0.118.1/32", Kind::Local, 0),
        ("10.1.0.0/16", Kind::Blackhole, 0),
        ("10.2.0.0/16", Kind::Unreachable, 0),
        ("10.3.0.0/16", Kind::Prohibit, 0),
        ("10.4.0.0/16", Kind::Rewrite, INCOMPLETE),
        ("10.5.0.0/16", Kind::Rewrite, NARROW),
        ("10.6.0.0/16", Kind::Group, shared4),
        ("224.0.0.0/4", Kind::Martian, 0),
    ] {
        ip4.insert(prefix.parse().unwrap(), Forward::new(kind as u8, id)).unwrap();
    }
    for (prefix, kind, id) in [
        ("2001:db8::/64", Kind::Glean, 0),
        ("2001:db8::1/128", Kind::Local, 0),
        ("2001:db8::2/128", Kind::Rewrite, TO_HOST6),
        ("2001:db8:1::/64", Kind::Glean, 1),
        ("2001:db8:1::1/128", Kind::Local, 0),
        ("2001:db8:a::/48", Kind::Rewrite, TO_GATEWAY6),
        ("2001:db8:a:1::/64", Kind::Blackhole, 0),
        ("2001:db8:a:2::/64", Kind::Unreachable, 0),
        ("2001:db8:a:3::/64", Kind::Prohibit, 0),
        ("2001:db8:a:4::/64", Kind::Rewrite, INCOMPLETE6),
        ("2001:db8:a:5::/64", Kind::Rewrite, NARROW6),
        ("2001:db8:a:6::/64", Kind::Group, shared6),
        ("2001:db8:c::/48", Kind::Rewrite, OVER_GRE6),
        ("2001:db8:d::/48", Kind::Rewrite, OVER_IPIP6),
        ("::/128", Kind::Martian, 0),
        ("::1/128", Kind::Martian, 0),
        ("fe80::/10", Kind::Link, 0),
        ("ff00::/8", Kind::Link, 0),
    ] {
        ip6.insert(prefix.parse().unwrap(), Forward::new(kind as u8, id)).unwrap();
    }
    for (interface, address, kind, id) in [
        (0, link_local(0), Kind::Local, 0),
        (1, link_local(1), Kind::Local, 0),
        (0, LINK_HOST, Kind::Rewrite, TO_LINK_HOST),
    ] {
        let key = Ip6Prefix::host(link_key(interface, address.into()).unwrap());
        ip6_links.insert(key, Forward::new(kind as u8, id)).unwrap();
    }
}

/// Adds the adjacencies above, in the order of their ids.
fn add_next_hops(adjacencies: &AdjacencyTable) {
    let add = |interface: u16, next_hop: IpAddr, mtu: u16, mac: Option<[u8; 6]>| {
        let mut rewrite = [0; 22];
        rewrite[6..12].copy_from_slice(&our_mac(interface));
        let ethertype: u16 = if next_hop.is_ipv4() { 0x0800 } else { 0x86dd };
        rewrite[12..14].copy_from_slice(&ethertype.to_be_bytes());
        let adjacency = Adjacency { interface, mtu, next_hop, rewrite, rewrite_len: 14 };
        let id = adjacencies.allocate(&adjacency).unwrap();
        if let Some(mac) = mac {
            adjacencies.complete(id, mac);
        }
    };
    let (host, gateway) = (Some(HOST_MAC), Some(GATEWAY_MAC));
    add(0, Ipv4Addr::from(HOST).into(), 1500, host);
    add(1, Ipv4Addr::from(GATEWAY).into(), 1500, gateway);
    add(1, Ipv4Addr::new(198, 51, 100, 3).into(), 1500, None);
    add(1, Ipv4Addr::from(GATEWAY).into(), 100, gateway);
    add(0, HOST6.into(), 1500, host);
    add(1, GATEWAY6.into(), 1500, gateway);
    add(1, Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 3).into(), 1500, None);
    add(1, GATEWAY6.into(), 1280, gateway);
    add(0, LINK_HOST.into(), 1500, host);
    for (interface, mtu, next_hop) in [
        (GRE_LINK, 1472, IpAddr::from(INSIDE_GRE)),
        (GRE_LINK, 1472, INSIDE_GRE6.into()),
        (IPIP, 1480, INSIDE_IPIP.into()),
        (IPIP6, 1460, INSIDE_IPIP6.into()),
    ] {
        let rewrite = [0; 22];
        let link = Adjacency { interface, mtu, next_hop, rewrite, rewrite_len: 0 };
        adjacencies.complete_as_is(adjacencies.allocate(&link).unwrap());
    }
}
