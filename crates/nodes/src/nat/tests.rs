//! Both nodes together: what leaves, and what comes back.

use crate::interface::InTurn;
use crate::nat::{Forward, Nat44, Nat44Input, Nat44Output, Translated};
use crate::testing::{GATEWAY, GATEWAY_MAC, HOST, HOST_MAC, US, US_OUTSIDE, World, our_mac};
use conntrack::{Pool, Table, Timeouts};
use graph::harness::{NodeHarness, Outcome};
use std::sync::Arc;
use wire::craft::{self, Craft, Ipv4};
use wire::ip::protocol;
use wire::tcp::flag;

const INSIDE: u16 = 0;
const OUTSIDE: u16 = 1;
/// Who is spoken with outside.
const FRIEND: [u8; 4] = [203, 0, 113, 7];
/// An outer address that is not ours.
const POOLED: [u8; 4] = [198, 51, 100, 99];

struct Lab {
    _world: World,
    table: Arc<Table>,
    input: NodeHarness<InTurn<Nat44Input>>,
    output: NodeHarness<InTurn<Nat44Output>>,
}

impl Lab {
    fn new(change: impl FnOnce(&mut Nat44)) -> Self {
        let table = Arc::new(Table::new(1024, 7));
        let [ours, pooled] = [US_OUTSIDE, POOLED].map(u32::from_be_bytes);
        let mut nat = Nat44 {
            name: "home".to_owned(),
            table: Arc::clone(&table),
            timeouts: Timeouts::default(),
            zone: 1,
            inside: vec![INSIDE],
            pool: Pool {
                addresses: vec![ours..=ours],
                ports: 1024..=65535,
                reserved: vec![(ours, protocol::TCP, 8080..=8081)],
            },
            forwards: vec![
                Forward {
                    address: ours,
                    protocol: protocol::TCP,
                    ports: 8080..=8081,
                    to: (u32::from_be_bytes(HOST), 80),
                },
                Forward {
                    address: pooled,
                    protocol: protocol::UDP,
                    ports: 53..=53,
                    to: (u32::from_be_bytes(HOST), 53),
                },
            ],
            own: vec![ours],
            open: false,
            nat64: None,
        };
        change(&mut nat);
        let translated = Translated(Arc::new(nat));
        let mut world = World::new();
        for id in [INSIDE, OUTSIDE] {
            world.change_interface(id, |row| row.set::<Nat44Input>(Some(translated.clone())));
        }
        world.change_interface(OUTSIDE, |row| row.set::<Nat44Output>(Some(translated)));
        let input = NodeHarness::new(&world.setup).unwrap();
        let output = NodeHarness::new(&world.setup).unwrap();
        Self { _world: world, table, input, output }
    }

    /// A packet that `rx` received and the outside is to send.
    fn send(&mut self, packet: &[u8], rx: u16) -> Outcome {
        let frame = [&link(our_mac(OUTSIDE), GATEWAY_MAC)[..], packet].concat();
        let to_outside = |frame: &mut packet::Frame| frame.view(0).set_tx(OUTSIDE);
        self.output.run_prepared(&[frame], rx, 0, to_outside).remove(0)
    }

    fn receive(&mut self, packet: &[u8], rx: u16) -> Outcome {
        let frame = [&link(HOST_MAC, our_mac(rx))[..], packet].concat();
        self.input.run(&[frame], rx, 0).remove(0)
    }

    /// What leaves for the outside of a packet from inside.
    fn out(&mut self, packet: &[u8]) -> Vec<u8> {
        let out = self.send(packet, INSIDE);
        assert_eq!(out.exit, "leave");
        out.header[14..].to_vec()
    }

    /// What goes on of a packet from outside.
    fn back(&mut self, packet: &[u8]) -> Vec<u8> {
        let out = self.receive(packet, OUTSIDE);
        assert_eq!(out.exit, "enter");
        out.header[14..].to_vec()
    }
}

fn link(from: [u8; 6], to: [u8; 6]) -> Vec<u8> {
    craft::ethernet(from, to).ipv4(US, US).build()[..14].to_vec()
}

fn ip(from: [u8; 4], to: [u8; 4]) -> Craft<Ipv4> {
    craft::ipv4(from, to)
}

