//! Frames of connections through the nodes of a bridge of flows.

use crate::flow::{FlowAct, FlowInput, FlowUpcall};
use crate::tables::{BridgeId, BridgePort, FlowBridge, FlowRow, Mode, Tracking};
use crate::testing::World;
use conntrack::{Table, Timeouts};
use flow::{Flow, PortEntry, Snapshot};
use graph::harness::NodeHarness;
use openflow::action::{CloneActions, Ct, Output, Program, SetField, Translate, ct::Zone};
use openflow::{Action, Field, Match, Nat};
use std::sync::Arc;
use wire::craft;
use wire::tcp::flag::{ACK, FIN, RST, SYN};

const BRIDGE: BridgeId = BridgeId(78);
const INSIDE: [u8; 4] = [10, 0, 0, 1];
const OUTSIDE: [u8; 4] = [10, 0, 0, 2];
/// Whom a host inside looks like.
const SEEN: [u8; 4] = [192, 0, 2, 7];

/// Interfaces 0 to 2 are ports 1 to 3 of a bridge with these flows, which knows so many
/// connections.
fn world(room: usize, flows: Vec<(u8, u16, Match, Program)>) -> World {
    let mut world = World::new();
    let entry = PortEntry::all();
    let mut snapshot = Snapshot { generation: 1, tracks: true, ..Snapshot::default() };
    snapshot.ports = Arc::new((1..4).map(|number| (number, entry)).collect());
    for (table, priority, matching, program) in flows {
        let flow = Flow::new(table, priority, matching, program);
        snapshot.table_mut(table).flows.insert(flow);
    }
    let row = |number: u16| (number, FlowRow { interface: number - 1, is_own: false });
    let tracking = Tracking { table: Table::new(room, 1), timeouts: Timeouts::default() };
    let it = FlowBridge {
        snapshot,
        rows: Arc::new((1..4).map(row).collect()),
        tracking: Some(Arc::new(tracking)),
        ..FlowBridge::default()
    };
    for id in 0..3 {
        let port = BridgePort::new(BRIDGE).with_flows(id + 1);
        world.change_interface(id, |row| row.mode = Mode::Bridged(port));
    }
    let bridges = world.flow_bridges.with(BRIDGE, Some(it));
    world.flow_bridges.set(bridges);
    world
}

/// A frame through the nodes, as the engine would lead it: by which ports what leaves, and the
/// exits of what goes no further.
fn pass(world: &World, rx: u16, frame: &[u8]) -> (Vec<(u16, Vec<u8>)>, Vec<String>) {
    let frames = [frame.to_vec()];
    let mut out = NodeHarness::<FlowInput>::new(&world.setup).unwrap().run(&frames, rx, 0);
    if out[0].exit == "upcall" {
        out = NodeHarness::<FlowUpcall>::new(&world.setup).unwrap().run(&frames, rx, 0);
    }
    let (mut sent, mut ended) = (Vec::new(), Vec::new());
    let mut act = NodeHarness::<FlowAct>::new(&world.setup).unwrap();
    while let Some(it) = out.pop() {
        match it.exit.as_str() {
            "output" => sent.push((it.tx + 1, it.header)),
            "act" | "again" => {
                out.extend(act.run_prepared(&[it.header], rx, 0, |vector| {
                    vector.tx_mut()[0] = if it.exit == "act" { 0 } else { it.tx };
                    vector.adjacencies_mut()[0] = it.adjacency;
                }));
                out.extend(act.emitted());
            }
            other => ended.push(other.to_owned()),
        }
    }
    sent.sort();
    (sent, ended)
}

/// The same of one that leaves once, or goes no further: the port, or why.
fn fate(world: &World, rx: u16, frame: &[u8]) -> Result<u16, String> {
    match pass(world, rx, frame) {
        (sent, ended) if ended.is_empty() && sent.len() == 1 => Ok(sent[0].0),
        (sent, mut ended) if sent.is_empty() && ended.len() == 1 => Err(ended.remove(0)),
        other => panic!("{other:?}"),
    }
}

fn to(number: u16) -> Action {
    Output::to(number).into()
}

fn ct(flags: u16, zone: u16, table: Option<u8>, actions: Vec<Action>) -> Action {
    ct_of(0, flags, zone, table, actions)
}

/// The same of connections that bring others.
fn ct_of(helper: u16, flags: u16, zone: u16, table: Option<u8>, actions: Vec<Action>) -> Action {
    Ct { flags, zone: Zone::Number(zone), table, helper, actions }.into()
}

