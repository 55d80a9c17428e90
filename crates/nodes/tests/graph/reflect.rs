//! Access lists that keep connections: what is begun from inside is answered, and nothing else
//! comes in.

use crate::rig::*;
use acl::{Acl4, Acl6, Action, Icmp, Ports, Rule, RuleCounters};
use conntrack::{Pool, Shown, Table, TcpState, Timeouts};
use nodes::filter::{Access, AccessList, Reflecting, acl_input::AclInput, acl_output::AclOutput};
use nodes::nat::{Forward, Nat44, Nat44Input, Nat44Output, Translated};
use nodes::tables::Injected;
use std::sync::Arc;
use wire::craft::{self, Craft, Ethernet, Ipv4};
use wire::ip::protocol;
use wire::tcp::flag;

/// Interface 0 is inside.
const INSIDE: u16 = 0;
/// Interface 1 is outside, and has the lists.
const OUTSIDE: u16 = 1;
const ROOM: usize = 1 << 20;
const SYN_ACK: u8 = flag::SYN | flag::ACK;

/// A list of these rules that denies the rest.
fn list(rules: &[Rule<u32>], rules6: &[Rule<u128>]) -> Arc<AccessList> {
    fn numbered<A: fib::Address>(rules: &[Rule<A>]) -> Vec<(u32, Rule<A>)> {
        (0..).zip(rules.iter().copied()).collect()
    }
    Arc::new(AccessList {
        ip4: Acl4::new(&numbered(rules), Action::Deny, ROOM).unwrap(),
        ip6: Acl6::new(&numbered(rules6), Action::Deny, ROOM).unwrap(),
        wide: None,
        counters: [RuleCounters::new(rules.len().max(rules6.len()))].into(),
    })
}

/// A list whose only rule has all connections begin.
fn reflects_all() -> Arc<AccessList> {
    list(&[Rule::any(Action::Reflect)], &[Rule::any(Action::Reflect)])
}

/// What stands at the outside: whatever is begun from inside is answered, by itself alone.
struct Guard {
    table: Arc<Table>,
    out: Arc<AccessList>,
    inward: Arc<AccessList>,
}

impl Guard {
    fn new(entries: usize) -> Self {
        let table = Arc::new(Table::new(entries, 7));
        Self { table, out: reflects_all(), inward: list(&[], &[]) }
    }

    /// Stands at an interface, in a zone.
    fn stand(&self, rig: &mut Rig, id: u16, zone: u16) {
        let (table, timeouts) = (Arc::clone(&self.table), Timeouts::default());
        let reflecting = Some(Arc::new(Reflecting { table, timeouts, zone }));
        let access = |list: &Arc<AccessList>| Access::tracked(Arc::clone(list), reflecting.clone());
        rig.change_interface(id, |row| {
            row.set::<AclOutput>(Some(access(&self.out)));
            row.set::<AclInput>(Some(access(&self.inward)));
        });
    }

    fn connections(&self) -> Vec<Shown> {
        let now_s = (graph::tsc() / graph::tsc_hz()) as u32;
        let mut all = Vec::new();
        self.table.each(0, self.table.room(), now_s, |it| {
            all.push(it);
            false
        });
        all
    }
}

/// A router with a guard at its outside.
fn guarded(entries: usize) -> (Rig, Guard) {
    let (mut rig, guard) = (Rig::new(), Guard::new(entries));
    guard.stand(&mut rig, OUTSIDE, 1);
    (rig, guard)
}

fn inside() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(INSIDE))
}

fn outside() -> Craft<Ethernet> {
    craft::ethernet(GATEWAY_MAC, our_mac(OUTSIDE))
}

/// From the host to the far end.
fn sent() -> Craft<Ipv4> {
    inside().ipv4(HOST, FAR)
}

/// The same as it leaves.
fn left() -> Craft<Ipv4> {
    craft::ethernet(our_mac(OUTSIDE), GATEWAY_MAC).ipv4(HOST, FAR).ttl(63)
}

