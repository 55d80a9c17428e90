//! The state machine's walk through each of its arrows.

use super::*;

const S: u64 = 1_000_000_000;
const ONE: Mac = [2, 0, 0, 0, 0, 1];
const TWO: Mac = [2, 0, 0, 0, 0, 2];
const ADJ: AdjacencyId = AdjacencyId(7);

fn key(last: u8) -> NeighborKey {
    NeighborKey { interface: 1, address: [192, 0, 2, last].into() }
}

fn machine() -> Neighbors {
    Neighbors::new(NeighborConfig { capacity: 4, ..NeighborConfig::default() })
}

/// What an event made the machine say.
fn said(event: impl FnOnce(&mut Vec<Action>)) -> Vec<Action> {
    let mut out = Vec::new();
    event(&mut out);
    out
}

fn need(machine: &mut Neighbors, now_ns: u64, need: Need) -> Vec<Action> {
    said(|out| machine.need(now_ns, key(1), ADJ, need, out).unwrap())
}

fn learned(machine: &mut Neighbors, now_ns: u64, mac: Mac, heard: Heard) -> Vec<Action> {
    said(|out| machine.learned(now_ns, key(1), mac, heard, out))
}

/// Time passes, and no packet was sent.
fn tick(machine: &mut Neighbors, now_ns: u64) -> Vec<Action> {
    said(|out| machine.tick(now_ns, &|_| false, out))
}

/// Time passes, and packets were sent.
fn tick_used(machine: &mut Neighbors, now_ns: u64) -> Vec<Action> {
    said(|out| machine.tick(now_ns, &|adjacency| adjacency == ADJ, out))
}

const PROBE: Action = Action::SendRequest {
    key: NeighborKey {
        interface: 1,
        address: std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)),
    },
    to: Some(ONE),
};

const ASK: Action = Action::SendRequest {
    key: NeighborKey {
        interface: 1,
        address: std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)),
    },
    to: None,
};

fn reachable(heard_ns: u64, wanted: Need) -> Neighbors {
    let mut machine = machine();
    need(&mut machine, heard_ns, wanted);
    learned(&mut machine, heard_ns, ONE, Heard::Reply);
    machine
}

#[test]
fn a_reply_completes_the_adjacency_and_frees_the_held() {
    let mut machine = machine();
    assert_eq!(need(&mut machine, 0, Need::Packet), [ASK]);
    assert_eq!(need(&mut machine, 1, Need::Packet), []);
    assert_eq!(
        learned(&mut machine, 2, ONE, Heard::Reply),
        [Action::Complete { adjacency: ADJ, mac: ONE }, Action::ReleaseHeld { key: key(1) }]
    );
    assert_eq!(need(&mut machine, 3, Need::Packet), [Action::ReleaseHeld { key: key(1) }]);
}

#[test]
fn three_tries_without_an_answer_drop_what_waited() {
    let mut machine = machine();
    need(&mut machine, 0, Need::Packet);
    assert_eq!(tick(&mut machine, S - 1), []);
    assert_eq!(tick(&mut machine, S), [ASK]);
    assert_eq!(tick(&mut machine, 2 * S), [ASK]);
    let dropped = Action::DropHeld { key: key(1), reason: DropReason::Unanswered };
    assert_eq!(tick(&mut machine, 3 * S), [dropped]);
    assert_eq!(machine.get(key(1)).unwrap().state, NeighborState::Failed);
    let forgotten = Action::Forgotten { key: key(1), adjacency: Some(ADJ) };
    assert_eq!(tick(&mut machine, 8 * S), [forgotten]);
    assert!(machine.is_empty());
}

#[test]
fn a_failed_neighbour_of_a_route_is_asked_again_after_pauses_that_double() {
    let mut machine = machine();
    need(&mut machine, 0, Need::Route);
    let mut asked = Vec::new();
    for second in 1..=60 {
        let requests = tick(&mut machine, second * S).contains(&ASK);
        asked.extend(requests.then_some(second));
    }
    assert_eq!(asked, [1, 2, 8, 9, 10, 21, 22, 23, 44, 45, 46]);
}

/// Time passes without a buffer: each question comes back. How many there were.
fn starve(machine: &mut Neighbors, from_ns: u64, to_ns: u64) -> usize {
    let mut questions = 0;
    while let Some(due_ns) = machine.next_due_ns().filter(|due_ns| *due_ns < to_ns) {
        let now_ns = due_ns.max(from_ns);
        let out = tick(machine, now_ns);
        assert!(!out.is_empty() && out.iter().all(|it| [ASK, PROBE].contains(it)), "{out:?}");
        out.iter().for_each(|_| machine.no_buffer(now_ns, key(1)));
        questions += out.len();
    }
    questions
}

