//! Hosts of IPv6 inside that speak with hosts of IPv4 outside, octet by octet.

use crate::rig::*;
use conntrack::cross::Prefix64;
use conntrack::{Family, Pool, Shown, Table, Timeouts};
use nodes::nat::{Nat44, Nat44Input, Nat44Output, Nat64Input, Translated};
use std::net::Ipv6Addr;
use std::sync::Arc;
use wire::craft::{self, Craft, Ethernet, Ipv4, Ipv6};
use wire::ip::protocol;
use wire::tcp::flag;

const INSIDE: u16 = 0;
const OUTSIDE: u16 = 1;
/// Between us and the far end.
const ROUTER: [u8; 4] = [10, 9, 9, 9];

/// A router whose inside reaches IPv4 by the well-known prefix, seen as its own address outside.
pub(crate) fn crossing(rig: &mut Rig, change: impl FnOnce(&mut Nat44)) -> Arc<Table> {
    let table = Arc::new(Table::new(1024, 7));
    let ours = u32::from_be_bytes(US_OUTSIDE);
    let mut nat = Nat44 {
        name: "home".to_owned(),
        table,
        timeouts: Timeouts::default(),
        zone: 1,
        inside: vec![INSIDE],
        pool: Pool { addresses: vec![ours..=ours], ports: 1024..=65_535, reserved: Vec::new() },
        forwards: Vec::new(),
        own: vec![ours],
        open: false,
        nat64: Some(Prefix64::WELL_KNOWN),
    };
    change(&mut nat);
    let (table, nat) = (Arc::clone(&nat.table), Translated(Arc::new(nat)));
    for id in [INSIDE, OUTSIDE] {
        rig.change_interface(id, |row| {
            row.set::<Nat64Input>(Some(nat.clone()));
            row.set::<Nat44Input>(Some(nat.clone()));
        });
    }
    rig.change_interface(OUTSIDE, |row| row.set::<Nat44Output>(Some(nat)));
    table
}

fn crossed() -> Rig {
    let mut rig = Rig::new();
    crossing(&mut rig, |_| ());
    rig
}

/// What stands for a host of IPv4.
pub(crate) fn behind(address: [u8; 4]) -> Ipv6Addr {
    Prefix64::WELL_KNOWN.ip6_of(u32::from_be_bytes(address)).into()
}

fn inside() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(INSIDE))
}

fn to_inside() -> Craft<Ethernet> {
    craft::ethernet(our_mac(INSIDE), HOST_MAC)
}

/// From the host to the far end, and the same as it leaves.
fn sent() -> Craft<Ipv6> {
    inside().ipv6(HOST6, behind(FAR))
}

fn left(id: u16) -> Craft<Ipv4> {
    let ip = craft::ethernet(our_mac(OUTSIDE), GATEWAY_MAC).ipv4(US_OUTSIDE, FAR);
    ip.ttl(63).identification(id)
}

/// From the far end, and the same as it comes in.
fn answered() -> Craft<Ipv4> {
    craft::ethernet(GATEWAY_MAC, our_mac(OUTSIDE)).ipv4(FAR, US_OUTSIDE)
}

fn came() -> Craft<Ipv6> {
    to_inside().ipv6(behind(FAR), HOST6).hop_limit(63)
}

fn connections(table: &Table) -> Vec<Shown> {
    let now_s = (graph::tsc() / graph::tsc_hz()) as u32;
    let mut all = Vec::new();
    table.each(0, table.room(), now_s, |it| {
        all.push(it);
        false
    });
    all.retain(|it| it.original.family() == Family::Ip6);
    all
}

