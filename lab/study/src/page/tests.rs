//! The report of a study, read: nothing of a source is missing from it.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::axes::{Axis, LoadPercent};
use lab_record::{
    AnswerRecord, Campaign, FailureRecord, Histogram, Limit, Limiter, NodeCost, Outcome,
    QuantityRecord, Results, Subject, TelemetryRecord, Trial, TrialRecord, Unit,
};
use lab_report::quantities::COST;

use super::{Page, render};
use crate::cell::{Cell, Runs};
use crate::folder::{Ended, Measured, State, devices_of};
use crate::known;
use crate::scenario::Planned;
use crate::study::Study;
use crate::table::{Place, csv};

/// What the sources of the vector router have: each table with its rows and columns of numbers,
/// each figure with its curves, each drawing or list.
const VECTOR_ROUTER: [(&str, &str, usize); 18] = [
    ("thesis", "figure 4.1", 1),
    ("thesis", "figure 4.2", 1),
    ("thesis", "figure 5.1", 1),
    ("thesis", "table 5.1", 1),
    ("thesis", "table 6.1", 8 * 3),
    ("thesis", "table 6.2", 14),
    ("thesis", "figure 6.1", 4),
    ("thesis", "figure 6.2", 4),
    ("thesis", "figure 6.3", 4),
    ("thesis", "figure 6.4", 4),
    ("thesis", "figure 6.5", 4),
    ("thesis", "figure 6.6", 4),
    ("thesis", "figure 6.7", 6),
    ("thesis", "largest IPv4 table", 2),
    ("thesis", "live insertion", 1),
    ("poster", "L2 throughput table", 6 * 2),
    ("poster", "router table", 4),
    ("poster", "latency figure", 7),
];

fn study() -> Study {
    known::study("vector-router").unwrap()
}

fn state(study: &Study, quick: bool) -> State {
    State { quick, devices: study.devices.clone(), lab: "the lab".into(), ended: Vec::new() }
}

/// Runs of which each has what `results` makes of its scenario and devices.
pub(super) fn measured_of(
    study: &Study,
    quick: bool,
    results: impl Fn(&Planned, &[String]) -> Option<Results>,
) -> Vec<Measured> {
    let one = |run: &crate::study::Run| {
        let planned = Planned::of(study, run, quick).unwrap();
        let devices = devices_of(run, &study.devices);
        let results = results(&planned, &devices);
        let ended =
            results.as_ref().map(|_| Ended { run: run.id.clone(), failure: None, seconds: 1.0 });
        Measured { id: run.id.clone(), planned, devices, results, ended }
    };
    study.runs.iter().map(one).collect()
}

fn page<T>(
    quick: bool,
    results: impl Fn(&Planned, &[String]) -> Option<Results>,
    look: impl Fn(&Page<'_>, &str) -> T,
) -> T {
    let study = study();
    let state = state(&study, quick);
    let measured = measured_of(&study, quick, results);
    let runs = Runs::of(&measured);
    let page = Page::of(&study, &state, &runs);
    let html = render(&page);
    look(&page, &html)
}

/// Every case of a scenario, as the study's files have them: lists alone, of a cut scenario.
pub(super) fn subjects(planned: &Planned, devices: &[String]) -> Vec<Subject> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut axes: Vec<BTreeMap<String, String>> = vec![BTreeMap::new()];
    let sweep = planned.carried.get("sweep").and_then(toml::Value::as_table).cloned();
    for (name, values) in sweep.unwrap_or_default() {
        let values: Vec<String> = match values {
            toml::Value::Array(list) => list.iter().map(text).collect(),
            _ => vec!["1".into()],
        };
        axes = axes
            .iter()
            .flat_map(|before| {
                values.iter().map(|value| {
                    let mut now = before.clone();
                    now.insert(name.clone(), value.clone());
                    now
                })
            })
            .collect();
    }
    let functions = planned.carried["function"].as_array().unwrap();
    let name = |it: &toml::Value| text(it.get("label").unwrap_or(&it["kind"]));
    let mut all = Vec::new();
    for device in devices {
        for function in functions {
            for axes in &axes {
                let (device, function, axes) = (device.clone(), name(function), axes.clone());
                all.push(Subject { device, function, axes, run: 0 });
            }
        }
    }
    all
}