fn ip() -> Match {
    Match::any().with(Field::EthType, 0x800)
}

fn state(value: u128, mask: u128) -> Match {
    let mut it = ip();
    it.set(Field::CtState, value, mask);
    it
}

/// As Open vSwitch's manual has it: who is at port 1 may begin connections.
fn wall() -> Vec<(u8, u16, Match, Program)> {
    let mark = SetField::whole(Field::CtMark, 7).into();
    vec![
        (0, 1, ip(), vec![ct(0, 5, Some(1), vec![])]),
        (1, 9, state(0x21, 0x21).with(Field::InPort, 1), vec![ct(1, 5, None, vec![mark]), to(2)]),
        (1, 8, state(0x2a, 0x2a).with(Field::CtMark, 7).with(Field::CtZone, 5), vec![to(1)]),
        (1, 7, state(0x22, 0x2a), vec![to(2)]),
        (1, 6, state(0x2c, 0x2c), vec![to(1)]),
        (1, 5, state(0x30, 0x30), vec![to(3)]),
    ]
}

fn tcp(from: [u8; 4], ports: (u16, u16), to: [u8; 4], flags: u8) -> Vec<u8> {
    let packet = craft::ethernet([2; 6], [4; 6]).ipv4(from, to);
    packet.tcp(ports.0, ports.1).flags(flags).build()
}

#[test]
fn a_stateful_firewall_lets_out_and_what_answers_in() {
    let world = world(64, wall());
    let out = |flags| tcp(INSIDE, (1000, 80), OUTSIDE, flags);
    let back = |flags| tcp(OUTSIDE, (80, 1000), INSIDE, flags);
    // Nobody outside begins anything.
    let begun = tcp(OUTSIDE, (1000, 80), INSIDE, SYN);
    assert_eq!(fate(&world, 1, &begun), Err("no-action".to_owned()));
    assert_eq!(fate(&world, 1, &back(SYN | ACK)), Ok(3), "an answer to nobody is invalid");
    assert_eq!(fate(&world, 0, &out(SYN)), Ok(2));
    assert_eq!(fate(&world, 0, &out(SYN)), Ok(2), "said again");
    for (rx, frame, port) in
        [(1, back(SYN | ACK), 1), (0, out(ACK), 2), (1, back(ACK), 1), (0, out(FIN | ACK), 2)]
    {
        assert_eq!(fate(&world, rx, &frame), Ok(port));
    }
    // What no TCP sends belongs to nothing.
    assert_eq!(fate(&world, 1, &back(SYN | FIN)), Ok(3));
    assert_eq!(fate(&world, 1, &back(RST)), Ok(1));
    // An error that tells of it comes in, one that tells of another does not.
    let about = |packet: &[u8]| {
        let error = craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 99], INSIDE);
        error.icmp4(3, 3, [0; 4]).payload(&packet[14..]).build()
    };
    assert_eq!(fate(&world, 1, &about(&out(ACK))), Ok(1));
    assert_eq!(fate(&world, 1, &about(&tcp(INSIDE, (9, 9), OUTSIDE, ACK))), Ok(3));
}

#[test]
fn zones_know_nothing_of_each_other_and_both_families_are_known() {
    let mut flows = wall();
    flows.push((0, 9, ip().with(Field::InPort, 3), vec![ct(0, 6, Some(1), vec![])]));
    let six = Match::any().with(Field::EthType, 0x86dd);
    let seen = |state: u128| {
        let mut it = six.clone();
        it.set(Field::CtState, state, 0x2b);
        it
    };
    flows.push((0, 1, six.clone(), vec![ct(0, 5, Some(1), vec![])]));
    flows.push((1, 9, seen(0x21), vec![ct(1, 5, None, vec![]), to(2)]));
    flows.push((1, 8, seen(0x2a), vec![to(1)]));
    let world = world(64, flows);
    let echo = |from, to, reply: bool| {
        let packet = craft::ethernet([2; 6], [4; 6]).ipv4(from, to);
        if reply { packet.icmp_echo_reply(7, 1).build() } else { packet.icmp_echo(7, 1).build() }
    };
    assert_eq!(fate(&world, 0, &echo(INSIDE, OUTSIDE, false)), Ok(2));
    // Of the other zone: invalid, and not sent back by where it came in.
    let nowhere = Err("no-action".to_owned());
    assert_eq!(fate(&world, 2, &echo(OUTSIDE, INSIDE, true)), nowhere);
    assert_eq!(fate(&world, 1, &echo(OUTSIDE, INSIDE, true)), Ok(1));
    let six = |from: u128, to: u128, ports: (u16, u16)| {
        craft::ethernet([2; 6], [4; 6]).ipv6(from, to).udp(ports.0, ports.1).build()
    };
    assert_eq!(fate(&world, 0, &six(1 << 64, 2 << 64, (5, 6))), Ok(2));
    assert_eq!(fate(&world, 1, &six(2 << 64, 1 << 64, (6, 5))), Ok(1));
}

