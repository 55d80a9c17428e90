//! IPv6 through the whole graph, byte for byte.

use crate::rig::*;
use nodes::tables::KEPT_BYTES;
use nodes::tables::{NdHeard, NdSaid, Punt, Unresolved};
use std::net::Ipv6Addr;
use wire::craft::{self, Craft, Ethernet, Ipv6};
use wire::ipv6;
use wire::tcp::flag;

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

fn to_host() -> Craft<Ethernet> {
    craft::ethernet(our_mac(0), HOST_MAC)
}

/// The error from `US6` that must come back to the host for `frame`, and nothing else.
fn expect_error(reason: &str, frame: Vec<u8>, message_type: u8, code: u8, rest: [u8; 4]) {
    let mut rig = Rig::new();
    let error = to_host().ipv6(US6, HOST6).icmp6(message_type, code, rest);
    let quoted = frame[14..].iter().take(1232).copied().collect::<Vec<_>>();
    assert_eq!(rig.answer(0, frame.clone()), [(0, error.payload(&quoted).build())]);
    assert_eq!(rig.answered(), [(reason.to_owned(), 1)]);
    assert_eq!(
        rig.last_dropped(),
        [(reason.to_owned(), frame[..frame.len().min(KEPT_BYTES)].to_vec())]
    );
    rig.settle();
}

fn to(target: &str) -> Craft<Ipv6> {
    from_host().ipv6(HOST6, target.parse::<Ipv6Addr>().unwrap())
}

#[test]
fn a_packet_is_forwarded_with_one_hop_less_and_new_macs() {
    let mut rig = Rig::new();
    let packet = from_host().ipv6(HOST6, FAR6).traffic_class(0xb9).flow_label(7);
    let sent = rig.answer(0, packet.udp(1000, 53).payload(b"question").pad_to(90).build());
    let expected = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv6(HOST6, FAR6).hop_limit(63);
    let expected = expected.traffic_class(0xb9).flow_label(7).udp(1000, 53).payload(b"question");
    assert_eq!(sent, [(1, expected.build())]);
    let back = craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv6(FAR6, HOST6).tcp(80, 1000).build();
    let expected = to_host().ipv6(FAR6, HOST6).hop_limit(63).tcp(80, 1000).build();
    assert_eq!(rig.answer(1, back), [(0, expected)]);
    rig.settle();
}

#[test]
fn extension_headers_are_forwarded_unread() {
    let mut rig = Rig::new();
    let chain = |start: Craft<Ipv6>| {
        let chain = start.destination_options(&[0xc0, 0]).routing(&[0, 9, 0, 0, 0, 0]);
        chain.fragment_header(8, true, 7).udp(1, 2).build()
    };
    let hops = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv6(HOST6, FAR6).hop_limit(63);
    assert_eq!(rig.answer(0, chain(from_host().ipv6(HOST6, FAR6))), [(1, chain(hops))]);
    rig.settle();
}

#[test]
fn packets_of_both_families_in_one_vector_keep_their_order() {
    let mut rig = Rig::new();
    for n in 0..500u32 {
        rig.receive(0, from_host().ipv4(HOST, FAR).identification(n as u16).udp(1, 2).build());
        rig.receive(0, from_host().ipv6(HOST6, FAR6).flow_label(n).udp(1, 2).build());
    }
    rig.run();
    let sent = rig.sent(1);
    let labels = sent.iter().filter(|frame| frame[12..14] == [0x86, 0xdd]);
    let labels = labels.map(|frame| ipv6::Header::new(&frame[14..]).unwrap().flow_label());
    assert!(sent.len() == 1000 && labels.eq(0..500));
    rig.settle();
}

#[test]
fn each_reason_not_to_forward_is_told() {
    expect_error(
        "ip6-rewrite/hop-limit-exceeded",
        to("2001:db8:a::1").hop_limit(1).udp(1, 2).build(),
        3,
        0,
        [0; 4],
    );
    expect_error("ip6-lookup/no-route", to("3fff::1").udp(1, 2).build(), 1, 0, [0; 4]);
    expect_error("ip6-lookup/unreachable", to("2001:db8:a:2::1").udp(1, 2).build(), 1, 0, [0; 4]);
    expect_error("ip6-lookup/prohibit", to("2001:db8:a:3::1").udp(1, 2).build(), 1, 1, [0; 4]);
    let long = to("2001:db8:a:5::1").udp(1, 2).payload_len(1280 - 47);
    expect_error("ip6-rewrite/too-big", long.build(), 2, 0, [0, 0, 5, 0]);
    expect_error(
        "ip6-lookup/no-route",
        to("3fff::1").tcp(1, 2).total_len(1514).build(),
        1,
        0,
        [0; 4],
    );
    expect_error(
        "ip6-hop-by-hop/unknown-option",
        to("2001:db8:a::1").hop_by_hop(&[0x80, 0]).udp(1, 2).build(),
        4,
        2,
        [0, 0, 0, 42],
    );
}

