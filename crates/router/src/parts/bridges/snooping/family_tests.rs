use super::*;
use std::net::Ipv4Addr;
use wire::igmp;

const S: u64 = 1_000_000_000;
const GROUP: IpAddr = IpAddr::V4(Ipv4Addr::new(239, 1, 1, 1));
const ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

fn rules(querier: bool) -> Rules {
    Rules {
        querier,
        own: NOBODY,
        interval_ns: 125 * S,
        response_ns: 10 * S,
        listens_ns: 260 * S,
        asks_ns: 255 * S,
        most: 3,
        most_of_port: 2,
    }
}

fn behind(port: u16) -> Behind {
    Behind { port, is_own: false, learns_routers: true, fast_leave: false }
}

/// A message of IGMP with its checksum.
fn message(kind: u8, code: u8, group: [u8; 4]) -> Vec<u8> {
    let mut bytes = [&[kind, code, 0, 0][..], &group].concat();
    let sum = wire::checksum::of(&bytes).to_be_bytes();
    bytes[2..4].copy_from_slice(&sum);
    bytes
}

fn say(family: &mut Family, now_ns: u64, rules: &Rules, behind: Behind, bytes: &[u8]) {
    let source = if bytes[0] == igmp::message::QUESTION { ROUTER } else { NOBODY };
    family.hear(now_ns, rules, behind, source, igmp::parse(bytes).unwrap());
}

fn join(last: u8) -> Vec<u8> {
    message(igmp::message::REPORT2, 0, [239, 1, 1, last])
}

fn leave() -> Vec<u8> {
    message(igmp::message::LEAVE, 0, [239, 1, 1, 1])
}

fn ports(family: &Family) -> Vec<u16> {
    family.groups.get(&GROUP).map_or_else(Vec::new, |ports| ports.keys().copied().collect())
}

#[test]
fn who_is_not_heard_again_is_forgotten() {
    let (mut family, rules) = (Family::default(), rules(false));
    say(&mut family, 0, &rules, behind(6), &join(1));
    say(&mut family, 100 * S, &rules, behind(7), &join(1));
    assert!(family.take_change(100 * S));
    family.turn(259 * S, &rules);
    assert_eq!((ports(&family), family.take_change(259 * S)), (vec![6, 7], false));
    family.turn(260 * S, &rules);
    assert_eq!((ports(&family), family.take_change(260 * S)), (vec![7], true));
    family.turn(360 * S, &rules);
    assert!(family.groups.is_empty() && family.of_port.is_empty());
}

#[test]
fn we_ask_twice_at_the_start_and_then_now_and_then() {
    let (mut family, rules) = (Family::default(), rules(true));
    let all = Ask { port: None, group: None, within_ns: 10 * S };
    assert_eq!(family.turn(0, &rules), [all]);
    assert!(family.asks() && !family.take_change(9 * S) && !family.is_asked);
    // What it says is what workers were told.
    assert!(family.is_asked_at(10 * S) && !family.is_asked);
    assert!(family.take_change(10 * S) && family.is_asked && !family.take_change(10 * S));
    assert_eq!(family.turn(31 * S, &rules), []);
    assert_eq!(family.turn(32 * S, &rules), [all]);
    assert_eq!(family.turn(156 * S, &rules), []);
    assert_eq!(family.turn(157 * S, &rules), [all]);
    family.ask_soon(160 * S);
    assert_eq!(family.turn(160 * S, &rules), [all]);
    // Told to be still, it is, and nobody is left out any more.
    assert_eq!(family.turn(400 * S, &self::rules(false)), []);
    assert!(!family.asks() && family.take_change(400 * S) && !family.is_asked);
}

#[test]
fn a_port_that_leaves_is_asked_whether_others_stay() {
    let (mut family, rules) = (Family::default(), rules(true));
    family.turn(0, &rules);
    say(&mut family, S, &rules, behind(6), &join(1));
    say(&mut family, S, &rules, behind(7), &join(1));
    say(&mut family, 2 * S, &rules, behind(6), &leave());
    let ask = Ask { port: Some(6), group: Some(GROUP), within_ns: S };
    assert_eq!(family.turn(2 * S, &rules), [ask]);
    assert_eq!(family.turn(2 * S + 1, &rules), []);
    assert_eq!(family.turn(3 * S, &rules), [ask]);
    assert_eq!(family.turn(4 * S, &rules), []);
    assert_eq!(ports(&family), [6, 7]);
    family.turn(5 * S, &rules);
    assert_eq!(ports(&family), [7]);
    // Another behind it says that it stays.
    say(&mut family, 6 * S, &rules, behind(7), &leave());
    say(&mut family, 7 * S, &rules, behind(7), &join(1));
    assert_eq!(family.turn(20 * S, &rules), []);
    assert_eq!(ports(&family), [7]);
}