/// Results with a rate, and latencies at loads, of every case.
fn full(planned: &Planned, devices: &[String]) -> Option<Results> {
    let mut results = Results { campaigns: vec![Campaign::default()], ..Results::default() };
    for subject in subjects(planned, devices) {
        let metric = if planned.search() == "mlr" { "NDR" } else { "MRR" };
        results.answers.push(AnswerRecord {
            subject: subject.clone(),
            metric: metric.into(),
            low_pps: 2e6,
            high_pps: 2e6,
            ..AnswerRecord::default()
        });
        let measure = planned.carried["measure"].as_table().unwrap();
        let at = measure.get("latency_at_percent").and_then(|it| it.as_array().cloned());
        let mut loads: Vec<Option<String>> =
            at.unwrap_or_default().iter().map(|it| Some(it.to_string())).collect();
        loads.push(None);
        for load in loads {
            let mut subject = subject.clone();
            subject.axes.extend(load.map(|it| (LoadPercent::NAME.to_owned(), it)));
            if !subject.axes.contains_key(LoadPercent::NAME) {
                continue;
            }
            let outcome = Outcome::of(Trial::new(1e6, 0.1), 100_000);
            let mut latency = Histogram::default();
            latency.record_many(5_000, 100_000);
            let bare = TrialRecord::new(subject, 0, "latency", 0.0, outcome);
            results.trials.push(TrialRecord { latency: Some(latency), ..bare });
        }
    }
    Some(results)
}

#[test]
fn every_table_figure_and_curve_of_the_sources_is_there_measured_or_not() {
    let look = |page: &Page<'_>, html: &str| {
        for (source, item, parts) in VECTOR_ROUTER {
            let heading = format!("data-item=\"{item}\"");
            assert!(html.contains(&heading), "{item} is not in the report");
            let mine = || {
                page.places
                    .iter()
                    .filter(move |it| it.item == item && it.source.as_deref() == Some(source))
            };
            // A place of a table is a row and a column, of a figure a curve.
            let figure = item.contains("figure");
            let parted: BTreeSet<(&str, &str)> = mine()
                .map(|it| (it.row.as_str(), if figure { "" } else { it.column.as_str() }))
                .collect();
            assert!(parted.len() >= parts, "{item} has {} of {parts}", parted.len());
            let printed = item.starts_with("table 6") || source == "poster" && !figure;
            let theirs: BTreeSet<(&str, &str)> = mine()
                .filter(|it| it.theirs.is_some())
                .map(|it| (it.row.as_str(), it.column.as_str()))
                .collect();
            assert!(!printed || theirs.len() == parts, "{item}: {} numbers", theirs.len());
        }
        // And the other way: nothing is called the source's that is not on the list.
        for place in page.places.iter().filter(|place| place.source.is_some()) {
            let known = VECTOR_ROUTER.iter().any(|(_, item, _)| *item == place.item)
                || place.item == "setup drawing";
            assert!(known, "{}", place.item);
        }
        for place in &page.places {
            if let Cell::Reason(reason) = &place.cell {
                assert!(!reason.is_empty(), "{place:?}");
                assert!(html.contains(&lab_report::svg::canvas::escape(reason)), "{reason}");
            }
        }
    };
    for quick in [false, true] {
        page(quick, |_, _| None, look);
        page(quick, full, look);
    }
}

#[test]
fn what_has_not_been_run_says_so_and_gives_no_number() {
    page(
        true,
        |_, _| None,
        |page, html| {
            assert!(page.places.iter().all(|it| matches!(it.cell, Cell::Reason(_))));
            assert!(
                html.contains("The study is not finished") && html.contains("Nothing was measured")
            );
        },
    );
}

