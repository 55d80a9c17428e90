//! What routers of older versions left, as the tests of `state` keep it.

use super::*;
use control::view::{Answer, RouteFilter, Routes, StationFilter, Stations};
use state::{Boot, Table, VERSION, header};

/// Of version 0.2.0, with the configuration of that router.
const FIRST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../state/tests/older/format-1");

/// Puts its files into a folder as if that router had run on this machine a moment ago; `change`
/// may do to them what it wants.
fn left_by_the_first(place: &Place, change: impl Fn(&mut [u8])) {
    std::fs::create_dir(&place.0).unwrap();
    rustix_mode(&place.0);
    for table in Table::ALL {
        let mut bytes = std::fs::read(Path::new(FIRST).join(table.name())).unwrap();
        let version = bytes[8..12].to_owned();
        // Which start of the machine it was, and when: of the form that this version has.
        let head = header(table, &Boot::now());
        bytes[..head.len()].copy_from_slice(&head);
        assert_eq!(version, bytes[8..12], "it has another form: what it left is refused");
        change(&mut bytes);
        let path = place.0.join(table.name());
        std::fs::write(&path, bytes).unwrap();
        rustix_mode(&path);
    }
}

fn text() -> String {
    std::fs::read_to_string(Path::new(FIRST).join("router.toml")).unwrap()
}

/// What a router has that may have come from one before.
#[derive(Debug, PartialEq)]
struct Has {
    routes: Vec<String>,
    /// Addresses of neighbours whose MAC address is known.
    neighbors: Vec<&'static str>,
    stations: Vec<String>,
    /// Packets and bytes that came by p1.
    received: [u64; 2],
    /// Packets and bytes of each colour: it has two.
    policed: Vec<[u64; 2]>,
    remotes: Vec<String>,
    mappings: Vec<String>,
}

fn has(router: &mut Router) -> Has {
    let routes = ["default", "red"].into_iter().flat_map(|vrf| brought(router, vrf)).collect();
    let is_known = |address: &&str| {
        let key = NeighborKey { interface: id(router, "p1"), address: address.parse().unwrap() };
        let known = router.core.neighborhood.machine.get(key);
        known.is_some_and(|known| known.mac == Some([2, 0, 0, 0, 0, 9]))
    };
    let neighbors = ["192.0.2.9", "2001:db8::9"].into_iter().filter(is_known).collect();
    let shown = router.show_ports();
    let p1 = shown.iter().find(|it| it.name == "p1").unwrap();
    let received = [p1.rx.packets, p1.rx.bytes];
    let policed = router.parts.policers.show(&router.core);
    let policed = policed[0].colours.iter().map(|it| [it.packets, it.bytes]).collect();
    let tunnel = router.core.ports.get(&PortName::from_text("vx0").unwrap()).unwrap();
    let learned = tunnel.remotes.iter().filter(|(_, remote)| remote.learned.is_some());
    let remotes = learned.map(|(address, _)| address.to_string()).collect();
    let mapping = |it: control::view::LispEntry| {
        let locators: Vec<_> = it.rlocs.into_iter().map(|it| it.address).collect();
        format!("{} {} {}", it.eid, it.action, locators.join(" "))
    };
    let mappings = router.parts.lisp.show_cache(&router.core).into_iter().map(mapping).collect();
    let stations = stations(router);
    Has { routes, neighbors, stations, received, policed, remotes, mappings }
}

/// Routes of a VRF that came by a protocol.
fn brought(router: &mut Router, vrf: &str) -> Vec<String> {
    let mut filter = RouteFilter { vrf: Some(vrf.into()), ..Default::default() };
    let mut all = Vec::new();
    loop {
        let slice = Answer::<Routes>::answer(router, &filter).unwrap().whole();
        all.extend(slice.routes);
        filter.from = slice.next;
        if filter.from.is_none() {
            break;
        }
    }
    let route = |it: control::view::Route| {
        let hop = |hop: &control::view::NextHop| {
            let (address, port) = (hop.address.as_deref(), hop.port.as_deref());
            format!("{} {} {}", address.unwrap_or("-"), port.unwrap_or("-"), hop.weight)
        };
        let hops: Vec<_> = it.next_hops.iter().map(hop).collect();
        let to = it.action.clone().unwrap_or_else(|| hops.join(", "));
        let active = if it.active { "" } else { " inactive" };
        format!("{} {} {}: {to}{active}", it.vrf, it.prefix, it.origin)
    };
    let of_protocols = all.into_iter().filter(|it| it.origin.starts_with("ebgp"));
    of_protocols.map(route).collect()
}

