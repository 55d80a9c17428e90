use super::*;
use wire::lisp::{Algorithm, Locator, Message};

fn eid(second: u8, length: u8) -> Eid {
    Eid::new(0, [10, second, 0, 0].into(), length).unwrap()
}

fn key(secret: &str) -> Key {
    Key::new(Algorithm::Sha256, secret.as_bytes())
}

fn ip(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

fn server() -> MapServer {
    let site = |name: &str, second: u8, more_specifics| Site {
        name: name.to_owned(),
        key: key(name),
        eids: vec![eid(second, 16)],
        more_specifics,
        answers: false,
    };
    let mut server = MapServer::default();
    server.set_sites(vec![site("east", 1, false), site("west", 2, true)]);
    server
}

fn record(network: Eid, last: u8) -> MapRecord {
    MapRecord {
        ttl_minutes: 60,
        eid: network,
        action: Action::None,
        is_authoritative: true,
        locators: vec![Locator::new(ip(last), 1, 1)],
    }
}

fn message(secret: &str, nonce: u64, answers: bool, records: &[MapRecord]) -> Vec<u8> {
    let head = RegistrationHead {
        kind: kind::REGISTER,
        nonce,
        answers,
        wants_notice: true,
        key: 0,
        algorithm: Algorithm::Sha256,
    };
    key(secret).prove(head, records)
}

fn read(message: &[u8]) -> Registration<'_> {
    let Ok(Message::Registration(read)) = Message::parse(message) else { panic!() };
    read
}

fn register(
    server: &mut MapServer,
    from: u8,
    secret: &str,
    nonce: u64,
    records: &[MapRecord],
) -> Result<Outcome, Refusal> {
    let message = message(secret, nonce, false, records);
    server.register(0, (ip(from), ip(53)), &read(&message), 99)
}

#[test]
fn a_site_is_heard_and_questions_are_handed_on_to_it() {
    let mut server = server();
    let outcome = register(&mut server, 1, "east", 5, &[record(eid(1, 16), 1)]).unwrap();
    let notice = outcome.notice.unwrap();
    let heard = read(&notice);
    assert!(key("east").proves(&heard));
    assert_eq!((heard.head.kind, heard.head.nonce), (kind::NOTIFY, 5));
    let host = Eid::host(0, [10, 1, 0, 9].into());
    assert_eq!(server.asked(&host), Verdict::HandOn(ip(1)));
    assert_eq!(server.due(KEPT - 1), (vec![], false));
    assert_eq!(server.due(KEPT), (vec![], true));
    assert!(matches!(server.asked(&host), Verdict::Answer(hole) if hole.locators.is_empty()));
}

#[test]
fn a_site_that_asks_for_it_is_answered_for() {
    let mut server = server();
    let message = message("east", 5, true, &[record(eid(1, 16), 1)]);
    server.register(0, (ip(1), ip(53)), &read(&message), 99).unwrap();
    let Verdict::Answer(answer) = server.asked(&Eid::host(0, [10, 1, 0, 9].into())) else {
        panic!()
    };
    let told = MapRecord { is_authoritative: false, ..record(eid(1, 16), 1) };
    assert_eq!(answer, told);
}

#[test]
fn what_is_not_proved_or_not_the_sites_own_is_refused() {
    let mut server = server();
    for (secret, network, refusal) in [
        ("guess", eid(1, 16), Refusal::Unproved),
        ("west", eid(1, 16), Refusal::Unproved),
        ("east", eid(3, 16), Refusal::NoSite),
        ("east", eid(1, 24), Refusal::NoSite),
        ("west", eid(2, 8), Refusal::NoSite),
    ] {
        let refused = register(&mut server, 1, secret, 5, &[record(network, 1)]);
        assert_eq!(refused, Err(refusal), "{secret} {network}");
    }
    let mixed = [record(eid(1, 16), 1), record(eid(2, 16), 1)];
    assert_eq!(register(&mut server, 1, "east", 5, &mixed), Err(Refusal::NoSite));
    assert!(register(&mut server, 1, "west", 5, &[record(eid(2, 24), 1)]).is_ok());
    assert_eq!(register(&mut server, 1, "west", 6, &[]), Err(Refusal::NoSite));
}

#[test]
fn what_was_said_before_is_not_taken_again() {
    let mut server = server();
    let told = [record(eid(1, 16), 1)];
    assert!(register(&mut server, 1, "east", 5, &told).is_ok());
    assert_eq!(register(&mut server, 1, "east", 5, &told), Err(Refusal::Replayed));
    assert_eq!(register(&mut server, 1, "east", 4, &told), Err(Refusal::Replayed));
    assert!(register(&mut server, 1, "east", 6, &told).is_ok());
    // Another router of the site counts for itself.
    assert!(register(&mut server, 2, "east", 3, &[record(eid(1, 16), 2)]).is_ok());
    assert_eq!(
        register(&mut server, 2, "east", 3, &[record(eid(1, 16), 2)]),
        Err(Refusal::Replayed)
    );
}

