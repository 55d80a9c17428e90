//! The packets that meet each reason for a drop in the IPv6 nodes.

use crate::drops::{Play, route_by};
use crate::rig::*;
use std::net::Ipv6Addr;
use wire::craft::{self, Craft, Ethernet, Ipv6};
use wire::ipv6::ALL_NODES;

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

fn to(target: Ipv6Addr) -> Craft<Ipv6> {
    from_host().ipv6(HOST6, target)
}

/// Frames that interface 0 of the usual router receives, the last of which is dropped.
pub(crate) fn frames() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let one = |reason, frame: Vec<u8>| (reason, vec![frame]);
    let named = |target: &str| to(target.parse().unwrap()).udp(1, 2).build();
    let from = |source: &str| from_host().ipv6(source.parse::<Ipv6Addr>().unwrap(), FAR6).build();
    let icmp = |message_type| to(US6).icmp6(message_type, 0, [0; 4]).build();
    let raw = |protocol, bytes: &[u8]| to(US6).next_header(protocol).payload(bytes).build();
    let nd = |message_type| to(US6).neighbor(message_type, HOST6.into(), 0);
    let nobody = || from_host().ipv6(Ipv6Addr::UNSPECIFIED, US6);
    let asks = |rest: &[u8]| {
        let question = from_host().ipv6(LINK_HOST, Ipv6Addr::from(ALL_NODES)).hop_limit(1);
        question.icmp6(130, 0, [0; 4]).payload(rest).build()
    };
    let far_away = {
        let mut frame = nd(136).build();
        frame[14 + 7] = 64;
        frame
    };
    let claim = craft::ethernet(our_mac(0), our_mac(0)).ipv6(HOST6, US6);
    let chain = (0..9).fold(to(US6).destination_options(&[]), |c, _| c.destination_options(&[]));
    vec![
        one("ip6-input/truncated", to(FAR6).build()[..53].to_vec()),
        one("ip6-input/bad-version", to(FAR6).version(4).build()),
        one("ip6-input/bad-payload-length", to(FAR6).length(1).build()),
        one("ip6-input/martian-source", from("::1")),
        one("ip6-hop-by-hop/malformed", to(FAR6).hop_by_hop(&[]).length(9).build()),
        one("ip6-hop-by-hop/discarded", to(FAR6).hop_by_hop(&[0x40, 0]).build()),
        one("ip6-lookup/blackhole", named("2001:db8:a:1::1")),
        one("ip6-lookup/martian-destination", named("::1")),
        one("ip6-link/no-source", nobody().udp(1, 2).build()),
        one("ip6-link/martian-group", named("ff01::1")),
        one("ip6-link/other-group", named("ff02::99")),
        one("ip6-link/not-our-address", named("fe80::99")),
        one("ip6-local/no-next-header", to(US6).build()),
        one("ip6-local/malformed", to(US6).destination_options(&[5, 9]).build()),
        one("ip6-local/discarded", to(US6).destination_options(&[0x40, 0]).build()),
        one("ip6-local/too-many-headers", chain.build()),
        one("icmp6-input/truncated", raw(58, &[128])),
        one("icmp6-input/bad-checksum", to(US6).icmp_echo(1, 1).checksum(9).build()),
        one("icmp6-input/error-message", icmp(1)),
        one("icmp6-input/unasked", icmp(129)),
        one("icmp6-input/multicast-listener", icmp(131)),
        one("icmp6-input/unknown-type", icmp(200)),
        one("icmp6-echo/no-address", {
            from_host()
                .ipv6(Ipv6Addr::UNSPECIFIED, Ipv6Addr::from(ALL_NODES))
                .icmp_echo(1, 1)
                .build()
        }),
        one("icmp6-error/not-allowed", {
            to("3fff::1".parse().unwrap()).icmp6(1, 0, [0; 4]).build()
        }),
        one("nd-input/not-from-link", far_away),
        one("nd-input/malformed", nd(135).payload(&[1, 0]).build()),
        one("nd-input/bad-sender-mac", claim.neighbor(135, US6.into(), 0).build()),
        one("nd-input/off-link-address", to(US6).neighbor(136, FAR6.into(), 0).build()),
        one("nd-input/not-for-us", nd(135).build()),
        one("nd-input/router-advertisement", {
            from_host().ipv6(LINK_HOST, US6).router_advertisement(9).build()
        }),
        one("nd-input/redirect", nd(137).build()),
        ("nd-input/slow-path-full", vec![nd(136).build(); QUEUE + 1]),
        one("mld-input/not-from-link", icmp(130)),
        one("mld-input/truncated", asks(&[])),
        ("mld-input/slow-path-full", vec![asks(&[0; 20]); QUEUE + 1]),
        one("udp6-local/truncated", raw(17, &[0])),
        one("udp6-local/bad-length", to(US6).udp(1, 2).length(7).build()),
        one("udp6-local/bad-checksum", to(US6).udp(1, 2).checksum(9).build()),
        one("udp6-local/no-checksum", to(US6).udp(1, 2).checksum(0).build()),
        one("tcp6-reset/truncated", raw(6, &[0])),
        one("tcp6-reset/bad-checksum", to(US6).tcp(1, 2).checksum(9).build()),
        one("tcp6-reset/was-reset", to(US6).tcp(1, 2).flags(4).build()),
        one("tcp6-reset/to-group", to(ALL_NODES.into()).tcp(1, 2).build()),
    ]
}

/// Drops that want a router of another kind, or another way in.
pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("icmp6-error/no-address", |rig| {
            let nowhere: Ipv6Addr = "3fff::1".parse().unwrap();
            rig.change_interface(0, |row| row.ip6.clear());
            rig.change_interface(1, |row| row.ip6.clear());
            rig.receive(0, to(nowhere).udp(1, 2).build());
        }),
        ("icmp6-error/no-headroom", |rig| {
            let bytes = to("3fff::1".parse().unwrap()).build();
            rig.receive_as(0, Incoming { bytes, segments: 1, headroom: 0 });
        }),
        ("ip6-lookup/vrf-ring", |rig| {
            let table = rig.add_vrf().ip6;
            let around = fib::Forward::new(nodes::tables::Kind::Vrf as u8, 1);
            table.insert("2001:db8:a::9/128".parse().unwrap(), around).unwrap();
            let frame = craft::ethernet(GATEWAY_MAC, our_mac(1));
            rig.receive(1, frame.ipv6(HOST6, FAR6).build());
        }),
        ("ip6-rewrite/no-headroom", |rig| {
            let id = route_by(rig, 22, 1500);
            let to_it = fib::Forward::new(nodes::tables::Kind::Rewrite as u8, id.0);
            rig.dataplane.ip6.insert("2001:db8:a::9/128".parse().unwrap(), to_it).unwrap();
            let bytes = to(FAR6).build();
            rig.receive_as(0, Incoming { bytes, segments: 1, headroom: 0 });
        }),
    ]
}
