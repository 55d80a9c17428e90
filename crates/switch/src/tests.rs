//! Conversations with a bridge, in bytes.

use crate::*;
use flow::{Key, Snapshot, Step, Verdict, translate};
use openflow::action::{Ct, Group, Output, SetField, Translate, ct::Zone};
use openflow::message::{self, Command, FlowMod, Kind, PortStats, flag};
use openflow::{Action, Fault, Field, Match, Nat, PortNumber, Version, Versions, port};
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

#[derive(Default)]
struct Lab(Vec<(Vec<u8>, Vec<Step>)>);

impl World for Lab {
    fn port_stats(&self, number: PortNumber) -> Option<PortStats> {
        let [rx_packets, rest] = [7, 0];
        Some(PortStats {
            number,
            rx_packets,
            tx_packets: rest,
            rx_bytes: rest,
            tx_bytes: rest,
            rx_dropped: rest,
            tx_dropped: rest,
            rx_errors: rest,
            tx_errors: rest,
            age: Duration::ZERO,
        })
    }

    fn send(&mut self, frame: &[u8], _: PortNumber, verdict: &Verdict, _: &Snapshot) {
        self.0.push((frame.to_vec(), verdict.steps.to_vec()));
    }
}

struct Talk {
    bridge: Bridge,
    connection: Connection,
    lab: Lab,
    now: u64,
}

impl Talk {
    fn new(version: Version) -> Self {
        let mut bridge = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
        for number in 1..4u16 {
            let (name, mac) = (format!("p{number}"), [2, 0, 0, 0, 1, number as u8]);
            bridge.set_port(number, Some(Port::new(name, mac)), 0);
        }
        let mut it =
            Self { bridge, connection: Connection::new(false), lab: Lab::default(), now: SECOND };
        // A greeting of a version is one of all before it, unless it says which.
        let hello = [version as u8, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << version as u8];
        assert!(it.hear(&hello).is_empty());
        assert_eq!(it.connection.version(), Some(version));
        it.bridge.take_events();
        it
    }

    fn hear(&mut self, message: &[u8]) -> Vec<Vec<u8>> {
        self.bridge.hear(&mut self.connection, message, &mut self.lab, self.now)
    }

    fn mods(&mut self, version: Version, it: &FlowMod) -> Result<(), (u16, u16)> {
        match &self.hear(&it.encode(version, 7))[..] {
            [] => Ok(()),
            [error] => {
                assert_eq!(error[1], 1);
                Err((
                    u16::from_be_bytes([error[8], error[9]]),
                    u16::from_be_bytes([error[10], error[11]]),
                ))
            }
            more => panic!("{more:?}"),
        }
    }

    fn steps(&self, in_port: PortNumber) -> Vec<Step> {
        let mut key = Key::default();
        key.set(Field::InPort, in_port.into(), 0xffff);
        translate(&self.bridge.snapshot(), &key).steps.to_vec()
    }
}

fn add(priority: u16, matching: Match, program: Vec<Action>) -> FlowMod {
    FlowMod::add(0, priority, matching, program)
}

fn to(number: PortNumber) -> Vec<Action> {
    vec![Output::to(number).into()]
}

#[test]
fn a_table_has_as_many_flows_as_is_said_and_its_own_name() {
    let mut talk = Talk::new(Version::V13);
    let said = |name: &str, most| {
        let name = name.to_owned();
        TableSettings { name, most, ..TableSettings::default() }
    };
    talk.bridge.set_tables([(3, said("acl", Some(2))), (4, said("", Some(0)))].into(), 0);
    let mut add = |table, port| {
        let matching = Match::any().with(Field::InPort, port);
        talk.mods(Version::V13, &FlowMod::add(table, 5, matching, to(1)))
    };
    assert_eq!([add(3, 1), add(3, 2)], [Ok(()), Ok(())]);
    // OFPFMFC_TABLE_FULL; what is there may be changed, and other tables have room.
    assert_eq!(
        [add(3, 3), add(3, 2), add(4, 1), add(5, 1)],
        [Err((5, 1)), Ok(()), Err((5, 1)), Ok(())]
    );
    let stats = talk.bridge.name_of_table(3);
    assert_eq!((stats, talk.bridge.most_of(3), talk.bridge.most_of(0)), ("acl", 2, MOST_FLOWS));
}