/// From the far end to the host.
fn answered() -> Craft<Ipv4> {
    outside().ipv4(FAR, HOST)
}

/// The same as it comes in.
fn came() -> Craft<Ipv4> {
    craft::ethernet(our_mac(INSIDE), HOST_MAC).ipv4(FAR, HOST).ttl(63)
}

fn denied(count: u64) -> Vec<(String, u64)> {
    vec![("acl-input/denied".to_owned(), count)]
}

#[test]
fn a_handshake_of_tcp_goes_out_and_comes_back_and_ends() {
    let (mut rig, guard) = guarded(64);
    // Nobody outside begins one.
    let call = answered().tcp(80, 1000).flags(flag::SYN).build();
    assert_eq!(rig.answer(OUTSIDE, call), []);
    let out = |flags| sent().tcp(1000, 80).flags(flags).build();
    let back = |flags| answered().tcp(80, 1000).flags(flags).build();
    let mut goes = |flags| {
        assert_eq!(
            rig.answer(INSIDE, out(flags)),
            [(1, left().tcp(1000, 80).flags(flags).build())]
        );
        guard.connections()[0].status.tcp()
    };
    assert_eq!(goes(flag::SYN), TcpState::SynSent);
    let mut comes = |flags| {
        let answers = rig.answer(OUTSIDE, back(flags));
        assert_eq!(answers, [(0, came().tcp(80, 1000).flags(flags).build())]);
        guard.connections()[0].status.tcp()
    };
    assert_eq!(comes(SYN_ACK), TcpState::SynReceived);
    let mut goes = |flags| {
        assert_eq!(rig.answer(INSIDE, out(flags)).len(), 1);
        guard.connections()[0].status.tcp()
    };
    assert_eq!(goes(flag::ACK), TcpState::Established);
    assert_eq!(goes(flag::FIN | flag::ACK), TcpState::FinWait);
    let mut comes = |flags| {
        assert_eq!(rig.answer(OUTSIDE, back(flags)).len(), 1);
        guard.connections()[0].status.tcp()
    };
    assert_eq!(comes(flag::ACK), TcpState::CloseWait);
    assert_eq!(comes(flag::FIN | flag::ACK), TcpState::LastAck);
    assert_eq!(rig.answer(INSIDE, out(flag::ACK)).len(), 1);
    assert_eq!(guard.connections()[0].status.tcp(), TcpState::TimeWait);
    // What was over is not begun anew from outside.
    assert_eq!(rig.answer(OUTSIDE, back(flag::SYN)), []);
    assert_eq!(rig.drops(), denied(2));
    // Four segments of the host's were asked about; three of the other end passed unasked.
    let asked: Vec<_> = guard.out.counters[0].read().collect();
    assert_eq!(asked, [(4, 4 * 54), (0, 0)]);
    assert_eq!(guard.inward.counters[0].unasked(), (3, 3 * 54));
    assert_eq!(guard.inward.counters[0].read().collect::<Vec<_>>(), [(2, 2 * 54)]);
    rig.settle();
}

#[test]
fn a_datagram_is_answered_from_where_it_went_to_alone() {
    let (mut rig, guard) = guarded(64);
    let query = rig.answer(INSIDE, sent().udp(1000, 53).payload(b"question").build());
    assert_eq!(query, [(1, left().udp(1000, 53).payload(b"question").build())]);
    let other_end = outside().ipv4(GATEWAY, HOST).udp(53, 1000).build();
    let others = [
        answered().udp(54, 1000).build(),
        answered().udp(53, 1001).build(),
        answered().tcp(53, 1000).flags(SYN_ACK).build(),
        // As if the host had sent it: no answer.
        outside().ipv4(HOST, FAR).udp(1000, 53).build(),
        other_end,
    ];
    for other in others {
        assert_eq!(rig.answer(OUTSIDE, other), []);
    }
    assert_eq!(rig.drops(), denied(5));
    let answer = rig.answer(OUTSIDE, answered().udp(53, 1000).payload(b"answer").build());
    assert_eq!(answer, [(0, came().udp(53, 1000).payload(b"answer").build())]);
    assert!(guard.connections()[0].status.is_answered());
    assert_eq!(guard.table.counters().begun, 1);
    rig.settle();
}