#[test]
fn a_link_local_sender_gets_no_further_than_its_link() {
    let mut rig = Rig::new();
    let sent = from_host().ipv6(LINK_HOST, FAR6).udp(1, 2).build();
    let error = to_host().ipv6(link_local(0), LINK_HOST).icmp6(1, 2, [0; 4]);
    let error = error.payload(&sent[14..]).build();
    assert_eq!(rig.answer(0, sent), [(0, error)]);
    rig.settle();
}

#[test]
fn pings_to_our_addresses_are_answered() {
    let mut rig = Rig::new();
    let ping = |source, target| from_host().ipv6(source, target).icmp_echo(7, 3).payload_len(99);
    let reply =
        |source, target| to_host().ipv6(source, target).icmp_echo_reply(7, 3).payload_len(99);
    for own in [US6, US6_OUTSIDE] {
        assert_eq!(rig.answer(0, ping(HOST6, own).build()), [(0, reply(own, HOST6).build())]);
    }
    let ours = link_local(0);
    assert_eq!(rig.answer(0, ping(LINK_HOST, ours).build()), [(0, reply(ours, LINK_HOST).build())]);
    assert_eq!(rig.answer(0, ping(LINK_HOST, US6).build()), [(0, reply(US6, LINK_HOST).build())]);
    let all = ipv6::ALL_NODES.into();
    assert_eq!(rig.answer(0, ping(LINK_HOST, all).build()), [(0, reply(ours, LINK_HOST).build())]);
    rig.settle();
}

#[test]
fn an_answer_to_a_neighbour_that_is_not_known_waits_for_it() {
    let mut rig = Rig::new();
    let stranger: Ipv6Addr = "fe80::99".parse().unwrap();
    let ping = from_host().ipv6(stranger, link_local(0)).icmp_echo(7, 3).build();
    assert_eq!(rig.answer(0, ping), []);
    let punts = rig.punts();
    let Ok([Punt::Unresolved(Unresolved { adjacency: None, next_hop, interface: 0, packet })]) =
        <[_; 1]>::try_from(punts)
    else {
        panic!("not one packet that waits")
    };
    assert_eq!(next_hop, stranger);
    let reply = to_host().ipv6(link_local(0), stranger).icmp_echo_reply(7, 3).build();
    let (adjacency, rx) = (TO_LINK_HOST, 0);
    rig.inject_packet(nodes::tables::Injected::Resolved { adjacency, rx, packet });
    rig.run();
    assert_eq!(rig.sent(0), [reply]);
    rig.settle();
}

#[test]
fn what_nobody_here_takes_is_refused() {
    let sctp = to("2001:db8::1").next_header(132).payload_len(12).build();
    expect_error("ip6-local/unknown-next-header", sctp, 4, 1, [0, 0, 0, 6]);
    expect_error(
        "udp6-local/port-unreachable",
        to("2001:db8::1").hop_limit(1).udp(1, 33434).build(),
        1,
        4,
        [0; 4],
    );
    expect_error(
        "ip6-local/routing-header",
        to("2001:db8::1").routing(&[0, 1, 0, 0, 0, 0]).build(),
        4,
        0,
        [0, 0, 0, 42],
    );
    let mut rig = Rig::new();
    let syn = to("2001:db8::1").tcp(1000, 22).flags(flag::SYN).sequence(5).build();
    let reset = to_host().ipv6(US6, HOST6).tcp(22, 1000).window(0);
    let reset = reset.flags(flag::RST | flag::ACK).acknowledgement(6).build();
    assert_eq!(rig.answer(0, syn), [(0, reset)]);
    rig.settle();
}

#[test]
fn a_solicitation_to_our_group_is_answered_and_told() {
    let mut rig = Rig::new();
    let group: Ipv6Addr = ipv6::solicited_node(US6.into()).into();
    let question = craft::ethernet(HOST_MAC, wire::MacAddr::of_ip6_group(group.into()));
    let question = question.ipv6(HOST6, group).neighbor_solicitation(US6.into(), HOST_MAC).build();
    let answer = to_host().ipv6(US6, HOST6).neighbor_advertisement(US6.into(), our_mac(0), 0xe0);
    assert_eq!(rig.answer(0, question), [(0, answer.build())]);
    let said = NdSaid::Solicited { target: US6.into() };
    let (source, mac) = (HOST6.into(), Some(HOST_MAC));
    let punts = rig.punts();
    let expected = NdHeard { interface: 0, source, mac, said };
    assert!(matches!(punts[..], [Punt::Nd(punt)] if punt == expected), "{punts:?}");
    rig.settle();
}