#[test]
fn a_bridge_agrees_to_its_own_versions_alone() {
    let mut bridge = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
    bridge.set_versions(Versions::of([Version::V10, Version::V13]));
    let mut greet = |hello: &[u8]| {
        let mut connection = Connection::new(false);
        let answers = bridge.hear(&mut connection, hello, &mut Lab::default(), SECOND);
        (connection.version(), answers)
    };
    // All up to 1.4; 1.4 alone.
    assert_eq!(greet(&[5, 0, 0, 8, 0, 0, 0, 1]), (Some(Version::V13), Vec::new()));
    let (version, answers) = greet(&[5, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 0b100000]);
    assert_eq!(version, None);
    // An error of a greeting (0), of no version in common (0), in the highest that is spoken.
    assert_eq!((answers.len(), answers[0][..2].to_vec()), (1, vec![4, 1]));
    assert_eq!(answers[0][8..12], [0, 0, 0, 0]);
}

#[test]
fn flows_come_are_changed_and_go_in_every_version() {
    for version in Version::ALL {
        let mut talk = Talk::new(version);
        talk.mods(version, &add(1, Match::any(), to(2))).unwrap();
        assert_eq!(talk.steps(1), [Step::Output(2)]);
        let mut change = add(1, Match::any(), to(3));
        change.command = Command::ModifyStrict;
        talk.mods(version, &change).unwrap();
        assert_eq!((talk.steps(1), talk.bridge.len()), (vec![Step::Output(3)], 1));
        change.command = Command::Delete;
        change.out_port = 2;
        talk.mods(version, &change).unwrap();
        assert_eq!(talk.bridge.len(), 1);
        change.out_port = 3;
        talk.mods(version, &change).unwrap();
        assert_eq!((talk.steps(1), talk.bridge.len()), (vec![], 0));
    }
}

#[test]
fn what_cannot_be_is_refused_with_open_vswitchs_numbers() {
    let mut talk = Talk::new(Version::V13);
    let mut refused = |it: FlowMod| talk.mods(Version::V13, &it).unwrap_err();
    let group = vec![Group { group: 9 }.into()];
    assert_eq!(refused(add(1, Match::any(), group)), (2, 9));
    let set = vec![SetField::whole(Field::TcpDst, 5).into()];
    assert_eq!(refused(add(1, Match::any(), set)), (2, 10));
    let goto = vec![openflow::action::GotoTable { table: 0 }.into()];
    assert_eq!(refused(add(1, Match::any(), goto)), (3, 2));
    // A sample of no packet, and one in an action set.
    use openflow::action::{Sample, WriteActions, sample};
    let sample = |probability| Sample {
        probability,
        set: 1,
        domain: 0,
        point: 0,
        port: port::NONE,
        direction: sample::Direction::Unsaid,
        form: sample::Form::First,
    };
    assert_eq!(refused(add(1, Match::any(), vec![sample(0).into()])), (2, 5));
    let written = WriteActions { actions: vec![sample(1).into()] };
    assert_eq!(refused(add(1, Match::any(), vec![written.into()])), (2, 0));
    let mut elsewhere = add(1, Match::any(), vec![]);
    elsewhere.table = None;
    assert_eq!(refused(elsewhere), (5, 2));
    let mut buffered = add(1, Match::any(), vec![]);
    buffered.buffer = 5;
    assert_eq!(refused(buffered), (1, 8));
    let fin = openflow::action::FinTimeout { idle: 1, hard: 1 };
    assert_eq!(refused(add(1, Match::any(), vec![fin.into()])), (2, 10));
    let tunnel = SetField::whole(Field::TunFlags, 1);
    assert_eq!(refused(add(1, Match::any(), vec![tunnel.into()])), (2, 13));
    let mut overlap = add(1, Match::any(), vec![]);
    overlap.flags = flag::CHECK_OVERLAP;
    assert!(talk.mods(Version::V13, &overlap).is_ok());
    assert_eq!(talk.mods(Version::V13, &overlap), Err((5, 3)));
}

#[test]
fn flows_end_when_their_time_is_over_and_who_wants_to_know_is_told() {
    let mut talk = Talk::new(Version::V13);
    let mut it = add(1, Match::any(), to(2));
    (it.idle, it.flags, it.cookie) = (5, flag::SEND_REMOVED, 0x77);
    talk.mods(Version::V13, &it).unwrap();
    talk.bridge.each_flow(|flow| flow.counters.add(3, 180, 3 * SECOND));
    talk.bridge.expire(7 * SECOND);
    assert_eq!(talk.bridge.len(), 1);
    talk.bridge.expire(8 * SECOND);
    assert_eq!(talk.bridge.len(), 0);
    for event in talk.bridge.take_events() {
        talk.connection.tell(&event);
    }
    let [told] = &talk.connection.take_owed()[..] else { panic!() };
    assert_eq!((told[1], &told[8..16], told[18]), (11, &0x77u64.to_be_bytes()[..], 0));
    assert_eq!(told[32..40], 3u64.to_be_bytes());
}

