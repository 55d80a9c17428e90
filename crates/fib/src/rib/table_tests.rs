//! What becomes active, what falls back, and that changes are exactly what changed.

use std::collections::BTreeMap;
use std::net::IpAddr;

use proptest::prelude::*;

use super::*;
use crate::{Ip4Prefix, Ip6Prefix, Prefix};

type Rib4 = Rib<u32>;

fn p(text: &str) -> Ip4Prefix {
    text.parse().unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Adds `prefix` and returns the changes as text: `prefix=interface@address*weight,...`.
fn add(rib: &mut Rib4, prefix: &str, protocol: Protocol, route: Route) -> Vec<String> {
    let mut changes = Vec::new();
    rib.add(p(prefix), protocol.into(), route, &mut changes);
    said(&changes)
}

fn remove(rib: &mut Rib4, prefix: &str, protocol: Protocol) -> Vec<String> {
    let mut changes = Vec::new();
    assert!(rib.remove(p(prefix), protocol.into(), &mut changes));
    said(&changes)
}

fn said(changes: &[Change<u32>]) -> Vec<String> {
    let path = |path: &Path| {
        let address = path.address.map_or("link".to_owned(), |address| address.to_string());
        format!("{}@{}*{}", path.interface, address, path.weight)
    };
    let to = |to: &Option<Resolved>| match to {
        Some(Resolved::Paths(paths)) => paths.iter().map(path).collect::<Vec<_>>().join(","),
        Some(special) => format!("{special:?}").to_lowercase(),
        None => "none".to_owned(),
    };
    changes.iter().map(|change| format!("{}={}", change.prefix, to(&change.to))).collect()
}

fn via(address: &str) -> Route {
    Route::via(ip(address))
}

fn with_link() -> Rib4 {
    let mut rib = Rib4::new();
    add(&mut rib, "10.0.0.0/24", Protocol::Connected, Route::connected(1));
    rib
}

#[test]
fn a_next_hop_on_a_link_becomes_its_neighbour() {
    let mut rib = with_link();
    let changes = add(&mut rib, "0.0.0.0/0", Protocol::Static, via("10.0.0.1"));
    assert_eq!(changes, ["0.0.0.0/0=1@10.0.0.1*1"]);
}

#[test]
fn the_better_source_forwards_and_the_other_waits() {
    let mut rib = with_link();
    add(&mut rib, "9.0.0.0/8", Protocol::Ibgp, via("10.0.0.2"));
    let better = add(&mut rib, "9.0.0.0/8", Protocol::Static, via("10.0.0.1"));
    assert_eq!(better, ["9.0.0.0/8=1@10.0.0.1*1"]);
    assert_eq!(add(&mut rib, "9.0.0.0/8", Protocol::Ospf, via("10.0.0.3")), [""; 0]);
    assert_eq!(remove(&mut rib, "9.0.0.0/8", Protocol::Static), ["9.0.0.0/8=1@10.0.0.3*1"]);
    assert_eq!(remove(&mut rib, "9.0.0.0/8", Protocol::Ibgp), [""; 0]);
    assert_eq!(remove(&mut rib, "9.0.0.0/8", Protocol::Ospf), ["9.0.0.0/8=none"]);
    assert_eq!(rib.routes().count(), 1);
}

#[test]
fn equal_preferences_need_not_collide() {
    let mut rib = with_link();
    let floating = Source { preference: 250, protocol: Protocol::Static };
    let mut changes = Vec::new();
    rib.add(p("9.0.0.0/8"), floating, Route { target: Target::Blackhole }, &mut changes);
    rib.add(p("9.0.0.0/8"), Protocol::Static.into(), via("10.0.0.1"), &mut changes);
    rib.set_interface(1, false, &mut changes);
    let [nine, link] = &said(&changes)[2..] else { panic!("{changes:?}") };
    assert_eq!((nine.as_str(), link.as_str()), ("9.0.0.0/8=blackhole", "10.0.0.0/24=none"));
}

#[test]
fn recursion_follows_the_route_beneath() {
    let mut rib = with_link();
    assert_eq!(add(&mut rib, "9.0.0.0/8", Protocol::Ibgp, via("8.0.0.1")), [""; 0]);
    let both = add(&mut rib, "8.0.0.0/8", Protocol::Static, via("10.0.0.1"));
    assert_eq!(both, ["8.0.0.0/8=1@10.0.0.1*1", "9.0.0.0/8=1@10.0.0.1*1"]);
    let longer = add(&mut rib, "8.0.0.0/16", Protocol::Static, via("10.0.0.2"));
    assert_eq!(longer, ["8.0.0.0/16=1@10.0.0.2*1", "9.0.0.0/8=1@10.0.0.2*1"]);
    let restored = remove(&mut rib, "8.0.0.0/16", Protocol::Static);
    assert_eq!(restored, ["8.0.0.0/16=none", "9.0.0.0/8=1@10.0.0.1*1"]);
    let gone = remove(&mut rib, "8.0.0.0/8", Protocol::Static);
    assert_eq!(gone, ["8.0.0.0/8=none", "9.0.0.0/8=none"]);
}

#[test]
fn groups_merge_weights_and_lose_dead_members() {
    let mut rib = with_link();
    add(&mut rib, "8.0.0.0/8", Protocol::Static, via("10.0.0.1"));
    let hop = |address, interface, weight| NextHop { address, interface, weight };
    let hops = vec![
        hop(Some(ip("8.0.0.1")), None, 2),
        hop(Some(ip("10.0.0.1")), None, 1),
        hop(Some(ip("10.9.0.1")), Some(9), 1),
        hop(Some(ip("7.7.7.7")), None, 5),
    ];
    let group = Route { target: Target::Via(hops.into()) };
    let changes = add(&mut rib, "9.0.0.0/8", Protocol::Static, group);
    assert_eq!(changes, ["9.0.0.0/8=1@10.0.0.1*3,9@10.9.0.1*1"]);
    let mut changes = Vec::new();
    rib.set_interface(9, false, &mut changes);
    assert_eq!(said(&changes), ["9.0.0.0/8=1@10.0.0.1*1"]);
}

#[test]
fn special_routes_forward_nothing_and_resolve_nothing() {
    let mut rib = with_link();
    let special = Route { target: Target::Unreachable };
    assert_eq!(add(&mut rib, "8.0.0.0/8", Protocol::Static, special), ["8.0.0.0/8=unreachable"]);
    assert_eq!(add(&mut rib, "9.0.0.0/8", Protocol::Static, via("8.0.0.1")), [""; 0]);
    assert_eq!(rib.lookup(p("8.1.2.3").address()).unwrap().0, p("8.0.0.0/8"));
}

#[test]
fn no_route_leads_through_itself() {
    let mut rib = with_link();
    add(&mut rib, "0.0.0.0/0", Protocol::Static, via("10.0.0.1"));
    assert_eq!(add(&mut rib, "9.0.0.0/8", Protocol::Static, via("9.0.0.1")), [""; 0]);
    let longer = add(&mut rib, "9.0.0.0/16", Protocol::Static, via("10.0.0.2"));
    assert_eq!(longer, ["9.0.0.0/8=1@10.0.0.2*1", "9.0.0.0/16=1@10.0.0.2*1"]);
}

#[test]
fn a_ring_of_routes_comes_to_rest_and_the_rest_still_forwards() {
    let mut rib = with_link();
    add(&mut rib, "0.0.0.0/0", Protocol::Static, via("10.0.0.1"));
    add(&mut rib, "8.0.0.0/8", Protocol::Static, via("9.0.0.1"));
    add(&mut rib, "9.0.0.0/8", Protocol::Static, via("8.0.0.1"));
    remove(&mut rib, "8.0.0.0/8", Protocol::Static);
    let active = rib.active(p("9.0.0.0/8")).map(|(source, _)| source.protocol);
    assert_eq!(active, Some(Protocol::Static));
    assert_eq!(rib.active_len(), 3);
}

#[test]
fn a_whole_source_is_found_and_leaves_piece_by_piece() {
    let mut rib = with_link();
    for third in 0..5u32 {
        let prefix = Prefix::new(0x0900_0000 | third << 8, 24).unwrap();
        rib.add(prefix, Protocol::Ebgp.into(), via("10.0.0.1"), &mut Vec::new());
    }
    let (ebgp, mut from, mut pieces) = (Source::from(Protocol::Ebgp), Some(Prefix::all()), 0);
    let mut changes = Vec::new();
    while let Some(start) = from {
        let (found, next) = rib.of_source(ebgp, start, 2);
        rib.remove_all(found, ebgp, &mut changes);
        (from, pieces) = (next, pieces + 1);
    }
    assert_eq!((changes.len(), rib.active_len(), pieces), (5, 1, 3));
    assert_eq!(rib.remove_all(vec![Prefix::all()], ebgp, &mut changes), 0);
}

#[test]
fn ipv6_routes_resolve_likewise() {
    let mut rib = Rib::<u128>::new();
    let mut changes = Vec::new();
    let link: Ip6Prefix = "2001:db8::/64".parse().unwrap();
    rib.add(link, Protocol::Connected.into(), Route::connected(1), &mut changes);
    rib.add(Prefix::all(), Protocol::Static.into(), via("2001:db8::1"), &mut changes);
    let path = Path { interface: 1, address: Some(ip("2001:db8::1")), weight: 1 };
    assert_eq!(changes[1].to, Some(Resolved::Paths([path].into())));
}

/// Prefixes in four tiers by first octet; next hops lie one tier below, so that rings cannot be.
fn any_edit() -> impl Strategy<Value = (Ip4Prefix, Protocol, Option<Route>)> {
    let protocol = prop_oneof![Just(Protocol::Static), Just(Protocol::Ebgp), Just(Protocol::Ibgp)];
    let weights = prop::collection::vec((0u32..8, 1u16..4), 1..3);
    (0u32..4, 0u32..8, 8u8..=12, protocol, weights, 0u8..10).prop_map(
        |(tier, low, length, protocol, hops, kind)| {
            let prefix = Prefix::new(tier << 24 | low << 20, length).unwrap();
            let hop = |(low, weight)| match tier {
                0 => NextHop { address: None, interface: Some(low as u16), weight },
                _ => {
                    let address = std::net::Ipv4Addr::from_bits((tier - 1) << 24 | low << 20);
                    // Some of them name their interface, and need no other route.
                    let interface = (kind == 5).then_some(low as u16);
                    NextHop { address: Some(address.into()), interface, weight }
                }
            };
            let route = match kind {
                0..4 => None,
                4 => Some(Route { target: Target::Blackhole }),
                _ => Some(Route { target: Target::Via(hops.into_iter().map(hop).collect()) }),
            };
            (prefix, protocol, route)
        },
    )
}

/// Takes changes in, as a forwarding table does; the one that changes nothing, if there is one.
fn tell(
    shadow: &mut BTreeMap<Ip4Prefix, Resolved>,
    changes: Vec<Change<u32>>,
) -> Result<(), Change<u32>> {
    changes.into_iter().try_for_each(|change| {
        let before = match change.to.clone() {
            Some(to) => shadow.insert(change.prefix, to),
            None => shadow.remove(&change.prefix),
        };
        if before == change.to { Err(change) } else { Ok(()) }
    })
}

/// Routes over a neighbour on interface 1, and one over that on interface 2, told to go down.
#[test]
fn a_link_that_goes_is_settled_a_slice_at_a_time() {
    let mut rib = Rib4::with_slice(10);
    let mut changes = Vec::new();
    for third in 0..100u32 {
        let hop = |interface| NextHop { address: Some(ip("10.0.0.1")), interface, weight: 1 };
        let hops = vec![hop(Some(1 + (third % 2) as u16))];
        let prefix = Prefix::new(0x0900_0000 | third << 8, 24).unwrap();
        let route = Route { target: Target::Via(hops.into()) };
        rib.add(prefix, Protocol::Ebgp.into(), route, &mut changes);
    }
    assert!(!rib.is_settling());
    changes.clear();
    rib.set_interface(1, false, &mut changes);
    assert_eq!((changes.len(), rib.active_len()), (5, 95));
    // What comes and goes meanwhile is right at once.
    let new = NextHop { address: Some(ip("10.0.0.1")), interface: Some(1), weight: 1 };
    let new = Route { target: Target::Via(vec![new].into()) };
    rib.add(p("1.0.0.0/8"), Protocol::Ebgp.into(), new, &mut changes);
    assert!(rib.active(p("1.0.0.0/8")).is_none());
    let mut slices = 0;
    while rib.settle_more(&mut changes) {
        slices += 1;
    }
    assert_eq!((changes.len(), rib.active_len(), slices), (50, 50, 7));
    rib.set_interface(1, true, &mut changes);
    while rib.settle_more(&mut changes) {}
    assert_eq!(rib.active_len(), 101);
}

/// A thousand routes by one next hop that another route leads to.
#[test]
fn routes_by_one_next_hop_are_settled_a_slice_at_a_time() {
    let mut rib = Rib4::with_slice(100);
    add(&mut rib, "10.0.0.0/24", Protocol::Connected, Route::connected(1));
    for third in 0..1000u32 {
        let prefix = Prefix::new(0x0900_0000 | third << 8, 24).unwrap();
        rib.add(prefix, Protocol::Ebgp.into(), via("8.0.0.1"), &mut Vec::new());
    }
    let mut changes = Vec::new();
    rib.add(p("8.0.0.0/8"), Protocol::Static.into(), via("10.0.0.1"), &mut changes);
    assert_eq!(changes.len(), 101);
    // It changes again on the way: those that are done are done anew, and nobody twice more.
    rib.add(p("8.0.0.0/8"), Protocol::Static.into(), via("10.0.0.2"), &mut changes);
    while rib.settle_more(&mut changes) {}
    assert_eq!(rib.active_len(), 1002);
    assert_eq!(changes.len(), 101 + 1 + 1000);
    let to = |change: &Change<u32>| said(std::slice::from_ref(change)).concat();
    assert!(changes[102..].iter().all(|change| to(change).ends_with("=1@10.0.0.2*1")));
}

proptest! {
    #[test]
    fn any_order_of_edits_ends_as_a_table_built_at_once(
        edits in prop::collection::vec(any_edit(), 1..60),
        links in prop::collection::vec((0usize..60, 0u16..8, any::<bool>()), 0..12),
        slice in prop_oneof![Just(1usize), 1usize..9, Just(4096)],
    ) {
        let mut rib = Rib4::with_slice(slice);
        let mut shadow: BTreeMap<Ip4Prefix, Resolved> = BTreeMap::new();
        let mut down = std::collections::BTreeSet::new();
        let last = edits.len() - 1;
        for (at, (prefix, protocol, route)) in edits.into_iter().enumerate() {
            let mut changes = Vec::new();
            match route {
                Some(route) => rib.add(prefix, protocol.into(), route, &mut changes),
                None => drop(rib.remove(prefix, protocol.into(), &mut changes)),
            }
            for &(_, interface, up) in links.iter().filter(|(when, ..)| *when == at) {
                // One call, one list: a prefix stands in each once.
                prop_assert!(tell(&mut shadow, std::mem::take(&mut changes)).is_ok());
                rib.set_interface(interface, up, &mut changes);
                if up { down.remove(&interface) } else { down.insert(interface) };
            }
            prop_assert!(tell(&mut shadow, changes).is_ok());
            while at == last && rib.is_settling() {
                let mut changes = Vec::new();
                rib.settle_more(&mut changes);
                prop_assert!(changes.len() <= slice);
                prop_assert!(tell(&mut shadow, changes).is_ok());
            }
        }
        let mut anew = Rib4::new();
        down.iter().for_each(|interface| anew.set_interface(*interface, false, &mut Vec::new()));
        for view in rib.routes() {
            anew.add(view.prefix, view.source, view.route.clone(), &mut Vec::new());
        }
        let active = |rib: &Rib4| -> BTreeMap<Ip4Prefix, Resolved> {
            let views = rib.routes().filter_map(|view| Some((view.prefix, view.active?.clone())));
            views.collect()
        };
        prop_assert_eq!(active(&rib), active(&anew));
        prop_assert_eq!(active(&rib), shadow);
        prop_assert_eq!(rib.active_len(), active(&rib).len());
        for protocol in [Protocol::Static, Protocol::Ebgp, Protocol::Ibgp] {
            let of = |view: &RouteView<'_, u32>| view.source == protocol.into();
            let routes = rib.routes().filter(of).count();
            let active = rib.routes().filter(|view| of(view) && view.active.is_some()).count();
            prop_assert_eq!(rib.count(protocol.into()), SourceCount { routes, active });
        }
    }
}
