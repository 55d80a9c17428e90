//! Scenarios and results as instance data: nothing is lost on the way there and back, and libyang
//! finds it valid against the IETF's modules and ours.
//!
//! The modules are Debian's (`libyuma-base`), the validator, too (`libyang2-tools`). Without them
//! the tests that need them say loudly that they were skipped; where the variable CI is set they
//! fail.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use std::path::{Path, PathBuf};
use std::process::Command;

use lab_record::{
    AnswerRecord, Campaign, CheckRecord, Checked, ComparisonRecord, DeviceFacts, Difference,
    Directions, FailureRecord, Fault, Histogram, Limit, Outcome, QuantityRecord, Results,
    RoundTrips, StreamRecord, Subject, Trial, TrialRecord, Unit, Verdict, Way,
};
use lab_search::stats::paired::compare;
use lab_traffic::receive::sequence::SequenceTracker;
use lab_trial::scenario::Scenario;
use lab_trial::{scenario_file, yang};
use serde_json::{Value, json};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every scenario that comes with the lab, with its name.
fn scenarios() -> Vec<(String, Scenario)> {
    let files = std::fs::read_dir(top().join("scenarios")).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    paths.map(|path| (path.display().to_string(), scenario_file::load(&path).unwrap())).collect()
}

/// A scenario that uses what those do not.
fn odd() -> Scenario {
    let text = "name = 'odd-1'\ntitle = '64'\nabout = \"\"\"\ntwo lines\n\\\"quoted\\\" µ\"\"\"\n\
                [link]\nkind = 'pci'\ngenerator = ['0000:01:00.0', '0000:01:00.1']\n\
                device = ['0000:02:00.0', '0000:02:00.1']\ngbps = 2.5\n\
                [[function]]\nkind = 'bridge'\nlabel = '7'\n[[function]]\nkind = 'ip4'\n\
                [traffic]\nimix = '7a4d1g'\nflows = 3\nboth_directions = true\n\
                arrivals = { process = 'trace', gaps_ns = [5, 5, 7] }\n\
                [sweep]\nworkers = { from = 1, to = 9, step = 2 }\nload_percent = [1, 2]\n\
                [measure]\nsearch = 'latency'\ntrial_s = 0.30000000000000004\n\
                loss_ratios = [0.0000001]\n[campaign]\nseed = 9007199254740993\nminutes = 0.5\n";
    Scenario::parse(text, "odd").unwrap()
}

fn with(scenario: &str, from: &str, to: &str) -> Result<Scenario, lab_record::Error> {
    let scenario = scenario_file::load(&top().join(scenario)).unwrap();
    let text = format!("{:#}", yang::export(&scenario).unwrap());
    assert!(text.contains(from), "{from} is not in {text}");
    yang::import(&text.replacen(from, to, 1), "x.json")
}

fn fault(from: &str, to: &str) -> String {
    with("scenarios/quick.toml", from, to).unwrap_err().to_string()
}

#[test]
fn every_scenario_comes_back_as_it_went() {
    for (path, scenario) in scenarios() {
        let text = yang::export(&scenario).unwrap().to_string();
        assert_eq!(yang::import(&text, &path).unwrap(), scenario, "{path}");
        let toml = yang::to_toml(&text, &path).unwrap();
        assert_eq!(Scenario::parse(&toml, &path).unwrap(), scenario, "{path}");
    }
}

#[test]
fn mixes_bursts_traces_and_numbers_to_their_last_digit_come_back_too() {
    let text = yang::export(&odd()).unwrap().to_string();
    assert_eq!(yang::import(&text, "odd").unwrap(), odd(), "{text}");
    let arrivals = lab_traffic::arrivals::Process::Burst { packets: 8 };
    let traffic = lab_trial::scenario::Traffic { arrivals, ..odd().traffic };
    let bursts = Scenario { traffic, ..odd() };
    let data = yang::export(&bursts).unwrap();
    assert_eq!(yang::import(&data.to_string(), "odd").unwrap(), bursts, "{data}");
    let generator = |port: usize| {
        data["ietf-interfaces:interfaces"]["interface"][port]
            ["ietf-traffic-generator:traffic-generator"]["streams"]["stream"][0]
            .clone()
    };
    let (forth, back) = (generator(0), generator(1));
    assert_eq!(forth["frames-per-stream"], 7);
    assert_eq!(forth["frames-per-burst"], 8);
    // Destination and source change places.
    let front = |stream: &Value| stream["frame-data"].as_str().unwrap().to_owned();
    assert_eq!(front(&forth)[..12], front(&back)[12..24]);
}

