//! Several VRFs: what each has of its own, and what they share.

use super::family::{Ip6Tables, Table};
use super::*;
use fib::Forward;
use fib::ip4::{Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::rib::{NextHop, Protocol, Route, Target};
use nodes::tables::Kind;
use std::net::IpAddr;

const RED: VrfId = VrfId(1);
const BLUE: VrfId = VrfId(2);

fn link(interface: u16) -> Option<(LinkHeader, u16)> {
    (1..=2).contains(&interface).then_some((LinkHeader::From([2; 6]), 1500))
}

/// Red and blue, with the same network on interfaces 1 and 2, and their tables.
fn two_vrfs() -> ([Arc<Ip4Table>; 2], Routing<u32>) {
    let readers = Quiescence::new();
    let nodes = Ip4Nodes::new(100, PageSize::Small, &readers).unwrap();
    let (layout, page_size) = (Ip4Layout::Compact, PageSize::Small);
    let options = Ip4Options { layout, page_size, max_routes: 20 };
    let tables = [(), ()].map(|()| Arc::new(Ip4Table::new(&nodes, options).unwrap()));
    let adjacencies = Arc::new(AdjacencyTable::new(16, &readers).unwrap());
    let groups = Arc::new(EcmpTable::new(4, 1024, &readers).unwrap());
    let mut routing = Routing::new(adjacencies, groups);
    for (interface, (vrf, table)) in (1..).zip([RED, BLUE].into_iter().zip(&tables)) {
        routing.add_vrf(vrf, Arc::clone(table)).unwrap();
        add(&mut routing, vrf, "192.0.2.0/24", Protocol::Connected, Route::connected(interface));
    }
    (tables, routing)
}

fn add<A: Family>(
    routing: &mut Routing<A>,
    vrf: VrfId,
    prefix: &str,
    protocol: Protocol,
    route: Route,
) {
    let mut routes = routing.in_vrf(vrf, &link).unwrap();
    routes.add(prefix.parse().unwrap(), protocol, route).unwrap();
}

fn add_static(routing: &mut Routing<u32>, vrf: VrfId, prefix: &str, hop: &str) {
    add(routing, vrf, prefix, Protocol::Static, Route::via(hop.parse::<IpAddr>().unwrap()));
}

fn key(interface: u16, address: &str) -> NeighborKey {
    NeighborKey { interface, address: address.parse().unwrap() }
}

/// Until nothing is left; says how many slices it took.
fn settle(routing: &mut Routing<u32>) -> usize {
    let mut slices = 0;
    while routing.is_settling() {
        routing.settle_more(&link).unwrap();
        slices += 1;
    }
    slices
}

fn at<A: Family, T: Table<A>>(table: &T, prefix: &str) -> Option<Forward> {
    table.get(prefix.parse().unwrap())
}

fn rewrite(id: AdjacencyId) -> Option<Forward> {
    Some(Forward::new(Kind::Rewrite as u8, id.0))
}

#[test]
fn the_same_route_leads_to_another_neighbour_in_each() {
    let ([red, blue], mut routing) = two_vrfs();
    for vrf in [RED, BLUE] {
        add_static(&mut routing, vrf, "10.0.0.0/8", "192.0.2.9");
    }
    for (table, interface) in [(&red, 1), (&blue, 2)] {
        let id = routing.adjacency(key(interface, "192.0.2.9"), &link).unwrap().unwrap();
        assert_eq!(at(&**table, "10.0.0.0/8"), rewrite(id));
        routing.complete(id, [9; 6]).unwrap();
        assert_eq!(at(&**table, "192.0.2.9/32"), rewrite(id));
    }
    assert_ne!(at(&*red, "192.0.2.9/32"), at(&*blue, "192.0.2.9/32"));
}

#[test]
fn a_next_hop_that_two_share_is_let_go_by_the_last_of_them() {
    let ([red, blue], mut routing) = two_vrfs();
    let hop = NextHop { address: "192.0.2.9".parse().ok(), interface: Some(1), weight: 1 };
    let leaked = Route { target: Target::Via(vec![hop].into()) };
    add_static(&mut routing, RED, "10.0.0.0/8", "192.0.2.9");
    add(&mut routing, BLUE, "10.0.0.0/8", Protocol::Static, leaked);
    assert_eq!(at(&*red, "10.0.0.0/8"), at(&*blue, "10.0.0.0/8"));
    let id = routing.adjacency(key(1, "192.0.2.9"), &link).unwrap().unwrap();
    assert_eq!(routing.take_wishes(), [Wish::Pin(key(1, "192.0.2.9"), id)]);
    routing.remove_vrf(RED).unwrap();
    settle(&mut routing);
    assert_eq!(routing.take_wishes(), []);
    routing.remove_vrf(BLUE).unwrap();
    settle(&mut routing);
    assert_eq!(routing.take_wishes(), [Wish::Release(key(1, "192.0.2.9"))]);
    assert!(red.is_empty() && blue.is_empty());
}

#[test]
fn neighbours_are_reached_where_routes_lead_to_their_link_and_nowhere_else() {
    let ([red, blue], mut routing) = two_vrfs();
    let id = routing.adjacency(key(1, "192.0.2.7"), &link).unwrap().unwrap();
    routing.complete(id, [7; 6]).unwrap();
    assert_eq!((at(&*red, "192.0.2.7/32"), at(&*blue, "192.0.2.7/32")), (rewrite(id), None));
    // Blue learns of a part of red's link, which the neighbour is in.
    add(&mut routing, BLUE, "192.0.2.0/28", Protocol::Static, Route::connected(1));
    assert_eq!(at(&*blue, "192.0.2.7/32"), rewrite(id));
    routing.incomplete(id).unwrap();
    assert_eq!((at(&*red, "192.0.2.7/32"), at(&*blue, "192.0.2.7/32")), (None, None));
}

#[test]
fn a_new_vrf_knows_which_interfaces_carry_nothing() {
    let ([red, _], mut routing) = two_vrfs();
    routing.set_interface(2, false, &link).unwrap();
    routing.remove_vrf(RED).unwrap();
    routing.add_vrf(RED, Arc::clone(&red)).unwrap();
    add(&mut routing, RED, "10.0.0.0/8", Protocol::Static, Route::connected(2));
    assert_eq!(at(&*red, "10.0.0.0/8"), None);
    routing.set_interface(2, true, &link).unwrap();
    assert_eq!(at(&*red, "10.0.0.0/8"), Some(Forward::new(Kind::Glean as u8, 2)));
}

/// Ten thousand routes over a link of red's, and a table that has room for them.
fn many_routes() -> (Arc<Ip4Table>, Routing<u32>) {
    let readers = Quiescence::new();
    let nodes = Ip4Nodes::new(10_000, PageSize::Small, &readers).unwrap();
    let (layout, page_size) = (Ip4Layout::Compact, PageSize::Small);
    let options = Ip4Options { layout, page_size, max_routes: 20_000 };
    let table = Arc::new(Ip4Table::new(&nodes, options).unwrap());
    let adjacencies = Arc::new(AdjacencyTable::new(16, &readers).unwrap());
    let groups = Arc::new(EcmpTable::new(4, 1024, &readers).unwrap());
    let mut routing = Routing::new(adjacencies, groups);
    routing.add_vrf(RED, Arc::clone(&table)).unwrap();
    add(&mut routing, RED, "192.0.2.0/24", Protocol::Connected, Route::connected(1));
    let hop = NextHop { address: "192.0.2.9".parse().ok(), interface: Some(1), weight: 1 };
    let route = Route { target: Target::Via(vec![hop].into()) };
    let prefix = |n: u32| Prefix::new(0x0a00_0000 | n << 8, 24).unwrap();
    let routes = (0..10_000).map(|n| (prefix(n), route.clone())).collect();
    let source = Protocol::Static.into();
    let mut red = routing.in_vrf(RED, &link).unwrap();
    let (added, outcome) = red.add_all(routes, source);
    outcome.unwrap();
    assert_eq!(added, 10_000);
    (table, routing)
}

#[test]
fn routes_over_a_link_that_goes_leave_the_table_a_slice_at_a_time_and_come_back() {
    let (table, mut routing) = many_routes();
    let before = table.len();
    routing.set_interface(1, false, &link).unwrap();
    assert!((5_000..before).contains(&table.len()), "{} of {before}", table.len());
    assert!((1..4).contains(&settle(&mut routing)));
    assert_eq!(at(&*table, "10.1.0.0/24"), None);
    routing.set_interface(1, true, &link).unwrap();
    settle(&mut routing);
    assert_eq!(table.len(), before);
}

#[test]
fn a_vrf_of_many_routes_goes_a_slice_at_a_time_beside_its_successor() {
    let (table, mut routing) = many_routes();
    let pinned = routing.take_wishes();
    assert!(matches!(pinned[..], [Wish::Pin(..)]));
    routing.remove_vrf(RED).unwrap();
    assert_eq!((at(&*table, "192.0.2.0/24"), routing.take_wishes()), (None, vec![]));
    let ([successor, _], _) = two_vrfs();
    routing.add_vrf(RED, Arc::clone(&successor)).unwrap();
    add(&mut routing, RED, "192.0.2.0/24", Protocol::Connected, Route::connected(2));
    let stands = successor.len();
    assert!(settle(&mut routing) > 3);
    assert_eq!(routing.take_wishes(), [Wish::Release(key(1, "192.0.2.9"))]);
    assert_eq!((table.len(), successor.len()), (0, stands));
}

#[test]
fn a_vrf_that_goes_leaves_the_link_local_addresses_of_others() {
    let readers = Quiescence::new();
    let pool = Ip6Pool::new(1 << 24, PageSize::Small, &readers).unwrap();
    let table = || Arc::new(Ip6Table::new(&pool, 100));
    let links = table();
    let adjacencies = Arc::new(AdjacencyTable::new(16, &readers).unwrap());
    let groups = Arc::new(EcmpTable::new(4, 1024, &readers).unwrap());
    let mut routing = Routing::<u128>::new(adjacencies, groups);
    let network =
        |interface: u16| Prefix::new((0xfe80_u128 << 112).on_interface(interface), 64).unwrap();
    for (interface, vrf) in [(1, RED), (2, BLUE)] {
        let tables = Ip6Tables { routes: table(), links: Arc::clone(&links) };
        routing.add_vrf(vrf, Arc::new(tables)).unwrap();
        let mut routes = routing.in_vrf(vrf, &link).unwrap();
        routes.add(network(interface), Protocol::Connected, Route::connected(interface)).unwrap();
        let id = routing.adjacency(key(interface, "fe80::9"), &link).unwrap().unwrap();
        routing.complete(id, [9; 6]).unwrap();
    }
    let on = |interface: u16| links.lookup(network(interface).address() | 9).kind();
    assert_eq!((on(1), on(2)), (Kind::Rewrite as u8, Kind::Rewrite as u8));
    routing.remove_vrf(RED).unwrap();
    assert_eq!((on(1), on(2)), (Kind::NoRoute as u8, Kind::Rewrite as u8));
}
