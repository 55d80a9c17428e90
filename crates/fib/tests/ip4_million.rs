//! The IPv4 table equals its naive twin over a million random adds, replaces, deletes and lookups.
//!
//! A step is one number, so that a million are quickly made and, should the two differ, quickly
//! shrunk to the few that matter.

#![allow(clippy::unwrap_used, clippy::panic)] // A test fails by panicking.

use std::net::Ipv4Addr;

use fib::ip4::{Ip4Kernel, Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::{Forward, Ip4Prefix, Naive, Prefix};
use proptest::prelude::*;

const RUNS: u32 = 50;
const STEPS: usize = 20_000;

/// The prefix that `bits` name. Its octets are few, so that prefixes repeat, nest and adjoin; all
/// lengths occur, the default and the host routes among them.
fn prefix_of(bits: u64) -> Ip4Prefix {
    const OCTETS: [u8; 8] = [0, 1, 2, 10, 127, 128, 254, 255];
    let octet = |place: u32| OCTETS[(bits >> (3 * place) & 7) as usize];
    let length = match (bits >> 16 & 0x3f) as u8 {
        // Short ones seldom: each is millions of stores.
        length @ 1..8 if bits >> 22 & 3 != 0 => length + 16,
        length @ 0..33 => length,
        length => 24 + length % 9,
    };
    Prefix::new(u32::from_be_bytes([0, 1, 2, 3].map(octet)), length).unwrap()
}

/// An address in or beside `prefix`: first, last, one to either side.
fn address_near(prefix: Ip4Prefix, bits: u64) -> u32 {
    let last = prefix.address() | u32::MAX.checked_shr(prefix.length().into()).unwrap_or(0);
    match bits >> 24 & 3 {
        0 => prefix.address(),
        1 => prefix.address().wrapping_sub(1),
        2 => last,
        _ => last.wrapping_add(1),
    }
}

/// A step in words.
fn tell(bits: u64) -> String {
    let (prefix, near) = (prefix_of(bits), address_near(prefix_of(bits), bits));
    let act = match bits >> 26 & 7 {
        0..=2 => "insert",
        3..=5 => "remove",
        _ => "ask beside",
    };
    format!("{bits:#x}: {act} {prefix}, look up {}", Ipv4Addr::from_bits(near))
}

/// Said by their number: `shrink` tells those that matter.
struct Steps(Vec<u64>);

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} steps", self.0.len())
    }
}

struct Pair {
    table: Ip4Table,
    naive: Naive<u32>,
    asked: Vec<u32>,
}

impl Pair {
    fn new(layout: Ip4Layout) -> Pair {
        let nodes = Ip4Nodes::new(1 << 16, PageSize::Small, &Quiescence::new()).unwrap();
        let options = Ip4Options { layout, page_size: PageSize::Small, max_routes: 1 << 20 };
        let table = Ip4Table::new(&nodes, options).unwrap();
        Pair { table, naive: Naive::new(), asked: Vec::new() }
    }

    fn step(&mut self, bits: u64) -> Result<(), TestCaseError> {
        let prefix = prefix_of(bits);
        match bits >> 26 & 7 {
            0..=2 => {
                let to = Forward::new((bits >> 32) as u8 | 1, (bits >> 40) as u32);
                prop_assert_eq!(
                    self.table.insert(prefix, to).unwrap(),
                    self.naive.insert(prefix, to)
                );
            }
            3..=5 => prop_assert_eq!(self.table.remove(prefix), self.naive.remove(prefix)),
            _ => self.asked.push(address_near(prefix, bits)),
        }
        let address = address_near(prefix, bits);
        prop_assert_eq!(self.table.lookup(address), self.naive.lookup(address));
        prop_assert_eq!(self.table.len(), self.naive.len());
        if self.asked.len() == 256 { self.compare() } else { Ok(()) }
    }

    /// Looks up all that was asked, by both kernels.
    fn compare(&mut self) -> Result<(), TestCaseError> {
        let expected: Vec<u32> = self.asked.iter().map(|a| self.naive.lookup(*a).bits()).collect();
        for kernel in [Ip4Kernel::Scalar, Ip4Kernel::Avx2] {
            let mut found = vec![u32::MAX; self.asked.len()];
            self.table.lookup_bulk_with(kernel, &self.asked, &mut found);
            prop_assert_eq!(&found, &expected);
        }
        self.asked.clear();
        Ok(())
    }
}

/// Runs `steps`; the place and the story of the first that differs.
fn difference(layout: Ip4Layout, steps: &[u64]) -> Option<(usize, TestCaseError)> {
    let mut pair = Pair::new(layout);
    for (index, bits) in steps.iter().enumerate() {
        if let Err(error) = pair.step(*bits) {
            return Some((index, error));
        }
    }
    let prefixes: Vec<Ip4Prefix> = pair.naive.routes().map(|(prefix, _)| prefix).collect();
    let last = steps.len().saturating_sub(1);
    if let Err(error) = pair.compare() {
        return Some((last, error));
    }
    (pair.table.remove_bulk(&prefixes) != prefixes.len() || !pair.table.is_empty())
        .then(|| (last, TestCaseError::fail("a route is left")))
}

/// Leaves steps out, halves first, as long as what is left still differs.
fn shrink(layout: Ip4Layout, mut steps: Vec<u64>) -> Vec<u64> {
    let mut length = steps.len() / 2;
    while length > 0 {
        let mut start = 0;
        while start < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(start..(start + length).min(steps.len()));
            match difference(layout, &fewer) {
                Some((last, _)) => {
                    fewer.truncate(last + 1);
                    steps = fewer;
                }
                None => start += length,
            }
        }
        length /= 2;
    }
    steps
}

proptest! {
    // Leaving out one of 20,000 steps at a time would take hours: `shrink` knows better.
    #![proptest_config(ProptestConfig { max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::with_cases(RUNS) })]

    #[test]
    fn a_million_steps_equal_the_naive_twin(
        compact in any::<bool>(),
        steps in prop::collection::vec(any::<u64>(), STEPS).prop_map(Steps),
    ) {
        let layout = if compact { Ip4Layout::Compact } else { Ip4Layout::Wide };
        if let Some((last, error)) = difference(layout, &steps.0) {
            let few = shrink(layout, steps.0[..=last].to_vec());
            let told: Vec<String> = few.iter().map(|bits| tell(*bits)).collect();
            panic!("{layout:?}: {error}\nfewest steps: {told:#?}");
        }
    }
}
