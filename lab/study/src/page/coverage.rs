//! The reports of the studies of endpoints and of the continuous lab, read: nothing of a source is
//! missing from them.

use std::collections::BTreeSet;

use lab_record::{
    AnswerRecord, Campaign, CheckRecord, Checked, FailureRecord, ModelledCost, ModelledRecord,
    QuantityRecord, Results, StreamRecord, Subject, TelemetryRecord, Unit, Way,
};

use super::tests::{measured_of, subjects};
use super::{Page, document, render};
use crate::cell::{Cell, Runs};
use crate::folder::State;
use crate::known;
use crate::scenario::Planned;
use crate::table::csv;

/// Of each study: source, item, and how many cells, curves or bars it has there.
const ITEMS: [(&str, &[(&str, usize)]); 2] = [
    (
        "schedulers",
        &[
            ("table 3", 6 * 4),
            ("table 4", 6 * 4),
            ("table 5", 6 * 4),
            ("table 6", 6 * 2),
            ("table 7", 6 * 2),
            ("table 8", 6 * 2),
            ("figure 11", 6 * 4),
            ("figure 12", 6 * 4),
            ("figure 13", 6 * 4),
            ("figure 14", 6 * 2),
            ("figure 15", 6 * 2),
            ("figure 16", 6 * 2),
            ("table 1", 0),
            ("table 2", 0),
            ("figure 1", 0),
            ("figure 2", 0),
            ("figure 3", 0),
            ("figure 4", 0),
            ("figure 5", 0),
            ("figure 6", 0),
            ("figure 7", 0),
            ("figure 8", 0),
            ("figure 9", 0),
            ("figure 10", 0),
        ],
    ),
    (
        "continuous-lab",
        &[
            ("functional tests", 0),
            ("long performance tests", 0),
            ("graph, worker-thread=1", 0),
            ("graph, worker-thread=2", 0),
            ("non drop rate throughput", 2 * 2),
            ("trend graphs, NDR", 0),
            ("trend graphs, PDR", 0),
            ("short performance tests", 0),
            ("telemetry", 0),
            ("per-packet latency", 0),
            ("latency patterns", 0),
            ("to do: latency", 0),
            ("to do: inconsistencies", 0),
            ("to do: telemetry", 0),
            ("to do: YANG", 0),
            ("scans", 0),
        ],
    ),
];

/// What each run measures, of every case.
fn full(planned: &Planned, devices: &[String]) -> Option<Results> {
    let mut results = Results { campaigns: vec![Campaign::default()], ..Results::default() };
    for subject in subjects(planned, devices) {
        match planned.search() {
            "stream" => streams(&mut results, &subject),
            "functional" => {
                let stream = Checked { must_emerge: true, sent: 9, came: 9, ..Checked::default() };
                let streams = vec![stream];
                results.checks.push(CheckRecord { subject, streams, ..CheckRecord::default() });
            }
            _ => {
                for metric in ["NDR", "PDR 0.5 %"] {
                    results.answers.push(AnswerRecord {
                        subject: subject.clone(),
                        metric: metric.into(),
                        low_pps: 2e6,
                        high_pps: 2e6,
                        ..AnswerRecord::default()
                    });
                }
            }
        }
    }
    Some(results)
}

fn streams(results: &mut Results, subject: &Subject) {
    for (metric, unit, value) in [
        ("TCP stream, small writes", Unit::BitsPerSecond, 94e6),
        ("TCP transaction", Unit::Seconds, 0.25e-3),
        ("UDP jitter one way", Unit::Seconds, 4e-6),
    ] {
        results.quantities.push(QuantityRecord {
            subject: subject.clone(),
            metric: metric.into(),
            unit,
            values: vec![value],
            note: None,
        });
    }
    let mut record = StreamRecord { subject: subject.clone(), ..StreamRecord::default() };
    record.ways = vec![Way { bps: 95e6, streams_bps: vec![5e7, 4.5e7], ..Way::default() }];
    (record.round_trips.asked, record.round_trips.answered) = (10, 10);
    record.round_trips.histogram.record_many(3_000_000, 10);
    results.streams.push(record);
}