#[test]
fn who_could_not_be_asked_for_want_of_buffers_is_asked_as_soon_as_there_are_some() {
    let mut machine = machine();
    assert_eq!(need(&mut machine, 0, Need::Route), [ASK]);
    machine.no_buffer(0, key(1));
    let questions = starve(&mut machine, 0, 100 * S);
    assert!((1000..=5000).contains(&questions), "{questions}: often, and not for ever");
    assert_eq!(machine.shares()[0].no_buffer, 1 + questions as u64);
    assert_eq!(machine.get(key(1)).unwrap().state, NeighborState::Incomplete);
    // There are buffers: all tries are left.
    assert_eq!(tick(&mut machine, 100 * S), [ASK]);
    assert_eq!(tick(&mut machine, 101 * S), [ASK]);
    assert_eq!(tick(&mut machine, 102 * S), [ASK]);
    let dropped = Action::DropHeld { key: key(1), reason: DropReason::Unanswered };
    assert_eq!(tick(&mut machine, 103 * S), [dropped]);
    assert_eq!(machine.shares()[0].no_buffer, 1 + questions as u64);
    machine.clear_counts(1);
    assert_eq!(machine.shares()[0].no_buffer, 0);
}

#[test]
fn who_is_known_and_cannot_be_asked_is_sent_to_meanwhile() {
    let mut machine = reachable(0, Need::Route);
    assert_eq!(tick(&mut machine, 1196 * S), [PROBE]);
    machine.no_buffer(1196 * S, key(1));
    assert!(starve(&mut machine, 1196 * S, 1300 * S) > 1000);
    assert_eq!(machine.get(key(1)).unwrap().state, NeighborState::Probing);
    // What comes too late changes nothing: it answered.
    learned(&mut machine, 1300 * S, ONE, Heard::Reply);
    let due_ns = machine.next_due_ns();
    machine.unsent(1300 * S, key(1));
    assert_eq!(machine.next_due_ns(), due_ns);
    machine.unsent(1300 * S, key(2));
    assert_eq!((machine.len(), machine.get(key(2))), (1, None));
}

#[test]
fn packets_do_not_ask_while_the_pause_lasts() {
    let mut machine = machine();
    need(&mut machine, 0, Need::Packet);
    (1..=3).for_each(|second| drop(tick(&mut machine, second * S)));
    assert_eq!(need(&mut machine, 4 * S, Need::Packet), []);
    assert_eq!(tick(&mut machine, 8 * S), [ASK]);
}

#[test]
fn a_neighbour_in_use_is_confirmed_by_unicast_before_its_end() {
    let mut machine = reachable(0, Need::Packet);
    assert_eq!(tick_used(&mut machine, 1195 * S), []);
    assert_eq!(tick_used(&mut machine, 1196 * S), [PROBE]);
    assert_eq!(learned(&mut machine, 1197 * S, ONE, Heard::Reply), []);
    assert_eq!(machine.get(key(1)).unwrap().state, NeighborState::Reachable);
}

#[test]
fn an_idle_neighbour_is_forgotten_at_its_end() {
    let mut machine = reachable(0, Need::Packet);
    let incomplete = Action::Incomplete { adjacency: ADJ };
    let forgotten = Action::Forgotten { key: key(1), adjacency: Some(ADJ) };
    assert_eq!(tick(&mut machine, 1200 * S), [incomplete, forgotten]);
}

#[test]
fn an_idle_neighbour_is_kept_by_asking_where_that_is_wanted() {
    let mut machine = reachable(0, Need::Packet);
    machine.set_config(NeighborConfig { capacity: 4, keep: true, ..NeighborConfig::default() });
    assert_eq!(tick(&mut machine, 1196 * S), [PROBE]);
    learned(&mut machine, 1197 * S, ONE, Heard::Reply);
    assert_eq!(tick(&mut machine, (1197 + 1196) * S), [PROBE]);
}

/// RFC 4861 section 7.3.2: whoever asks for us has told where it is, not that it hears us.
#[test]
fn what_was_heard_unasked_is_confirmed_when_it_is_used_and_let_go_when_not() {
    let mut machine = machine();
    learned(&mut machine, 0, ONE, Heard::Request);
    need(&mut machine, 0, Need::Route);
    machine.release(key(1));
    assert_eq!(machine.get(key(1)).unwrap().state, NeighborState::Stale);
    // It was wanted once: it is asked after the delay, and answers.
    assert_eq!((tick(&mut machine, 5 * S - 1), tick(&mut machine, 5 * S)), (vec![], vec![PROBE]));
    learned(&mut machine, 5 * S, ONE, Heard::Request);
    assert_eq!(machine.get(key(1)).unwrap().state, NeighborState::Probing, "no answer yet");
    learned(&mut machine, 6 * S, ONE, Heard::Reply);
    // It moves: packets go to the new place, and it is asked there as soon as one was sent.
    learned(&mut machine, 100 * S, TWO, Heard::Gratuitous);
    assert_eq!((tick(&mut machine, 105 * S), tick(&mut machine, 110 * S)), (vec![], vec![]));
    let probe = Action::SendRequest { key: key(1), to: Some(TWO) };
    assert_eq!(tick_used(&mut machine, 115 * S), [probe]);
    // It says no more than where it is, and nobody sends to it.
    learned(&mut machine, 116 * S, TWO, Heard::Reply);
    learned(&mut machine, 200 * S, ONE, Heard::Gratuitous);
    for second in (205..1400).step_by(5) {
        assert_eq!(tick(&mut machine, second * S), []);
    }
    let forgotten = Action::Forgotten { key: key(1), adjacency: Some(ADJ) };
    assert_eq!(tick(&mut machine, 1400 * S), [Action::Incomplete { adjacency: ADJ }, forgotten]);
}