#[test]
fn a_connection_of_tcp_goes_out_and_comes_back() {
    let mut rig = Rig::new();
    let table = crossing(&mut rig, |_| ());
    let call = sent().traffic_class(0x28).flow_label(7).tcp(4000, 80).flags(flag::SYN);
    let call = call.option(2, &[5, 0xa0]).build();
    let out = left(1).tos(0x28).tcp(4000, 80).flags(flag::SYN).option(2, &[5, 0xa0]).build();
    assert_eq!(rig.answer(INSIDE, call), [(OUTSIDE, out)]);
    let flags = flag::SYN | flag::ACK;
    let answer = answered().dont_fragment().tcp(80, 4000).flags(flags).build();
    assert_eq!(rig.answer(OUTSIDE, answer), [(INSIDE, came().tcp(80, 4000).flags(flags).build())]);
    // Long ones must not be cut.
    let long = |ip: Craft<Ipv6>| ip.tcp(4000, 80).flags(flag::ACK).payload_len(1400).build();
    let out = left(0).dont_fragment().tcp(4000, 80).flags(flag::ACK).payload_len(1400).build();
    assert_eq!(rig.answer(INSIDE, long(sent())), [(OUTSIDE, out)]);
    let all = connections(&table);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].original.source6(), HOST6.into());
    assert_eq!(all[0].original.destination6(), behind(FAR).into());
    assert_eq!(all[0].reply.destination4(), u32::from_be_bytes(US_OUTSIDE));
    assert_eq!(rig.drops(), []);
    rig.settle();
}

#[test]
fn datagrams_and_echoes_go_out_and_come_back() {
    let mut rig = crossed();
    let out = rig.answer(INSIDE, sent().udp(4000, 53).payload(b"who").build());
    assert_eq!(out, [(OUTSIDE, left(1).udp(4000, 53).payload(b"who").build())]);
    // None was computed.
    for answer in [answered().udp(53, 4000), answered().udp(53, 4000).checksum(0)] {
        let back = rig.answer(OUTSIDE, answer.payload(b"he").build());
        assert_eq!(back, [(INSIDE, came().udp(53, 4000).payload(b"he").build())]);
    }
    let out = rig.answer(INSIDE, sent().icmp_echo(2000, 1).payload(b"abc").build());
    assert_eq!(out, [(OUTSIDE, left(2).icmp_echo(2000, 1).payload(b"abc").build())]);
    let answer = answered().icmp_echo_reply(2000, 1).payload(b"abc").build();
    let back = came().icmp_echo_reply(2000, 1).payload(b"abc").build();
    assert_eq!(rig.answer(OUTSIDE, answer), [(INSIDE, back)]);
    rig.settle();
}

#[test]
fn hosts_of_both_families_share_an_address_and_no_port() {
    let mut rig = crossed();
    let sent4 = inside().ipv4(HOST, FAR).udp(4000, 53).build();
    let [(OUTSIDE, first)] = &rig.answer(INSIDE, sent4)[..] else { panic!() };
    let [(OUTSIDE, second)] = &rig.answer(INSIDE, sent().udp(4000, 53).build())[..] else {
        panic!()
    };
    let port = |frame: &[u8]| u16::from_be_bytes([frame[34], frame[35]]);
    assert_eq!((port(first), first[26..30] == US_OUTSIDE), (4000, true));
    assert_ne!(port(second), 4000);
    let back = rig.answer(OUTSIDE, answered().udp(53, port(second)).build());
    assert_eq!(back, [(INSIDE, came().udp(53, 4000).build())]);
    let back = rig.answer(OUTSIDE, answered().udp(53, 4000).build());
    let to_host = to_inside().ipv4(FAR, HOST).ttl(63).udp(53, 4000).build();
    assert_eq!(back, [(INSIDE, to_host)]);
    // What is of no connection is for ourselves.
    let ping = rig.answer(OUTSIDE, answered().icmp_echo(1, 1).build());
    assert_eq!((ping.len(), ping[0].0, ping[0].1[34]), (1, OUTSIDE, 0));
    rig.settle();
}

#[test]
fn what_is_not_of_the_prefix_passes_as_it_is() {
    let mut rig = crossed();
    let sent = inside().ipv6(HOST6, FAR6).udp(4000, 53).build();
    let left = craft::ethernet(our_mac(OUTSIDE), GATEWAY_MAC).ipv6(HOST6, FAR6).hop_limit(63);
    assert_eq!(rig.answer(INSIDE, sent), [(OUTSIDE, left.udp(4000, 53).build())]);
    // Nor what is another station's.
    let other = craft::ethernet(HOST_MAC, [4; 6]).ipv6(HOST6, behind(FAR)).udp(1, 2).build();
    assert_eq!(rig.answer(INSIDE, other), []);
    assert_eq!(rig.drops(), [("ethernet-input/not-for-us".to_owned(), 1)]);
    rig.settle();
}