fn page<T>(
    name: &str,
    quick: bool,
    results: impl Fn(&Planned, &[String]) -> Option<Results>,
    look: impl Fn(&Page<'_>, &str) -> T,
) -> T {
    let study = known::study(name).unwrap();
    let devices = study.devices.clone();
    let state = State { quick, devices, lab: "the lab".into(), ended: Vec::new() };
    let measured = measured_of(&study, quick, results);
    let runs = Runs::of(&measured);
    let page = Page::of(&study, &state, &runs);
    let html = render(&page);
    look(&page, &html)
}

#[test]
fn every_table_figure_and_bar_of_the_sources_is_there_measured_or_not() {
    for (name, items) in ITEMS {
        let look = |page: &Page<'_>, html: &str| {
            for (item, printed) in items {
                assert!(html.contains(&format!("data-item=\"{item}\"")), "{item} is not there");
                let mine = || page.places.iter().filter(|place| place.item == *item);
                assert!(mine().next().is_some(), "{item} has no place");
                let theirs: BTreeSet<(&str, &str)> = mine()
                    .filter(|place| place.theirs.is_some())
                    .map(|place| (place.row.as_str(), place.column.as_str()))
                    .collect();
                assert_eq!(theirs.len(), *printed, "{item}");
            }
            for place in page.places.iter().filter(|place| place.source.is_some()) {
                assert!(items.iter().any(|(item, _)| *item == place.item), "{}", place.item);
            }
            for place in &page.places {
                if let Cell::Reason(reason) = &place.cell {
                    assert!(!reason.is_empty(), "{place:?}");
                }
            }
        };
        for quick in [false, true] {
            page(name, quick, |_, _| None, look);
            page(name, quick, full, look);
        }
    }
}

#[test]
fn each_cell_of_the_schedulers_has_a_number_with_its_interval_and_is_drawn() {
    page("schedulers", true, full, |page, html| {
        let open: Vec<_> = page
            .places
            .iter()
            .filter(|place| place.item.starts_with("table ") || place.item.starts_with("full"))
            .filter(|place| !["table 1", "table 2"].contains(&place.item.as_str()))
            .filter(|place| matches!(place.cell, Cell::Reason(_)))
            .collect();
        assert!(open.is_empty(), "{open:?}");
        let csv = csv(&page.places);
        let line = |start: &str| csv.lines().find(|line| line.starts_with(start)).unwrap();
        let sfq = line("\"thesis\",\"table 3\",\"SFQ\",\"VM-LINUX\"");
        assert!(sfq.contains(",\"Mbit/s\",82.28,\"linux-bridge\",94,94,94,"), "{sfq}");
        let round_trip = line("\"thesis\",\"table 4\",\"FIFO\",\"DOCKER-OVS\"");
        assert!(round_trip.contains("\"ms\",0.287,\"ovs\",0.25,0.25,0.25,"), "{round_trip}");
        assert!(!csv.contains("DOCKER-LINUX\",\"ms\",0.286,\"ovs\""));
        // Six of the source, each of its numbers and ours, and two of ours, in parts.
        assert!(html.matches("<svg").count() >= 6 * 2 + 2, "{}", html.matches("<svg").count());
        assert!(html.contains("theirs, as printed"));
        let found = "TCP throughput of all flows: of what linux-bridge has, ovs has 1.00 times \
                     (median of 18 places, 1.00 to 1.00), volley has 1.00 times";
        assert!(html.contains(found) && !html.contains("there is no ratio"));
    });
}

#[test]
fn what_stands_below_a_table_is_told_once_and_refusals_beside_the_bridge_that_has_it() {
    let refused = |planned: &Planned, devices: &[String]| {
        let mut results = full(planned, devices)?;
        let lacks = |of: &Subject| {
            of.device == "linux-bridge" && of.axes.get("scheduler").is_some_and(|it| it == "sfq")
        };
        results.quantities.retain(|it| !lacks(&it.subject));
        for record in &mut results.quantities {
            if record.subject.device == "linux-bridge-guest" {
                record.note = Some("it was emulated".into());
            }
        }
        let missing = subjects(planned, devices).into_iter().filter(lacks);
        results.failures.extend(missing.map(|subject| FailureRecord {
            subject,
            refused: true,
            reason: "linux-bridge refuses bridge over veth: not in this kernel".into(),
        }));
        Some(results)
    };
    page("schedulers", false, refused, |_, html| {
        let table = html.split("data-item=\"table 6\"").nth(1).unwrap();
        let table = table.split("<h3").next().unwrap();
        let row = table.split("<td rowspan=\"2\">SFQ</td>").nth(1).unwrap();
        let ours = row.lines().find(|line| line.contains("<td>ours</td>")).unwrap();
        assert!(
            ours.contains("94.00<br><small>linux-bridge-guest</small><sup>a</sup><sup>b</sup>"),
            "{ours}"
        );
        for note in [
            "<sup>a</sup> it was emulated</li>",
            "<sup>b</sup> linux-bridge: refused: not in this kernel</li>",
        ] {
            assert_eq!(table.matches(note).count(), 1, "{note}: {table}");
        }
    });
}

