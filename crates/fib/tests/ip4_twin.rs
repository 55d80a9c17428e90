//! The IPv4 table held to its naive twin through random adds, replaces, deletes and lookups.

#![allow(clippy::unwrap_used, clippy::panic)] // A test fails by panicking.

use std::sync::Arc;

use fib::ip4::{Ip4Kernel, Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::{Address, FibError, Forward, Ip4Prefix, Naive, Prefix};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Insert(Ip4Prefix, Forward),
    Remove(Ip4Prefix),
}

/// Prefixes of few distinct bits, so that they nest, repeat and cover one another.
fn any_prefix() -> impl Strategy<Value = Ip4Prefix> {
    let octet = || prop_oneof![Just(0u8), Just(1), Just(10), Just(128), Just(255), any::<u8>()];
    ([octet(), octet(), octet(), octet()], 0u8..=32)
        .prop_map(|(octets, length)| Prefix::new(u32::from_be_bytes(octets), length).unwrap())
}

fn any_step() -> impl Strategy<Value = Step> {
    let to = (0u8..=127, 1u32..9).prop_map(|(kind, id)| Forward::new(kind, id));
    prop_oneof![
        3 => (any_prefix(), to).prop_map(|(prefix, to)| Step::Insert(prefix, to)),
        2 => any_prefix().prop_map(Step::Remove),
    ]
}

fn pool(nodes: usize) -> Arc<Ip4Nodes> {
    Ip4Nodes::new(nodes, PageSize::Small, &Quiescence::new()).unwrap()
}

fn table(nodes: &Arc<Ip4Nodes>, layout: Ip4Layout, max_routes: usize) -> Ip4Table {
    let options = Ip4Options { layout, page_size: PageSize::Small, max_routes };
    Ip4Table::new(nodes, options).unwrap()
}

/// The addresses where an answer may change: both ends of every prefix, and one to either side.
fn edges(prefixes: impl IntoIterator<Item = Ip4Prefix>) -> Vec<u32> {
    let ends = prefixes.into_iter().flat_map(|prefix| {
        let last = prefix.address() | !<u32 as Address>::mask(prefix.length());
        [prefix.address().wrapping_sub(1), prefix.address(), last, last.wrapping_add(1)]
    });
    ends.collect()
}

fn assert_same(table: &Ip4Table, naive: &Naive<u32>, addresses: &[u32]) {
    let mut out = vec![u32::MAX; addresses.len()];
    table.lookup_bulk_with(Ip4Kernel::Scalar, addresses, &mut out);
    let mut gathered = vec![u32::MAX; addresses.len()];
    table.lookup_bulk_with(Ip4Kernel::Avx2, addresses, &mut gathered);
    assert_eq!(out, gathered);
    table.lookup_bulk_specific(addresses, &mut gathered);
    for ((address, bits), specific) in addresses.iter().zip(&out).zip(gathered) {
        let is_specific = table.explain(*address).prefix.is_some_and(|it| it.length() > 0);
        assert_eq!(specific, if is_specific { *bits } else { 0 });
    }
    for (address, bits) in addresses.iter().zip(out) {
        let to = Forward::from_bits(bits);
        assert_eq!(to, naive.lookup(*address), "{}", std::net::Ipv4Addr::from_bits(*address));
        assert_eq!(table.lookup(*address), to);
    }
    assert_eq!(table.len(), naive.len());
}

fn layouts() -> impl Strategy<Value = Ip4Layout> {
    prop_oneof![Just(Ip4Layout::Wide), Just(Ip4Layout::Compact)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_interleaving_equals_the_naive_twin(
        layout in layouts(),
        steps in prop::collection::vec(any_step(), 1..80),
    ) {
        let nodes = pool(10_000);
        let (table, mut naive) = (table(&nodes, layout, 10_000), Naive::new());
        let mut touched = Vec::new();
        for step in steps {
            let prefix = match step {
                Step::Insert(prefix, to) => {
                    prop_assert_eq!(table.insert(prefix, to).unwrap(), naive.insert(prefix, to));
                    prefix
                }
                Step::Remove(prefix) => {
                    prop_assert_eq!(table.remove(prefix), naive.remove(prefix));
                    prefix
                }
            };
            touched.push(prefix);
            assert_same(&table, &naive, &edges([prefix]));
            prop_assert_eq!(table.get(prefix), naive.routes().find(|r| r.0 == prefix).map(|r| r.1));
        }
        assert_same(&table, &naive, &edges(touched.iter().copied()));
        let mut listed = Vec::new();
        table.for_each(|prefix, to| listed.push((prefix, to)));
        let mut expected: Vec<_> = naive.routes().collect();
        listed.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(listed, expected);
        touched.iter().for_each(|prefix| { table.remove(*prefix); });
        prop_assert!(table.is_empty());
        nodes.reclaim();
        prop_assert_eq!(nodes.used(), 0);
    }

    #[test]
    fn a_refused_route_changes_nothing(
        layout in layouts(),
        nodes in 0usize..6,
        max_routes in 1usize..12,
        prefixes in prop::collection::vec(any_prefix(), 1..40),
    ) {
        let (table, mut naive) = (table(&pool(nodes), layout, max_routes), Naive::new());
        for (id, prefix) in prefixes.iter().enumerate() {
            let to = Forward::new(1, id as u32);
            match table.insert(*prefix, to) {
                Ok(before) => prop_assert_eq!(before, naive.insert(*prefix, to)),
                Err(error) => prop_assert!(matches!(error, FibError::Full { .. }), "{}", error),
            }
        }
        prop_assert!(table.len() <= max_routes);
        assert_same(&table, &naive, &edges(prefixes));
    }
}

#[test]
fn tables_share_a_pool_and_give_it_back() {
    let nodes = pool(4);
    let options = Ip4Options { page_size: PageSize::Small, ..Ip4Options::default() };
    let one = Ip4Table::new(&nodes, options).unwrap();
    let two = Ip4Table::new(&nodes, options).unwrap();
    one.insert(Prefix::host(1), Forward::new(1, 1)).unwrap();
    two.insert(Prefix::host(1), Forward::new(1, 2)).unwrap();
    assert_eq!((one.lookup(1), two.lookup(1)), (Forward::new(1, 1), Forward::new(1, 2)));
    assert!(two.insert(Prefix::host(1 << 20), Forward::new(1, 2)).is_err());
    drop(one);
    two.insert(Prefix::host(1 << 20), Forward::new(1, 2)).unwrap();
    assert_eq!(Arc::strong_count(&nodes), 2);
}

#[test]
fn a_route_to_nothing_is_refused() {
    let error =
        table(&pool(1), Ip4Layout::Wide, 1).insert(Prefix::all(), Forward::NONE).unwrap_err();
    assert!(error.to_string().contains("0.0.0.0/0"));
}