#[test]
fn a_bundle_is_done_whole_or_not_at_all() {
    let mut talk = Talk::new(Version::V14);
    let control = |kind: u16| {
        let body = [0, 0, 0, 1, 0, kind as u8, 0, 1];
        message::message(Version::V14, Kind::BundleControl, 9, &body)
    };
    let put = |it: &FlowMod, xid: u32| {
        let mut body = vec![0, 0, 0, 1, 0, 0, 0, 1];
        body.extend(it.encode(Version::V14, xid));
        message::message(Version::V14, Kind::BundleAdd, xid, &body)
    };
    let (good, bad) =
        (add(1, Match::any(), to(2)), add(2, Match::any(), vec![Group { group: 1 }.into()]));
    for (second, wanted) in [(&bad, 0), (&add(3, Match::any(), to(3)), 2)] {
        assert_eq!(talk.hear(&control(0))[0][13], 1);
        assert!(talk.hear(&put(&good, 10)).is_empty());
        assert!(talk.hear(&put(second, 11)).is_empty());
        assert_eq!(talk.bridge.len(), 0);
        talk.hear(&control(2));
        let done = talk.hear(&control(4));
        assert_eq!((done[0][1] == 1, talk.bridge.len()), (wanted == 0, wanted));
    }
    assert_eq!(talk.hear(&control(4))[0][8..12], [0, 17, 0, 2]);
}

#[test]
fn bundles_hold_so_many_bytes_all_together_and_what_is_given_up_makes_room() {
    let mut talk = Talk::new(Version::V14);
    let long: Vec<Action> = (0..4000).flat_map(|_| to(2)).collect();
    let long = add(1, Match::any(), long).encode(Version::V14, 7);
    let put = |bundle: u8| {
        let body = [&[0, 0, 0, bundle, 0, 0, 0, 1][..], &long].concat();
        message::message(Version::V14, Kind::BundleAdd, 7, &body)
    };
    let [first, second] = [put(1), put(2)];
    let fit = |talk: &mut Talk, it: &[u8]| (0..).take_while(|_| talk.hear(it).is_empty()).count();
    assert!(talk.hear(&first).is_empty());
    let count = 1 + fit(&mut talk, &second);
    let most = 192 << 20;
    assert!(count * long.len() <= most && (count + 1) * long.len() > most, "{count} messages");
    assert!(!talk.hear(&first).is_empty(), "another bundle has no more");
    let discard = [0, 0, 0, 2, 0, 6, 0, 1];
    talk.hear(&message::message(Version::V14, Kind::BundleControl, 9, &discard));
    assert!(talk.hear(&first).is_empty());
}

#[test]
fn a_controllers_packet_is_sent_and_packets_come_to_controllers() {
    let mut talk = Talk::new(Version::V13);
    let mut body = u32::MAX.to_be_bytes().to_vec();
    body.extend([0, 0, 0, 1, 0, 16, 0, 0, 0, 0, 0, 0]);
    body.extend([0, 0, 0, 16, 0xff, 0xff, 0xff, 0xfb, 0, 0, 0, 0, 0, 0, 0, 0]);
    body.extend([0xff; 14]);
    assert!(talk.hear(&message::message(Version::V13, Kind::PacketOut, 1, &body)).is_empty());
    assert_eq!(talk.lab.0, [(vec![0xff; 14], vec![Step::Output(2), Step::Output(3)])]);
    let told = flow::Told::Packet {
        max_len: 60,
        controller: 0,
        reason: 1,
        table: 3,
        cookie: 9,
        metadata: Match::any().with(Field::InPort, 2),
    };
    talk.bridge.told(&told, &[5; 100], 0);
    for event in talk.bridge.take_events() {
        talk.connection.tell(&event);
    }
    let [seen] = &talk.connection.take_owed()[..] else { panic!() };
    assert_eq!((seen[1], &seen[12..16], seen.len()), (10, &[0, 100, 1, 3][..], 24 + 16 + 2 + 60));
}