#[test]
fn a_ping_is_answered_and_nobody_pings_the_host() {
    let (mut rig, _guard) = guarded(64);
    let asked = rig.answer(INSIDE, sent().icmp_echo(7, 1).build());
    assert_eq!(asked, [(1, left().icmp_echo(7, 1).build())]);
    assert_eq!(rig.answer(OUTSIDE, answered().icmp_echo(7, 1).build()), []);
    assert_eq!(rig.answer(OUTSIDE, answered().icmp_echo_reply(8, 1).build()), []);
    let reply = rig.answer(OUTSIDE, answered().icmp_echo_reply(7, 1).build());
    assert_eq!(reply, [(0, came().icmp_echo_reply(7, 1).build())]);
    assert_eq!(rig.drops(), denied(2));
    rig.settle();
}

#[test]
fn errors_about_a_connection_come_in_and_others_do_not() {
    let (mut rig, _guard) = guarded(64);
    let datagram = rig.answer(INSIDE, sent().udp(1000, 53).payload(b"question").build());
    let (_, datagram) = &datagram[0];
    let error = |from: [u8; 4], about: &[u8]| {
        outside().ipv4(from, HOST).icmp4(3, 3, [0; 4]).payload(about).build()
    };
    // From whoever on the way: what it tells of decides.
    for from in [FAR, GATEWAY] {
        let expected = craft::ethernet(our_mac(INSIDE), HOST_MAC).ipv4(from, HOST).ttl(63);
        let expected = expected.icmp4(3, 3, [0; 4]).payload(&datagram[14..]).build();
        assert_eq!(rig.answer(OUTSIDE, error(from, &datagram[14..])), [(0, expected)]);
    }
    let unknown = craft::ipv4(HOST, FAR).udp(1000, 54).payload(b"question").build();
    assert_eq!(rig.answer(OUTSIDE, error(FAR, &unknown)), []);
    // To somebody who did not send the packet.
    let astray = outside().ipv4(FAR, [192, 0, 2, 77]).icmp4(3, 3, [0; 4]);
    assert_eq!(rig.answer(OUTSIDE, astray.payload(&datagram[14..]).build()), []);
    assert_eq!(rig.drops(), denied(2));
    rig.settle();
}

#[test]
fn another_interface_lets_no_answers_of_this_one_in() {
    let (mut rig, guard) = guarded(64);
    guard.stand(&mut rig, INSIDE, 2);
    // Both let what is begun behind the other out, and keep it apart: this one is denied where it
    // would come in.
    assert_eq!(rig.answer(INSIDE, sent().udp(1000, 53).build()), []);
    assert_eq!(rig.drops(), denied(1));
    rig.change_interface(INSIDE, |row| row.set::<AclInput>(None));
    assert_eq!(rig.answer(INSIDE, sent().udp(1000, 53).build()).len(), 1);
    // The answer belongs to the outside's connection; at the inside it begins one of its own.
    assert_eq!(rig.answer(OUTSIDE, answered().udp(53, 1000).build()).len(), 1);
    let zones: Vec<_> = guard.connections().iter().map(|it| it.original.zone()).collect();
    assert_eq!((zones.len(), zones.contains(&1), zones.contains(&2)), (2, true, true));
    // One that the outside knows is none at another interface that has the same lists.
    guard.stand(&mut rig, OUTSIDE, 3);
    assert_eq!(rig.answer(OUTSIDE, answered().udp(53, 1000).build()), []);
    assert_eq!(rig.drops(), [denied(1), denied(1)].concat(), "one of each interface");
    rig.settle();
}