fn nat(flags: u16, address: [u8; 4], ports: Option<(u16, u16)>) -> Action {
    let ip4 = Some((u32::from_be_bytes(address), None));
    let ports = ports.map(|(first, last)| (first, Some(last)));
    Translate { nat: Nat { flags, ip4, ip6: None, ports } }.into()
}

/// What is translated is so in both directions.
fn any_nat() -> Action {
    Translate { nat: Nat::default() }.into()
}

fn translating(room: usize, how: Action) -> World {
    let one = |number| ip().with(Field::InPort, number);
    world(
        room,
        vec![
            (0, 1, one(1), vec![ct(1, 1, Some(1), vec![how])]),
            (0, 1, one(2), vec![ct(0, 1, Some(2), vec![any_nat()])]),
            (1, 1, state(0x60, 0xe0), vec![to(2)]),
            (1, 2, state(0xa0, 0xe0), vec![to(3)]),
            (2, 1, state(0x20, 0x30), vec![to(1)]),
        ],
    )
}

fn udp(from: ([u8; 4], u16), to: ([u8; 4], u16)) -> Vec<u8> {
    craft::ethernet([2; 6], [4; 6]).ipv4(from.0, to.0).udp(from.1, to.1).payload(b"data").build()
}

#[test]
fn sources_are_translated_and_find_back_and_no_two_look_alike() {
    let world = translating(64, nat(1, SEEN, Some((5000, 5001))));
    let asked = |port| udp((INSIDE, port), (OUTSIDE, 53));
    let mut seen = Vec::new();
    for port in [1000, 1001] {
        let (sent, _) = pass(&world, 0, &asked(port));
        let [(2, frame)] = &sent[..] else { panic!("{sent:?}") };
        let outer = u16::from_be_bytes([frame[34], frame[35]]);
        assert_eq!(*frame, udp((SEEN, outer), (OUTSIDE, 53)));
        // The same again, and back.
        assert_eq!(pass(&world, 0, &asked(port)).0, sent);
        let back = pass(&world, 1, &udp((OUTSIDE, 53), (SEEN, outer))).0;
        assert_eq!(back, [(1, udp((OUTSIDE, 53), (INSIDE, port)))]);
        seen.push(outer);
    }
    seen.sort_unstable();
    assert_eq!(seen, [5000, 5001]);
    // No port is left: it goes nowhere as what it is.
    assert_eq!(pass(&world, 0, &asked(1002)), (vec![], vec!["no-port".to_owned()]));
    // An error about it tells of it as it was sent.
    let error = |to, about: &[u8]| {
        let error = craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 99], to);
        error.icmp4(3, 3, [0; 4]).payload(&about[14..]).build()
    };
    let (outer, _) = (5000, ());
    let sent = udp((SEEN, outer), (OUTSIDE, 53));
    let known = [1000, 1001].map(|port| error(INSIDE, &asked(port)));
    let back = pass(&world, 1, &error(SEEN, &sent)).0;
    assert!(back.len() == 1 && back[0].0 == 1 && known.contains(&back[0].1), "{back:?}");
}

#[test]
fn destinations_are_translated_and_what_answers_is_as_if_it_had_been_asked() {
    let world = translating(64, nat(2, SEEN, Some((80, 80))));
    let sent = pass(&world, 0, &tcp(INSIDE, (1000, 8080), OUTSIDE, SYN)).0;
    assert_eq!(sent, [(3, tcp(INSIDE, (1000, 80), SEEN, SYN))]);
    let back = pass(&world, 1, &tcp(SEEN, (80, 1000), INSIDE, SYN | ACK)).0;
    assert_eq!(back, [(1, tcp(OUTSIDE, (8080, 1000), INSIDE, SYN | ACK))]);
}