#[test]
fn ports_may_be_left_out_of_floods_and_shut() {
    let mut talk = Talk::new(Version::V10);
    talk.mods(Version::V10, &add(1, Match::any(), to(port::FLOOD))).unwrap();
    assert_eq!(talk.steps(1), [2, 3].map(Step::Output));
    let port_mod = |config: u32, mac: u8| {
        let mut body = vec![0, 2, 2, 0, 0, 0, 1, mac];
        body.extend(config.to_be_bytes());
        body.extend(u32::MAX.to_be_bytes());
        body.extend([0; 8]);
        message::message(Version::V10, Kind::PortMod, 1, &body)
    };
    assert!(talk.hear(&port_mod(16, 2)).is_empty());
    assert_eq!(talk.steps(1), [Step::Output(3)]);
    assert!(talk.hear(&port_mod(1, 2)).is_empty());
    assert_eq!(talk.steps(2), []);
    assert_eq!(talk.hear(&port_mod(1, 9))[0][8..12], [0, 4, 0, 1]);
}

#[test]
fn a_bridge_is_an_ordinary_one_until_it_is_told_otherwise() {
    let bridge = Bridge::new("br0", [2; 6], false, 0);
    let mut flows = Vec::new();
    bridge.each_flow(|flow| flows.push(flow.program.clone()));
    assert_eq!(flows, [to(port::NORMAL)]);
}

#[test]
fn a_slave_changes_nothing_and_an_old_master_is_none() {
    let mut talk = Talk::new(Version::V13);
    let role = |role: u8, generation: u64| {
        let mut body = vec![0, 0, 0, role, 0, 0, 0, 0];
        body.extend(generation.to_be_bytes());
        message::message(Version::V13, Kind::RoleRequest, 1, &body)
    };
    assert_eq!(talk.hear(&role(3, 5))[0][1], 25);
    assert_eq!(talk.mods(Version::V13, &add(1, Match::any(), vec![])), Err((1, 10)));
    assert_eq!(talk.hear(&role(2, 4))[0][8..12], [0, 11, 0, 0]);
    talk.hear(&role(2, 6));
    assert!(talk.mods(Version::V13, &add(1, Match::any(), vec![])).is_ok());
}

#[test]
fn another_master_makes_a_slave_and_tells_it() {
    let mut talk = Talk::new(Version::V14);
    let role = |role: u8, generation: u64| {
        let mut body = vec![0, 0, 0, role, 0, 0, 0, 0];
        body.extend(generation.to_be_bytes());
        message::message(Version::V14, Kind::RoleRequest, 1, &body)
    };
    talk.hear(&role(2, 5));
    assert!(talk.connection.take_claim());
    assert!(!talk.connection.take_claim());
    talk.connection.demote(Some(6));
    let told = talk.connection.take_owed();
    let body = [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6];
    assert_eq!(told, [[&[5, 30, 0, 24, 0, 0, 0, 0][..], &body].concat()]);
    assert_eq!(talk.connection.role(), message::Role::Slave);
    talk.connection.demote(Some(7));
    assert_eq!(talk.connection.take_owed(), Vec::<Vec<u8>>::new());
}

/// What a connection is told of one event of each kind: their types.
fn heard(talk: &mut Talk) -> Vec<u8> {
    let told = |cookie| flow::Told::Packet {
        max_len: 9,
        controller: 0,
        reason: 0,
        table: 0,
        cookie,
        metadata: Match::any().with(Field::InPort, 2),
    };
    talk.bridge.take_events();
    talk.bridge.told(&told(u64::MAX), &[5; 100], 0);
    talk.bridge.told(&told(3), &[5; 100], 0);
    talk.bridge.set_port(9, Some(Port::new("p", [2; 6])), 0);
    talk.bridge.set_port(9, None, 0);
    for event in talk.bridge.take_events() {
        talk.connection.tell(&event);
    }
    talk.connection.take_owed().iter().map(|message| message[1]).collect()
}

