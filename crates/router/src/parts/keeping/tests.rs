//! Routers one after the other, of one folder.

mod of_parts;
mod older;

use crate::{Left, Router};
use control::bulk::BulkRoute;
use control::config::field::Field;
use control::config::objects::port::PortName;
use control::config::{Config, Host, Source, parse};
use control::engine::Engine;
use fib::mac::MacKey;
use fib::neighbor::NeighborKey;
use fib::rib::{Protocol, Route};
use nodes::tables::{ArpHeard, Mode, Punt, VrfId};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const KEEP: Duration = Duration::from_secs(60);
const TEXT: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
vrf.red = {}
port.p1 = { kind = "memory", addresses = ["192.0.2.1/24"], frames = ["ffffffffffff02000000000188b5"] }
port.p2 = { kind = "memory" }
port.p3 = { kind = "memory" }
bridge.lan = { ports = ["p2", "p3"] }
"#;

/// A folder of a test, which goes with it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("volley-{name}-{}", std::process::id()));
        let _left_over = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn config(text: &str) -> Config {
    parse(&Source::new("router.toml", text), &Host::any()).unwrap()
}

/// A router that takes over what there is, up to the moment in which it forwards.
fn forwards(folder: &Path, text: &str) -> Router {
    let config = config(text);
    let mut router = Router::start(&config, Arc::new(|| ())).unwrap();
    router.keep_state(Left::read(folder, KEEP));
    router.apply_all(&Config::diff(&Config::default(), &config)).unwrap();
    router
}

fn start(folder: &Path, text: &str) -> Router {
    let mut router = forwards(folder, text);
    router.take_over();
    router
}

/// Turns a router until what it has is written: `written` sees what the next one would take over.
fn turn_until(router: &mut Router, folder: &Path, written: impl Fn(&Left) -> bool) {
    let copy = folder.with_extension("copy");
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        router.tick(Duration::ZERO);
        // The folder is locked by the router that runs.
        let _left_over = std::fs::remove_dir_all(&copy);
        std::fs::create_dir(&copy).unwrap();
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if !entry.file_name().to_string_lossy().starts_with('.') {
                let _replaced_meanwhile = std::fs::copy(entry.path(), copy.join(entry.file_name()));
            }
        }
        rustix_mode(&copy);
        let seen = written(&Left::read(&copy, KEEP));
        std::fs::remove_dir_all(&copy).unwrap();
        if seen {
            return;
        }
        assert!(Instant::now() < end, "it is not written");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// As the router makes it, whatever the mask of the tests is.
fn rustix_mode(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
}

fn routes(count: u32, via: &str) -> Vec<BulkRoute> {
    let prefix = |n: u32| format!("10.{}.{}.0/24", n >> 8, n & 255).parse().unwrap();
    let via: std::net::IpAddr = via.parse().unwrap();
    (0..count).map(|n| (prefix(n), Route::via(via))).collect()
}

fn load(router: &mut Router, vrf: &str, routes: Vec<BulkRoute>) {
    let (_, outcome) = router.add_routes(vrf, Protocol::Ebgp.into(), routes);
    outcome.unwrap();
}

fn count(router: &Router, vrf: &str) -> (usize, usize) {
    let count = router.count_routes(vrf, Protocol::Ebgp.into());
    (count.routes, count.active)
}

fn id(router: &Router, port: &str) -> u16 {
    router.core.ports.id_of(&PortName::from_text(port).unwrap()).unwrap()
}

fn hear(router: &mut Router, address: [u8; 4]) {
    let (address, interface) = (u32::from_be_bytes(address), id(router, "p1"));
    let mac = [2, 0, 0, 0, 0, 9];
    let heard = ArpHeard {
        interface,
        address,
        mac,
        is_reply: false,
        is_gratuitous: false,
        is_for_us: true,
    };
    let Router { parts, core, .. } = router;
    parts.hear(core, Punt::Arp(heard));
    core.settle_neighbors();
}

/// What the table of IPv4 says of an address, and whether packets could leave.
fn leads(router: &Router, address: [u8; 4]) -> Option<bool> {
    let tables = router.core.dataplane.vrfs().get(VrfId::DEFAULT).unwrap();
    let word = tables.ip4.lookup(u32::from_be_bytes(address));
    if word.kind() != nodes::tables::Kind::Rewrite as u8 {
        return None;
    }
    let id = fib::adjacency::AdjacencyId(word.id());
    Some(router.core.dataplane.adjacencies.entry(id)?.fields().is_complete())
}