#[test]
fn nothing_leaves_without_a_connection_when_there_is_no_room() {
    let (mut rig, guard) = guarded(0);
    for packet in [
        sent().udp(1, 2).build(),
        sent().tcp(1, 2).flags(flag::SYN).build(),
        sent().icmp_echo(7, 1).build(),
        inside().ipv6(HOST6, FAR6).udp(1, 2).build(),
    ] {
        assert_eq!(rig.answer(INSIDE, packet), []);
    }
    assert_eq!(rig.drops(), [("acl-output/no-connection".to_owned(), 4)]);
    assert_eq!(guard.table.counters().refused, 4);
    // What can begin none needs no room.
    assert_eq!(rig.answer(INSIDE, sent().tcp(1, 2).flags(flag::RST).build()).len(), 1);
    rig.settle();
}

#[test]
fn a_full_table_refuses_the_new_and_keeps_what_is_answered() {
    let (mut rig, guard) = guarded(16);
    for port in 1..=16 {
        assert_eq!(rig.answer(INSIDE, sent().udp(port, 53).build()).len(), 1);
        assert_eq!(rig.answer(OUTSIDE, answered().udp(53, port).build()).len(), 1);
    }
    assert_eq!(rig.answer(INSIDE, sent().udp(17, 53).build()), []);
    assert_eq!(rig.drops(), [("acl-output/no-connection".to_owned(), 1)]);
    for port in 1..=16 {
        assert_eq!(rig.answer(OUTSIDE, answered().udp(53, port).build()).len(), 1);
    }
    assert_eq!(guard.connections().len(), 16);
    rig.settle();
}

#[test]
fn a_list_that_keeps_connections_nowhere_lets_none_begin() {
    let mut rig = Rig::new();
    rig.change_interface(OUTSIDE, |row| {
        row.set::<AclOutput>(Some(Access::new(reflects_all())));
    });
    assert_eq!(rig.answer(INSIDE, sent().udp(1, 2).build()), []);
    assert_eq!(rig.drops(), [("acl-output/no-connection".to_owned(), 1)]);
    rig.settle();
}

#[test]
fn ipv6_is_answered_likewise_and_neighbours_are_found() {
    let (mut rig, guard) = guarded(64);
    let to_far = |link: Craft<Ethernet>| link.ipv6(HOST6, FAR6);
    let back = |link: Craft<Ethernet>| link.ipv6(FAR6, HOST6);
    let came = || back(craft::ethernet(our_mac(INSIDE), HOST_MAC)).hop_limit(63);
    assert_eq!(rig.answer(OUTSIDE, back(outside()).tcp(80, 1000).flags(SYN_ACK).build()), []);
    let syn = rig.answer(INSIDE, to_far(inside()).tcp(1000, 80).flags(flag::SYN).build());
    let left = to_far(craft::ethernet(our_mac(OUTSIDE), GATEWAY_MAC)).hop_limit(63);
    let left = left.tcp(1000, 80).flags(flag::SYN).build();
    assert_eq!(syn, [(1, left.clone())]);
    let answer = rig.answer(OUTSIDE, back(outside()).tcp(80, 1000).flags(SYN_ACK).build());
    assert_eq!(answer, [(0, came().tcp(80, 1000).flags(SYN_ACK).build())]);
    let error = |about: &[u8]| back(outside()).icmp6(1, 4, [0; 4]).payload(about).build();
    let expected = came().icmp6(1, 4, [0; 4]).payload(&left[14..]).build();
    assert_eq!(rig.answer(OUTSIDE, error(&left[14..])), [(0, expected)]);
    let stray = craft::ipv6(HOST6, FAR6).udp(5, 6).build();
    assert_eq!(rig.answer(OUTSIDE, error(&stray)), []);
    assert_eq!(rig.drops(), denied(2));
    assert_eq!(guard.table.counters().begun, 1);
    // A question for a neighbour begins nothing, and leaves: what answers it needs a rule.
    let group: std::net::Ipv6Addr = "ff02::1:ff00:2".parse().unwrap();
    let asks = craft::ethernet([2; 6], [4; 6]).ipv6(US6_OUTSIDE, group).hop_limit(255);
    let asks = asks.neighbor_solicitation(GATEWAY6.into(), our_mac(OUTSIDE)).build();
    rig.inject(&asks, |packet| Injected::Frame { interface: OUTSIDE, packet });
    rig.run();
    assert_eq!(rig.sent(OUTSIDE), [asks]);
    assert_eq!(guard.table.counters().begun, 1);
    rig.settle();
}