#[test]
fn each_controller_says_what_it_is_told_of() {
    // Packets that no flow matches go to controllers of 1.0 alone.
    assert_eq!(heard(&mut Talk::new(Version::V10)), [10, 10, 12, 12]);
    for version in [Version::V13, Version::V15] {
        let mut talk = Talk::new(version);
        assert_eq!(heard(&mut talk), [10, 12, 12]);
        // Ports that went, nothing else; the rest of 1.5's masks stays.
        let body = match version {
            Version::V13 => [[0u32; 2], [2, 0], [0; 2]]
                .concat()
                .iter()
                .flat_map(|it| it.to_be_bytes())
                .collect(),
            _ => [0u32, 1 << 16 | 8, 0, 3 << 16 | 8, 2]
                .iter()
                .skip(1)
                .flat_map(|it| it.to_be_bytes())
                .collect::<Vec<u8>>(),
        };
        assert!(talk.hear(&message::message(version, Kind::SetAsync, 1, &body)).is_empty());
        assert_eq!(heard(&mut talk), [12]);
        let reply = &talk.hear(&message::message(version, Kind::GetAsyncRequest, 1, &[]))[0];
        match version {
            Version::V13 => assert_eq!(reply[8..], body),
            _ => assert_eq!(
                reply[8..][..32],
                [
                    [0, 0, 0, 8, 0, 0, 0, 0],
                    [0, 1, 0, 8, 0, 0, 0, 0],
                    [0, 2, 0, 8, 0, 0, 0, 7],
                    [0, 3, 0, 8, 0, 0, 0, 2],
                ]
                .concat()
            ),
        }
    }
}

#[test]
fn tools_hear_of_nothing_until_they_ask() {
    let mut talk = Talk::new(Version::V10);
    let (is_service, version) = (true, talk.connection.version());
    talk.connection = Connection::new(is_service);
    talk.hear(&[1, 0, 0, 8, 0, 0, 0, 1]);
    assert_eq!(talk.connection.version(), version);
    assert_eq!(heard(&mut talk), []);
    talk.hear(&message::message(Version::V10, Kind::SetConfig, 1, &[0, 0, 0, 64]));
    assert_eq!(heard(&mut talk), [10, 10, 12, 12]);
}

#[test]
fn a_bridge_that_fails_open_is_an_ordinary_one_whatever_its_flows_say() {
    let mut talk = Talk::new(Version::V13);
    talk.mods(Version::V13, &add(1, Match::any(), to(2))).unwrap();
    assert_eq!(talk.steps(1), [Step::Output(2)]);
    talk.bridge.set_fails_open(true, SECOND);
    assert_eq!((talk.steps(1), talk.bridge.len()), (vec![Step::Normal], 0));
    // What a controller says before it is believed to be there counts afterwards.
    talk.mods(Version::V13, &add(1, Match::any(), to(3))).unwrap();
    assert_eq!(talk.steps(1), [Step::Normal]);
    talk.bridge.take_snapshot();
    talk.bridge.set_fails_open(false, SECOND);
    assert_eq!(talk.steps(1), [Step::Output(3)]);
    assert!(talk.bridge.take_snapshot().is_some());
    talk.bridge.flush(false, SECOND);
    assert_eq!((talk.steps(1), talk.bridge.len()), (vec![Step::Normal], 1));
    talk.bridge.flush(true, SECOND);
    assert_eq!((talk.steps(1), talk.bridge.len()), (vec![], 0));
}

#[test]
fn any_bytes_are_answered_and_change_nothing_unsaid() {
    let mut talk = Talk::new(Version::V15);
    let mut seed = 1u64;
    for _ in 0..3000 {
        let mut message: Vec<u8> = (0..seed as usize % 90 + 8)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 56) as u8
            })
            .collect();
        (message[0], message[1]) = (6, message[1] % 36);
        for answer in talk.hear(&message) {
            assert!(answer.len() >= 8);
        }
    }
    assert_eq!(Fault::ALL.len(), Fault::ALL.iter().collect::<std::collections::HashSet<_>>().len());
}

#[test]
fn labels_are_for_packets_that_have_them() {
    use openflow::action::{DecTtl, Mpls};
    let mut talk = Talk::new(Version::V13);
    let mut told =
        |matching: Match, actions: Vec<Action>| talk.mods(Version::V13, &add(1, matching, actions));
    let labelled = || Match::any().with(Field::EthType, 0x8847);
    let label = || SetField::whole(Field::MplsLabel, 5);
    assert_eq!(told(labelled(), vec![label().into(), Mpls::Pop(0x0800).into()]), Ok(()));
    assert_eq!(told(Match::any(), vec![Mpls::Push(0x8848).into(), label().into()]), Ok(()));
    for wrong in [label().into(), Mpls::Pop(0x0800).into(), Mpls::DecTtl.into()] {
        assert_eq!(told(Match::any(), vec![wrong]), Err((2, 10)));
    }
    // What is behind a label has no fields, until it is gone.
    let ip = || Match::any().with(Field::EthType, 0x0800).with(Field::IpProto, 17);
    let port = || Action::from(SetField::whole(Field::UdpDst, 5));
    let dec = || Action::from(DecTtl { controllers: vec![] });
    assert_eq!(told(ip(), vec![Mpls::Push(0x8847).into(), port()]), Err((2, 10)));
    assert_eq!(told(labelled(), vec![Mpls::Pop(0x0800).into(), dec()]), Ok(()));
    assert_eq!(told(labelled(), vec![Mpls::Pop(0x88b5).into(), dec()]), Err((2, 10)));
}

