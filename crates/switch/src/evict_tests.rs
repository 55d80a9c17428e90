//! Full tables, and who goes.

use super::*;
use crate::testing::Nothing;
use crate::{Connection, Event, TableSettings};
use openflow::message::{Command, FlowMod, Kind, flag, message};
use openflow::{Fault, Field, Match, Version};

const SECOND: u64 = 1_000_000_000;

fn said(most: u32, groups: &[&str]) -> BTreeMap<u8, TableSettings> {
    let groups = groups.iter().map(|it| Sub::of_text(it).unwrap()).collect();
    let said = TableSettings { name: String::new(), most: Some(most), evicts: true, groups };
    [(0, said)].into()
}

fn bridge(most: u32, groups: &[&str]) -> Bridge {
    let mut it = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
    it.set_tables(said(most, groups), 0);
    it
}

/// A flow for packets of a port to a station.
fn flow(port: u128, station: u128, (idle, hard): (u16, u16)) -> FlowMod {
    let matching = Match::any().with(Field::InPort, port).with(Field::EthDst, station);
    let flags = flag::SEND_REMOVED;
    FlowMod { idle, hard, flags, ..FlowMod::add(0, 5, matching, vec![]) }
}

fn add(it: &mut Bridge, station: u128, ends: (u16, u16)) -> Result<(), Fault> {
    it.mod_flows(flow(1, station, ends), Version::V14, 0)
}

/// The stations that there are flows to.
fn there(it: &Bridge) -> Vec<u128> {
    let mut found = Vec::new();
    it.each_flow(|flow| found.push(flow.matching.exact(Field::EthDst).unwrap()));
    found.sort_unstable();
    found
}

/// The stations whose flows went since this was asked last, and why.
fn went(it: &mut Bridge) -> Vec<(u128, u8)> {
    let station = |event: Event| match event {
        Event::FlowRemoved(flow, _, reason) => {
            Some((flow.matching.exact(Field::EthDst).unwrap(), reason))
        }
        _ => None,
    };
    it.take_events().into_iter().filter_map(station).collect()
}

#[test]
fn the_one_that_ends_soonest_makes_room() {
    let mut it = bridge(3, &[]);
    for (station, ends) in [(1, (30, 0)), (2, (10, 0)), (3, (60, 20)), (4, (40, 0)), (5, (50, 0))] {
        add(&mut it, station, ends).unwrap();
    }
    assert_eq!((went(&mut it), there(&it)), (vec![(2, 5), (3, 5)], vec![1, 4, 5]));
    // One that is there already takes no room, and may end at another time then.
    add(&mut it, 1, (99, 0)).unwrap();
    assert!(went(&mut it).is_empty());
    add(&mut it, 6, (1, 0)).unwrap();
    add(&mut it, 7, (1, 0)).unwrap();
    assert_eq!(went(&mut it), [(4, 5), (6, 5)]);
    assert_eq!((it.len(), it.timed), (3, 3));
}

#[test]
fn packets_keep_a_flow_and_what_changes_its_end_does_too() {
    let mut it = bridge(3, &[]);
    for (station, idle) in [(1, 10), (2, 12), (3, 14)] {
        add(&mut it, station, (idle, 0)).unwrap();
    }
    it.each_flow(|flow| {
        if flow.matching.exact(Field::EthDst) == Some(1) {
            flow.counters.add(1, 60, 5 * SECOND);
        }
    });
    add(&mut it, 4, (60, 0)).unwrap();
    assert_eq!(went(&mut it), [(2, 5)]);
    // A connection that ends shortens the time of its flow.
    let of = Match::any().with(Field::InPort, 1).with(Field::EthDst, 4);
    it.end_flow((0, 5, &of), (2, 0), 0);
    add(&mut it, 5, (60, 0)).unwrap();
    assert_eq!((went(&mut it), there(&it)), (vec![(4, 5)], vec![1, 3, 5]));
}