#[test]
fn as_documentation_a_study_is_a_small_page_and_every_drawing_that_it_shows() {
    for (name, items) in ITEMS {
        page(name, false, full, |page, _| {
            let again = |before: &str| {
                let page = Page::of(page.study, page.state, page.runs);
                document(page, before)
            };
            let made = again("");
            for (item, _) in items {
                let told = made.text.contains(item);
                assert!(told, "{item} is not told of");
            }
            assert!(!made.text.contains("<svg") && !made.text.contains("href=\"runs/"), "{name}");
            let shown = made.text.split("](").skip(1).filter_map(|it| it.split(')').next());
            let shown: Vec<&str> = shown.filter(|it| it.ends_with(".svg")).collect();
            let files: Vec<&(String, String)> =
                made.files.iter().filter(|(file, _)| file.ends_with(".svg")).collect();
            assert_eq!(shown.len(), files.len());
            for (file, text) in files {
                assert!(shown.contains(&&*format!("{name}/{file}")), "{file}");
                assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"), "{file}");
            }
            let hand = made
                .text
                .replace("begin -->\n<!-- written", "begin -->\nA quiet night.\n<!-- written");
            assert!(hand != made.text && again(&hand).text == hand);
        });
    }
}

#[test]
fn the_continuous_lab_tells_what_was_right_and_a_refusal_where_it_stands() {
    page("continuous-lab", true, full, |page, html| {
        let right = page
            .places
            .iter()
            .find(|place| place.row == "6.10 LISP" && place.device.as_deref() == Some("volley"));
        let Some(Cell::Number(number)) = right.map(|place| &place.cell) else {
            panic!("{right:?}")
        };
        assert_eq!(number.value, 1.0);
        assert!(html.contains("100.00\u{a0}%") && html.contains("graph, worker-thread=2"));
    });
}

#[test]
fn counters_of_the_continuous_lab_are_numbers_where_the_host_shows_them_and_else_what_needs_none() {
    let watched = |planned: &Planned, devices: &[String], shown: bool| {
        let mut results = full(planned, devices)?;
        for subject in subjects(planned, devices) {
            let mut record = TelemetryRecord { subject, ..TelemetryRecord::default() };
            if shown {
                let counters = [("cycles:u", 200.0), ("instructions:u", 500.0)];
                record.per_packet = counters.map(|(name, each)| (name.to_owned(), each)).to_vec();
            } else {
                record.refused = Some("no counters here".into());
                let node = |node: &str, instructions, packets| ModelledCost {
                    node: node.into(),
                    calls: 1,
                    packets,
                    instructions,
                    ..ModelledCost::default()
                };
                if record.subject.device == "volley" {
                    let subject = record.subject.clone();
                    // Half of the packets meet the second node.
                    let nodes = vec![node("ip4-input", 40.0, 100), node("ip4-lookup", 20.0, 50)];
                    results.modelled.push(ModelledRecord { subject, nodes });
                }
            }
            results.telemetry.push(record);
        }
        Some(results)
    };
    let told = |shown: bool| {
        page(
            "continuous-lab",
            false,
            |planned, devices| watched(planned, devices, shown),
            |page, _| {
                const ROWS: [&str; 4] = ["CPP", "IPP", "IPC", "IPP by valgrind"];
                ROWS.map(|row| {
                    let row = format!("IPv4, {row}");
                    let mine = |it: &&crate::table::Place| it.item == "telemetry" && it.row == row;
                    let of = |device: &str| {
                        let mut all = page.places.iter().filter(mine);
                        let place = all.find(|it| it.device.as_deref() == Some(device)).unwrap();
                        match &place.cell {
                            Cell::Number(number) => format!("{:.1} {}", number.value, place.unit),
                            Cell::Reason(why) => why.clone(),
                        }
                    };
                    [of("volley"), of("vpp")]
                })
            },
        )
    };
    let shown = told(true);
    for (row, number) in [(0, "200.0 a packet"), (1, "500.0 a packet"), (2, "2.5 a cycle")] {
        assert_eq!(shown[row], [number, number]);
    }
    assert_eq!(shown[3], ["not modelled: the host shows its counters"; 2]);
    let hidden = told(false);
    for row in &hidden[..3] {
        assert_eq!(*row, ["the host hides its counters: no counters here"; 2]);
    }
    let unknown = "not modelled: the lab does not know which functions its nodes are";
    assert_eq!(hidden[3], ["50.0 a packet", unknown]);
}
