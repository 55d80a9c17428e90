//! Packets to the router itself.

use crate::rig::*;
use wire::craft::{self, Craft, Ethernet};
use wire::tcp::flag;

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

fn to_host() -> Craft<Ethernet> {
    craft::ethernet(our_mac(0), HOST_MAC)
}

#[test]
fn both_our_addresses_answer_a_ping_with_ttl_64() {
    let mut rig = Rig::new();
    for (number, target) in [(1, US), (2, US_OUTSIDE)] {
        let ping = from_host().ipv4(HOST, target).ttl(1).icmp_echo(7, number).payload_len(56);
        let reply = to_host().ipv4(target, HOST).ttl(64).identification(number);
        let expected = reply.icmp_echo_reply(7, number).payload_len(56).build();
        assert_eq!(rig.answer(0, ping.build()), [(0, expected)]);
    }
    rig.settle();
}

#[test]
fn a_ping_from_behind_the_gateway_is_answered_by_way_of_it() {
    let mut rig = Rig::new();
    let ping = craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv4(FAR, US).icmp_echo(1, 1).build();
    let reply = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(US, FAR).ttl(64).identification(1);
    assert_eq!(rig.answer(1, ping), [(1, reply.icmp_echo_reply(1, 1).build())]);
    rig.settle();
}

#[test]
fn a_connection_is_refused_with_a_reset() {
    let mut rig = Rig::new();
    let syn = from_host().ipv4(HOST, US).tcp(1000, 22).flags(flag::SYN).sequence(5).build();
    let reset = to_host().ipv4(US, HOST).ttl(64).dont_fragment().tcp(22, 1000).window(0);
    let reset = reset.flags(flag::RST | flag::ACK).acknowledgement(6).build();
    assert_eq!(rig.answer(0, syn), [(0, reset)]);
    rig.settle();
}

#[test]
fn a_traceroute_ends_at_our_address_with_port_unreachable() {
    let mut rig = Rig::new();
    let probe = from_host().ipv4(HOST, US_OUTSIDE).ttl(1).udp(1000, 33434).payload_len(32).build();
    let error = to_host().ipv4(US_OUTSIDE, HOST).ttl(64).tos(0xc0).identification(1);
    let expected = error.icmp4(3, 3, [0; 4]).payload(&probe[14..]).build();
    assert_eq!(rig.answer(0, probe), [(0, expected)]);
    rig.settle();
}

#[test]
fn an_unknown_protocol_is_told_unreachable() {
    let mut rig = Rig::new();
    let sctp = from_host().ipv4(HOST, US).protocol(132).payload_len(12).build();
    let error = to_host().ipv4(US, HOST).ttl(64).tos(0xc0).identification(1);
    let expected = error.icmp4(3, 2, [0; 4]).payload(&sctp[14..]).build();
    assert_eq!(rig.answer(0, sctp), [(0, expected)]);
    rig.settle();
}
