//! What stands in the table after routes, neighbours and interfaces come and go.

use super::*;
use fib::Forward;
use fib::adjacency::AdjacencyState;
use fib::ip4::{Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use std::net::IpAddr;

/// Room for the martians and four routes more.
const ROUTES: usize = 8;

/// A network on interface 1, and its table.
fn tables(max_routes: usize) -> (Arc<Ip4Table>, Routing<u32>) {
    let (table, _, routing) = tables_and_adjacencies(max_routes);
    (table, routing)
}

fn tables_and_adjacencies(max_routes: usize) -> (Arc<Ip4Table>, Arc<AdjacencyTable>, Routing<u32>) {
    let readers = Quiescence::new();
    let nodes = Ip4Nodes::new(100, PageSize::Small, &readers).unwrap();
    let (layout, page_size) = (Ip4Layout::Compact, PageSize::Small);
    let table =
        Arc::new(Ip4Table::new(&nodes, Ip4Options { layout, page_size, max_routes }).unwrap());
    let adjacencies = Arc::new(AdjacencyTable::new(16, &readers).unwrap());
    let mut routing = Routing::new(Arc::clone(&table), Arc::clone(&adjacencies)).unwrap();
    connect(&mut routing, "192.0.2.0/24");
    (table, adjacencies, routing)
}

fn link(interface: u16) -> Option<([u8; 6], u16)> {
    (interface == 1).then_some(([2; 6], 1500))
}

/// A network on interface 1.
fn connect<A: Family>(routing: &mut Routing<A>, prefix: &str) {
    let prefix = prefix.parse().unwrap();
    routing.add(prefix, Protocol::Connected, Route::connected(1), &link).unwrap();
}

fn add<A: Family>(routing: &mut Routing<A>, prefix: &str, hop: &str) -> Result<(), FibError> {
    let hop: IpAddr = hop.parse().unwrap();
    routing.add(prefix.parse().unwrap(), Protocol::Static, Route::via(hop), &link)
}

fn remove<A: Family>(routing: &mut Routing<A>, prefix: &str) {
    routing.remove(prefix.parse().unwrap(), Protocol::Static, &link).unwrap();
}

fn key(address: &str) -> NeighborKey {
    NeighborKey { interface: 1, address: address.parse().unwrap() }
}

fn forward(kind: Kind, id: u32) -> Option<Forward> {
    Some(Forward::new(kind as u8, id))
}

fn at(table: &Ip4Table, prefix: &str) -> Option<Forward> {
    table.get(prefix.parse().unwrap())
}

#[test]
fn the_first_route_over_a_next_hop_pins_it_and_the_last_releases_it() {
    let (table, mut routing) = tables(ROUTES);
    for (prefix, hop) in [("10.0.0.0/8", "192.0.2.9"), ("10.9.0.0/16", "192.0.2.9")] {
        add(&mut routing, prefix, hop).unwrap();
    }
    let id = routing.adjacency(key("192.0.2.9"), &link).unwrap().unwrap();
    assert_eq!(routing.take_wishes(), [Wish::Pin(key("192.0.2.9"), id)]);
    assert_eq!(at(&table, "10.9.0.0/16"), forward(Kind::Rewrite, id.0));
    remove(&mut routing, "10.0.0.0/8");
    assert_eq!(routing.take_wishes(), []);
    add(&mut routing, "10.9.0.0/16", "192.0.2.8").unwrap();
    let other = routing.adjacency(key("192.0.2.8"), &link).unwrap().unwrap();
    let moved = [Wish::Pin(key("192.0.2.8"), other), Wish::Release(key("192.0.2.9"))];
    assert_eq!(routing.take_wishes(), moved);
}

#[test]
fn a_full_table_refuses_the_route_and_keeps_the_rest() {
    let (table, mut routing) = tables(6);
    add(&mut routing, "10.0.0.0/8", "192.0.2.9").unwrap();
    routing.take_wishes();
    let error = add(&mut routing, "11.0.0.0/8", "192.0.2.8").unwrap_err();
    assert!(matches!(error, FibError::Full { unit: "routes", capacity: 6, .. }), "{error}");
    assert!(at(&table, "10.0.0.0/8").is_some() && at(&table, "11.0.0.0/8").is_none());
    let wishes = routing.take_wishes();
    assert!(matches!(wishes[..], [Wish::Pin(..), Wish::Release(_)]), "{wishes:?}");
}

#[test]
fn a_known_neighbour_is_reached_by_its_own_address_until_it_is_forgotten() {
    let (table, adjacencies, mut routing) = tables_and_adjacencies(ROUTES);
    let id = routing.adjacency(key("192.0.2.7"), &link).unwrap().unwrap();
    routing.complete(id, [7; 6]).unwrap();
    assert_eq!(at(&table, "192.0.2.7/32"), forward(Kind::Rewrite, id.0));
    // A route to it takes the place of that, and leaves it again.
    add(&mut routing, "192.0.2.7/32", "192.0.2.8").unwrap();
    assert_ne!(at(&table, "192.0.2.7/32"), forward(Kind::Rewrite, id.0));
    remove(&mut routing, "192.0.2.7/32");
    assert_eq!(at(&table, "192.0.2.7/32"), forward(Kind::Rewrite, id.0));
    routing.incomplete(id).unwrap();
    assert_eq!(at(&table, "192.0.2.7/32"), None);
    routing.complete(id, [7; 6]).unwrap();
    routing.forget(key("192.0.2.7")).unwrap();
    assert_eq!(at(&table, "192.0.2.7/32"), None);
    // No packet leaves by its adjacency any more.
    let entry = adjacencies.entry(id).unwrap();
    assert_eq!(entry.fields().state(), AdjacencyState::Free);
}

#[test]
fn a_forgotten_neighbour_that_routes_lead_over_keeps_its_adjacency() {
    let (table, mut routing) = tables(ROUTES);
    add(&mut routing, "10.0.0.0/8", "192.0.2.9").unwrap();
    let word = at(&table, "10.0.0.0/8");
    routing.forget(key("192.0.2.9")).unwrap();
    let id = routing.adjacency(key("192.0.2.9"), &link).unwrap().unwrap();
    assert_eq!(word, forward(Kind::Rewrite, id.0));
}

#[test]
fn a_special_address_gives_way_to_a_route_and_comes_back() {
    let (table, mut routing) = tables(ROUTES);
    let martian = forward(Kind::Martian, 0);
    assert_eq!(at(&table, "127.0.0.0/8"), martian);
    add(&mut routing, "127.0.0.0/8", "192.0.2.9").unwrap();
    assert_ne!(at(&table, "127.0.0.0/8"), martian);
    remove(&mut routing, "127.0.0.0/8");
    assert_eq!(at(&table, "127.0.0.0/8"), martian);
}

#[test]
fn ipv6_is_routed_by_the_same_code() {
    let readers = Quiescence::new();
    let pool = Ip6Pool::new(1 << 24, PageSize::Small, &readers).unwrap();
    let table = Arc::new(Ip6Table::new(&pool, 100));
    let adjacencies = Arc::new(AdjacencyTable::new(16, &readers).unwrap());
    let mut routing = Routing::<u128>::new(Arc::clone(&table), Arc::clone(&adjacencies)).unwrap();
    connect(&mut routing, "2001:db8::/64");
    add(&mut routing, "2001:db8:9::/48", "2001:db8::9").unwrap();
    let id = routing.adjacency(key("2001:db8::9"), &link).unwrap().unwrap();
    assert_eq!(routing.take_wishes(), [Wish::Pin(key("2001:db8::9"), id)]);
    let found = table.get("2001:db8:9::/48".parse().unwrap());
    assert_eq!(found, forward(Kind::Rewrite, id.0));
    let entry = adjacencies.entry(id).unwrap();
    assert_eq!(entry.rewrite_bytes()[12..14], [0x86, 0xdd]);
    routing.complete(id, [9; 6]).unwrap();
    assert_eq!(table.get("2001:db8::9/128".parse().unwrap()), forward(Kind::Rewrite, id.0));
}