#[test]
fn flows_without_an_end_never_go_and_count() {
    let mut it = bridge(2, &[]);
    add(&mut it, 1, (0, 0)).unwrap();
    add(&mut it, 2, (0, 9)).unwrap();
    add(&mut it, 3, (0, 0)).unwrap();
    assert_eq!(went(&mut it), [(2, 5)]);
    assert_eq!(add(&mut it, 4, (9, 0)), Err(Fault::TableFull));
    assert_eq!(there(&it), [1, 3]);
    // What has no room has none.
    it.set_tables(said(0, &[]), 0);
    assert_eq!(add(&mut it, 4, (9, 0)), Err(Fault::TableFull));
}

#[test]
fn the_least_important_goes_first() {
    let mut it = bridge(3, &[]);
    for (station, importance, idle) in [(1, 7, 10), (2, 3, 60), (3, 3, 50), (4, 9, 1)] {
        let wanted = FlowMod { importance, ..flow(1, station, (idle, 0)) };
        it.mod_flows(wanted, Version::V14, 0).unwrap();
    }
    add(&mut it, 5, (60, 0)).unwrap();
    assert_eq!(went(&mut it), [(3, 5), (2, 5)]);
}

#[test]
fn the_largest_group_makes_room() {
    let mut it = bridge(4, &["NXM_OF_IN_PORT[]"]);
    for (port, station, idle) in [(1, 1, 30), (1, 2, 20), (1, 3, 40), (2, 4, 5)] {
        it.mod_flows(flow(port, station, (idle, 0)), Version::V14, 0).unwrap();
    }
    it.mod_flows(flow(2, 5, (60, 0)), Version::V14, 0).unwrap();
    assert_eq!(went(&mut it), [(2, 5)]);
    // Two of two each: whoever ends soonest of all. One without the field is of value 0.
    let any =
        FlowMod { idle: 9, ..FlowMod::add(0, 5, Match::any().with(Field::EthDst, 6), vec![]) };
    it.mod_flows(any, Version::V14, 0).unwrap();
    assert_eq!((went(&mut it), there(&it)), (vec![(4, 5)], vec![1, 3, 5, 6]));
    it.mod_flows(flow(0, 7, (60, 0)), Version::V14, 0).unwrap();
    assert_eq!(went(&mut it), [(1, 5)]);
    it.mod_flows(flow(3, 8, (60, 0)), Version::V14, 0).unwrap();
    assert_eq!((it.len(), there(&it)), (4, vec![3, 5, 7, 8]));
    // Bits of a field; with others the same flows are of other groups.
    it.set_tables(said(4, &["NXM_OF_IN_PORT[1..15]"]), 0);
    it.mod_flows(flow(9, 9, (60, 0)), Version::V14, 0).unwrap();
    // Ports 1 and 0, 2 and 3: two of two, and the first of all is to station 3.
    assert_eq!(there(&it), [5, 7, 8, 9]);
}

#[test]
fn a_lower_limit_has_those_beyond_it_go_as_far_as_they_may() {
    let mut it = bridge(9, &[]);
    for (station, idle) in [(1, 10), (2, 0), (3, 30), (4, 20)] {
        add(&mut it, station, (idle, 0)).unwrap();
    }
    it.set_tables(said(2, &[]), SECOND);
    assert_eq!((went(&mut it), there(&it)), (vec![(1, 5), (4, 5)], vec![2, 3]));
    it.set_tables(said(0, &[]), SECOND);
    assert_eq!((went(&mut it), there(&it)), (vec![(3, 5)], vec![2]));
}

/// What a message is answered, in 1.4.
fn told(it: &mut Bridge, kind: Kind, body: &[u8]) -> Vec<Vec<u8>> {
    let mut connection = Connection::new(true);
    let hello = [5, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << 5];
    assert!(it.hear(&mut connection, &hello, &mut Nothing, 0).is_empty());
    it.hear(&mut connection, &message(Version::V14, kind, 7, body), &mut Nothing, 0)
}