#[test]
fn numbers_stand_beside_the_sources_with_their_interval_and_models_are_fitted() {
    page(true, full, |page, html| {
        let cell = |item: &str, row: &str, column: &str, device: &str| {
            let mut places = page.places.iter();
            let found = places.find(|it| {
                (it.item.as_str(), it.row.as_str(), it.column.as_str()) == (item, row, column)
                    && it.device.as_deref() == Some(device)
            });
            found.unwrap_or_else(|| panic!("no {item}, {row}, {column}, {device}"))
        };
        let one = cell("table 6.1", "xconnect", "3.2 GHz (100 %)", "vpp");
        assert_eq!(one.theirs, Some(13.2));
        let Cell::Number(number) = &one.cell else { panic!("{one:?}") };
        assert_eq!((number.value, number.runs, number.spread), (2e6, 1, "bracket"));
        let stable = cell("L2 throughput table", "l2 xconnect", "stable", "volley");
        assert!(matches!(stable.cell, Cell::Number(_)), "{stable:?}");
        // What --quick left out is told where it would stand.
        let cut = cell("table 6.2", "Volley, 2^24 routes", "Mpps", "volley");
        assert!(
            matches!(&cut.cell, Cell::Reason(why) if why.contains("cut by --quick")),
            "{cut:?}"
        );
        let kernel = cell("table 6.2", "Linux 3.7, 1 route", "Mpps", "linux-router");
        assert!(matches!(kernel.cell, Cell::Number(_)), "{kernel:?}");
        // 242 cycles a packet: 3.2 GHz over 13.2 Mpps.
        assert!(html.contains("13.20<br><small>242 cycles</small></td>"));
        assert!(html.contains("f(c) = (0.9 c/c_max + 0.1) p_max") && html.contains("p_max = "));
        assert!(html.contains("[2.000, 2.000]"));
        assert!(html.contains("dashed: fitted model"));
        assert!(html.matches("<svg").count() >= 8, "{}", html.matches("<svg").count());
        assert!(html.contains("sweep.entries: 1, 255000, 1048576 in place of 1, 255000"));
    });
}

#[test]
fn where_the_generator_is_the_limit_what_a_packet_costs_stands_beside_is_compared_and_drawn() {
    let bound = |by| {
        move |planned: &Planned, devices: &[String]| {
            let mut results = full(planned, devices)?;
            for answer in &mut results.answers {
                answer.limit = Some(Limit { by, ..Limit::LARGEST_LOAD });
                results.quantities.push(QuantityRecord {
                    subject: answer.subject.clone(),
                    metric: COST.into(),
                    unit: Unit::Cycles,
                    values: vec![if answer.subject.device == "vpp" { 300.0 } else { 200.0 }],
                    note: None,
                });
            }
            Some(results)
        }
    };
    let costs = "A packet costs vpp 1.50 times the cycles that it costs volley";
    page(true, bound(Limiter::Generator), |page, html| {
        assert!(html.contains("≥\u{a0}2.000<br><small>costs 200 cycles</small>"));
        assert!(html.contains("≥\u{a0}2.000<br><small>costs 300 cycles</small>"));
        assert!(html.contains(costs) && !html.contains("vpp forwards"));
        let of_vpp =
            |it: &&Place| it.item == "cost of IPv4 tables" && it.device.as_deref() == Some("vpp");
        let drawn: Vec<_> = page.places.iter().filter(of_vpp).collect();
        assert!(drawn.len() > 1, "{drawn:?}");
        for place in drawn {
            assert_eq!(place.unit, "cycles");
            let Cell::Number(number) = &place.cell else { panic!("{place:?}") };
            assert_eq!((number.value, number.at_least), (300.0, false));
        }
        assert!(html.contains("IPv4 table sizes: cycles a packet against entries"), "not drawn");
    });
    // Where the device was the limit its rate says it.
    page(true, bound(Limiter::Device), |_, html| {
        assert!(html.contains("vpp forwards 1.00 times") && html.contains(costs));
        assert!(!html.contains("<small>costs"));
    });
}

