//! Several tables over one pool, as VRFs are: each answers for itself, whatever the others do.

#![allow(clippy::unwrap_used, clippy::panic)] // A test fails by panicking.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fib::ip4::{Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::{Forward, Ip4Prefix, Ip6Prefix, Naive};
use proptest::prelude::*;

/// Tables over one pool.
const TABLES: usize = 3;

/// One change: of which table, where, how long, and to what; to nothing takes the route away.
type Step = (usize, u8, u8, Option<u32>);

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..TABLES, any::<u8>(), 0u8..=32, prop::option::weighted(0.7, 1u32..9));
    prop::collection::vec(step, 1..120)
}

fn to(id: u32) -> Forward {
    Forward::new(1, id)
}

/// Prefixes of few distinct bits, so that they nest, repeat and cover one another.
fn prefix4(place: u8, length: u8) -> Ip4Prefix {
    Ip4Prefix::new(0x0a00_0000 | u32::from(place >> 4) << 12 | u32::from(place & 15), length)
        .unwrap()
}

fn prefix6(place: u8, length: u8) -> Ip6Prefix {
    let address = 0x2001_u128 << 112 | u128::from(place >> 4) << 80 | u128::from(place & 15);
    Ip6Prefix::new(address, length * 4).unwrap()
}

fn table4(nodes: &Arc<Ip4Nodes>) -> Ip4Table {
    Ip4Table::new(nodes, Ip4Options::sparse(1000)).unwrap()
}

proptest! {
    #[test]
    fn each_ip4_table_equals_its_own_twin(steps in any_steps()) {
        let nodes = Ip4Nodes::new(520, PageSize::Small, &Quiescence::new()).unwrap();
        let mut tables: [_; TABLES] = std::array::from_fn(|_| (table4(&nodes), Naive::new()));
        for &(table, place, length, id) in &steps {
            let (table, twin) = &mut tables[table];
            let prefix = prefix4(place, length);
            match id {
                Some(id) => {
                    prop_assert_eq!(table.insert(prefix, to(id)).unwrap(), twin.insert(prefix, to(id)));
                }
                None => prop_assert_eq!(table.remove(prefix), twin.remove(prefix)),
            }
        }
        for place in 0..=255 {
            let address = prefix4(place, 32).address();
            for (table, twin) in &tables {
                prop_assert_eq!(table.lookup(address), twin.lookup(address));
            }
        }
        drop(tables);
        // All that they had serves another one, whose routes need 516.
        let last = table4(&nodes);
        for network in 0..250 {
            last.insert(Ip4Prefix::host(network << 8), to(1)).unwrap();
        }
    }

    #[test]
    fn each_ip6_table_equals_its_own_twin(steps in any_steps()) {
        let pool = Ip6Pool::new(16 << 20, PageSize::Small, &Quiescence::new()).unwrap();
        let mut tables: [_; TABLES] =
            std::array::from_fn(|_| (Ip6Table::new(&pool, 1000), Naive::new()));
        for &(table, place, length, id) in &steps {
            let (table, twin) = &mut tables[table];
            let prefix = prefix6(place, length);
            match id {
                Some(id) => {
                    prop_assert_eq!(table.insert(prefix, to(id)).unwrap(), twin.insert(prefix, to(id)));
                }
                None => prop_assert_eq!(table.remove(prefix), twin.remove(prefix)),
            }
        }
        for place in 0..=255 {
            let address = prefix6(place, 32).address() | prefix6(place, 32).address() >> 4;
            for (table, twin) in &tables {
                prop_assert_eq!(table.lookup(address), twin.lookup(address));
            }
        }
        drop(tables);
        pool.reclaim();
        prop_assert_eq!(pool.memory().used_bytes, 0);
    }
}