#[test]
fn pieces_follow_their_first_one_both_ways() {
    let (mut rig, _guard) = guarded(64);
    let piece = |start: Craft<Ipv4>, offset: usize, more, ports: (u16, u16)| {
        let start = start.identification(9).fragment(offset, more);
        match offset {
            0 => start.udp(ports.0, ports.1).payload(&[5; 24]).build(),
            _ => start.protocol(protocol::UDP).payload(&[6; 8]).build(),
        }
    };
    assert_eq!(rig.answer(INSIDE, piece(sent(), 0, true, (1000, 53))).len(), 1);
    assert_eq!(rig.answer(INSIDE, piece(sent(), 32, false, (0, 0))).len(), 1);
    // A later one before the first is nobody's, and the list denies it.
    assert_eq!(rig.answer(OUTSIDE, piece(answered(), 32, false, (0, 0))), []);
    let first = rig.answer(OUTSIDE, piece(answered(), 0, true, (53, 1000)));
    assert_eq!(first, [(0, piece(came(), 0, true, (53, 1000)))]);
    let later = rig.answer(OUTSIDE, piece(answered(), 32, false, (0, 0)));
    assert_eq!(later, [(0, piece(came(), 32, false, (0, 0)))]);
    assert_eq!(rig.drops(), denied(1));
    rig.settle();
}

#[test]
fn a_rule_that_denies_stands_before_one_that_reflects_and_what_is_let_in_is_answered() {
    let (mut rig, mut guard) = guarded(64);
    let telnet = Rule {
        protocol: Some(protocol::TCP),
        destination_ports: Some(Ports::one(23)),
        ..Rule::any(Action::Deny)
    };
    guard.out = list(&[telnet, Rule::any(Action::Reflect)], &[]);
    let web = Rule {
        protocol: Some(protocol::TCP),
        destination_ports: Some(Ports::one(443)),
        ..Rule::any(Action::Permit)
    };
    let pings = Rule {
        protocol: Some(protocol::ICMP4),
        icmp: Some(Icmp { kind: 8, code: None }),
        ..Rule::any(Action::Permit)
    };
    guard.inward = list(&[web, pings], &[]);
    guard.stand(&mut rig, OUTSIDE, 1);
    assert_eq!(rig.answer(INSIDE, sent().tcp(1, 23).flags(flag::SYN).build()), []);
    assert_eq!(rig.drops(), [("acl-output/denied".to_owned(), 1)]);
    // A server inside: its answers fit the rule that reflects, and begin nothing.
    let call = answered().tcp(5000, 443).flags(flag::SYN).build();
    assert_eq!(rig.answer(OUTSIDE, call).len(), 1);
    assert_eq!(rig.answer(INSIDE, sent().tcp(443, 5000).flags(SYN_ACK).build()).len(), 1);
    assert_eq!(rig.answer(OUTSIDE, answered().icmp_echo(7, 1).build()).len(), 1);
    assert_eq!(rig.answer(INSIDE, sent().icmp_echo_reply(7, 1).build()).len(), 1);
    assert_eq!(guard.table.counters().begun, 0);
    rig.settle();
}

