//! What stands in the table after routes, neighbours and interfaces come and go.

use super::family::Ip6Tables;
use super::*;
use fib::Forward;
use fib::adjacency::AdjacencyState;
use fib::ecmp::GroupId;
use fib::ip4::{Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::rib::{Protocol, Route};
use nodes::tables::Kind;
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
    let mut routing = Routing::new(Arc::clone(&adjacencies), groups(&readers));
    routing.add_vrf(VrfId::DEFAULT, Arc::clone(&table)).unwrap();
    connect(&mut routing, "192.0.2.0/24");
    (table, adjacencies, routing)
}

fn groups(readers: &Arc<Quiescence>) -> Arc<EcmpTable> {
    Arc::new(EcmpTable::new(4, 1024, readers).unwrap())
}

fn link(interface: u16) -> Option<(LinkHeader, u16)> {
    match interface {
        1..=3 => Some((LinkHeader::From([2; 6]), 1500)),
        4 => Some((LinkHeader::Nothing, 1476)),
        _ => None,
    }
}

/// The routes of the default VRF.
fn routes<A: Family>(routing: &mut Routing<A>) -> InVrf<'_, A> {
    routing.in_vrf(VrfId::DEFAULT, &link).unwrap()
}

/// A network on interface 1.
fn connect<A: Family>(routing: &mut Routing<A>, prefix: &str) {
    let prefix = prefix.parse().unwrap();
    routes(routing).add(prefix, Protocol::Connected, Route::connected(1)).unwrap();
}

fn add<A: Family>(routing: &mut Routing<A>, prefix: &str, hop: &str) -> Result<(), FibError> {
    let hop: IpAddr = hop.parse().unwrap();
    routes(routing).add(prefix.parse().unwrap(), Protocol::Static, Route::via(hop))
}