#[test]
fn a_table_of_few_routes_costs_little() {
    let readers = Quiescence::new();
    let nodes = Ip4Nodes::new(1 << 20, PageSize::Small, &readers).unwrap();
    let pool = Ip6Pool::new(1 << 30, PageSize::Small, &readers).unwrap();
    let tables: Vec<(Ip4Table, Ip6Table)> = (0..100)
        .map(|vrf| {
            let (ip4, ip6) = (table4(&nodes), Ip6Table::new(&pool, 1 << 20));
            // What no router forwards to, and a default route and two networks.
            let networks = ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4"];
            for prefix in networks.iter().chain(&["0.0.0.0/0", "10.0.0.0/8", "192.0.2.0/24"]) {
                ip4.insert(prefix.parse().unwrap(), to(vrf)).unwrap();
            }
            for prefix in ["fe80::/10", "ff00::/8", "::1/128", "::/0", "2001:db8::/32", "fd00::/64"]
            {
                ip6.insert(prefix.parse().unwrap(), to(vrf)).unwrap();
            }
            (ip4, ip6)
        })
        .collect();
    for (vrf, (ip4, ip6)) in tables.iter().enumerate() {
        let memory = ip4.memory();
        let bytes = memory.root_bytes + memory.record_bytes;
        assert!(bytes < 128 << 10, "{bytes} bytes for {} IPv4 routes", memory.routes);
        assert_eq!(ip4.lookup(0xc000_0207), to(vrf as u32));
        assert_eq!(ip6.lookup(0x2001_0db8 << 96 | 7), to(vrf as u32));
    }
    let bytes = pool.memory().used_bytes / tables.len();
    assert!(bytes < 4096, "{bytes} bytes for 6 IPv6 routes");
}

/// Rounds of lookups that the reader makes at least.
const VECTORS: u32 = 200;

#[test]
fn tables_of_one_pool_are_written_and_read_at_once() {
    let readers = Quiescence::new();
    // Few: what one table lets go of, another takes.
    let nodes = Ip4Nodes::new(64, PageSize::Small, &readers).unwrap();
    let pool = Ip6Pool::new(1 << 20, PageSize::Small, &readers).unwrap();
    let stop = AtomicBool::new(false);
    let worlds: [_; 2] = std::array::from_fn(|vrf| {
        let world = (table4(&nodes), Ip6Table::new(&pool, 1000), to(vrf as u32 + 1));
        world.0.insert("10.0.0.0/8".parse().unwrap(), world.2).unwrap();
        world.1.insert("2001::/16".parse().unwrap(), world.2).unwrap();
        world
    });
    thread::scope(|scope| {
        let reader = readers.reader();
        let (worlds, stop) = (&worlds, &stop);
        scope.spawn(move || {
            let low: Vec<u32> = (0..=255).map(|place| prefix4(place, 32).address()).collect();
            let high: Vec<u128> = (0..=255).map(|place| prefix6(place, 32).address()).collect();
            let mut found = [0; 256];
            let mut vectors = 0;
            while !stop.load(Ordering::Relaxed) || vectors < VECTORS {
                for (ip4, ip6, own) in worlds {
                    ip4.lookup_bulk(&low, &mut found);
                    assert!(found.iter().all(|bits| *bits == own.bits()));
                    ip6.lookup_bulk(&high, &mut found);
                    assert!(found.iter().all(|bits| *bits == own.bits()));
                }
                reader.pass();
                vectors += 1;
            }
        });
        let writers = worlds.each_ref().map(|(ip4, ip6, own)| {
            scope.spawn(move || {
                for changes in 0..50_000u32 {
                    let (place, length) = (changes as u8, 9 + (changes >> 8) as u8 % 24);
                    // A pool that waits for the reader refuses, and nothing has changed.
                    let _full = ip4.insert(prefix4(place, length), *own);
                    let _full = ip6.insert(prefix6(place, length), *own);
                    let gone = place.wrapping_sub(changes as u8 % 40);
                    ip4.remove(prefix4(gone, length));
                    ip6.remove(prefix6(gone, length));
                }
            })
        });
        let wrote = writers.map(|writer| writer.join());
        stop.store(true, Ordering::Relaxed);
        assert!(wrote.iter().all(Result::is_ok));
    });
}