#[test]
fn a_packet_that_was_translated_is_still_of_its_connection_behind_that() {
    let again = |flags| ct(flags, 1, Some(2), vec![any_nat()]);
    let flows = vec![
        (0, 1, ip(), vec![ct(1, 1, Some(1), vec![nat(1, SEEN, None)])]),
        (1, 1, state(0x60, 0x60), vec![again(0)]),
        (2, 1, state(0x61, 0x71), vec![to(2)]),
    ];
    let sent = pass(&world(64, flows), 0, &udp((INSIDE, 9), (OUTSIDE, 53))).0;
    assert_eq!(sent, [(2, udp((SEEN, 9), (OUTSIDE, 53)))]);
}

#[test]
fn a_clone_is_translated_and_the_packet_is_not() {
    let inside = vec![ct(1, 1, None, vec![nat(1, SEEN, None)]), to(2)];
    let flows = vec![(0, 1, ip(), vec![CloneActions { actions: inside }.into(), to(3)])];
    let asked = udp((INSIDE, 9), (OUTSIDE, 53));
    let sent = pass(&world(64, flows), 0, &asked).0;
    assert_eq!(sent, [(2, udp((SEEN, 9), (OUTSIDE, 53))), (3, asked)]);
}

#[test]
fn pieces_are_of_the_connection_of_the_first_and_of_none_before_it() {
    let world = world(64, wall());
    let piece = |offset: usize, more: bool| {
        let packet = craft::ethernet([2; 6], [4; 6]).ipv4(INSIDE, OUTSIDE).identification(9);
        let packet = packet.fragment(offset, more);
        match offset {
            0 => packet.udp(5, 6).payload(&[7; 16]).build(),
            _ => packet.protocol(17).payload(&[7; 16]).build(),
        }
    };
    assert_eq!(fate(&world, 0, &piece(24, false)), Ok(3), "nobody knows it: invalid");
    assert_eq!(fate(&world, 0, &piece(0, true)), Ok(2));
    assert_eq!(fate(&world, 0, &piece(24, false)), Ok(2));
}

#[test]
fn what_there_is_no_room_for_goes_no_further() {
    let begins = vec![(0, 1, ip(), vec![ct(1, 1, None, vec![]), to(2)])];
    let full = Err("no-connection".to_owned());
    assert_eq!(fate(&world(0, begins), 0, &udp((INSIDE, 9), (OUTSIDE, 53))), full);
}

#[test]
fn one_direction_takes_a_connection_over_by_force() {
    let flows = vec![
        (0, 1, ip().with(Field::InPort, 1), vec![ct(1, 1, None, vec![]), to(2)]),
        (0, 1, ip().with(Field::InPort, 2), vec![ct(3, 1, Some(1), vec![])]),
        (1, 1, state(0x21, 0x29), vec![to(3)]),
        (1, 1, state(0x28, 0x28), vec![to(1)]),
    ];
    let world = world(64, flows);
    assert_eq!(fate(&world, 0, &udp((INSIDE, 9), (OUTSIDE, 53))), Ok(2));
    let back = udp((OUTSIDE, 53), (INSIDE, 9));
    assert_eq!(fate(&world, 1, &back), Ok(3), "it begins anew");
    assert_eq!(fate(&world, 1, &back), Ok(3), "and is its own");
}

#[test]
fn who_began_a_connection_is_known_of_what_answers_too() {
    let asked = |field: Field, value: u128| state(0x20, 0x30).with(field, value);
    let inside = u32::from_be_bytes(INSIDE).into();
    let flows = vec![
        (0, 1, ip().with(Field::InPort, 1), vec![ct(1, 1, Some(1), vec![nat(1, SEEN, None)])]),
        (0, 1, ip().with(Field::InPort, 2), vec![ct(0, 1, Some(1), vec![any_nat()])]),
        (1, 9, asked(Field::CtSrc, 1001), vec![to(3)]),
        (1, 8, asked(Field::CtProto, 1).with(Field::CtSrc, 8), vec![to(3)]),
        (1, 7, asked(Field::CtIp4Src, inside).with(Field::CtDst, 53), vec![to(1), to(2)]),
    ];
    let world = world(64, flows);
    // Twice: once as the flows say, once as it is remembered.
    for _ in 0..2 {
        for (port, out, back) in [(1000, 2, 1), (1001, 3, 3)] {
            assert_eq!(fate(&world, 0, &udp((INSIDE, port), (OUTSIDE, 53))), Ok(out));
            assert_eq!(fate(&world, 1, &udp((OUTSIDE, 53), (SEEN, port))), Ok(back));
        }
    }
    // Of ICMP its type is told in place of a port.
    let echo = |from, to, is_reply| {
        let packet = craft::ethernet([2; 6], [4; 6]).ipv4(from, to);
        if is_reply { packet.icmp_echo_reply(7, 1).build() } else { packet.icmp_echo(7, 1).build() }
    };
    assert_eq!(fate(&world, 0, &echo(INSIDE, OUTSIDE, false)), Ok(3));
    assert_eq!(fate(&world, 1, &echo(OUTSIDE, SEEN, true)), Ok(3));
    // Of what can be of no connection nothing is told.
    let stray = fate(&world, 1, &tcp(OUTSIDE, (53, 7), INSIDE, RST | SYN));
    assert_eq!(stray, Err("no-action".to_owned()));
}

