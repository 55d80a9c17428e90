//! Files of every version of the format, as that version wrote them: taken over, or refused with
//! what is wrong.
//!
//! ```text
//!  older/format-1/TABLE   as 0.2.0 wrote it; of the router of router.toml beside
//! ```
//! These files stay as they are. With another form of any table [`state::VERSION`] is raised, and
//! `VOLLEY_BLESS=1` keeps what the new version writes in a folder of its own.
#![allow(clippy::unwrap_used, clippy::panic)] // These are tests.

use state::routes::{Hop, Key, Routes, Target, Writer};
use state::{Blocks, Boot, Refused, Table, VERSION, block, header, snapshot};
use state::{counters, mappings, neighbors, policers, remotes, stations};
use std::fmt::Debug;
use std::path::PathBuf;

/// The start of the machine that all these files are of.
const BOOT: Boot = Boot { id: *b"volley-fixture-1", now_ns: 5_000_000_000 };
/// A second later.
const LATER: Boot = Boot { now_ns: BOOT.now_ns + 1_000_000_000, ..BOOT };
const KEEP_S: u64 = 60;

fn folder(version: u32) -> PathBuf {
    let older = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/older");
    PathBuf::from(older).join(format!("format-{version}"))
}

fn kept(version: u32, table: Table) -> Vec<u8> {
    let path = folder(version).join(table.name());
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn the_neighbors() -> Vec<neighbors::Neighbor> {
    let neighbor = |address: &str, is_used| neighbors::Neighbor {
        port: "p1".into(),
        address: address.parse().unwrap(),
        mac: [2, 0, 0, 0, 0, 9],
        age_ms: 1234,
        is_used,
    };
    vec![neighbor("192.0.2.9", true), neighbor("2001:db8::9", false)]
}

fn the_stations() -> Vec<stations::Seen> {
    let seen =
        |port: &str, stations| stations::Seen { bridge: "lan".into(), port: port.into(), stations };
    vec![seen("p2", vec![([6; 6], 1), ([4, 0, 0, 0, 0, 9], 20)]), seen("p3", Vec::new())]
}

fn the_counters() -> Vec<counters::Counter> {
    let counter = |names: [&str; 3], value| (names.map(str::to_owned), value);
    vec![
        counter(["port", "p1", "rx_packets"], 7),
        counter(["port", "p1", "rx_bytes"], 420),
        counter(["drop", "p1", "ip4-lookup no-route"], 3),
        counter(["node", "ip4-lookup", "packets"], u64::MAX),
    ]
}

fn the_policers() -> Vec<policers::Policer> {
    let counted = [[1, 60], [2, 120], [3, 180]];
    vec![policers::Policer { name: "slow".into(), held: [1000, 0], counted }]
}

fn the_remotes() -> Vec<remotes::Remote> {
    let remote = |address: &str, learned, stations| remotes::Remote {
        tunnel: "vx0".into(),
        address: address.parse().unwrap(),
        learned,
        bridge: "far".into(),
        stations,
    };
    let learned = remotes::Learned { underlay: "p1".into(), idle_ms: 500 };
    vec![
        remote("192.0.2.10", Some(learned), vec![([4, 0, 0, 0, 0, 10], 2)]),
        remote("192.0.2.7", None, Vec::new()),
    ]
}

fn the_mappings() -> Vec<mappings::Mapping> {
    let locator = |address: Option<&str>, flags| {
        let address = address.map(|it| it.parse().unwrap());
        mappings::Locator { address, priority: 1, weight: 100, flags }
    };
    let mapping = |address: &str, action, locators| mappings::Mapping {
        instance: 7,
        address: address.parse().unwrap(),
        length: 16,
        action,
        left_ms: 3_600_000,
        locators,
    };
    let several = vec![locator(Some("192.0.2.3"), 5), locator(Some("2001:db8::9"), 1)];
    vec![mapping("10.2.0.0", 0, several), mapping("10.3.0.0", 3, vec![locator(None, 0)])]
}

/// A log in which everything is that a log may have.
fn route_log() -> Vec<u8> {
    let hop = |address: &str, port: Option<&str>, weight| {
        let address = Some(address.parse().unwrap());
        Hop { address, port: port.map(str::to_owned), weight }
    };
    let mut log = Writer::default();
    let [default, red] = ["default", "red"].map(|name| log.vrf(name).unwrap());
    let [via, ways, via6, shared, blackhole, unreachable, prohibit] = [
        Target::Via(vec![hop("192.0.2.9", None, 1)]),
        Target::Via(vec![hop("192.0.2.9", Some("p1"), 3), hop("192.0.2.8", Some("p1"), 1)]),
        Target::Via(vec![hop("2001:db8::9", Some("p1"), 1)]),
        Target::Shared(7),
        Target::Blackhole,
        Target::Unreachable,
        Target::Prohibit,
    ]
    .map(|target| log.target(&target).unwrap());
    // Of BGP, by its number, and one of zebra's.
    let key = |vrf, second: u8, protocol| {
        let address = u32::from_be_bytes([10, second, 0, 0]);
        Key { vrf, address, length: 16, preference: 20, protocol }
    };
    log.route(key(default, 1, 1), Some(via));
    log.route(key(default, 2, 1), Some(ways));
    log.route(key(default, 3, 1), Some(blackhole));
    log.route(key(default, 4, 1), Some(unreachable));
    log.route(key(default, 5, 1), Some(prohibit));
    log.route(key(default, 6, 6), Some(shared));
    log.route(key(default, 9, 1), Some(via));
    log.route(key(default, 9, 1), None);
    log.route(key(red, 1, 1), Some(via));
    log.group::<u32>(default, 7, Some(ways));
    log.group::<u32>(default, 8, Some(via));
    log.group::<u32>(default, 8, None);
    let address = 0x2001_0db8_0001_0000_u128 << 64;
    let six = Key { vrf: default, address, length: 48, preference: 20, protocol: 1 };
    log.route(six, Some(via6));
    log.take()
}

/// What this version writes of them.
fn written(table: Table) -> Vec<u8> {
    let payload = match table {
        Table::Routes => return [header(table, &BOOT), block(&route_log())].concat(),
        Table::Neighbors => neighbors::write(the_neighbors()),
        Table::Stations => stations::write(&the_stations()),
        Table::Counters => {
            let all = the_counters();
            counters::write(
                all.iter().map(|(names, value)| (names.each_ref().map(|it| &**it), *value)),
            )
        }
        Table::Policers => policers::write(&the_policers()),
        Table::Remotes => remotes::write(&the_remotes()),
        Table::Mappings => mappings::write(&the_mappings()),
    };
    snapshot(table, &BOOT, &payload)
}

/// What stands in a file, in words.
fn read(table: Table, bytes: &[u8]) -> Result<String, Refused> {
    fn said(found: impl Debug) -> String {
        format!("{found:?}")
    }
    let blocks = Blocks::of(bytes, table, &LATER, KEEP_S)?;
    Ok(match table {
        Table::Routes => said(routes(&blocks)?),
        Table::Neighbors => said(neighbors::read(&blocks.snapshot()?)?),
        Table::Stations => said(stations::read(&blocks.snapshot()?)?),
        Table::Counters => said(counters::read(&blocks.snapshot()?)?),
        Table::Policers => said(policers::read(&blocks.snapshot()?)?),
        Table::Remotes => said(remotes::read(&blocks.snapshot()?)?),
        Table::Mappings => said(mappings::read(&blocks.snapshot()?)?),
    })
}

fn routes(blocks: &Blocks<'_>) -> Result<Routes, Refused> {
    let mut routes = Routes::default();
    blocks.log(|block| Ok(routes.read(block)?))?;
    routes.settle();
    Ok(routes)
}

/// Of a version there has been: what it left, as this one has to understand it.
fn meant(table: Table) -> String {
    match table {
        Table::Routes => {
            let mut routes = Routes::default();
            routes.read(&route_log()).unwrap();
            routes.settle();
            format!("{routes:?}")
        }
        Table::Neighbors => format!("{:?}", the_neighbors()),
        Table::Stations => format!("{:?}", the_stations()),
        Table::Counters => format!("{:?}", the_counters()),
        Table::Policers => format!("{:?}", the_policers()),
        Table::Remotes => format!("{:?}", the_remotes()),
        Table::Mappings => format!("{:?}", the_mappings()),
    }
}

#[test]
fn what_is_written_is_what_its_version_says() {
    let folder = folder(VERSION);
    if std::env::var_os("VOLLEY_BLESS").is_some() && !folder.join("routes").exists() {
        std::fs::create_dir_all(&folder).unwrap();
        for table in Table::ALL {
            std::fs::write(folder.join(table.name()), written(table)).unwrap();
        }
    }
    for table in Table::ALL {
        assert_eq!(
            written(table),
            kept(VERSION, table),
            "{} has another form than version {VERSION} of the format: routers of that version would \
             misread it. Raise state::VERSION; VOLLEY_BLESS=1 then keeps the new form beside",
            table.name()
        );
    }
}

#[test]
fn what_older_versions_left_is_taken_over_or_refused_by_its_version() {
    for version in 1..=VERSION {
        for table in Table::ALL {
            match read(table, &kept(version, table)) {
                Ok(found) => {
                    assert_eq!(found, meant(table), "{} of version {version}", table.name())
                }
                Err(Refused::Version { found, known }) => {
                    assert!(version < VERSION, "its own version is refused");
                    assert_eq!((found, known), (version, VERSION));
                }
                Err(refused) => panic!("{} of version {version}: {refused}", table.name()),
            }
        }
    }
}

#[test]
fn the_log_of_the_first_version_has_these_routes() {
    let bytes = kept(1, Table::Routes);
    let blocks = Blocks::of(&bytes, Table::Routes, &LATER, KEEP_S).unwrap();
    let routes = routes(&blocks).unwrap();
    let seconds: Vec<_> =
        routes.ip4.iter().map(|(key, to)| (key.vrf, key.address.to_be_bytes()[1], *to)).collect();
    assert_eq!(
        seconds,
        [(0, 1, 0), (0, 2, 1), (0, 3, 4), (0, 4, 5), (0, 5, 6), (0, 6, 3), (1, 1, 0)]
    );
    assert_eq!(routes.ip6[0].0.length, 48);
    assert_eq!(routes.vrfs, ["default", "red"]);
    assert_eq!(routes.groups.into_iter().collect::<Vec<_>>(), [((false, 0, 7), 1)]);
}

#[test]
fn what_a_newer_version_left_is_refused_by_its_version_whatever_it_looks_like() {
    for table in Table::ALL {
        let mut newer = kept(1, table);
        newer[8..12].copy_from_slice(&(VERSION + 1).to_le_bytes());
        let told = format!(
            "it has version {} of the format, and this router knows {VERSION}",
            VERSION + 1
        );
        // As we would have written it, with something behind, cut, and with other bytes.
        let mut longer = newer.clone();
        longer.extend([0xa5; 300]);
        let mut other = newer.clone();
        other[12..].iter_mut().for_each(|byte| *byte = !*byte);
        for file in [&newer[..], &longer, &newer[..12], &other] {
            assert_eq!(read(table, file).unwrap_err().to_string(), told, "{}", table.name());
        }
    }
}

/// How many changes of the log are read, of one that is told whole by `read`.
fn entries(bytes: &[u8]) -> Option<u64> {
    let blocks = Blocks::of(bytes, Table::Routes, &LATER, KEEP_S).ok()?;
    Some(routes(&blocks).ok()?.entries)
}

#[test]
fn what_is_cut_or_has_a_bit_turned_is_refused_or_is_a_log_that_ends_before() {
    /// Of the header, what no checksum is over: it says nothing.
    const UNUSED: std::ops::Range<usize> = 52..56;
    for table in Table::ALL {
        let whole = kept(1, table);
        let meant = meant(table);
        let holds = |bytes: &[u8], what: String| match read(table, bytes) {
            Err(_) => {}
            Ok(found) if table != Table::Routes => {
                assert_eq!(found, meant, "{}, {what}", table.name());
                panic!("{}, {what}: it is believed", table.name());
            }
            // The one block that there is, is torn.
            Ok(_) => assert_eq!(entries(bytes), Some(0), "{what}"),
        };
        for length in 0..whole.len() {
            holds(&whole[..length], format!("the first {length} bytes"));
        }
        for bit in (0..whole.len() * 8).filter(|bit| !UNUSED.contains(&(bit / 8))) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            holds(&bytes, format!("bit {bit} turned"));
        }
    }
}
