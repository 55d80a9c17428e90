//! The scenarios that come with the lab: all of them parse, and between them they cover every line
//! of the sources' scenario table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use std::path::{Path, PathBuf};

use lab_record::axes::{Axis, Entries, Flows, FrameBytes};
use lab_traffic::Rate;
use lab_traffic::arrivals::Imix;
use lab_trial::cut::Cut;
use lab_trial::link::LinkKind;
use lab_trial::load::frames::Load;
use lab_trial::scenario::{Case, Function, Scenario};
use lab_trial::scenario_file;

/// Each line of the sources' table, and the files that measure it.
const TABLE: [(&str, &[&str]); 20] = [
    ("L2 cross-connect", &["l2-xconnect"]),
    ("L2 bridge", &["l2-bridge"]),
    ("L2 table scaling", &["l2-table-size"]),
    ("L2 with many flows", &["l2-flows"]),
    ("L2 ethertype", &["l2-ethertype"]),
    ("IPv4, IPv6", &["ip4-routes", "ip6-routes", "ip4-table-size", "ip6-table-size"]),
    ("largest table", &["ip4-largest-table", "ip6-largest-table"]),
    ("VXLAN encapsulation", &["vxlan-encap"]),
    ("workers", &["workers"]),
    ("clock", &["clock", "packet-cost"]),
    ("vector size", &["vector-size"]),
    ("live change", &["live-change"]),
    ("containers / VMs", &["containers", "vms"]),
    ("schedulers", &["schedulers"]),
    ("functional set", &["functional"]),
    ("COP allow lists", &["source-allow-list"]),
    ("dot1q", &["dot1q"]),
    ("GRE", &["gre"]),
    ("IPv6 beside IPv4", &["ip6"]),
    ("searches", &["max-rate", "throughput", "loss-scan", "frame-loss", "soak"]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn load(name: &str) -> Result<Scenario, lab_record::Error> {
    scenario_file::load(&folder().join(name).with_extension("toml"))
}

#[test]
fn every_file_parses_is_named_after_its_scenario_and_has_cases() {
    let mut files = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let scenario = load(&stem).unwrap();
        assert_eq!(scenario.name.get_ref(), &stem);
        assert!(!scenario.cases().is_empty(), "{stem}");
        files += 1;
    }
    assert!(files >= 35, "{files} files");
}

#[test]
fn every_line_of_the_sources_table_has_its_scenario() {
    for (line, names) in TABLE {
        names.iter().for_each(|name| drop(load(name).unwrap()));
        assert!(!names.is_empty(), "{line}");
    }
}

/// What a campaign would send first in each case, or why it cannot.
#[test]
fn every_frame_of_every_case_has_room_for_its_headers() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    for path in files {
        let scenario = scenario_file::load(&path).unwrap();
        for case in scenario.cases() {
            let usual = u64::from(*scenario.traffic.frame_bytes.get_ref());
            let bytes = case.get::<FrameBytes>().unwrap_or(usual) as u16;
            let (kind, sizes) = (case.function.kind, Imix::single(bytes));
            let load = Load::new(kind, case.ethertype, &scenario.traffic, sizes);
            for stream in [load.stream(Rate::Max), load.stream_back(Rate::Max)] {
                let checked = stream.check();
                assert!(checked.is_ok(), "{}: {:?}", path.display(), checked);
            }
        }
    }
}

/// What a case asks of the device and sends, apart from its labels.
fn asked(scenario: &Scenario, case: &Case) -> String {
    let usual = u64::from(*scenario.traffic.frame_bytes.get_ref());
    let bytes = case.get::<FrameBytes>().unwrap_or(usual) as u16;
    let sizes = Imix::single(bytes);
    let load = Load::new(case.function.kind, case.ethertype, &scenario.traffic, sizes);
    let entries = case.get::<Entries>().or(case.function.entries).unwrap_or(1);
    let flows = case.get::<Flows>().unwrap_or(load.flows);
    let load = Load { entries, flows, ..load };
    let function = Function { label: None, entries: None, ..case.function.clone() };
    let axes: Vec<_> =
        case.axes.iter().filter(|(name, _)| !SENT.contains(&name.as_str())).collect();
    let sent = [load.stream(Rate::Max), load.stream_back(Rate::Max)];
    format!("{function:?} {entries} {axes:?} {sent:?}")
}