fn stations(router: &mut Router) -> Vec<String> {
    let all = Answer::<Stations>::answer(router, &StationFilter::default()).unwrap().whole();
    let station = |it: control::view::Station| {
        format!("{} {} {}", it.mac, it.port, it.remote.as_deref().unwrap_or("-"))
    };
    let mut all: Vec<_> = all.stations.into_iter().map(station).collect();
    all.sort();
    all
}

fn nothing() -> Has {
    Has {
        routes: Vec::new(),
        neighbors: Vec::new(),
        stations: Vec::new(),
        received: [0; 2],
        policed: vec![[0; 2]; 2],
        remotes: Vec::new(),
        mappings: Vec::new(),
    }
}

#[test]
fn what_the_first_version_left_is_taken_over_and_handed_on() {
    let place = Place::new("older");
    left_by_the_first(&place, |_| {});
    // The route of zebra is not there, as nobody tells it here, nor what was taken back.
    let left = Has {
        routes: [
            "default 10.1.0.0/16 ebgp/20: 192.0.2.9 p1 1",
            "default 10.2.0.0/16 ebgp/20: 192.0.2.9 p1 3, 192.0.2.8 p1 1",
            "default 10.3.0.0/16 ebgp/20: blackhole",
            "default 10.4.0.0/16 ebgp/20: unreachable",
            "default 10.5.0.0/16 ebgp/20: prohibit",
            "default 2001:db8:1::/48 ebgp/20: 2001:db8::9 p1 1",
            "red 10.1.0.0/16 ebgp/20: 192.0.2.9 - 1 inactive",
        ]
        .map(str::to_owned)
        .to_vec(),
        neighbors: vec!["192.0.2.9", "2001:db8::9"],
        stations: [
            "04:00:00:00:00:09 p2 -",
            "04:00:00:00:00:0a vx0 192.0.2.10",
            "06:06:06:06:06:06 p2 -",
        ]
        .map(str::to_owned)
        .to_vec(),
        received: [7, 420],
        policed: vec![[1, 60], [3, 180]],
        remotes: vec!["192.0.2.10".into()],
        mappings: vec![
            "10.2.0.0/16 forward 192.0.2.3 2001:db8::9".into(),
            "10.3.0.0/16 forward unknown kind".into(),
        ],
    };
    let mut before = forwards(&place.0, &text());
    assert_eq!(leads(&before, [10, 1, 0, 1]), Some(true), "before a route is in the RIB");
    before.take_over();
    assert_eq!(has(&mut before), left);
    assert_eq!(leads(&before, [10, 1, 0, 1]), Some(true), "by the neighbour that was known");
    assert_eq!(leads(&before, [10, 9, 0, 1]), None, "it was taken back");
    turn_until(&mut before, &place.0, |left| {
        left.routes.as_ref().is_some_and(|(routes, _)| routes.len() == 7)
    });
    drop(before);
    assert_eq!(has(&mut start(&place.0, &text())), left, "and by the next one");
}

#[test]
fn what_a_newer_version_left_is_not_and_gives_way_to_our_own() {
    let place = Place::new("newer");
    left_by_the_first(&place, |bytes| bytes[8..12].copy_from_slice(&(VERSION + 1).to_le_bytes()));
    let mut router = start(&place.0, &text());
    assert_eq!(has(&mut router), nothing());
    load(&mut router, "default", routes(5, "192.0.2.9"));
    drop(router);
    for table in [Table::Routes, Table::Counters, Table::Policers, Table::Stations] {
        let bytes = std::fs::read(place.0.join(table.name())).unwrap();
        assert_eq!(bytes[8..12], VERSION.to_le_bytes(), "{}", table.name());
    }
    let left = Left::read(&place.0, KEEP);
    assert_eq!(left.routes.map(|(routes, _)| routes.len()), Some(5));
}