#[test]
fn frames_of_vlans_are_judged_by_rules_alone_and_begin_nothing() {
    let (mut rig, guard) = (Rig::new(), Guard::new(64));
    guard.stand(&mut rig, 3, 1);
    let tagged =
        |vid| craft::ethernet(HOST_MAC, [4; 6]).vlan(vid).ipv4(HOST, FAR).udp(1, 2).build();
    assert_eq!(rig.answer(2, tagged(7)), []);
    assert_eq!(rig.drops(), [("acl-output/tagged".to_owned(), 1)]);
    // VLAN 0 is none.
    assert_eq!(rig.answer(2, tagged(0)), [(3, tagged(0))]);
    let answer =
        |vid| craft::ethernet([4; 6], HOST_MAC).vlan(vid).ipv4(FAR, HOST).udp(2, 1).build();
    assert_eq!(rig.answer(3, answer(0)), [(2, answer(0))]);
    assert_eq!(rig.answer(3, answer(7)), []);
    // ARP passes every list.
    let arp = craft::ethernet([4; 6], [255; 6]).arp_request([4; 6], FAR, HOST).build();
    assert_eq!(rig.answer(3, arp.clone()), [(2, arp)]);
    rig.settle();
}

#[test]
fn a_vlan_and_a_tunnel_of_packets_keep_connections_of_their_own() {
    let (mut rig, guard) = (Rig::new(), Guard::new(64));
    guard.stand(&mut rig, ROUTED_VLAN, 1);
    guard.stand(&mut rig, GRE_LINK, 2);
    let from_vlan = |to: [u8; 4]| {
        let frame = craft::ethernet(HOST_MAC, our_mac(ROUTED_VLAN)).vlan(100);
        frame.ipv4([203, 0, 113, 9], to)
    };
    // Whoever is in the VLAN begins nothing to us.
    assert_eq!(rig.answer(TRUNK, from_vlan(FAR).udp(1, 2).build()), []);
    assert_eq!(rig.drops(), denied(1));
    // The host begins one over the tunnel; what leaves has the tunnel's headers around it.
    let query = inside().ipv4(HOST, INSIDE_GRE).udp(1000, 53).build();
    assert_eq!(rig.answer(INSIDE, query).len(), 1);
    assert_eq!(guard.connections().len(), 1);
    assert_eq!(guard.connections()[0].original.zone(), 2);
    let packed = |port| {
        let inner = craft::ipv4(INSIDE_GRE, HOST).udp(port, 1000).build();
        let gre = [&[0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8][..], &inner].concat();
        outside().ipv4(FAR, US).protocol(protocol::GRE).payload(&gre).build()
    };
    assert_eq!(rig.answer(OUTSIDE, packed(54)), []);
    assert_eq!(rig.drops(), [denied(1), denied(1)].concat(), "one of each interface");
    let came = craft::ethernet(our_mac(INSIDE), HOST_MAC).ipv4(INSIDE_GRE, HOST).ttl(63);
    assert_eq!(rig.answer(OUTSIDE, packed(53)), [(0, came.udp(53, 1000).build())]);
    rig.settle();
}