#[test]
fn a_destination_that_two_share_tells_them_apart_by_another_port_of_the_source() {
    let world = translating(64, nat(2, SEEN, None));
    let others = [10, 0, 0, 3];
    let sent = pass(&world, 0, &udp((INSIDE, 1000), (OUTSIDE, 53))).0;
    assert_eq!(sent, [(3, udp((INSIDE, 1000), (SEEN, 53)))]);
    let (sent, _) = pass(&world, 0, &udp((INSIDE, 1000), (others, 53)));
    let [(3, frame)] = &sent[..] else { panic!("{sent:?}") };
    let port = u16::from_be_bytes([frame[34], frame[35]]);
    assert!(port >= 1024, "{port}");
    assert_eq!(*frame, udp((INSIDE, port), (SEEN, 53)));
    for (port, asked) in [(port, others), (1000, OUTSIDE)] {
        let back = pass(&world, 1, &udp((SEEN, 53), (INSIDE, port))).0;
        assert_eq!(back, [(1, udp((asked, 53), (INSIDE, 1000)))]);
    }
}

#[test]
fn an_error_of_ip6_comes_back_to_who_asked() {
    let end = |byte| [byte; 16];
    let link = || craft::ethernet([2; 6], [4; 6]);
    let seen = Nat { flags: 1, ip6: Some((u128::from_be_bytes(end(9)), None)), ..Nat::default() };
    let six = |number| Match::any().with(Field::EthType, 0x86dd).with(Field::InPort, number);
    let mut related = Match::any().with(Field::EthType, 0x86dd);
    related.set(Field::CtState, 0x2c, 0x2c);
    let flows = vec![
        (0, 1, six(1), vec![ct(1, 1, None, vec![Translate { nat: seen }.into()]), to(2)]),
        (0, 1, six(2), vec![ct(0, 1, Some(1), vec![any_nat()])]),
        (1, 1, related, vec![to(1)]),
    ];
    let world = world(64, flows);
    let asked = |from| link().ipv6(end(from), end(2)).udp(1000, 53).payload(b"question").build();
    assert_eq!(pass(&world, 0, &asked(1)).0, [(2, asked(9))]);
    let error = |to, about: &[u8]| {
        link().ipv6(end(7), end(to)).icmp6(1, 4, [0; 4]).payload(&about[14..]).build()
    };
    assert_eq!(pass(&world, 1, &error(9, &asked(9))).0, [(1, error(1, &asked(1)))]);
}

/// Who is at port 1 asks as somebody else, and has connections brought to it.
fn bringing(helper: u16) -> World {
    let one = |number| ip().with(Field::InPort, number);
    world(
        64,
        vec![
            (0, 9, one(1), vec![ct(0, 1, Some(1), vec![any_nat()])]),
            (0, 9, one(2), vec![ct(0, 1, Some(2), vec![any_nat()])]),
            (
                1,
                9,
                state(0x21, 0x23),
                vec![ct_of(helper, 1, 1, None, vec![nat(1, SEEN, None)]), to(2)],
            ),
            (1, 8, state(0x22, 0x32), vec![to(2)]),
            // What is brought is let in, and nothing else that is new.
            (2, 9, state(0x25, 0x25), vec![ct(1, 1, None, vec![any_nat()]), to(1)]),
            (2, 8, state(0x22, 0x33), vec![to(1)]),
            (2, 7, state(0x30, 0x30), vec![to(3)]),
        ],
    )
}

