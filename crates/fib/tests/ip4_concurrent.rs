//! Readers beside the one writer: routes that change show their old or their new word, routes that
//! do not change show theirs, all the time.

#![allow(clippy::unwrap_used, clippy::panic)] // A test fails by panicking.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use fib::ip4::{Ip4Kernel, Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::pages::PageSize;
use fib::quiesce::{Quiescence, Reader};
use fib::{Forward, Ip4Prefix};

const COVER: Forward = Forward::new(1, 1);
const STEADY: Forward = Forward::new(1, 2);
const CHANGING: [Forward; 2] = [Forward::new(2, 3), Forward::new(2, 4)];
/// Rounds of changes, and vectors each reader must have looked up meanwhile.
const ROUNDS: usize = 3000;
const VECTORS: u64 = 3000;

fn prefix(text: &str) -> Ip4Prefix {
    text.parse().unwrap()
}

/// Each comes, changes and goes; they nest, and share root words and nodes with the steady ones.
fn changing() -> Vec<Ip4Prefix> {
    ["10.0.0.0/9", "10.1.0.0/16", "10.1.2.0/23", "10.1.2.0/25", "10.1.2.64/26", "10.1.2.77/32"]
        .map(prefix)
        .to_vec()
}

/// Addresses whose answer is always the same, the longest match being one that stays.
fn steady() -> Vec<(u32, Forward)> {
    ["10.1.2.78/32", "10.1.2.200/30", "10.1.3.0/24", "10.2.0.0/15", "11.0.0.0/8"]
        .map(|text| (prefix(text).address(), STEADY))
        .to_vec()
}

fn table(layout: Ip4Layout, readers: &Arc<Quiescence>) -> Ip4Table {
    // Few nodes: those that were unlinked must serve again, as soon as the readers allow.
    let nodes = Ip4Nodes::new(64, PageSize::Small, readers).unwrap();
    let options = Ip4Options { layout, page_size: PageSize::Small, max_routes: 100 };
    let table = Ip4Table::new(&nodes, options).unwrap();
    table.insert(prefix("10.0.0.0/8"), COVER).unwrap();
    for text in ["10.1.2.78/32", "10.1.2.200/30", "10.1.3.0/24", "10.2.0.0/15", "11.0.0.0/8"] {
        table.insert(prefix(text), STEADY).unwrap();
    }
    table
}

/// One vector's lookups and checks.
fn read(table: &Ip4Table, kernel: Ip4Kernel) {
    let (changing, steady) = (changing(), steady());
    let mut addresses = Vec::new();
    for _ in 0..20 {
        addresses.extend(steady.iter().map(|(address, _)| *address));
        addresses.extend(changing.iter().map(|prefix| prefix.address()));
    }
    let mut found = vec![u32::MAX; addresses.len()];
    table.lookup_bulk_with(kernel, &addresses, &mut found);
    let per_repeat = steady.len() + changing.len();
    for (index, bits) in found.iter().enumerate() {
        let found = Forward::from_bits(*bits);
        match steady.get(index % per_repeat) {
            Some((address, to)) => assert_eq!(found, *to, "{address:#x}"),
            None => {
                let address = addresses[index];
                let known = found == COVER || CHANGING.contains(&found);
                assert!(known, "{address:#x} {found:?}");
            }
        }
    }
}

/// Adds, replaces and removes the changing routes, in an order that differs by round.
fn write(table: &Ip4Table, round: usize) {
    let prefixes = changing();
    for step in 0..prefixes.len() {
        let prefix = prefixes[(round + step * 5) % prefixes.len()];
        for to in CHANGING {
            // The pool may be used up until the readers have passed: refused, nothing changed.
            while table.insert(prefix, to).is_err() {
                thread::yield_now();
            }
        }
        table.remove(prefixes[(round + step) % prefixes.len()]);
    }
    for prefix in prefixes {
        table.remove(prefix);
    }
}

fn run(layout: Ip4Layout) {
    let readers = Quiescence::new();
    let table = Arc::new(table(layout, &readers));
    let (stop, slowest) = (AtomicBool::new(false), [AtomicU64::new(0), AtomicU64::new(0)]);
    let look = |reader: Reader, kernel: Ip4Kernel, done: &AtomicU64| {
        while !stop.load(Ordering::Relaxed) {
            read(&table, kernel);
            done.fetch_add(1, Ordering::Relaxed);
            reader.pass();
        }
    };
    thread::scope(|scope| {
        // A reader whose check fails ends; the writer must then not wait for it for ever.
        let look = &look;
        let threads = [Ip4Kernel::Scalar, Ip4Kernel::Avx2].into_iter().zip(&slowest);
        let threads: Vec<_> = threads
            .map(|(kernel, done)| {
                let reader = readers.reader();
                scope.spawn(move || look(reader, kernel, done))
            })
            .collect();
        let mut round = 0;
        while round < ROUNDS
            || slowest.iter().any(|done| done.load(Ordering::Relaxed) < VECTORS)
                && !threads.iter().any(|thread| thread.is_finished())
        {
            write(&table, round);
            round += 1;
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(table.len(), 6);
}

#[test]
fn readers_see_old_or_new_and_nothing_else_wide() {
    run(Ip4Layout::Wide);
}

#[test]
fn readers_see_old_or_new_and_nothing_else_compact() {
    run(Ip4Layout::Compact);
}