#[test]
fn anybody_may_answer_where_it_is_open() {
    let stranger = craft::ethernet(GATEWAY_MAC, our_mac(OUTSIDE)).ipv4(ROUTER, US_OUTSIDE);
    let stranger = stranger.udp(9, 4000).build();
    for open in [false, true] {
        let mut rig = Rig::new();
        crossing(&mut rig, |nat| nat.open = open);
        rig.answer(INSIDE, sent().udp(4000, 53).build());
        let back = rig.answer(OUTSIDE, stranger.clone());
        let told = to_inside().ipv6(behind(ROUTER), HOST6).hop_limit(63).udp(9, 4000).build();
        assert_eq!(back == [(INSIDE, told)], open);
        rig.settle();
    }
}

#[test]
fn pieces_follow_their_first_one_both_ways() {
    let mut rig = crossed();
    let out = |offset, more| sent().fragment_header(offset, more, 0x0007_0009);
    let first = out(0, true).udp(4000, 53).payload(&[5; 24]).build();
    let left4 = |offset, more| left(9).fragment(offset, more);
    let expected = left4(0, true).udp(4000, 53).payload(&[5; 24]).build();
    assert_eq!(rig.answer(INSIDE, first), [(OUTSIDE, expected)]);
    let later = |data: &[u8]| {
        let mut frame = out(32, false).payload(data).build();
        frame[14 + 40] = protocol::UDP;
        frame
    };
    let expected = left4(32, false).protocol(protocol::UDP).payload(&[6; 9]).build();
    assert_eq!(rig.answer(INSIDE, later(&[6; 9])), [(OUTSIDE, expected)]);

    let back = |offset, more| answered().identification(77).fragment(offset, more);
    let first = back(0, true).udp(53, 4000).payload(&[5; 24]).build();
    let expected = came().fragment_header(0, true, 77).udp(53, 4000).payload(&[5; 24]).build();
    assert_eq!(rig.answer(OUTSIDE, first), [(INSIDE, expected)]);
    let later = back(32, false).protocol(protocol::UDP).payload(&[6; 9]).build();
    let mut expected = came().fragment_header(32, false, 77).payload(&[6; 9]).build();
    expected[14 + 40] = protocol::UDP;
    assert_eq!(rig.answer(OUTSIDE, later), [(INSIDE, expected)]);
    assert_eq!(rig.drops(), []);
    rig.settle();
}

#[test]
fn what_may_be_cut_comes_in_pieces_that_every_link_takes() {
    let mut rig = crossed();
    rig.answer(INSIDE, sent().icmp_echo(2000, 1).payload_len(1400).build());
    let answer = answered().identification(77).icmp_echo_reply(2000, 1).payload_len(1400).build();
    let whole = came().icmp_echo_reply(2000, 1).payload_len(1400).build();
    let piece = |offset, more, data: &[u8]| {
        let mut frame = came().fragment_header(offset, more, 77).payload(data).build();
        frame[14 + 40] = protocol::ICMP6;
        (INSIDE, frame)
    };
    let data = &whole[14 + 40..];
    let expected = [piece(0, true, &data[..1232]), piece(1232, false, &data[1232..])];
    assert_eq!(rig.answer(OUTSIDE, answer), expected);
    rig.settle();
}

#[test]
fn who_traces_the_way_is_told_in_his_own_family() {
    let mut rig = crossed();
    let last = sent().hop_limit(1).udp(4000, 33_434).build();
    let told = to_inside().ipv6(US6, HOST6).hop_limit(64).icmp6(3, 0, [0; 4]);
    let told = told.payload(&last[14..]).build();
    assert_eq!(rig.answer(INSIDE, last), [(INSIDE, told)]);
    // Another router, behind us.
    rig.answer(INSIDE, sent().hop_limit(2).udp(4000, 33_435).build());
    let about = left(1).ttl(1).udp(4000, 33_435).build()[14..].to_vec();
    let error = craft::ethernet(GATEWAY_MAC, our_mac(OUTSIDE)).ipv4(ROUTER, US_OUTSIDE);
    let error = error.icmp4(11, 0, [0; 4]).payload(&about).build();
    let known = sent().hop_limit(1).udp(4000, 33_435).build()[14..].to_vec();
    let told = to_inside().ipv6(behind(ROUTER), HOST6).hop_limit(63).icmp6(3, 0, [0; 4]);
    assert_eq!(rig.answer(OUTSIDE, error), [(INSIDE, told.payload(&known).build())]);
    // From outside in.
    let last = answered().ttl(1).udp(33_435, 4000).build();
    let told = craft::ethernet(our_mac(OUTSIDE), GATEWAY_MAC).ipv4(US_OUTSIDE, FAR).tos(0xc0);
    let told = told.identification(1).icmp4(11, 0, [0; 4]).payload(&last[14..]).build();
    assert_eq!(rig.answer(OUTSIDE, last), [(OUTSIDE, told)]);
    rig.settle();
}