#[test]
fn unanswered_probes_end_in_failure() {
    let mut machine = reachable(0, Need::Route);
    let said: Vec<_> = (1196..1200).flat_map(|second| tick(&mut machine, second * S)).collect();
    let dropped = Action::DropHeld { key: key(1), reason: DropReason::Unanswered };
    assert_eq!(said[3..], [Action::Incomplete { adjacency: ADJ }, dropped]);
}

#[test]
fn a_mac_that_changes_soon_is_a_conflict_and_the_newer_holds() {
    let mut machine = reachable(0, Need::Packet);
    let conflict = Action::Conflict { key: key(1), held: ONE, claimed: TWO };
    let complete = Action::Complete { adjacency: ADJ, mac: TWO };
    assert_eq!(learned(&mut machine, S, TWO, Heard::Gratuitous), [conflict, complete]);
    let later = learned(&mut machine, 60 * S, ONE, Heard::Gratuitous);
    assert_eq!(later, [Action::Complete { adjacency: ADJ, mac: ONE }]);
}

#[test]
fn announcements_of_strangers_and_group_macs_are_not_believed() {
    let mut machine = machine();
    assert_eq!(learned(&mut machine, 0, ONE, Heard::Gratuitous), []);
    assert_eq!(learned(&mut machine, 0, ONE, Heard::Reply), []);
    assert_eq!(learned(&mut machine, 0, [0xff; 6], Heard::Request), []);
    assert!(machine.is_empty());
    learned(&mut machine, 0, ONE, Heard::Request);
    let complete = Action::Complete { adjacency: ADJ, mac: ONE };
    assert_eq!(need(&mut machine, 1, Need::Route), [complete]);
}

#[test]
fn a_static_mac_stays_whatever_is_heard() {
    let mut machine = machine();
    need(&mut machine, 0, Need::Route);
    let said = said(|out| machine.add_static(1, key(1), ONE, out).unwrap());
    let complete = Action::Complete { adjacency: ADJ, mac: ONE };
    assert_eq!(said, [complete, Action::ReleaseHeld { key: key(1) }]);
    let conflict = Action::Conflict { key: key(1), held: ONE, claimed: TWO };
    assert_eq!(learned(&mut machine, 9000 * S, TWO, Heard::Reply), [conflict]);
    assert_eq!(tick(&mut machine, 90_000 * S), []);
    let mut out = Vec::new();
    assert!(machine.remove_static(90_000 * S, key(1), &mut out));
    assert!(out.contains(&ASK) && out.contains(&Action::Incomplete { adjacency: ADJ }));
}

#[test]
fn a_link_that_goes_down_voids_what_was_learned_there() {
    let mut machine = reachable(0, Need::Packet);
    let down = said(|out| machine.interface_down(S, 2, out));
    assert_eq!(down, []);
    let down = said(|out| machine.interface_down(S, 1, out));
    assert!(down.contains(&Action::Incomplete { adjacency: ADJ }));
    assert!(down.contains(&Action::DropHeld { key: key(1), reason: DropReason::InterfaceDown }));
    assert!(machine.is_empty() && machine.next_due_ns().is_none());
}

#[test]
fn a_flush_asks_again_for_what_routes_need() {
    let mut machine = reachable(0, Need::Route);
    let flushed = said(|out| machine.flush(S, None, out));
    assert_eq!(flushed.last(), Some(&ASK));
    machine.release(key(1));
    let flushed = said(|out| machine.flush(2 * S, None, out));
    assert_eq!(flushed.last(), Some(&Action::Forgotten { key: key(1), adjacency: Some(ADJ) }));
}

#[test]
fn requests_beyond_the_rate_wait_their_turn() {
    let config = NeighborConfig { requests_per_s: 10, request_burst: 1, ..Default::default() };
    let mut machine = Neighbors::new(config);
    let mut out = Vec::new();
    for last in 1..=3 {
        machine.need(0, key(last), ADJ, Need::Packet, &mut out).unwrap();
    }
    assert_eq!(out, [ASK]);
    // The newest first: its packet is still there.
    for (at_ns, last) in [(S / 10, 3), (S / 5, 2)] {
        assert_eq!(tick(&mut machine, at_ns), [Action::SendRequest { key: key(last), to: None }]);
    }
}