#[test]
fn a_port_that_leaves_fast_is_gone_at_once() {
    let (mut family, rules) = (Family::default(), rules(true));
    say(&mut family, 0, &rules, behind(6), &join(1));
    let fast = Behind { fast_leave: true, ..behind(6) };
    say(&mut family, S, &rules, fast, &leave());
    assert_eq!((ports(&family), family.of_port.len()), (vec![], 0));
    // The router's own station cannot be asked: it stays until it leaves.
    let own = Behind { is_own: true, ..behind(9) };
    say(&mut family, 0, &rules, own, &join(1));
    family.turn(10_000 * S, &rules);
    assert_eq!(ports(&family), [9]);
    say(&mut family, 10_000 * S, &rules, own, &leave());
    assert_eq!(ports(&family), Vec::<u16>::new());
}

#[test]
fn a_router_that_asks_gets_all_and_keeps_us_still() {
    let (mut family, rules) = (Family::default(), rules(true));
    family.turn(0, &rules);
    let question = message(igmp::message::QUESTION, 20, [0; 4]);
    say(&mut family, S, &rules, behind(8), &question);
    assert_eq!(family.turn(200 * S, &rules), []);
    assert_eq!(family.routers.keys().copied().collect::<Vec<_>>(), [8]);
    assert!(!family.asks() && family.is_asked_at(200 * S));
    let never = Behind { learns_routers: false, ..behind(9) };
    say(&mut family, S, &rules, never, &question);
    assert_eq!(family.routers.len(), 1);
    // Silent for 255 s, it is gone, and we ask.
    let asks = family.turn(256 * S, &rules);
    assert_eq!((asks.len(), family.routers.len()), (1, 0));
    // One that is no router, and whose address is higher than ours, does not.
    let known = Rules { own: Ipv4Addr::new(10, 0, 0, 0).into(), ..rules.clone() };
    say(&mut family, 257 * S, &known, behind(8), &question);
    assert!(family.querier.is_none() && family.routers.len() == 1);
    let nobody = igmp::parse(&question).unwrap();
    family.hear(258 * S, &rules, behind(7), NOBODY, nobody);
    assert!(family.querier.is_none() && family.routers.len() == 1);
}

#[test]
fn a_question_of_one_group_has_those_who_are_silent_forgotten() {
    let (mut family, rules) = (Family::default(), rules(false));
    say(&mut family, 0, &rules, behind(6), &join(1));
    say(&mut family, 0, &rules, behind(6), &join(2));
    let question = message(igmp::message::QUESTION, 10, [239, 1, 1, 1]);
    say(&mut family, S, &rules, behind(8), &question);
    family.turn(3 * S, &rules);
    assert_eq!(family.groups.len(), 2);
    family.turn(4 * S, &rules);
    assert_eq!((ports(&family), family.groups.len()), (vec![], 1));
}

#[test]
fn there_is_room_for_so_many_and_groups_of_all_take_none() {
    let (mut family, rules) = (Family::default(), rules(false));
    for last in 1..=5 {
        say(&mut family, 0, &rules, behind(6), &join(last));
    }
    assert_eq!((family.groups.len(), family.refused), (2, 3));
    for last in 3..=5 {
        say(&mut family, 0, &rules, behind(7), &join(last));
    }
    assert_eq!((family.groups.len(), family.refused), (3, 5));
    // What is known has room behind another port.
    say(&mut family, 0, &rules, behind(7), &join(1));
    assert_eq!(ports(&family), [6, 7]);
    let all = message(igmp::message::REPORT2, 0, [224, 0, 0, 251]);
    say(&mut family, 0, &rules, behind(8), &all);
    assert_eq!((family.groups.len(), family.refused), (3, 5));
    family.keep_ports(|port| port != 6);
    assert_eq!((ports(&family), family.of_port.len()), (vec![7], 1));
}
