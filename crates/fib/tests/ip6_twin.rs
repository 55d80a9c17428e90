//! The IPv6 table held to its naive twin through random adds, replaces, deletes and lookups.

#![allow(clippy::unwrap_used, clippy::panic)] // A test fails by panicking.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fib::ip6::{Ip6Kernel, Ip6Pool, Ip6Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::{Address, FibError, Forward, Ip6Prefix, Naive, Prefix};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Insert(Ip6Prefix, Forward),
    Remove(Ip6Prefix),
}

/// Prefixes of few distinct bits, so that they nest, repeat, crowd and cover one another.
fn any_prefix() -> impl Strategy<Value = Ip6Prefix> {
    let group = || prop_oneof![4 => Just(0u16), 2 => 0u16..8, 1 => Just(0x8000), 1 => any::<u16>()];
    let high = prop_oneof![Just(0x2001u16), Just(0x2a00), any::<u16>()];
    let length =
        prop_oneof![0u8..=128, Just(48), Just(64), Just(128), (0u8..=32).prop_map(|n| n * 4)];
    (high, [group(), group(), group()], [group(), group(), group(), group()], length).prop_map(
        |(high, [a, b, c], [d, e, f, g], length)| {
            let groups = [high, a, b, c, d, e, f, g];
            let address = groups.iter().fold(0, |all, group| all << 16 | u128::from(*group));
            Prefix::new(address, length).unwrap()
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    let to = (0u8..=127, 1u32..9).prop_map(|(kind, id)| Forward::new(kind, id));
    prop_oneof![
        3 => (any_prefix(), to).prop_map(|(prefix, to)| Step::Insert(prefix, to)),
        1 => any_prefix().prop_map(Step::Remove),
    ]
}

fn pool(bytes: usize) -> Arc<Ip6Pool> {
    Ip6Pool::new(bytes, PageSize::Small, &Quiescence::new()).unwrap()
}

/// The addresses where an answer may change: both ends of every prefix, and one to either side.
fn edges(prefixes: impl IntoIterator<Item = Ip6Prefix>) -> Vec<u128> {
    let ends = prefixes.into_iter().flat_map(|prefix| {
        let last = prefix.address() | !<u128 as Address>::mask(prefix.length());
        [prefix.address().wrapping_sub(1), prefix.address(), last, last.wrapping_add(1)]
    });
    ends.collect()
}

fn assert_same(table: &Ip6Table, naive: &Naive<u128>, addresses: &[u128]) {
    let mut out = vec![u32::MAX; addresses.len()];
    table.lookup_bulk(addresses, &mut out);
    let mut scalar = vec![u32::MAX; addresses.len()];
    table.lookup_bulk_with(Ip6Kernel::Scalar, addresses, &mut scalar);
    for ((address, bits), scalar) in addresses.iter().zip(out).zip(scalar) {
        let text = std::net::Ipv6Addr::from_bits(*address);
        let wanted = naive.lookup(*address);
        assert_eq!(table.lookup(*address), wanted, "{text}");
        assert_eq!(Forward::from_bits(bits), wanted, "{text} in bulk");
        assert_eq!(scalar, bits, "{text} by the scalar kernel");
    }
    assert_eq!(table.len(), naive.len());
}

fn apply(table: &Ip6Table, naive: &mut Naive<u128>, step: &Step) -> Ip6Prefix {
    match *step {
        Step::Insert(prefix, to) => {
            assert_eq!(table.insert(prefix, to).unwrap(), naive.insert(prefix, to), "{prefix}");
            prefix
        }
        Step::Remove(prefix) => {
            assert_eq!(table.remove(prefix), naive.remove(prefix), "{prefix}");
            prefix
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_interleaving_equals_the_naive_twin(
        steps in prop::collection::vec(any_step(), 1..120),
    ) {
        let pool = pool(64 << 20);
        let (table, mut naive) = (Ip6Table::new(&pool, 10_000), Naive::new());
        let mut touched = Vec::new();
        for step in &steps {
            let prefix = apply(&table, &mut naive, step);
            touched.push(prefix);
            assert_same(&table, &naive, &edges([prefix]));
            let held = naive.routes().find(|route| route.0 == prefix).map(|route| route.1);
            prop_assert_eq!(table.get(prefix), held);
        }
        let addresses = edges(touched.iter().copied());
        assert_same(&table, &naive, &addresses);
        for address in addresses {
            let found = table.explain(address);
            prop_assert_eq!(found.prefix.map(|prefix| (prefix, found.forward)), naive.find(address));
        }
        let mut listed = Vec::new();
        table.for_each(|prefix, to| listed.push((prefix, to)));
        let mut expected: Vec<_> = naive.routes().collect();
        expected.sort_unstable();
        prop_assert_eq!(listed, expected);
        touched.iter().for_each(|prefix| { table.remove(*prefix); });
        prop_assert!(table.is_empty());
        pool.reclaim();
        prop_assert_eq!(pool.memory().used_bytes, 0);
    }

    #[test]
    fn a_refused_route_changes_nothing(
        lines in 1usize..80,
        max_routes in 1usize..60,
        prefixes in prop::collection::vec(any_prefix(), 1..80),
    ) {
        let pool = pool(lines * 64);
        let (table, mut naive) = (Ip6Table::new(&pool, max_routes), Naive::new());
        let mut accepted = Vec::new();
        for (id, prefix) in prefixes.iter().enumerate() {
            let to = Forward::new(1, id as u32);
            match table.insert(*prefix, to) {
                Ok(before) => {
                    prop_assert_eq!(before, naive.insert(*prefix, to));
                    accepted.push(*prefix);
                }
                Err(error) => {
                    prop_assert!(matches!(error, FibError::Full { .. }), "{}", error);
                    assert_same(&table, &naive, &edges(accepted.iter().copied()));
                }
            }
            prop_assert!(pool.memory().used_bytes <= lines * 64);
        }
        prop_assert!(table.len() <= max_routes);
        assert_same(&table, &naive, &edges(prefixes));
        accepted.iter().for_each(|prefix| { table.remove(*prefix); });
        pool.reclaim();
        prop_assert_eq!(pool.memory().used_bytes, 0);
    }
}

/// A small generator, so that a million steps are the same steps every time.
struct Steps(u64);

impl Steps {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn prefix(&mut self) -> Ip6Prefix {
        // Short ones are rare: a change of one touches all that it covers.
        let length = match self.next() % 2000 {
            0 => 16,
            dice => [29, 32, 40, 44, 48, 56, 64, 80, 128][dice as usize % 9],
        };
        let low = u128::from(self.next() % 4) << 64 | u128::from(self.next() % 16);
        let high = u128::from(self.next() % 0x4000) << 80 | u128::from(self.next() % 600) << 102;
        Prefix::new(0x2000 << 112 | high | low, length).unwrap()
    }
}

#[test]
fn a_million_random_operations_equal_the_twin() {
    let table = Ip6Table::new(&pool(1 << 30), 1 << 20);
    let (mut naive, mut steps) = (Naive::new(), Steps(1));
    for round in 0..10u32 {
        for _ in 0..100_000 {
            let prefix = steps.prefix();
            // Rounds grow and shrink the table in turn.
            if steps.next() % 10 < if round % 2 == 0 { 8 } else { 2 } {
                let to = Forward::new(1, steps.next() as u32 % 1000 + 1);
                assert_eq!(table.insert(prefix, to).unwrap(), naive.insert(prefix, to));
            } else {
                assert_eq!(table.remove(prefix), naive.remove(prefix));
            }
        }
        let addresses: Vec<u128> = (0..20_000).map(|_| steps.prefix().address() | 1).collect();
        assert_same(&table, &naive, &addresses);
    }
}

#[test]
fn tables_share_a_pool_and_give_it_back() {
    let pool = pool(1 << 20);
    let (one, two) = (Ip6Table::new(&pool, 10), Ip6Table::new(&pool, 10));
    one.insert(Prefix::host(1), Forward::new(1, 1)).unwrap();
    two.insert(Prefix::host(1), Forward::new(1, 2)).unwrap();
    assert_eq!((one.lookup(1), two.lookup(1)), (Forward::new(1, 1), Forward::new(1, 2)));
    let both = pool.memory().used_bytes;
    drop(one);
    pool.reclaim();
    assert_eq!(pool.memory().used_bytes, both / 2);
    assert_eq!(two.lookup(1), Forward::new(1, 2));
}

#[test]
fn a_route_to_nothing_is_refused() {
    let error = Ip6Table::new(&pool(1 << 20), 1).insert(Prefix::all(), Forward::NONE).unwrap_err();
    assert!(error.to_string().contains("::/0"));
}

#[test]
fn readers_see_only_answers_that_were_true() {
    let readers = Quiescence::new();
    let pool = Ip6Pool::new(64 << 20, PageSize::Small, &readers).unwrap();
    let table = Ip6Table::new(&pool, 1 << 20);
    let under = Forward::new(1, 1);
    table.insert(Prefix::new(0x2001 << 112, 16).unwrap(), under).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (reader, table, stop) = (readers.reader(), &table, &stop);
            scope.spawn(move || {
                let mut steps = Steps(seed);
                let mut out = [0; 300];
                while !stop.load(Ordering::Relaxed) {
                    let addresses: [u128; 300] = std::array::from_fn(|_| churned(&mut steps).1);
                    table.lookup_bulk(&addresses, &mut out);
                    for (address, bits) in addresses.iter().zip(out) {
                        let to = Forward::from_bits(bits);
                        let own = Forward::new(2, (*address >> 64) as u32 & 0xff_ffff);
                        assert!(to == under || to == own, "{address:x} went to {to:?}");
                    }
                    reader.pass();
                }
            });
        }
        let mut steps = Steps(7);
        for _ in 0..100_000 {
            let (prefix, address) = churned(&mut steps);
            if steps.next().is_multiple_of(2) {
                let own = Forward::new(2, (address >> 64) as u32 & 0xff_ffff);
                table.insert(prefix, own).unwrap();
            } else {
                table.remove(prefix);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// A prefix that comes and goes, and an address in it that no other route's length reaches.
fn churned(steps: &mut Steps) -> (Ip6Prefix, u128) {
    let high = 0x2001 << 48 | (steps.next() % 8) << 36 | (steps.next() % 40) << 12 | 1;
    let address = u128::from(high) << 64 | 7;
    (Prefix::new(address, [64, 128][(high >> 12) as usize % 2]).unwrap(), address)
}