fn said(from: ([u8; 4], u16), to: ([u8; 4], u16), at: (u32, u32), line: &str) -> Vec<u8> {
    let packet = craft::ethernet([2; 6], [4; 6]).ipv4(from.0, to.0).tcp(from.1, to.1);
    let packet = packet.flags(ACK).sequence(at.0).acknowledgement(at.1);
    packet.payload(line.as_bytes()).build()
}

#[test]
fn a_server_of_ftp_may_connect_to_where_a_client_waits_and_nobody_else() {
    let world = bringing(21);
    let sent = |rx, frame: Vec<u8>| {
        let (mut sent, ended) = pass(&world, rx, &frame);
        assert!(sent.len() == 1 && ended.is_empty(), "{sent:?} {ended:?}");
        sent.remove(0)
    };
    let nobody = Err("no-action".to_owned());
    let (client, seen, server) = ((INSIDE, 1000), (SEEN, 1000), (OUTSIDE, 21));
    assert_eq!(sent(0, tcp(INSIDE, (1000, 21), OUTSIDE, SYN)).0, 2);
    assert_eq!(sent(1, tcp(OUTSIDE, (21, 1000), SEEN, SYN | ACK)).0, 1);
    assert_eq!(fate(&world, 1, &tcp(OUTSIDE, (20, 1234), SEEN, SYN)), nobody);
    // It is told of the address that it is to connect to, which is longer by one octet.
    let (told, known) = ("PORT 10,0,0,1,4,210\r\n", "PORT 192,0,2,7,4,210\r\n");
    for _ in 0..2 {
        // Said again, too.
        let to_server = sent(0, said(client, server, (100, 500), told));
        assert_eq!(to_server, (2, said(seen, server, (100, 500), known)));
    }
    let (end, seen_end) = (100 + told.len() as u32, 100 + known.len() as u32);
    let back = sent(1, said(server, seen, (500, seen_end), "200 fine\r\n"));
    assert_eq!(back, (1, said(server, client, (500, end), "200 fine\r\n")));
    let next = sent(0, said(client, server, (end, 510), "LIST\r\n"));
    assert_eq!(next, (2, said(seen, server, (seen_end, 510), "LIST\r\n")));
    // The server comes, and is let in; others are not, nor is it to another port.
    assert_eq!(fate(&world, 1, &tcp([10, 0, 0, 9], (20, 1234), SEEN, SYN)), nobody);
    assert_eq!(fate(&world, 1, &tcp(OUTSIDE, (20, 1235), SEEN, SYN)), nobody);
    let data = sent(1, tcp(OUTSIDE, (20, 1234), SEEN, SYN));
    assert_eq!(data, (1, tcp(OUTSIDE, (20, 1234), INSIDE, SYN)));
    let answer = sent(0, tcp(INSIDE, (1234, 20), OUTSIDE, SYN | ACK));
    assert_eq!(answer, (2, tcp(SEEN, (1234, 20), OUTSIDE, SYN | ACK)));
    // Who has it connect to somebody else is not heard.
    let bounce = fate(&world, 0, &said(client, server, (end + 6, 510), "PORT 10,0,0,9,4,210\r\n"));
    assert_eq!(bounce, nobody);
    assert_eq!(fate(&world, 1, &tcp([10, 0, 0, 9], (20, 1234), SEEN, SYN)), nobody);
}

#[test]
fn who_asks_by_tftp_is_sent_it_from_another_port() {
    let world = bringing(69);
    let datagram = |from: ([u8; 4], u16), to: ([u8; 4], u16), what: u8| {
        let packet = craft::ethernet([2; 6], [4; 6]).ipv4(from.0, to.0).udp(from.1, to.1);
        packet.payload(&[0, what, b'f', 0]).build()
    };
    let data = datagram((OUTSIDE, 3000), (SEEN, 1000), 3);
    assert_eq!(fate(&world, 1, &data), Err("no-action".to_owned()));
    let asked = pass(&world, 0, &datagram((INSIDE, 1000), (OUTSIDE, 69), 1)).0;
    assert_eq!(asked, [(2, datagram((SEEN, 1000), (OUTSIDE, 69), 1))]);
    let data = pass(&world, 1, &data).0;
    assert_eq!(data, [(1, datagram((OUTSIDE, 3000), (INSIDE, 1000), 3))]);
    let answer = pass(&world, 0, &datagram((INSIDE, 1000), (OUTSIDE, 3000), 4)).0;
    assert_eq!(answer, [(2, datagram((SEEN, 1000), (OUTSIDE, 3000), 4))]);
}