#[test]
fn what_a_generator_says_is_what_the_scenario_gets() {
    let scenario = scenario_file::load(&top().join("scenarios/ip6-routes.toml")).unwrap();
    let mut data = yang::export(&scenario).unwrap();
    let generator =
        "/ietf-interfaces:interfaces/interface/0/ietf-traffic-generator:traffic-generator";
    data.pointer_mut(generator).unwrap()["frame-size"] = json!(100);
    // The headers told are those of another size.
    let told = yang::import(&data.to_string(), "x").unwrap_err().to_string();
    assert!(told.contains("/frame-data: the scenario's first function is sent"), "{told}");
    data.pointer_mut(generator).unwrap().as_object_mut().unwrap().remove("frame-data").unwrap();
    let larger = yang::import(&data.to_string(), "x").unwrap();
    assert_eq!(*larger.traffic.frame_bytes.get_ref(), 100);
    let named = with("scenarios/quick.toml", "ietf-traffic-generator:dynamic", "dynamic");
    assert!(named.is_ok());
}

#[test]
fn faults_are_told_at_their_path() {
    let generator = "/ietf-interfaces:interfaces/interface[1]/\
                     ietf-traffic-generator:traffic-generator";
    for (from, to, told) in [
        ("\"frame-size\": 64", "\"frame-size\": 9", "/frame-size: frame of 9 octets"),
        ("\"interframe-gap\": 20", "\"interframe-gap\": 21", "/interframe-gap: a search chooses"),
        ("generator:dynamic", "generator:static", "/testframe-type: only dynamic frames"),
        ("\"frame-data\": \"02", "\"frame-data\": \"03", "/frame-data: the scenario's first"),
        (
            "\"interframe-gap\"",
            "\"total-frames\": \"9\", \"interframe-gap\"",
            "/total-frames: the lab",
        ),
    ] {
        let error = fault(from, to);
        assert!(error.starts_with(&format!("x.json: {generator}{told}")), "{error}");
    }
    for (from, to, told) in [
        ("\"ip4\"", "\"ip5\"", "/function[2]/kind: unknown variant `ip5`"),
        ("\"trial-s\": \"0.1\"", "\"trial-s\": 0.1", "/measure/trial-s: a number in quotes"),
        ("\"trial-s\"", "\"trails\"", "/measure/trails: unknown field `trails`"),
        (
            "\"loss-ratios\": [\n        \"0\"",
            "\"loss-ratios\": [\n        \"2\"",
            "/measure/loss-ratios: search goal",
        ),
        (
            "\"flows\": \"1\"",
            "\"frame-bytes\": \"64\"",
            "/traffic/frame-bytes: the traffic generators",
        ),
        ("\"name\": \"quick\"", "\"name\": \"A b\"", "/name: name \"A b\" is not"),
    ] {
        let error = fault(from, to);
        assert!(error.starts_with(&format!("x.json: /volley-lab:scenario{told}")), "{error}");
    }
    assert!(
        fault("volley-lab:scenario", "volley-lab:scene").contains("/volley-lab:scene: the lab")
    );
    let cut = yang::import("{\n  \"a\": [1,\n", "cut.json").unwrap_err().to_string();
    assert!(cut.starts_with("cut.json:3:"), "{cut}");
    let bare = yang::import("{}", "bare.json").unwrap_err().to_string();
    assert_eq!(bare, "bare.json: /: ietf-interfaces:interfaces is missing");
}

