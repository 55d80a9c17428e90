//! What Open vSwitch's tools really say is read, and flows that are read and written are the same
//! bytes.
//!
//! `captured/requests.txt` is what ovs-ofctl 3.1.0 of Debian 12 sent to ovs-vswitchd: the command's
//! name and a message a line, each once.

use super::*;
use crate::action::Action;
use crate::field::Field;
use crate::matching::{Match, tests::any_match};
use crate::version::Versions;
use proptest::prelude::*;

const CAPTURED: &str = include_str!("../../captured/requests.txt");

fn captured() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    CAPTURED.lines().map(|line| {
        let (name, hex) = line.split_once(' ').unwrap();
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (name, (0..hex.len()).step_by(2).map(byte).collect())
    })
}

fn decoded(name: &str) -> Vec<Request> {
    let named = captured().filter(|(it, _)| *it == name);
    named.map(|(_, message)| Request::decode(&message, true).unwrap()).collect()
}

fn flow_of(name: &str) -> FlowMod {
    let mut mods = decoded(name).into_iter().filter_map(|request| match request {
        Request::FlowMod(it) => Some(*it),
        _ => None,
    });
    mods.next_back().unwrap()
}

#[test]
fn all_that_the_tools_say_is_read() {
    let mut kinds = std::collections::BTreeSet::new();
    for (name, message) in captured() {
        let read = Request::decode(&message, true);
        assert!(read.is_ok(), "{name}: {read:?} {message:02x?}");
        kinds.insert(format!("{:?}", read.unwrap()).split('(').next().unwrap().to_owned());
    }
    assert!(kinds.len() >= 18, "{kinds:?}");
}

#[test]
fn flows_of_the_tools_are_what_was_typed() {
    let it = flow_of("add10");
    assert_eq!((it.table, it.priority, it.cookie), (Some(0), 10, 0x123));
    let mut wanted = Match::any().with(Field::InPort, 1).with(Field::EthType, 0x800);
    wanted.set(Field::IpSrc, 10 << 24, 0xff << 24);
    assert_eq!(it.matching, wanted);
    assert_eq!(it.program.len(), 3);
    let it = flow_of("add13");
    assert_eq!((it.idle, it.hard, it.flags), (5, 9, flag::SEND_REMOVED));
    assert!(matches!(
        it.program[..],
        [Action::Meter(_), Action::Group(_), Action::WriteMetadata(_), Action::GotoTable(_)]
    ));
    let Some(Action::Learn(learn)) = flow_of("add13learn").program.first().cloned() else {
        panic!()
    };
    assert_eq!((learn.table, learn.hard, learn.specs.len()), (3, 10, 3));
    let Some(Action::Ct(ct)) = flow_of("add10ct").program.first().cloned() else { panic!() };
    assert_eq!((ct.table, ct.actions.len()), (Some(6), 2));
}

#[test]
fn flows_of_the_tools_are_written_as_they_were_read() {
    let mut count = 0;
    for (name, message) in captured() {
        let Ok(Request::FlowMod(it)) = Request::decode(&message, true) else { continue };
        let head = message.first_chunk().map(Header::read).unwrap();
        let version = Version::of(head.version).unwrap();
        // Flows of 1.0 proper are written as NXM.
        if version == Version::V10 && head.kind == 14 {
            continue;
        }
        let is_deletion = matches!(it.command, Command::Delete | Command::DeleteStrict);
        if is_deletion || it.command == Command::Add {
            let written = it.encode(version, head.xid);
            assert_eq!(written.len(), message.len(), "{name} {it:?}");
            // Fields may stand in another order: what they say is the same.
            let read = Request::decode(&written, true);
            assert_eq!(read, Ok(Request::FlowMod(it)), "{name}");
            count += u32::from(written == message);
        }
    }
    assert!(count >= 8, "{count}");
}

proptest! {
    #[test]
    fn flows_come_back_as_they_were(
        matching in any_match(), numbers in any::<[u16; 4]>(), table in any::<Option<u8>>(),
        cookie in any::<u64>(), port in 1..=crate::MAX_PORT,
    ) {
        let [priority, idle, hard, importance] = numbers;
        let program = vec![crate::action::Output::to(port).into()];
        let mut it = FlowMod::add(0, priority, matching, program);
        it.table = table.filter(|it| *it != 255);
        (it.idle, it.hard, it.cookie) = (idle, hard, cookie);
        for version in Version::ALL {
            it.importance = if version >= Version::V14 { importance } else { 0 };
            let message = it.encode(version, 7);
            let read = Request::decode(&message, true);
            prop_assert_eq!(read, Ok(Request::FlowMod(Box::new(it.clone()))), "{:?}", version);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), version in 0..4usize, kind in 0..40u8) {
        let version = Version::ALL[version];
        let mut message = message(version, Kind::Hello, 1, &bytes);
        message[1] = kind;
        if let Err(fault) = Request::decode(&message, true) {
            let told = error(version, 1, fault, &message);
            prop_assert!(told.len() >= 12 && told.len() <= 12 + 12 + 64);
        }
    }

    #[test]
    fn many_entries_come_in_whole_parts(count in 0..300usize) {
        let mut answer = Multipart::new(Version::V13, 9, 1);
        for number in 0..count {
            answer.entry(|_, out| out.resize(out.len() + 1000, number as u8));
        }
        let parts = answer.finish();
        let mut seen = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let head = part.first_chunk().map(Header::read).unwrap();
            prop_assert_eq!(usize::from(head.length), part.len());
            prop_assert_eq!(part[11] & 1 != 0, at + 1 < parts.len());
            seen.extend(part[16..].chunks(1000).map(|entry| entry[0]));
        }
        prop_assert_eq!(seen, (0..count).map(|it| it as u8).collect::<Vec<_>>());
    }
}

#[test]
fn errors_have_the_numbers_that_open_vswitch_has() {
    let told = error(Version::V13, 5, Fault::BadPrerequisite, &[0; 100]);
    assert_eq!(told[..12], [4, 1, 0, 76, 0, 0, 0, 5, 0, 4, 0, 9]);
    let told = error(Version::V10, 5, Fault::BadPrerequisite, &[1; 8]);
    assert_eq!(told[8..20], [0xb0, 0xc2, 0, 0, 0, 0, 0x23, 0x20, 0, 1, 1, 4]);
    let told = error(Version::V14, 5, Fault::BadConjunction, &[]);
    assert_eq!(told[8..16], [0xff, 0xff, 0, 15, 0, 0, 0x23, 0x20]);
}

#[test]
fn greetings_are_read_with_and_without_a_bitmap() {
    let all = Versions::all();
    assert_eq!(all.bitmap(), 0b1110010);
    assert_eq!(Request::decode(&hello(3, all), false), Ok(Request::Hello(all.bitmap())));
    let two = hello(3, Versions::of([Version::V10, Version::V13]));
    assert_eq!(two, [4, 0, 0, 16, 0, 0, 0, 3, 0, 1, 0, 8, 0, 0, 0, 0b10010]);
    let old = Request::decode(&[1, 0, 0, 8, 0, 0, 0, 1], false);
    assert_eq!(old, Ok(Request::Hello(0b10)));
    assert_eq!(all.common(0b10), Some(Version::V10));
    assert_eq!(all.common(0b1111110 & !0b1000000), Some(Version::V14));
    assert_eq!(all.common(0b100), None);
    let some = Versions::of([Version::V10, Version::V14]);
    assert_eq!((some.common(0b1111110), some.highest()), (Some(Version::V14), Version::V14));
    assert_eq!((some.common(0b10000), some.has(Version::V13)), (None, false));
}