#[test]
fn what_leaves_is_ours_and_what_answers_it_is_the_hosts() {
    let mut lab = Lab::new(|_| ());
    let sent = ip(HOST, FRIEND).tcp(4000, 80).flags(flag::SYN).build();
    let left = ip(US_OUTSIDE, FRIEND).tcp(4000, 80).flags(flag::SYN).build();
    assert_eq!(lab.out(&sent), left);
    let answer = ip(FRIEND, US_OUTSIDE).tcp(80, 4000).flags(flag::SYN | flag::ACK).build();
    let known = ip(FRIEND, HOST).tcp(80, 4000).flags(flag::SYN | flag::ACK).build();
    assert_eq!(lab.back(&answer), known);
    let echo = ip(HOST, FRIEND).icmp_echo(2009, 1).payload(b"abc").build();
    assert_eq!(lab.out(&echo), ip(US_OUTSIDE, FRIEND).icmp_echo(2009, 1).payload(b"abc").build());
}

#[test]
fn a_forwarded_port_is_the_servers_and_its_answer_is_ours() {
    let mut lab = Lab::new(|_| ());
    let call = ip(FRIEND, US_OUTSIDE).tcp(5000, 8081).flags(flag::SYN).build();
    assert_eq!(lab.back(&call), ip(FRIEND, HOST).tcp(5000, 81).flags(flag::SYN).build());
    let answer = ip(HOST, FRIEND).tcp(81, 5000).flags(flag::SYN | flag::ACK).build();
    let left = ip(US_OUTSIDE, FRIEND).tcp(8081, 5000).flags(flag::SYN | flag::ACK).build();
    assert_eq!(lab.out(&answer), left);
    // Of an address that is not ours one port is forwarded; the rest of it is nobody's.
    let query = ip(FRIEND, POOLED).udp(5000, 53).build();
    assert_eq!(lab.back(&query), ip(FRIEND, HOST).udp(5000, 53).build());
    let other = ip(FRIEND, POOLED).udp(5000, 54).build();
    assert_eq!(lab.receive(&other, OUTSIDE).exit, "no-connection");
}

#[test]
fn neighbours_inside_meet_by_outer_addresses() {
    let mut lab = Lab::new(|_| ());
    let neighbour = [192, 0, 2, 77];
    let call = ip(neighbour, US_OUTSIDE).tcp(5000, 8080).flags(flag::SYN).build();
    let out = lab.receive(&call, INSIDE);
    assert_eq!(out.exit, "enter");
    assert_eq!(out.header[14..], ip(US_OUTSIDE, HOST).tcp(5000, 80).flags(flag::SYN).build());
    let answer = ip(HOST, US_OUTSIDE).tcp(80, 5000).flags(flag::SYN | flag::ACK).build();
    let out = lab.receive(&answer, INSIDE);
    let known = ip(US_OUTSIDE, neighbour).tcp(8080, 5000).flags(flag::SYN | flag::ACK).build();
    assert_eq!(out.header[14..], known);
}

#[test]
fn what_is_for_ourselves_or_from_elsewhere_stays_as_it_is() {
    let mut lab = Lab::new(|_| ());
    let ours = ip(FRIEND, US_OUTSIDE).tcp(5000, 22).flags(flag::SYN).build();
    assert_eq!(lab.back(&ours), ours);
    let own = ip(US_OUTSIDE, FRIEND).udp(1, 2).build();
    let out = lab.send(&own, OUTSIDE);
    assert_eq!((out.exit.as_str(), &out.header[14..]), ("leave", &own[..]));
    let passing = ip(HOST, FRIEND).udp(1, 2).build();
    assert_eq!(lab.receive(&passing, INSIDE).header[14..], passing);
    assert_eq!(lab.table.counters().begun, 0);
}

#[test]
fn an_error_goes_to_who_sent_the_packet_and_tells_of_it_as_it_was_sent() {
    let mut lab = Lab::new(|_| ());
    let sent = ip(HOST, FRIEND).udp(4000, 33434).payload(b"probe").build();
    let left = lab.out(&sent);
    let error = ip(GATEWAY, US_OUTSIDE).icmp4(11, 0, [0; 4]).payload(&left).build();
    let known = ip(GATEWAY, HOST).icmp4(11, 0, [0; 4]).payload(&sent).build();
    assert_eq!(lab.back(&error), known);
    let refused = ip(FRIEND, US_OUTSIDE).icmp4(3, 3, [0; 4]).payload(&left).build();
    let known = ip(FRIEND, HOST).icmp4(3, 3, [0; 4]).payload(&sent).build();
    assert_eq!(lab.back(&refused), known);
    // One of nobody's packet is for ourselves.
    let stray = ip(US_OUTSIDE, FRIEND).udp(4001, 1).build();
    let error = ip(GATEWAY, US_OUTSIDE).icmp4(11, 0, [0; 4]).payload(&stray).build();
    assert_eq!(lab.back(&error), error);
}