#[test]
fn a_controller_has_tables_make_room() {
    let mut it = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
    let limit = |most| TableSettings { most: Some(most), ..TableSettings::default() };
    it.set_tables([(0, limit(1))].into(), 0);
    add(&mut it, 1, (9, 0)).unwrap();
    assert_eq!(add(&mut it, 2, (9, 0)), Err(Fault::TableFull));
    let evict = |table: u8, config: u8| [table, 0, 0, 0, 0, 0, 0, config];
    for (table, station) in [(0, 2), (255, 3)] {
        assert!(told(&mut it, Kind::TableMod, &evict(table, 4)).is_empty());
        add(&mut it, station, (9, 0)).unwrap();
        assert_eq!(went(&mut it), [(station - 1, 5)]);
        // The settings of tables tell of it: of the first one here.
        let desc = told(&mut it, Kind::MultipartRequest, &[0, 14, 0, 0, 0, 0, 0, 0]);
        assert_eq!(desc[0][16..32], [0, 16, 0, 0, 0, 0, 0, 4, 0, 2, 0, 8, 0, 0, 0, 7]);
        assert!(told(&mut it, Kind::TableMod, &evict(table, 0)).is_empty());
        assert_eq!(add(&mut it, 9, (9, 0)), Err(Fault::TableFull));
    }
    // A setting that there is not, a table that there is not.
    for refused in [evict(0, 16), evict(254, 4)] {
        assert_eq!(told(&mut it, Kind::TableMod, &refused)[0][1], 1);
    }
}