#[test]
fn who_told_before_is_told_of_a_move_until_it_confirms() {
    let mut server = server();
    register(&mut server, 1, "east", 5, &[record(eid(1, 16), 1)]).unwrap();
    let moved = register(&mut server, 2, "east", 5, &[record(eid(1, 16), 2)]).unwrap();
    assert_eq!(moved.moved, [eid(1, 16)]);
    let (due, _) = server.due(0);
    assert_eq!((due.len(), due[0].0, due[0].1), (1, ip(1), ip(53)));
    let notice = read(&due[0].2);
    assert!(key("east").proves(&notice) && notice.head.nonce == 99);
    assert_eq!(notice.records.clone().next().unwrap().to_owned(), Some(record(eid(1, 16), 2)));
    assert_eq!(server.due(SECOND - 1).0, []);
    assert_eq!(server.due(SECOND).0.len(), 1);
    let head = RegistrationHead { kind: kind::NOTIFY_ACK, ..notice.head };
    let wrong = key("west").prove(head, &[]);
    server.confirmed(ip(1), &read(&wrong));
    assert_eq!(server.due(3 * SECOND).0.len(), 1);
    let right = key("east").prove(head, &[]);
    server.confirmed(ip(2), &read(&right));
    assert_eq!(server.due(7 * SECOND).0.len(), 1);
    server.confirmed(ip(1), &read(&right));
    assert_eq!(server.due(30 * SECOND).0, []);
}

#[test]
fn a_network_is_taken_back_by_who_told_of_it() {
    let mut server = server();
    register(&mut server, 1, "east", 5, &[record(eid(1, 16), 1)]).unwrap();
    let gone = MapRecord { ttl_minutes: 0, ..record(eid(1, 16), 1) };
    register(&mut server, 2, "east", 5, &[MapRecord { locators: vec![], ..gone.clone() }]).unwrap();
    assert_eq!(server.asked(&eid(1, 16)), Verdict::HandOn(ip(1)));
    register(&mut server, 1, "east", 6, &[gone]).unwrap();
    assert!(matches!(server.asked(&eid(1, 16)), Verdict::Answer(_)));
    assert!(server.each().iter().all(|shown| shown.told.is_none()));
}

#[test]
fn a_hole_is_as_wide_as_it_can_be_without_what_is_known() {
    let mut server = server();
    let hole = |server: &MapServer, address: [u8; 4]| {
        let Verdict::Answer(hole) = server.asked(&Eid::host(0, address.into())) else { panic!() };
        assert_eq!((hole.action, hole.locators.len()), (Action::Native, 0));
        (hole.eid.to_string(), hole.ttl_minutes)
    };
    // 10.1/16 and 10.2/16 are sites'.
    assert_eq!(hole(&server, [192, 0, 2, 9]), ("128.0.0.0/1".to_owned(), HOLE_MINUTES));
    assert_eq!(hole(&server, [10, 3, 0, 9]), ("10.3.0.0/16".to_owned(), HOLE_MINUTES));
    assert_eq!(hole(&server, [10, 4, 0, 9]), ("10.4.0.0/14".to_owned(), HOLE_MINUTES));
    assert_eq!(hole(&server, [10, 1, 0, 9]), ("10.1.0.0/16".to_owned(), SILENT_MINUTES));
    let part = Eid::new(0, [10, 2, 128, 0].into(), 17).unwrap();
    register(&mut server, 1, "west", 5, &[record(part, 1)]).unwrap();
    assert_eq!(hole(&server, [10, 2, 0, 9]), ("10.2.0.0/17".to_owned(), SILENT_MINUTES));
    let Verdict::Answer(other) = server.asked(&Eid::host(7, [10, 1, 0, 9].into())) else {
        panic!()
    };
    assert_eq!(other.eid, Eid::new(7, [0, 0, 0, 0].into(), 0).unwrap());
}

#[test]
fn other_sites_leave_those_that_stay_as_they_are() {
    let mut server = server();
    register(&mut server, 1, "east", 5, &[record(eid(1, 16), 1)]).unwrap();
    register(&mut server, 1, "west", 5, &[record(eid(2, 16), 1)]).unwrap();
    let stays = server.sites[0].clone();
    server.set_sites(vec![stays]);
    let shown: Vec<(String, bool)> =
        server.each().into_iter().map(|it| (it.eid.to_string(), it.told.is_some())).collect();
    assert_eq!(shown, [("10.1.0.0/16".to_owned(), true)]);
}