#[test]
fn what_tracking_cannot_do_is_refused_as_open_vswitch_refuses_it() {
    let v = Version::V13;
    let ip = || Match::any().with(Field::EthType, 0x800);
    let ct = |flags, helper, actions| {
        Action::from(Ct { flags, zone: Zone::Number(1), table: Some(1), helper, actions })
    };
    let mark = || Action::from(SetField::whole(Field::CtMark, 1));
    let nat =
        |flags, ip4, ip6| Action::from(Translate { nat: Nat { flags, ip4, ip6, ports: None } });
    let (four, six) = (Some((1, None)), Some((1, None)));
    let (argument, inconsistent, set) = (Err((2, 5)), Err((2, 10)), Err((2, 15)));
    let all = [
        (ip(), ct(0, 0, vec![]), Ok(())),
        (ip(), ct(1, 0, vec![mark(), nat(1, four, None)]), Ok(())),
        (ip(), ct(3, 0, vec![]), Ok(())),
        (ip(), ct(0, 0, vec![nat(0, None, None)]), Ok(())),
        // Of what is no IP, against a direction without a connection, for a protocol whose
        // connections bring others: of what may be another, and of one that nobody knows.
        (Match::any(), ct(0, 0, vec![]), inconsistent),
        (ip(), ct(2, 0, vec![]), argument),
        (ip(), ct(1, 21, vec![]), inconsistent),
        (ip().with(Field::IpProto, 6), ct(1, 21, vec![]), Ok(())),
        (ip().with(Field::IpProto, 6), ct(1, 69, vec![]), inconsistent),
        (ip().with(Field::IpProto, 17), ct(1, 69, vec![]), Ok(())),
        (ip(), ct(1, 5060, vec![]), argument),
        // Nothing is remembered, so nothing is marked, and nobody looks like another.
        (ip(), ct(0, 0, vec![mark()]), argument),
        (ip(), ct(0, 0, vec![nat(1, four, None)]), argument),
        (ip(), ct(1, 0, vec![nat(1, None, six)]), inconsistent),
        (ip(), ct(1, 0, to(2)), argument),
        (ip(), ct(1, 0, vec![SetField::whole(Field::Reg0, 1).into()]), argument),
        // Outside of it.
        (ip(), mark(), set),
        (ip(), nat(1, four, None), set),
    ];
    for (at, (matching, action, wanted)) in all.into_iter().enumerate() {
        let mut talk = Talk::new(v);
        assert_eq!(
            talk.mods(v, &add(1, matching, vec![action.clone()])),
            wanted,
            "{at} {action:?}"
        );
        assert_eq!(talk.bridge.tracks(), wanted.is_ok());
    }
}

#[test]
fn the_number_of_a_tunnel_is_set_matched_and_told() {
    use openflow::action::SetTunnel;
    let mut talk = Talk::new(Version::V13);
    let set = |key: u64| SetTunnel { key }.into();
    let matching = Match::any().with(Field::TunId, 0x64).with(Field::TunSrc, 0xc000_0209);
    for (priority, actions) in [
        (1, vec![set(0x64), to(2)[0].clone()]),
        (2, vec![SetField::whole(Field::TunDst, 9).into(), to(2)[0].clone()]),
    ] {
        assert_eq!(talk.mods(Version::V13, &add(priority, matching.clone(), actions)), Ok(()));
    }
    let mut told = Vec::new();
    talk.bridge.each_flow(|flow| {
        told.push(format!("{}: {}", flow.matching, openflow::Actions(&flow.program)));
    });
    told.sort();
    let of = "tun_id=0x64,tun_src=192.0.2.9";
    let does = ["set_field:0.0.0.9->tun_dst", "set_field:0x64->tun_id"];
    assert_eq!(told, does.map(|it| format!("{of}: {it},output:2")));
}