#[test]
fn what_is_translated_is_answered_too_and_forwarded_ports_are_the_lists_to_open() {
    let (mut rig, mut guard) = guarded(64);
    let pooled = [198, 51, 100, 99];
    let address = u32::from_be_bytes(pooled);
    let nat = Translated(Arc::new(Nat44 {
        name: "home".to_owned(),
        table: Arc::clone(&guard.table),
        timeouts: Timeouts::default(),
        zone: 9,
        inside: vec![INSIDE],
        pool: Pool { addresses: vec![address..=address], ports: 1024..=65535, reserved: vec![] },
        forwards: vec![Forward {
            address,
            protocol: protocol::TCP,
            ports: 8080..=8080,
            to: (u32::from_be_bytes(HOST), 80),
        }],
        own: Vec::new(),
        open: false,
        nat64: None,
    }));
    for id in [INSIDE, OUTSIDE] {
        rig.change_interface(id, |row| row.set::<Nat44Input>(Some(nat.clone())));
    }
    rig.change_interface(OUTSIDE, |row| row.set::<Nat44Output>(Some(nat)));
    let link = || craft::ethernet(our_mac(OUTSIDE), GATEWAY_MAC);
    let query = rig.answer(INSIDE, sent().udp(4000, 53).payload(b"x").build());
    let left = link().ipv4(pooled, FAR).ttl(63).udp(4000, 53).payload(b"x").build();
    assert_eq!(query, [(1, left.clone())]);
    let back = |from: [u8; 4]| outside().ipv4(from, pooled);
    let answer = rig.answer(OUTSIDE, back(FAR).udp(53, 4000).build());
    assert_eq!(answer, [(0, came().udp(53, 4000).build())]);
    let error =
        rig.answer(OUTSIDE, back(GATEWAY).icmp4(11, 0, [0; 4]).payload(&left[14..]).build());
    assert_eq!((error.len(), error[0].0), (1, INSIDE));
    // The forwarded port is closed, until a rule has connections begin there.
    let call = |flags| back(FAR).tcp(5000, 8080).flags(flags).build();
    assert_eq!(rig.answer(OUTSIDE, call(flag::SYN)), []);
    assert_eq!(rig.drops(), denied(1));
    let web = Rule {
        protocol: Some(protocol::TCP),
        destination_ports: Some(Ports::one(8080)),
        ..Rule::any(Action::Reflect)
    };
    (guard.out, guard.inward) = (list(&[], &[]), list(&[web], &[]));
    guard.stand(&mut rig, OUTSIDE, 1);
    let expected = came().tcp(5000, 80).flags(flag::SYN).build();
    assert_eq!(rig.answer(OUTSIDE, call(flag::SYN)), [(0, expected)]);
    let answer = rig.answer(INSIDE, sent().tcp(80, 5000).flags(SYN_ACK).build());
    let left = link().ipv4(pooled, FAR).ttl(63).tcp(8080, 5000).flags(SYN_ACK).build();
    assert_eq!(answer, [(1, left)]);
    // What nobody asked for does not leave.
    assert_eq!(rig.answer(INSIDE, sent().udp(4001, 53).build()), []);
    rig.settle();
}

#[test]
fn one_worker_lets_in_what_answers_another_ones_packet() {
    let (mut one, guard) = guarded(64);
    let mut other = Rig::new();
    guard.stand(&mut other, OUTSIDE, 1);
    assert_eq!(one.answer(INSIDE, sent().udp(1000, 53).build()).len(), 1);
    let answer = other.answer(OUTSIDE, answered().udp(53, 1000).build());
    assert_eq!(answer, [(0, came().udp(53, 1000).build())]);
    // Both have the same one begin, and it is one.
    fn begins(mut rig: Rig) -> Rig {
        for number in 0..1000 {
            rig.receive(INSIDE, sent().udp(number % 10 + 2000, 53).build());
        }
        rig.run();
        rig
    }
    std::thread::scope(|scope| {
        let both = [scope.spawn(move || begins(one)), scope.spawn(move || begins(other))];
        for rig in both.map(|it| it.join().unwrap()) {
            let busy: u64 = rig.drops().iter().map(|(_, count)| count).sum();
            assert!(rig.drops().iter().all(|(why, _)| why == "acl-output/busy"));
            assert!(busy < 1000);
            rig.settle();
        }
    });
    assert_eq!(guard.table.counters().begun, 11);
}

#[test]
fn who_only_looks_begins_nothing() {
    let (mut rig, guard) = guarded(64);
    {
        let _onlooker = fib::Onlooker::new();
        assert_eq!(rig.answer(INSIDE, sent().udp(1000, 53).build()).len(), 1);
    }
    assert_eq!(guard.table.counters().begun, 0);
    assert_eq!(rig.answer(INSIDE, sent().udp(1000, 53).build()).len(), 1);
    let _onlooker = fib::Onlooker::new();
    assert_eq!(rig.answer(OUTSIDE, answered().udp(53, 1000).build()).len(), 1);
    assert!(!guard.connections()[0].status.is_answered());
}