/// Damages a document leaf by leaf: whatever comes of it, it comes with a path, or is a scenario.
#[test]
fn no_damage_brings_the_reader_down() {
    fn spoil(value: &mut Value, left: &mut usize, with: &Value) -> bool {
        if *left == 0 {
            *value = with.clone();
            return true;
        }
        *left -= 1;
        match value {
            Value::Array(list) => list.iter_mut().any(|it| spoil(it, left, with)),
            Value::Object(map) => map.values_mut().any(|it| spoil(it, left, with)),
            _ => false,
        }
    }
    let whole = yang::export(&odd()).unwrap();
    let mut refused = 0;
    for with in
        [json!(null), json!("\n[x]\na = 1"), json!([[]]), json!({ "": {} }), json!(-1), json!([])]
    {
        for place in 0.. {
            let mut damaged = whole.clone();
            if !spoil(&mut damaged, &mut place.clone(), &with) {
                break;
            }
            match yang::import(&damaged.to_string(), "d") {
                Ok(_) => {}
                Err(lab_record::Error::Instance { at, reason, .. }) => {
                    refused += 1;
                    assert!(at.starts_with('/') && !reason.is_empty(), "{at}: {reason}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

/// Where Debian has the IETF's modules.
const MODULES: &str = "/usr/share/yuma";

#[test]
fn our_module_lists_the_searches_that_there_are() {
    let text = std::fs::read_to_string(top().join("yang/volley-lab@2026-11-22.yang")).unwrap();
    let fresh = yang::with_searches(&text).unwrap();
    assert!(fresh == text, "the module's list of searches is stale: make yang");
}

/// Validates instance data of a kind; none where this machine has no validator or no modules.
fn valid(data: &Value, kind: &str, name: &str) -> Option<()> {
    let there = |program: &str| {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|folder| folder.join(program).exists())
    };
    if !there("yanglint") || !Path::new(MODULES).exists() {
        assert!(std::env::var_os("CI").is_none(), "libyang2-tools and libyuma-base are needed");
        eprintln!("SKIPPED: libyang2-tools and libyuma-base are not there; see scripts/setup");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{name}-{kind}.json"));
    std::fs::write(&file, data.to_string()).unwrap();
    let ours = top().join("yang/volley-lab@2026-11-22.yang");
    let searched = ["nmda-modules/ietf", "modules/ietf", "modules/ietf-draft"];
    let searched = searched.iter().flat_map(|it| ["-p".to_owned(), format!("{MODULES}/{it}")]);
    let modules = [
        "nmda-modules/ietf/ietf-interfaces@2018-02-20.yang",
        "modules/ietf/iana-if-type@2014-05-08.yang",
        "modules/ietf-draft/ietf-traffic-generator.yang",
        "modules/ietf-draft/ietf-traffic-analyzer.yang",
    ];
    let output = Command::new("yanglint")
        .args([
            "-f",
            "json",
            "-t",
            kind,
            "-F",
            "ietf-traffic-generator:egress-direction,multi-stream",
        ])
        .args(["-F", "ietf-traffic-analyzer:ingress-direction"])
        .args(searched)
        .args(modules.map(|it| format!("{MODULES}/{it}")))
        .args([&ours, &file])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !told.contains("err"), "{name}: {told}\n{data:#}");
    // What the validator reads is what we wrote: it knows every member.
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(leaves(&read), leaves(data), "{name}");
    Some(())
}

/// Leaves of a document, defaults and presence apart.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(leaves).sum(),
        Value::Object(members) => members.values().map(leaves).sum(),
        _ => 1,
    }
}

#[test]
fn libyang_finds_every_scenario_valid() {
    for (path, scenario) in scenarios().into_iter().chain([("odd".into(), odd())]) {
        let name = Path::new(&path).file_stem().unwrap().to_str().unwrap().to_owned();
        if valid(&yang::export(&scenario).unwrap(), "config", &name).is_none() {
            return;
        }
    }
}

/// One of everything that can be written down.
fn results() -> Results {
    let subject = Subject {
        device: "volley".into(),
        function: "ip4".into(),
        axes: [("frame_bytes".to_owned(), "64".to_owned())].into(),
        run: 2,
    };
    let mut latency = Histogram::default();
    [900, 1_000, 77_000].iter().for_each(|&it| latency.record(it));
    let histogram = latency.clone();
    let mut tracker = SequenceTracker::new(64);
    for number in [0, 1, 1, 3, 2] {
        tracker.observe(number);
    }
    let outcome = Outcome::of(Trial::new(1e6 / 3.0, 1e-5), 4);
    let stalled = Verdict::HostStalled { stalls: 1, longest_us: 77.0, share: 0.1 };
    let trial = TrialRecord {
        latency: Some(latency),
        sequence: Some(tracker.finish(4)),
        verdicts: vec![stalled.clone()],
        ..TrialRecord::new(subject.clone(), 3, "mlr", 0.1, outcome)
    };
    let ratios = [0.01, 0.02, 0.015, 0.012, 0.018, 0.011, 0.016];
    let words = |word: &str| vec![word.to_owned(), String::new(), word.to_owned()];
    let device =
        DeviceFacts { name: "volley".into(), version: "1".into(), commands: words("ip link") };
    Results {
        campaigns: vec![Campaign {
            scenario: "quick".into(),
            seed: u64::MAX,
            host: [("cpu".to_owned(), "µ <&> \"quoted\"".to_owned())].into(),
            devices: vec![device],
            ..Campaign::default()
        }],
        trials: vec![trial, TrialRecord::new(Subject::default(), 0, "", 0.0, outcome)],
        answers: vec![AnswerRecord {
            subject: subject.clone(),
            metric: "NDR".into(),
            directions: Some(Directions::Together),
            low_pps: 1e-7,
            high_pps: 1e21,
            conditional_pps: Some(1.0 / 3.0),
            limit: Some(Limit::LARGEST_LOAD),
            verdicts: vec![stalled],
        }],
        quantities: [Unit::Frames, Unit::Seconds, Unit::Share, Unit::Entries, Unit::Cycles]
            .map(|unit| QuantityRecord {
                subject: subject.clone(),
                metric: "largest table".into(),
                unit,
                values: vec![1e-9, 0.0, 16_777_216.0],
                note: (unit == Unit::Entries).then(|| "refused: <full>".into()),
            })
            .into(),
        comparisons: vec![ComparisonRecord {
            base: "a".into(),
            other: "b".into(),
            case: "ip4".into(),
            comparison: compare(&ratios, None).unwrap(),
            unexhausted: Vec::new(),
            cost: None,
        }],
        streams: vec![
            StreamRecord {
                subject: subject.clone(),
                ways: vec![Way { bps: 1e9 / 3.0, retransmits: 7, streams_bps: vec![1e9 / 3.0] }],
                round_trips: RoundTrips {
                    asked: 3,
                    answered: 3,
                    histogram,
                    ..RoundTrips::default()
                },
                ceiling_bps: Some(1e10),
                verdicts: vec![Verdict::GeneratorBound { share: 0.95 }],
                ..StreamRecord::default()
            },
            StreamRecord::default(),
        ],
        checks: vec![CheckRecord {
            subject: subject.clone(),
            streams: vec![Checked { name: "denied".into(), must_emerge: false, sent: 9, came: 1 }],
            fault: Some(Fault {
                stream: "there".into(),
                packet: Some(u64::MAX),
                reason: "is not what it must be".into(),
                difference: Some(Difference {
                    at: 14,
                    field: "vlan tag".into(),
                    expected: "0064".into(),
                    got: "0065".into(),
                }),
            }),
            ..CheckRecord::default()
        }],
        failures: vec![FailureRecord { subject, refused: true, reason: "no table\nof it".into() }],
        skipped: Vec::new(),
        ..Results::default()
    }
}

#[test]
fn libyang_finds_results_valid_and_a_fault_in_them() {
    let results = results();
    let data = lab_report::yang::results(&results);
    let Some(()) = valid(&data, "data", "results") else { return };
    let seen = &data["volley-lab:results"]["trial"][0];
    assert_eq!(seen["analyzer"]["testframe-stats"]["latency"]["samples"], "3");
    let largest = &data["volley-lab:results"]["quantity"][3];
    assert_eq!(largest["repetition"][2], json!({ "id": "3", "value": "16777216" }));
    assert_eq!(largest["note"], "refused: <full>");
    assert_eq!((&seen["duplicates"], &seen["reordered"]), (&json!("1"), &json!("1")));
    assert_eq!(data["volley-lab:results"]["check"][0]["fault"]["got"], "0065");
    let mut wrong = data;
    wrong["volley-lab:results"]["trial"][0]["intended"] = json!("many");
    assert!(std::panic::catch_unwind(|| valid(&wrong, "data", "wrong")).is_err());
}