#[test]
fn room_in_a_table_is_told_of_once_it_is_little_and_once_it_is_enough_again() {
    let mut it = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
    let limit = |most| TableSettings { most: Some(most), ..TableSettings::default() };
    it.set_tables([(0, limit(10))].into(), 0);
    let room = |it: &mut Bridge| {
        let told = it.take_events().into_iter().filter_map(|event| match event {
            Event::Table(reason, desc) => desc.vacancy.map(|room| (desc.table, reason, room.now)),
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    let watch = [0, 0, 0, 0, 0, 0, 0, 8, 0, 3, 0, 8, 30, 60, 0, 0];
    assert!(told(&mut it, Kind::TableMod, &watch).is_empty());
    (0..7).for_each(|station| add(&mut it, station, (0, 0)).unwrap());
    assert_eq!(room(&mut it), [], "30 percent are not less than 30");
    (7..10).for_each(|station| add(&mut it, station, (0, 0)).unwrap());
    assert_eq!(room(&mut it), [(0, 3, 20)]);
    let desc = told(&mut it, Kind::MultipartRequest, &[0, 14, 0, 0, 0, 0, 0, 0]);
    assert_eq!(desc[0][16..24], [0, 24, 0, 0, 0, 0, 0, 8]);
    assert_eq!(desc[0][32..40], [0, 3, 0, 8, 30, 60, 0, 0]);
    // More of a table is more room, too.
    it.set_tables([(0, limit(20))].into(), 0);
    assert_eq!(room(&mut it), []);
    it.set_tables([(0, limit(100))].into(), 0);
    assert_eq!(room(&mut it), [(0, 4, 90)]);
    it.set_tables([(0, limit(11))].into(), 0);
    assert_eq!(room(&mut it), [(0, 3, 9)]);
    // Nobody wants to know any more.
    assert!(told(&mut it, Kind::TableMod, &[0, 0, 0, 0, 0, 0, 0, 0]).is_empty());
    it.set_tables([(0, limit(100))].into(), 0);
    assert_eq!(room(&mut it), []);
    let cannot_be = [0, 0, 0, 0, 0, 0, 0, 8, 0, 3, 0, 8, 60, 30, 0, 0];
    assert_eq!(told(&mut it, Kind::TableMod, &cannot_be)[0][8..12], [0, 14, 0, 2]);
}

#[test]
fn who_speaks_1_4_is_told_and_others_where_they_ask() {
    let connect = |it: &mut Bridge, version: Version| {
        let (mut connection, number) = (Connection::new(false), version as u8);
        let hello = [number, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << number];
        assert!(it.hear(&mut connection, &hello, &mut Nothing, 0).is_empty());
        connection
    };
    let mut it = bridge(1, &[]);
    let versions = [Version::V10, Version::V13, Version::V14, Version::V15];
    let mut all = versions.map(|version| connect(&mut it, version));
    let told = |it: &mut Bridge, all: &mut [Connection]| -> Vec<Vec<u8>> {
        let events = it.take_events();
        let told = all.iter_mut().map(|connection| {
            events.iter().for_each(|event| connection.tell(event));
            // Where each form has the reason.
            let at = match connection.version() {
                Some(Version::V10) => 58,
                Some(Version::V15) => 9,
                _ => 18,
            };
            connection.take_owed().iter().map(|it| it[at]).collect()
        });
        told.collect()
    };
    add(&mut it, 1, (9, 0)).unwrap();
    add(&mut it, 2, (9, 0)).unwrap();
    assert_eq!(told(&mut it, &mut all), [vec![], vec![], vec![5], vec![5]]);
    all.iter_mut().for_each(|connection| connection.masks.set(&[(2, 0, 1 << 5)]));
    add(&mut it, 3, (9, 0)).unwrap();
    assert_eq!(told(&mut it, &mut all), [vec![5], vec![5], vec![5], vec![5]]);
}

#[test]
fn what_a_bundle_did_before_it_failed_is_as_if_it_had_not_been() {
    let mut it = bridge(2, &[]);
    add(&mut it, 1, (10, 0)).unwrap();
    add(&mut it, 2, (20, 0)).unwrap();
    let mut connection = Connection::new(true);
    let hello = [5, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << 5];
    it.hear(&mut connection, &hello, &mut Nothing, 0);
    let wrong = FlowMod { command: Command::Add, table: Some(254), ..flow(1, 9, (1, 0)) };
    for wanted in [flow(1, 3, (30, 0)), flow(1, 4, (40, 0)), wrong] {
        // Of bundle 1, atomic.
        let mut body = vec![0, 0, 0, 1, 0, 0, 0, 1];
        body.extend(wanted.encode(Version::V14, 7));
        let add = message(Version::V14, Kind::BundleAdd, 7, &body);
        assert!(it.hear(&mut connection, &add, &mut Nothing, 0).is_empty());
    }
    let commit = message(Version::V14, Kind::BundleControl, 7, &[0, 0, 0, 1, 0, 4, 0, 1]);
    assert_eq!(it.hear(&mut connection, &commit, &mut Nothing, 0)[0][1], 1);
    assert_eq!((went(&mut it), there(&it)), (vec![], vec![1, 2]));
    add(&mut it, 5, (50, 0)).unwrap();
    assert_eq!((went(&mut it), there(&it)), (vec![(1, 5)], vec![2, 5]));
}

/// Who is to go by the words of Open vSwitch's documentation: the size of its group, its importance
/// and its end.
fn by_the_book(it: &Bridge, subs: &[Sub]) -> Option<(usize, u16, u64)> {
    let mut groups = HashMap::<Name, Vec<(u16, u64)>>::new();
    it.each_flow(|flow| {
        if let Some(end) = end_ns(flow) {
            groups.entry(flow.values(subs)).or_default().push((flow.importance, end));
        }
    });
    let largest = groups.values().map(Vec::len).max()?;
    let first = groups.values().filter(|it| it.len() == largest).flatten().min()?;
    Some((largest, first.0, first.1))
}

#[test]
fn whatever_was_done_before_the_right_one_goes() {
    let subs = [Sub::whole(Field::InPort)];
    let mut it = bridge(1000, &["in_port[]"]);
    let mut seed = 7u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    for round in 0..3000u64 {
        let now = round * SECOND / 100;
        let ends = (random(60) as u16, random(3) as u16 * 40);
        let (port, station) = (random(4).into(), random(400).into());
        let importance = random(2) as u16;
        let command = if random(5) == 0 { Command::DeleteStrict } else { Command::Add };
        let wanted = FlowMod { command, importance, ..flow(port, station, ends) };
        it.mod_flows(wanted, Version::V14, now).unwrap();
        // Some have packets.
        let mut left = 3;
        it.each_flow(|flow| {
            if left > 0 && flow.matching.exact(Field::EthDst) == Some(station) {
                flow.counters.add(1, 60, now);
                left -= 1;
            }
        });
        if round % 3 == 0 {
            let wanted = by_the_book(&it, &subs);
            let chosen = it.orders.get_mut(&0).unwrap().choose();
            let told = chosen.map(|flow| {
                let order = &it.orders[&0];
                (order.groups[&flow.values(&subs)].len(), flow.importance, end_ns(&flow).unwrap())
            });
            assert_eq!(told, wanted, "round {round}");
            assert_eq!(it.make_room(0, now), wanted.is_some());
        }
        assert_eq!(it.orders[&0].ends.len(), it.timed);
    }
    assert!(it.len() > 100);
}