#[test]
fn a_refusal_stands_where_its_number_would() {
    let refused = |planned: &Planned, devices: &[String]| {
        let failure = |subject: Subject| FailureRecord {
            subject,
            refused: true,
            reason: "vpp is not installed <here>".into(),
        };
        let failures = subjects(planned, devices).into_iter().map(failure).collect();
        Some(Results { failures, ..Results::default() })
    };
    page(false, refused, |page, html| {
        let mut of_vpp = page.places.iter().filter(|it| it.device.as_deref() == Some("vpp"));
        assert!(
            of_vpp.any(|it| matches!(&it.cell, Cell::Reason(why) if why.starts_with("refused")))
        );
        assert!(html.contains("vpp is not installed &lt;here&gt;") && !html.contains("<here>"));
    });
}

#[test]
fn the_cells_are_told_for_programs_one_a_line() {
    page(true, full, |page, _| {
        let text = csv(&page.places);
        assert_eq!(text.lines().count(), page.places.len() + 1);
        let line = text.lines().find(|it| it.contains("\"xconnect\",\"3.2 GHz")).unwrap();
        assert!(line.contains(",13.2,\"volley\",2,2,2,\"bracket\",1,"), "{line}");
        // No number without its ends, no gap without its reason.
        for (place, line) in page.places.iter().zip(text.lines().skip(1)) {
            assert_eq!(matches!(place.cell, Cell::Reason(_)), line.ends_with('"'), "{line}");
        }
    });
}

#[test]
fn a_point_that_failed_is_named_beside_the_curve_that_goes_on_without_it() {
    let broken = |planned: &Planned, devices: &[String]| {
        let mut results = full(planned, devices)?;
        let at = |subject: &Subject| {
            subject.device == "volley"
                && subject.axes.get("entries").is_some_and(|it| it == "30000")
        };
        let failed: Vec<Subject> = results
            .answers
            .iter()
            .map(|answer| answer.subject.clone())
            .filter(|subject| at(subject))
            .collect();
        results.answers.retain(|answer| !at(&answer.subject));
        let failure = |subject| FailureRecord { subject, refused: false, reason: "it died".into() };
        results.failures = failed.into_iter().map(failure).collect();
        Some(results)
    };
    page(true, broken, |page, html| {
        for figure in ["figure 6.2", "figure 6.3", "figure 6.4"] {
            let of = |device: &str| {
                let mine = |it: &&&crate::table::Place| {
                    it.item == figure
                        && it.row == "throughput"
                        && it.device.as_deref() == Some(device)
                };
                let cells = page.places.iter().collect::<Vec<_>>();
                cells.iter().filter(mine).map(|it| it.cell.clone()).collect::<Vec<_>>()
            };
            let reason = Cell::Reason("failed: it died".into());
            assert_eq!(of("volley").iter().filter(|it| **it == reason).count(), 1, "{figure}");
            assert_eq!((of("volley").len(), of("vpp").len()), (5, 5), "{figure}");
            assert!(!of("vpp").contains(&reason));
        }
        let cell = "<td>volley</td><td class=\"n\">30000</td><td class=\"reason\">failed: it died";
        assert!(html.contains(cell));
        assert!(html.contains("cut by --quick: devices are not watched"));
    });
}

#[test]
fn counters_that_the_host_hides_are_told_in_its_words_and_shares_of_nodes_are_drawn() {
    let watched = |planned: &Planned, devices: &[String]| {
        let mut results = full(planned, devices)?;
        let node =
            |name: &str, cycles| NodeCost { node: name.into(), calls: 1, packets: 9, cycles };
        let record = |subject: Subject| TelemetryRecord {
            subject,
            nodes: vec![node("ip4-lookup", 25.0), node("ip4-rewrite", 75.0)],
            refused: Some("this host hides them".into()),
            ..TelemetryRecord::default()
        };
        results.telemetry = subjects(planned, devices).into_iter().map(record).collect();
        Some(results)
    };
    page(false, watched, |page, _| {
        let of = |row: &str| {
            let mine = |it: &&crate::table::Place| it.item == "figure 6.4" && it.row == row;
            page.places.iter().find(mine).unwrap().cell.clone()
        };
        let Cell::Number(share) = of("time in the lookup's node") else { panic!() };
        assert_eq!(share.value, 0.25);
        let Cell::Reason(why) = of("last level cache load misses a packet") else { panic!() };
        assert!(why.contains("this host hides them"), "{why}");
    });
}
