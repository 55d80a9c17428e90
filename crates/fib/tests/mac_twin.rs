//! The table held to its naive twin, and to its promises under threads.

#![allow(clippy::unwrap_used)] // In tests a panic is the report.

use fib::mac::{Learned, MAX_PORT, MacFlush, MacKey, MacSweep, MacTable, NaiveMac, Sought};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Learn(MacKey, u32),
    Configure(MacKey, u32),
    Remove(MacKey),
    Flush(MacFlush),
    Wait(u32),
    Sweep,
}

fn station(domain: u16, number: u32) -> MacKey {
    let [a, b, c, d] = number.to_be_bytes();
    MacKey::new(domain, [2, 0, a, b, c, d])
}

fn any_key() -> impl Strategy<Value = MacKey> {
    prop_oneof![
        20 => (0u16..3, 0u32..40).prop_map(|(domain, number)| station(domain, number)),
        1 => any::<[u8; 6]>().prop_map(|address| MacKey::new(1, address)),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let port = || prop_oneof![1u32..5, Just(MAX_PORT)];
    let flush = prop_oneof![
        port().prop_map(MacFlush::Port),
        (0u16..3).prop_map(MacFlush::Domain),
        Just(MacFlush::All),
    ];
    prop_oneof![
        20 => (any_key(), port()).prop_map(|(key, port)| Step::Learn(key, port)),
        3 => (any_key(), port()).prop_map(|(key, port)| Step::Configure(key, port)),
        3 => any_key().prop_map(Step::Remove),
        1 => flush.prop_map(Step::Flush),
        4 => (1u32..40).prop_map(Step::Wait),
        1 => Just(Step::Sweep),
    ]
}

fn table(capacity: usize) -> MacTable {
    MacTable::new(capacity, PageSize::Small, &Quiescence::new()).unwrap()
}

fn assert_same(table: &MacTable, naive: &NaiveMac, keys: &[MacKey], now: u32) {
    let mut ports = vec![0; keys.len()];
    table.lookup_bulk(keys, now, &mut ports);
    for (key, port) in keys.iter().zip(ports) {
        let wanted = naive.lookup(*key, now);
        assert_eq!(table.lookup(*key, now), wanted, "{key}");
        assert_eq!(port, wanted.map_or(MacTable::UNKNOWN, |entry| entry.port), "{key} in bulk");
    }
    assert_eq!(table.len(), naive.len());
}

/// Sweeps the whole table in small steps.
fn sweep_all(table: &MacTable, now: u32) -> usize {
    let mut sweep = MacSweep::default();
    let mut count = 0;
    loop {
        count += table.sweep(&mut sweep, 3, now);
        if sweep == MacSweep::default() {
            return count;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_interleaving_equals_the_naive_twin(
        steps in prop::collection::vec(any_step(), 1..200),
        max_age in prop_oneof![Just(None), (1u32..60).prop_map(Some)],
        limit in 5u32..50,
        start in any::<u16>(),
    ) {
        let (table, mut naive) = (table(130), NaiveMac::new());
        table.set_max_age(max_age);
        naive.set_max_age(max_age);
        table.set_domain_limit(1, Some(limit));
        naive.set_domain_limit(1, limit);
        let mut now = u32::from(start);
        let mut keys: Vec<_> = (0..40).map(|number| station(1, number)).collect();
        for step in steps {
            match step {
                Step::Learn(key, port) => {
                    prop_assert_eq!(table.learn(key, port, now), naive.learn(key, port, now));
                    keys.push(key);
                }
                Step::Configure(key, port) => match table.insert_static(key, port) {
                    Ok(old) => prop_assert_eq!(old, naive.insert_static(key, port)),
                    Err(error) => {
                        prop_assert!(!key.is_station() && error.to_string().contains(&key.to_string()));
                    }
                },
                Step::Remove(key) => prop_assert_eq!(table.remove(key), naive.remove(key)),
                Step::Flush(flush) => prop_assert_eq!(table.flush(flush), naive.flush(flush)),
                Step::Wait(ticks) => {
                    now += ticks;
                    // A stamp's age must not wrap.
                    prop_assert_eq!(sweep_all(&table, now), naive.sweep(now));
                }
                Step::Sweep => prop_assert_eq!(sweep_all(&table, now), naive.sweep(now)),
            }
            assert_same(&table, &naive, &keys[keys.len() - 40..], now);
        }
        assert_same(&table, &naive, &keys, now);
        let (mut listed, mut wanted) = (Vec::new(), Vec::new());
        table.for_each(now, |key, entry, _| listed.push((key, entry.port)));
        wanted.extend(naive.entries().map(|(key, entry)| (key, entry.port)));
        listed.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(listed, wanted);
        for domain in 0..3 {
            prop_assert_eq!(table.domain_len(domain), naive.domain_len(domain));
        }
    }
}

#[test]
fn a_million_random_operations_equal_the_twin() {
    let (table, mut naive) = (table(40_000), NaiveMac::new());
    let mut random = 1u64;
    let mut next = move || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as u32
    };
    for now in 0..100 {
        for _ in 0..10_000 {
            let key = station(next() as u16 % 4, next() % 10_000);
            if next() % 3 == 0 {
                assert_eq!(table.remove(key), naive.remove(key));
            } else {
                let port = next() % 16;
                assert_eq!(table.learn(key, port, now), naive.learn(key, port, now));
            }
        }
        let keys: Vec<_> = (0..1000).map(|_| station(next() as u16 % 4, next() % 10_000)).collect();
        assert_same(&table, &naive, &keys, now);
    }
}

#[test]
fn it_takes_as_many_entries_as_it_says_and_refuses_more() {
    let table = table(50_000);
    for number in 0..50_000 {
        assert_eq!(table.learn(station(1, number), 7, 0), Learned::New, "{number}");
    }
    assert_eq!(table.learn(station(1, 50_000), 7, 0), Learned::TableFull);
    assert!(table.insert_static(station(1, 50_000), 7).unwrap_err().to_string().contains("50000"));
    assert!((0..50_000).all(|number| table.lookup(station(1, number), 0).is_some()));
    assert_eq!(table.flush(MacFlush::All), 50_000);
    assert!(table.is_empty());
    assert_eq!(table.learn(station(1, 50_000), 7, 0), Learned::New);
}

#[test]
fn a_freed_slot_waits_for_every_reader() {
    let readers = Quiescence::new();
    // Two lines of five slots: more are there than the one entry that is allowed.
    let table = MacTable::new(1, PageSize::Small, &readers).unwrap();
    let reader = readers.reader();
    for number in 0..10 {
        assert_eq!(table.learn(station(1, number), 7, 0), Learned::New);
        assert!(table.remove(station(1, number)).is_some());
    }
    assert_eq!(table.learn(station(1, 10), 7, 0), Learned::TableFull);
    reader.pass();
    sweep_all(&table, 0);
    assert_eq!(table.learn(station(1, 10), 7, 0), Learned::New);
}

#[test]
fn a_domain_with_an_age_of_its_own_keeps_to_it_when_it_is_swept() {
    let table = table(100);
    table.set_domain_max_age(1, Some(5));
    for domain in [1, 2] {
        assert_eq!(table.learn(station(domain, 1), 7, 0), Learned::New);
    }
    assert_eq!(sweep_all(&table, 5), 0);
    assert_eq!(sweep_all(&table, 6), 1);
    assert_eq!(table.lookup(station(1, 1), 6), None);
    assert!(table.lookup(station(2, 1), 6).is_some());
    table.set_domain_max_age(1, None);
    assert_eq!(table.learn(station(1, 1), 7, 6), Learned::New);
    assert_eq!(sweep_all(&table, 8000), 0);
}

#[test]
fn an_entry_takes_24_bytes() {
    let per_entry = |capacity| table(capacity).memory().bytes / capacity;
    assert_eq!(per_entry(1_000_000), 24);
}

#[test]
fn workers_that_learn_the_same_stations_make_one_entry_each() {
    let readers = Quiescence::new();
    let table = MacTable::new(4000, PageSize::Small, &readers).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..3u16 {
            let (reader, table) = (readers.reader(), &table);
            scope.spawn(move || {
                let (mut ports, mut sought) = ([0; 64], Sought::default());
                for round in 0..10_000u32 {
                    let keys: [MacKey; 64] =
                        std::array::from_fn(|n| station(1, (round * 64 + n as u32) % 3000));
                    sought.keys_mut()[..64].copy_from_slice(&keys);
                    table.seek(&mut sought, 64);
                    table.learn_sought(&mut sought, &[worker; 64], round / 500, |_, learned| {
                        // Full while flushed slots wait for a worker that does not get to run.
                        let fine = [Learned::New, Learned::TableFull].contains(&learned);
                        let moved = matches!(learned, Learned::Moved { from } if from < 3);
                        assert!(fine || moved, "{learned:?}");
                    });
                    table.lookup_bulk(&keys, round / 500, &mut ports);
                    assert!(ports.iter().all(|port| *port < 3 || *port == MacTable::UNKNOWN));
                    reader.pass();
                }
            });
        }
        for round in 0..1000 {
            table.flush(MacFlush::Port(round % 3));
            std::thread::yield_now();
        }
    });
    // What was given up goes with the sweep; then each station has one entry, and all are counted.
    sweep_all(&table, 40);
    let mut listed = Vec::new();
    table.for_each(40, |key, _, _| listed.push(key));
    let entries = listed.len();
    listed.sort_unstable();
    listed.dedup();
    assert_eq!((listed.len(), table.len()), (entries, entries));
    assert_eq!(table.domain_len(1) as usize, entries);
}