#[test]
fn errors_from_inside_and_our_own_tell_of_packets_as_they_came() {
    let mut lab = Lab::new(|_| ());
    let call = ip(FRIEND, US_OUTSIDE).tcp(5000, 8080).flags(flag::SYN).build();
    let inside = lab.back(&call);
    let router = [192, 0, 2, 200];
    for from in [HOST, router] {
        let error = ip(from, FRIEND).icmp4(3, 1, [0; 4]).payload(&inside).build();
        let left = ip(US_OUTSIDE, FRIEND).icmp4(3, 1, [0; 4]).payload(&call).build();
        assert_eq!(lab.out(&error), left, "{from:?}");
    }
    // Our own has our address already.
    let own = ip(US_OUTSIDE, FRIEND).icmp4(11, 0, [0; 4]).payload(&inside).build();
    let left = ip(US_OUTSIDE, FRIEND).icmp4(11, 0, [0; 4]).payload(&call).build();
    assert_eq!(lab.send(&own, OUTSIDE).header[14..], left);
    let stray = ip(HOST, FRIEND).udp(1, 2).build();
    let error = ip(HOST, FRIEND).icmp4(3, 3, [0; 4]).payload(&stray).build();
    assert_eq!(lab.send(&error, INSIDE).exit, "invalid");
}

#[test]
fn pieces_follow_their_first_one_and_are_nobodys_before_it() {
    let mut lab = Lab::new(|_| ());
    let piece = |from, offset: usize, more| {
        let piece = ip(from, FRIEND).identification(9).fragment(offset, more);
        match offset {
            0 => piece.udp(4000, 53).payload(&[5; 24]).build(),
            _ => piece.protocol(protocol::UDP).payload(&[6; 8]).build(),
        }
    };
    let later = piece(HOST, 32, false);
    assert_eq!(lab.send(&later, INSIDE).exit, "piece-unknown");
    let first = lab.out(&piece(HOST, 0, true));
    assert_eq!(first[12..16], US_OUTSIDE);
    assert_eq!(lab.out(&later), piece(US_OUTSIDE, 32, false));
}

#[test]
fn what_cannot_be_goes_no_further() {
    let mut lab = Lab::new(|nat| nat.pool.ports = 7000..=7000);
    let exit = |lab: &mut Lab, packet: &[u8]| lab.send(packet, INSIDE).exit;
    let answer = ip(HOST, FRIEND).tcp(1, 2).flags(flag::SYN | flag::ACK).build();
    assert_eq!(exit(&mut lab, &answer), "invalid");
    let cut = ip(HOST, FRIEND).protocol(protocol::TCP).payload(&[0; 12]).build();
    assert_eq!(exit(&mut lab, &cut), "unreadable");
    assert_eq!(exit(&mut lab, &ip(HOST, FRIEND).udp(1, 2).build()), "leave");
    assert_eq!(exit(&mut lab, &ip(HOST, FRIEND).udp(3, 2).build()), "no-port");
    let mut full = Lab::new(|nat| nat.table = Arc::new(Table::new(0, 7)));
    assert_eq!(exit(&mut full, &ip(HOST, FRIEND).udp(1, 2).build()), "full");
}

#[test]
fn an_open_translation_lets_anybody_answer_and_a_closed_one_does_not() {
    for open in [false, true] {
        let mut lab = Lab::new(|nat| nat.open = open);
        lab.out(&ip(HOST, FRIEND).udp(4000, 53).build());
        let stranger = ip(GATEWAY, US_OUTSIDE).udp(9, 4000).build();
        let inside = ip(GATEWAY, HOST).udp(9, 4000).build();
        assert_eq!(lab.back(&stranger), if open { inside } else { stranger });
    }
}

#[test]
fn who_only_looks_sees_what_would_be_and_begins_nothing() {
    let mut lab = Lab::new(|_| ());
    let _onlooker = fib::Onlooker::new();
    let sent = ip(HOST, FRIEND).udp(4000, 53).build();
    assert_eq!(lab.out(&sent), ip(US_OUTSIDE, FRIEND).udp(4000, 53).build());
    let call = ip(FRIEND, US_OUTSIDE).tcp(5000, 8080).flags(flag::SYN).build();
    assert_eq!(lab.back(&call), ip(FRIEND, HOST).tcp(5000, 80).flags(flag::SYN).build());
    assert_eq!(lab.table.counters().begun, 0);
}