#[test]
fn an_error_of_a_host_inside_leaves_by_the_outer_address() {
    let mut rig = crossed();
    rig.answer(INSIDE, sent().udp(4000, 53).build());
    let about = came().udp(53, 4000).payload(b"late").build()[14..].to_vec();
    let known = answered().ttl(63).identification(0).udp(53, 4000).payload(b"late").build();
    let router: Ipv6Addr = "2001:db8::77".parse().unwrap();
    for (from, id) in [(HOST6, 2), (router, 3)] {
        let error = inside().ipv6(from, behind(FAR)).icmp6(1, 4, [0; 4]).payload(&about).build();
        let told = left(id).icmp4(3, 3, [0; 4]).payload(&known[14..]).build();
        assert_eq!(rig.answer(INSIDE, error), [(OUTSIDE, told)], "{from}");
    }
    rig.settle();
}

#[test]
fn what_we_tell_ourselves_of_translated_packets_is_told_in_their_senders_family() {
    let mut rig = crossed();
    // No way there: as our own address of IPv4, where it came in.
    let nowhere = [172, 16, 0, 1];
    let lost = inside().ipv6(HOST6, behind(nowhere)).udp(4000, 53).payload(b"x").build();
    let told = to_inside().ipv6(behind(US), HOST6).hop_limit(64).traffic_class(0xc0);
    let told = told.icmp6(1, 0, [0; 4]).payload(&lost[14..]).build();
    assert_eq!(rig.answer(INSIDE, lost), [(INSIDE, told)]);
    // Too long for a link outside, which takes 100 octets: 1280 of IPv6 is always taken.
    let narrow = [10, 5, 0, 1];
    let long = inside().ipv6(HOST6, behind(narrow)).udp(4000, 53).payload_len(1300).build();
    let told = to_inside().ipv6(behind(US), HOST6).hop_limit(64).traffic_class(0xc0);
    let told = told.icmp6(2, 0, [0, 0, 5, 0]).payload(&long[14..14 + 568]).build();
    assert_eq!(rig.answer(INSIDE, long), [(INSIDE, told)]);
    // Too long for the link inside, with the longer header.
    rig.answer(INSIDE, sent().tcp(4000, 80).flags(flag::SYN).build());
    let ack = flag::SYN | flag::ACK;
    let long = answered().dont_fragment().tcp(80, 4000).flags(ack).payload_len(1460).build();
    let told = craft::ethernet(our_mac(OUTSIDE), GATEWAY_MAC).ipv4(US_OUTSIDE, FAR);
    let told = told.identification(1).icmp4(3, 4, [0, 0, 5, 0xc8]).payload(&long[14..14 + 548]);
    assert_eq!(rig.answer(OUTSIDE, long), [(OUTSIDE, told.build())]);
    assert_eq!(rig.drops(), []);
    rig.settle();
}

/// From one inside to an outer address, and the same as it comes to whoever has that.
fn turned(from: Ipv6Addr) -> Craft<Ipv6> {
    inside().ipv6(from, behind(US_OUTSIDE))
}

fn came_back() -> Craft<Ipv6> {
    to_inside().ipv6(behind(US_OUTSIDE), HOST6).hop_limit(63)
}