#[test]
fn what_was_accepted_is_there_again_before_packets_are_read() {
    let place = Place::new("taken-over");
    let mut first = start(&place.0, TEXT);
    hear(&mut first, [192, 0, 2, 9]);
    load(&mut first, "default", routes(3000, "192.0.2.9"));
    load(&mut first, "red", routes(10, "192.0.2.9"));
    let station = |router: &Router, mac: [u8; 6]| {
        let row = router.core.dataplane.interfaces().get(id(router, "p2")).unwrap();
        let Mode::Bridged(bridged) = &row.mode else { panic!() };
        (MacKey::new(bridged.bridge.0, mac), u32::from(row.port))
    };
    let (key, behind) = station(&first, [6; 6]);
    first.core.dataplane.stations.table.learn(key, behind, 0);
    turn_until(&mut first, &place.0, |left| {
        let routes = left.routes.as_ref().map_or(0, |(routes, _)| routes.len());
        let counted = left.counters.iter().any(|(names, _)| names[0] == "drop");
        routes == 3010 && left.neighbors.len() == 1 && !left.stations.is_empty() && counted
    });
    let shown = first.show_ports()[0].clone();
    assert!(shown.rx.packets > 0 && shown.rx.drops > 0);
    drop(first);

    let mut second = forwards(&place.0, TEXT);
    // Nothing is in the RIB yet, and packets have their way: its MAC address is known.
    assert_eq!(count(&second, "default"), (0, 0));
    assert_eq!(leads(&second, [10, 11, 183, 1]), Some(true));
    let again = &second.show_ports()[0];
    assert!(again.rx.packets >= shown.rx.packets && again.rx.bytes >= shown.rx.bytes);
    assert!(again.rx.drops >= shown.rx.drops, "{:?} after {:?}", again.rx, shown.rx);
    let (key, behind) = station(&second, [6; 6]);
    let entry = second.core.dataplane.stations.table.lookup(key, 0).unwrap();
    assert_eq!((entry.port, entry.is_static), (behind, false));
    second.take_over();
    assert_eq!((count(&second, "default"), count(&second, "red")), ((3000, 3000), (10, 0)));
    assert_eq!(leads(&second, [10, 11, 183, 1]), Some(true));
    // They are like all others: a word goes with its route, and the neighbour with the last one.
    let all = fib::route_file::FilePrefix::first();
    let mut from = Some(all);
    while let Some(next) = from {
        from = second.sweep_routes("default", Protocol::Ebgp.into(), next, &|_| false).unwrap().1;
    }
    assert_eq!(leads(&second, [10, 11, 183, 1]), None);
    let key = NeighborKey { interface: id(&second, "p1"), address: [192, 0, 2, 9].into() };
    let users = |router: &Router| {
        let all = router.core.routing.next_hops();
        all.iter().find(|hop| hop.key == key).map(|hop| hop.users)
    };
    assert_eq!(users(&second), Some(0), "a word was counted that nobody wrote");
    drop(second);
    // What went does not come again.
    let third = start(&place.0, TEXT);
    assert_eq!((count(&third, "default").0, count(&third, "red").0), (0, 10));
}

#[test]
fn what_has_no_place_any_more_is_left_and_is_not_kept_for_ever() {
    let place = Place::new("no-place");
    let mut first = start(&place.0, TEXT);
    load(&mut first, "red", routes(10, "192.0.2.9"));
    load(&mut first, "default", routes(5, "192.0.2.9"));
    drop(first);
    let without = TEXT.replace("vrf.red = {}\n", "");
    let mut second = start(&place.0, &without);
    assert_eq!(count(&second, "default").0, 5);
    turn_until(&mut second, &place.0, |left| {
        left.routes.as_ref().is_some_and(|(routes, _)| routes.len() == 5)
    });
    drop(second);
    let third = start(&place.0, TEXT);
    assert_eq!((count(&third, "red").0, count(&third, "default").0), (0, 5));
}

#[test]
fn a_vrf_that_went_and_came_again_has_no_routes_of_before() {
    let place = Place::new("vrf");
    let mut first = start(&place.0, TEXT);
    load(&mut first, "red", routes(10, "192.0.2.9"));
    let (with, without) = (config(TEXT), config(&TEXT.replace("vrf.red = {}\n", "")));
    first.apply_all(&Config::diff(&with, &without)).unwrap();
    first.apply_all(&Config::diff(&without, &with)).unwrap();
    turn_until(&mut first, &place.0, |left| {
        left.routes.as_ref().is_some_and(|(routes, _)| routes.is_empty())
    });
    drop(first);
    assert_eq!(count(&start(&place.0, TEXT), "red").0, 0);
}

#[test]
fn a_log_is_written_anew_when_it_says_much_that_is_no_more_so() {
    let place = Place::new("anew");
    let mut first = start(&place.0, TEXT);
    for round in 0..24 {
        load(&mut first, "default", routes(4000, ["192.0.2.9", "192.0.2.8"][round % 2]));
        first.tick(Duration::ZERO);
    }
    turn_until(&mut first, &place.0, |left| {
        left.routes
            .as_ref()
            .is_some_and(|(routes, _)| routes.entries < 50_000 && routes.len() == 4000)
    });
    drop(first);
    let second = start(&place.0, TEXT);
    assert_eq!(count(&second, "default"), (4000, 4000));
}

#[test]
fn what_is_not_to_be_believed_costs_only_itself() {
    let place = Place::new("refused");
    let mut first = start(&place.0, TEXT);
    hear(&mut first, [192, 0, 2, 9]);
    load(&mut first, "default", routes(5, "192.0.2.9"));
    drop(first);
    let path = place.0.join("routes");
    let mut bytes = std::fs::read(&path).unwrap();
    // Of a newer version.
    bytes[8] += 1;
    std::fs::write(&path, &bytes).unwrap();
    let mut second = start(&place.0, TEXT);
    assert_eq!(count(&second, "default").0, 0);
    let key = NeighborKey { interface: id(&second, "p1"), address: [192, 0, 2, 9].into() };
    assert!(second.core.neighborhood.machine.get(key).unwrap().mac.is_some());
    // It keeps its own from now on.
    load(&mut second, "default", routes(7, "192.0.2.9"));
    drop(second);
    assert_eq!(count(&start(&place.0, TEXT), "default").0, 7);
}