/// Axes that show in what is sent; the others are told to the device or the search, as they are.
const SENT: [&str; 4] = ["ethertype", Entries::NAME, Flows::NAME, FrameBytes::NAME];

/// Cases that differ in nothing but what they are called.
fn same(scenario: &Scenario) -> Vec<String> {
    let mut seen = std::collections::BTreeMap::new();
    let mut same = Vec::new();
    for case in scenario.cases() {
        let name = format!("{} {:?}", case.function.name(), case.axes);
        if let Some(other) = seen.insert(asked(scenario, &case), name.clone()) {
            same.push(format!("{name} is {other}"));
        }
    }
    same
}

#[test]
fn every_label_and_every_value_changes_something() {
    for path in std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        let mut scenario = scenario_file::load(&path).unwrap();
        assert_eq!(same(&scenario), [""; 0], "{}", path.display());
        Cut { quick: true, ..Cut::default() }.apply(&mut scenario);
        assert_eq!(same(&scenario), [""; 0], "{} in short", path.display());
    }
    // Flows are of no account to a relay: such an axis would be found out.
    let idle = "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'dhcp4'\n[sweep]\n\
                flows = [1, 2]\n[measure]\nsearch = 'mlr'\n";
    assert_eq!(same(&Scenario::parse(idle, "x").unwrap()).len(), 1);
}

#[test]
fn every_scenario_says_its_link_and_costs_are_not_measured_over_the_kernel() {
    let linked: Vec<(String, LinkKind)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| scenario_file::load(&entry.unwrap().path()).unwrap())
        .map(|it| (it.name.get_ref().clone(), *it.link.expect("its link").kind.get_ref()))
        .collect();
    let costs = ["packet-cost", "vector-size", "ip4-table-size", "l2-bridge", "source-allow-list"];
    for name in costs {
        assert!(linked.contains(&(name.to_owned(), LinkKind::Memif)), "{name}");
    }
}

#[test]
fn the_bridge_has_all_six_feature_sets() {
    assert_eq!(load("l2-bridge").unwrap().functions.len(), 6);
}

#[test]
fn table_sizes_reach_as_far_as_the_source_asks() {
    let last = |name: &str| load(name).unwrap().cases().last().unwrap().get::<Entries>();
    assert_eq!(last("l2-table-size"), Some(1 << 23));
    assert_eq!(last("ip4-routes"), Some(1 << 24));
    assert!(
        load("ip6-routes")
            .unwrap()
            .cases()
            .iter()
            .any(|case| case.get::<Entries>() == Some(255_000))
    );
}

#[test]
fn schedulers_are_measured_behind_a_real_bottleneck_for_each_kind_of_endpoint() {
    let scenario = load("schedulers").unwrap();
    assert_eq!(scenario.cases().len(), 6 * 3);
    assert_eq!(scenario.functions[0].get_ref().bottleneck_mbps, Some(100));
}

#[test]
fn a_damaged_file_is_refused_at_a_place_inside_it_or_still_makes_sense() {
    let text = std::fs::read_to_string(folder().join("schedulers.toml")).unwrap();
    let mut random = lab_search::random::Random::new(1);
    let mut refused = 0;
    for _ in 0..600 {
        let mut damaged: Vec<char> = text.chars().collect();
        for _ in 0..1 + random.below(3) {
            let at = random.below(damaged.len() as u64) as usize;
            match random.below(3) {
                0 => drop(damaged.remove(at)),
                1 => damaged.insert(at, ['"', '[', '=', '\n', '9', 'µ'][random.below(6) as usize]),
                _ => damaged.truncate(at.max(1)),
            }
        }
        let damaged: String = damaged.into_iter().collect();
        match Scenario::parse(&damaged, "damaged.toml") {
            Ok(scenario) => assert!(!scenario.cases().is_empty()),
            Err(lab_record::Error::Scenario { line, column, reason, .. }) => {
                refused += 1;
                assert!(line <= damaged.split('\n').count(), "{line} of:\n{damaged}");
                let length = damaged.split('\n').nth(line - 1).unwrap().chars().count();
                assert!(column <= length + 1 && !reason.is_empty(), "{line}:{column} {reason}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 200, "{refused}");
}