#[test]
fn who_is_inside_reaches_who_else_is_by_outer_addresses() {
    let mut rig = Rig::new();
    let table = crossing(&mut rig, |_| ());
    // Nobody has that port yet.
    assert_eq!(rig.answer(INSIDE, turned(HOST6).udp(5000, 4000).build()), []);
    assert_eq!(rig.drops(), [("nat64-input/hairpin".to_owned(), 1)]);
    rig.answer(INSIDE, sent().udp(4000, 53).build());
    let other: Ipv6Addr = "2001:db8::77".parse().unwrap();
    for (from, port) in [(HOST6, 5000), (other, 6000)] {
        let call = turned(from).traffic_class(0x28).udp(port, 4000).payload(b"who").build();
        let heard = came_back().traffic_class(0x28).udp(port, 4000).payload(b"who").build();
        assert_eq!(rig.answer(INSIDE, call), [(INSIDE, heard)], "{from}");
    }
    let answer = turned(HOST6).udp(4000, 5000).payload(b"he").build();
    let heard = came_back().udp(4000, 5000).payload(b"he").build();
    assert_eq!(rig.answer(INSIDE, answer), [(INSIDE, heard)]);
    // A call and what answers it are a connection outwards and one inwards.
    assert_eq!(connections(&table).len(), 3);
    rig.settle();
}

#[test]
fn who_turns_back_does_so_with_long_ones_pieces_and_errors() {
    let mut rig = crossed();
    rig.answer(INSIDE, sent().tcp(4000, 80).flags(flag::SYN).build());
    rig.answer(INSIDE, sent().udp(4000, 53).build());
    let (call, answer) = ((5000, 4000), (4000, 5000));
    let accepted = flag::SYN | flag::ACK;
    for (ports, flags, many) in
        [(call, flag::SYN, 0), (answer, accepted, 0), (call, flag::ACK, 1440)]
    {
        let tcp = |ip: Craft<Ipv6>| ip.tcp(ports.0, ports.1).flags(flags).payload_len(many).build();
        assert_eq!(rig.answer(INSIDE, tcp(turned(HOST6))), [(INSIDE, tcp(came_back()))]);
    }
    let udp = |ip: Craft<Ipv6>| ip.udp(5000, 4000).payload(b"late").build();
    rig.answer(INSIDE, udp(turned(HOST6)));
    let about = udp(came_back())[14..].to_vec();
    let known = udp(turned(HOST6).hop_limit(63))[14..].to_vec();
    let error = turned(HOST6).icmp6(1, 4, [0; 4]).payload(&about).build();
    let told = came_back().icmp6(1, 4, [0; 4]).payload(&known).build();
    assert_eq!(rig.answer(INSIDE, error), [(INSIDE, told)]);
    let piece = |ip: Craft<Ipv6>, offset, more| ip.fragment_header(offset, more, 9);
    let call = piece(turned(HOST6), 0, true).udp(5000, 4000).payload(&[7; 24]).build();
    let heard = piece(came_back(), 0, true).udp(5000, 4000).payload(&[7; 24]).build();
    assert_eq!(rig.answer(INSIDE, call), [(INSIDE, heard)]);
    let later = |ip| piece(ip, 32, false).next_header(protocol::UDP).payload(&[7; 8]).build();
    let heard = later(came_back());
    assert_eq!(rig.answer(INSIDE, later(turned(HOST6))), [(INSIDE, heard)]);
    // Who asks the address itself is answered by himself: the identifier is his.
    let call = turned(HOST6).icmp_echo(2000, 1).payload(b"abc").build();
    let heard = came_back().icmp_echo(2000, 1).payload(b"abc").build();
    assert_eq!(rig.answer(INSIDE, call), [(INSIDE, heard)]);
    let answer = turned(HOST6).icmp_echo_reply(2000, 1).payload(b"abc").build();
    let heard = came_back().icmp_echo_reply(2000, 1).payload(b"abc").build();
    assert_eq!(rig.answer(INSIDE, answer), [(INSIDE, heard)]);
    assert_eq!(rig.drops(), []);
    rig.settle();
}

#[test]
fn who_only_looks_begins_nothing() {
    let mut rig = Rig::new();
    let table = crossing(&mut rig, |_| ());
    let _onlooker = fib::Onlooker::new();
    let out = rig.answer(INSIDE, sent().udp(4000, 53).build());
    assert_eq!(out, [(OUTSIDE, left(1).udp(4000, 53).build())]);
    assert_eq!(table.counters().begun, 0);
}
