//! Stations that somebody else keeps in a MAC table: they are refreshed and taken out only where
//! they were put, since workers may have heard them elsewhere.

#![allow(clippy::unwrap_used)] // In tests a panic is the report.

use fib::mac::{Learned, MacEntry, MacKey, MacSweep, MacTable};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;

const STATION: MacKey = MacKey::NOBODY;

fn table() -> MacTable {
    let table = MacTable::new(1000, PageSize::Small, &Quiescence::new()).unwrap();
    table.set_domain_max_age(7, Some(10));
    table
}

fn station(last: u8) -> MacKey {
    MacKey::new(7, [2, 0, 0, 0, 0, last])
}

#[test]
fn a_kept_station_does_not_age_and_stays_where_a_worker_heard_it() {
    let table = table();
    assert_eq!(table.keep(station(1), 4, 0), Ok(Learned::New));
    assert_eq!(table.keep(station(1), 4, 8), Ok(Learned::Known));
    table.sweep(&mut MacSweep::default(), usize::MAX, 15);
    assert!(table.lookup(station(1), 15).is_some());
    table.learn(station(1), 5, 15);
    assert_eq!(table.keep(station(1), 4, 16), Err(MacEntry { port: 5, is_static: false }));
    assert_eq!(table.lookup(station(1), 16).unwrap().port, 5);
    assert_eq!(table.keep(STATION, 4, 0), Ok(Learned::NoStation));
}

#[test]
fn a_station_is_forgotten_on_its_own_port_alone_and_one_that_is_fixed_never() {
    let table = table();
    table.learn(station(1), 4, 0);
    table.forget(station(1), 5);
    assert!(table.lookup(station(1), 0).is_some());
    table.forget(station(1), 4);
    table.forget(station(9), 4);
    assert!(table.is_empty());
    table.insert_static(station(2), 4).unwrap();
    table.forget(station(2), 4);
    assert!(table.lookup(station(2), 0).is_some());
    assert_eq!(table.keep(station(2), 5, 0), Err(MacEntry { port: 4, is_static: true }));
}

#[test]
fn a_look_in_steps_sees_every_live_entry_once() {
    let table = table();
    (1..=100).for_each(|last| {
        _ = table.learn(station(last), last.into(), if last < 50 { 0 } else { 20 })
    });
    let (mut sweep, mut seen, mut steps) = (MacSweep::default(), Vec::new(), 1);
    while !table.look(&mut sweep, 3, 21, |key, entry| seen.push((key.address()[5], entry.port))) {
        steps += 1;
    }
    seen.sort_unstable();
    assert_eq!(seen, (50..=100).map(|last| (last, u32::from(last))).collect::<Vec<_>>());
    assert_eq!(steps, table.line_count().div_ceil(3));
}