fn remove<A: Family>(routing: &mut Routing<A>, prefix: &str) {
    routes(routing).remove(prefix.parse().unwrap(), Protocol::Static).unwrap();
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
fn over_a_link_of_two_nobody_is_asked_for() {
    let (table, adjacencies, mut routing) = tables_and_adjacencies(ROUTES);
    let network = "203.0.113.0/24".parse().unwrap();
    routes(&mut routing).add(network, Protocol::Connected, Route::connected(4)).unwrap();
    add(&mut routing, "10.0.0.0/8", "203.0.113.2").unwrap();
    assert_eq!(routing.take_wishes(), []);
    let connected = at(&table, "203.0.113.0/24").unwrap();
    assert_eq!(connected.kind(), Kind::Rewrite as u8);
    let entry = adjacencies.entry(fib::adjacency::AdjacencyId(connected.id())).unwrap();
    let made = entry.fields();
    assert_eq!((made.rewrite_len(), made.mtu(), made.interface()), (0, 1476, 4));
    assert!(made.is_complete());
    remove(&mut routing, "10.0.0.0/8");
    routes(&mut routing).remove(network, Protocol::Connected).unwrap();
    assert_eq!(routing.take_wishes(), []);
    assert!(!entry.fields().is_complete(), "nothing leads over it any more");
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
fn a_full_list_of_routes_refuses_new_ones_and_takes_those_it_has() {
    let (_, mut routing) = tables(ROUTES);
    // Nothing leads to their next hop, so that the table needs no room for them.
    let route = |n: u32| {
        let prefix = Prefix::new(0x0a00_0000 | n << 8, 24).unwrap();
        (prefix, Route::via(IpAddr::from([203, 0, 113, 1])))
    };
    let mut add = |range: std::ops::Range<u32>| {
        routes(&mut routing).add_all(range.map(route).collect(), Protocol::Ebgp.into())
    };
    let (added, outcome) = add(0..100);
    assert_eq!(added, 4 * ROUTES - 1, "beside the connected one");
    assert!(matches!(outcome, Err(FibError::Full { capacity: 32, .. })), "{outcome:?}");
    assert!(matches!(add(0..31), (31, Ok(()))));
    assert!(matches!(add(31..32), (0, Err(_))));
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
fn a_neighbour_that_was_known_before_its_network_is_reached_as_soon_as_that_is_there() {
    let (table, mut routing) = tables(ROUTES);
    let id = routing.adjacency(key("198.51.100.7"), &link).unwrap().unwrap();
    routing.complete(id, [7; 6]).unwrap();
    assert_eq!(at(&table, "198.51.100.7/32"), None);
    connect(&mut routing, "198.51.100.0/24");
    assert_eq!(at(&table, "198.51.100.7/32"), forward(Kind::Rewrite, id.0));
    let network = "198.51.100.0/24".parse().unwrap();
    routes(&mut routing).remove(network, Protocol::Connected).unwrap();
    assert_eq!(at(&table, "198.51.100.7/32"), None);
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

/// A route over several neighbours, by interface and last octet of 192.0.2.
fn share(routing: &mut Routing<u32>, prefix: &str, hops: &[(u16, u8)]) -> Result<(), FibError> {
    let hop = |(interface, octet): &(u16, u8)| fib::rib::NextHop {
        address: Some(IpAddr::from([192, 0, 2, *octet])),
        interface: Some(*interface),
        weight: 1,
    };
    let target = fib::rib::Target::Via(hops.iter().map(hop).collect());
    routes(routing).add(prefix.parse().unwrap(), Protocol::Static, Route { target })
}

/// The neighbours that a prefix's group leads to, each with its buckets.
fn members(routing: &mut Routing<u32>, table: &Ip4Table, prefix: &str) -> Vec<(u8, usize)> {
    let word = at(table, prefix).unwrap();
    assert_eq!(word.kind(), Kind::Group as u8);
    let octet = |to: Forward| {
        let key = |octet| (1..=3).map(move |interface| (interface, octet));
        let is = |(interface, octet): &(u16, u8)| {
            let address = IpAddr::from([192, 0, 2, *octet]);
            let key = NeighborKey { interface: *interface, address };
            routing.ways.next_hops.existing(key) == Some(AdjacencyId(to.id()))
        };
        (1..=9).flat_map(key).find(is).unwrap().1
    };
    let held = routing.ways.groups.table().members(GroupId(word.id())).into_iter();
    held.map(|(to, buckets)| (octet(to), buckets)).collect()
}

#[test]
fn routes_over_the_same_next_hops_share_a_group() {
    let (table, mut routing) = tables(ROUTES);
    share(&mut routing, "10.0.0.0/8", &[(1, 1), (2, 2)]).unwrap();
    share(&mut routing, "11.0.0.0/8", &[(2, 2), (1, 1)]).unwrap();
    assert_eq!(at(&table, "10.0.0.0/8"), at(&table, "11.0.0.0/8"));
    assert_eq!(members(&mut routing, &table, "10.0.0.0/8"), [(1, 16), (2, 16)]);
    let pins = routing.take_wishes();
    assert!(matches!(pins[..], [Wish::Pin(..), Wish::Pin(..)]), "{pins:?}");
    // The last of the two routes takes the group along, and lets its neighbours go.
    remove(&mut routing, "10.0.0.0/8");
    assert_eq!(routing.take_wishes(), []);
    remove(&mut routing, "11.0.0.0/8");
    let released = routing.take_wishes();
    assert!(matches!(released[..], [Wish::Release(_), Wish::Release(_)]), "{released:?}");
    assert_eq!(routing.ways.groups.table().memory().groups, 1, "kept until readers have passed");
    share(&mut routing, "10.0.0.0/8", &[(1, 1), (2, 2)]).unwrap();
    assert_eq!(routing.ways.groups.table().memory().groups, 1);
}

#[test]
fn a_member_whose_interface_goes_leaves_in_place_and_comes_back_without_moving_the_rest() {
    let (table, mut routing) = tables(ROUTES);
    share(&mut routing, "10.0.0.0/8", &[(1, 1), (2, 2), (3, 3)]).unwrap();
    let word = at(&table, "10.0.0.0/8").unwrap();
    routing.set_interface(2, false, &link).unwrap();
    assert_eq!(at(&table, "10.0.0.0/8"), Some(word), "no route was written");
    let rest = members(&mut routing, &table, "10.0.0.0/8");
    assert_eq!(rest, [(1, 32), (3, 32)]);
    routing.set_interface(2, true, &link).unwrap();
    let all = members(&mut routing, &table, "10.0.0.0/8");
    assert_eq!(all.iter().map(|(octet, _)| *octet).collect::<Vec<_>>(), [1, 2, 3]);
    // One that is left alone is led to without a group.
    routing.set_interface(2, false, &link).unwrap();
    routing.set_interface(3, false, &link).unwrap();
    assert_eq!(at(&table, "10.0.0.0/8").unwrap().kind(), Kind::Rewrite as u8);
}

/// The members of a group that have buckets, by octet.
fn sharing(routing: &mut Routing<u32>, table: &Ip4Table) -> Vec<u8> {
    members(routing, table, "10.0.0.0/8").into_iter().map(|(octet, _)| octet).collect()
}

fn silence(routing: &mut Routing<u32>, interface: u16, octet: u8) -> AdjacencyId {
    let key = NeighborKey { interface, address: IpAddr::from([192, 0, 2, octet]) };
    routing.silent(key);
    routing.ways.next_hops.existing(key).unwrap()
}

#[test]
fn a_next_hop_that_does_not_answer_gets_no_flows_until_it_does() {
    let (table, mut routing) = tables(ROUTES);
    share(&mut routing, "10.0.0.0/8", &[(1, 1), (2, 2), (3, 3)]).unwrap();
    let word = at(&table, "10.0.0.0/8");
    routing.take_wishes();
    let id = silence(&mut routing, 2, 2);
    assert_eq!(members(&mut routing, &table, "10.0.0.0/8"), [(1, 32), (3, 32)]);
    assert_eq!(
        (at(&table, "10.0.0.0/8"), routing.take_wishes()),
        (word, vec![]),
        "still asked for"
    );
    // A route that comes meanwhile over the same ones shares the group; over others, too, it is
    // out.
    share(&mut routing, "11.0.0.0/8", &[(1, 1), (2, 2), (3, 3)]).unwrap();
    assert_eq!(at(&table, "11.0.0.0/8"), word);
    share(&mut routing, "12.0.0.0/8", &[(2, 2), (3, 3)]).unwrap();
    assert_eq!(members(&mut routing, &table, "12.0.0.0/8"), [(3, 32)]);
    routing.complete(id, [2; 6]).unwrap();
    assert_eq!(sharing(&mut routing, &table), [1, 2, 3]);
    assert_eq!(members(&mut routing, &table, "12.0.0.0/8"), [(2, 16), (3, 16)]);
    assert_eq!(at(&table, "10.0.0.0/8"), word);
}

#[test]
fn next_hops_none_of_which_answers_keep_their_shares() {
    let (table, mut routing) = tables(ROUTES);
    share(&mut routing, "10.0.0.0/8", &[(1, 1), (2, 2), (3, 3)]).unwrap();
    let ids = [(1, 1), (2, 2)].map(|(interface, octet)| silence(&mut routing, interface, octet));
    assert_eq!(sharing(&mut routing, &table), [3]);
    silence(&mut routing, 3, 3);
    assert_eq!(sharing(&mut routing, &table), [1, 2, 3]);
    routing.complete(ids[0], [1; 6]).unwrap();
    assert_eq!(sharing(&mut routing, &table), [1]);
    // The interface of the one that answers goes: what is left shares, though it is silent.
    routing.set_interface(1, false, &link).unwrap();
    assert_eq!(sharing(&mut routing, &table), [2, 3]);
}

#[test]
fn a_silent_next_hop_that_is_forgotten_leaves_nothing_to_the_next_one_of_its_id() {
    let (table, mut routing) = tables(ROUTES);
    share(&mut routing, "10.0.0.0/8", &[(1, 1), (2, 2)]).unwrap();
    let id = silence(&mut routing, 2, 2);
    remove(&mut routing, "10.0.0.0/8");
    let gone = NeighborKey { interface: 2, address: IpAddr::from([192, 0, 2, 2]) };
    routing.forget(gone).unwrap();
    share(&mut routing, "10.0.0.0/8", &[(1, 1), (3, 3)]).unwrap();
    let heir = NeighborKey { interface: 3, address: IpAddr::from([192, 0, 2, 3]) };
    assert_eq!(routing.ways.next_hops.existing(heir), Some(id), "the id serves again");
    assert_eq!(sharing(&mut routing, &table), [1, 3]);
}

#[test]
fn when_there_is_no_room_for_a_group_its_route_is_refused_and_its_neighbours_are_let_go() {
    let (table, mut routing) = tables(ROUTES + 1);
    for (prefix, octet) in
        [("10.0.0.0/8", 2), ("11.0.0.0/8", 3), ("12.0.0.0/8", 4), ("13.0.0.0/8", 5)]
    {
        share(&mut routing, prefix, &[(1, 1), (2, octet)]).unwrap();
    }
    routing.take_wishes();
    let error = share(&mut routing, "14.0.0.0/8", &[(1, 1), (2, 6)]).unwrap_err();
    assert!(matches!(error, FibError::Full { unit: "groups", .. }), "{error}");
    assert_eq!(at(&table, "14.0.0.0/8"), None);
    let wishes = routing.take_wishes();
    assert!(matches!(wishes[..], [Wish::Pin(..), Wish::Release(_)]), "{wishes:?}");
}

/// Both IPv6 tables, a network on interface 1.
fn tables6() -> (Arc<Ip6Tables>, Arc<AdjacencyTable>, Routing<u128>) {
    let readers = Quiescence::new();
    let pool = Ip6Pool::new(1 << 24, PageSize::Small, &readers).unwrap();
    let table = || Arc::new(Ip6Table::new(&pool, 100));
    let tables = Arc::new(Ip6Tables { routes: table(), links: table() });
    let adjacencies = Arc::new(AdjacencyTable::new(16, &readers).unwrap());
    let mut routing = Routing::<u128>::new(Arc::clone(&adjacencies), groups(&readers));
    routing.add_vrf(VrfId::DEFAULT, Arc::clone(&tables)).unwrap();
    connect(&mut routing, "2001:db8::/64");
    (tables, adjacencies, routing)
}

#[test]
fn ipv6_is_routed_by_the_same_code() {
    let (tables, adjacencies, mut routing) = tables6();
    let table = &tables.routes;
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

#[test]
fn link_local_neighbours_stand_in_their_own_table_by_interface() {
    let (tables, _, mut routing) = tables6();
    let routes_before = tables.routes.len();
    let network = |interface: u16| {
        let address = (0xfe80_u128 << 112).on_interface(interface);
        Prefix::new(address, 64).unwrap()
    };
    for interface in [1, 2] {
        let route = Route::connected(interface);
        routes(&mut routing).add(network(interface), Protocol::Connected, route).unwrap();
    }
    let id = routing.adjacency(key("fe80::9"), &link).unwrap().unwrap();
    routing.complete(id, [9; 6]).unwrap();
    let on = |interface: u16| tables.links.lookup(network(interface).address() | 9);
    assert_eq!(Some(on(1)), forward(Kind::Rewrite, id.0));
    assert_eq!(Some(on(2)), forward(Kind::Glean, 2));
    routing.incomplete(id).unwrap();
    assert_eq!(Some(on(1)), forward(Kind::Glean, 1));
    assert_eq!(tables.routes.len(), routes_before);
}

#[test]
fn a_next_hop_on_the_link_is_used_by_its_interface() {
    let (tables, _, mut routing) = tables6();
    let address = "fe80::9".parse().ok();
    let hop = fib::rib::NextHop { address, interface: Some(1), weight: 1 };
    let route = Route { target: fib::rib::Target::Via(vec![hop].into()) };
    routes(&mut routing).add("2001:db8:9::/48".parse().unwrap(), Protocol::Static, route).unwrap();
    let id = routing.adjacency(key("fe80::9"), &link).unwrap().unwrap();
    let found = tables.routes.get("2001:db8:9::/48".parse().unwrap());
    assert_eq!(found, forward(Kind::Rewrite, id.0));
}

/// A target over several neighbours, by interface and last octet of 192.0.2.
fn over(hops: &[(u16, u8)]) -> Option<fib::rib::Target> {
    let hop = |(interface, octet): &(u16, u8)| fib::rib::NextHop {
        address: Some(IpAddr::from([192, 0, 2, *octet])),
        interface: Some(*interface),
        weight: 1,
    };
    Some(fib::rib::Target::Via(hops.iter().map(hop).collect()))
}

/// A route of the group of this number.
fn by_number(routing: &mut Routing<u32>, prefix: &str, number: u32) {
    let target = fib::rib::Target::Shared(fib::rib::SharedId(number));
    routes(routing).add(prefix.parse().unwrap(), Protocol::Fpm, Route { target }).unwrap();
}

fn renumber(routing: &mut Routing<u32>, number: u32, to: Option<fib::rib::Target>) {
    let id = fib::rib::SharedId(number);
    routes(routing).share_first(id, to.clone()).unwrap();
    routes(routing).share(id, &to).unwrap();
}

#[test]
fn a_group_that_routes_share_by_number_changes_in_place_and_no_other_does() {
    let (table, mut routing) = tables(ROUTES);
    renumber(&mut routing, 9, over(&[(1, 1), (2, 2)]));
    by_number(&mut routing, "10.0.0.0/8", 9);
    by_number(&mut routing, "11.0.0.0/8", 9);
    share(&mut routing, "12.0.0.0/8", &[(1, 1), (2, 2)]).unwrap();
    let words = ["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"].map(|it| at(&table, it).unwrap());
    assert!(words[0] == words[1] && words[0] != words[2]);
    routing.take_wishes();
    renumber(&mut routing, 9, over(&[(2, 2), (3, 3)]));
    assert_eq!(at(&table, "11.0.0.0/8"), Some(words[0]), "no route was written");
    assert_eq!(members(&mut routing, &table, "11.0.0.0/8"), [(2, 16), (3, 16)]);
    assert_eq!(members(&mut routing, &table, "12.0.0.0/8"), [(1, 16), (2, 16)]);
    let pins = routing.take_wishes();
    assert!(matches!(pins[..], [Wish::Pin(..)]), "the third one, and no other: {pins:?}");
    // One left: routes lead to it themselves, as all do that have one next hop.
    routing.set_interface(3, false, &link).unwrap();
    assert_eq!(at(&table, "10.0.0.0/8").unwrap().kind(), Kind::Rewrite as u8);
    routing.set_interface(3, true, &link).unwrap();
    assert_eq!(members(&mut routing, &table, "10.0.0.0/8"), [(2, 16), (3, 16)]);
    renumber(&mut routing, 9, None);
    assert_eq!(at(&table, "10.0.0.0/8"), None);
    for prefix in ["10.0.0.0/8", "11.0.0.0/8"] {
        routes(&mut routing).remove(prefix.parse().unwrap(), Protocol::Fpm).unwrap();
    }
    remove(&mut routing, "12.0.0.0/8");
    assert!(routing.vrf(VrfId::DEFAULT).unwrap().rib.shared_hops(fib::rib::SharedId(9)).is_empty());
    let keys: Vec<_> = (1..=3).flat_map(|octet| (1..=3).map(move |it| (it, octet))).collect();
    for (interface, octet) in keys {
        let key = NeighborKey { interface, address: IpAddr::from([192, 0, 2, octet]) };
        routing.forget(key).unwrap();
        assert_eq!(routing.existing(key), None, "nothing leads there any more");
    }
}

#[test]
fn a_group_that_finds_no_room_keeps_what_it_has() {
    let (table, mut routing) = tables(ROUTES);
    renumber(&mut routing, 9, over(&[(1, 1), (2, 2)]));
    by_number(&mut routing, "10.0.0.0/8", 9);
    let many: Vec<(u16, u8)> = (1..=64).map(|octet| (1, octet)).collect();
    let full = routes(&mut routing).share(fib::rib::SharedId(9), &over(&many));
    assert!(matches!(full, Err(FibError::Full { .. })), "{full:?}");
    assert_eq!(members(&mut routing, &table, "10.0.0.0/8"), [(1, 16), (2, 16)]);
}
