//! The points of a curve, of one device; or the reason why it has none.
//!
//! ```text
//! rate        answers of searches            percentile, mean, loss   timed trials, a value each restart
//! cost        what a packet costs the device, by its own count
//! node share  cycles of some nodes / of all  event, IPC               the processor's counters, where it shows them
//!                                            modelled                 instructions by valgrind, where it does not
//! ```

use std::collections::BTreeMap;

use lab_record::axes::{Axis, LoadPercent};
use lab_record::{FailureRecord, Histogram, Interval, ModelledCost, Results, TrialRecord};
use lab_report::summary::interval_of_bounds;
use lab_search::stats::summary::mean;

use crate::cell::{Runs, fits, in_words, reason};
use crate::folder::Measured;
use crate::study::{Curve, Pick};
use crate::what::What;

/// A point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Value of the axis.
    pub x: f64,
    /// What was measured.
    pub y: f64,
    /// Where it lies.
    pub interval: Interval,
    /// Restarts that it is of.
    pub runs: usize,
    /// Whether the device may do more.
    pub at_least: bool,
}

/// The points, in order of the axis; or why there are none.
pub fn points(
    runs: &Runs<'_>,
    curve: &Curve,
    pick: &Pick,
    axis: &str,
    device: &str,
) -> Result<Vec<Point>, String> {
    if let Some(reason) = &curve.reason {
        return Err(reason.clone());
    }
    let mut why = String::from("no run is named");
    for id in &pick.runs {
        let Some(run) = runs.run(id) else { continue };
        let mut found = match &run.results {
            None => Vec::new(),
            Some(results) => match curve.what {
                What::Rate => rates(runs, id, pick, axis, device),
                What::Cost => costs(runs, id, pick, axis, device),
                What::NodeShare => node_shares(results, curve, pick, axis, device),
                What::Event | What::Ipc => events(results, curve, pick, axis, device),
                What::Modelled => modelled(results, pick, axis, device),
                What::Percentile | What::Mean | What::Loss => {
                    timed(results, curve, pick, axis, device)
                }
                What::Histogram => Vec::new(),
            },
        };
        found.sort_by(|a, b| a.x.total_cmp(&b.x));
        if !found.is_empty() {
            return Ok(found);
        }
        why = lacks(run, curve, pick, device);
    }
    Err(why)
}

/// Values of the axis at which a curve should have a point and has none, each with what went wrong
/// there.
pub fn missing(
    runs: &Runs<'_>,
    curve: &Curve,
    pick: &Pick,
    axis: &str,
    device: &str,
) -> Vec<(String, String)> {
    if !matches!(curve.what, What::Rate | What::Percentile | What::Mean | What::Loss) {
        return Vec::new();
    }
    let found = pick.runs.iter().filter_map(|id| runs.run(id)?.results.as_ref());
    let mut told: Vec<(String, String)> = Vec::new();
    for failure in found.flat_map(|results| &results.failures) {
        let Some(x) = failure.subject.axes.get(axis) else { continue };
        if fits(&failure.subject, pick, device) && told.iter().all(|(known, _)| known != x) {
            told.push((x.clone(), in_words(failure)));
        }
    }
    told
}

/// Every latency of a device at the load of the pick, restart by restart; or why there is none.
pub fn histograms(runs: &Runs<'_>, pick: &Pick, device: &str) -> Result<Vec<Histogram>, String> {
    let mut why = String::from("no run is named");
    for id in &pick.runs {
        let Some(run) = runs.run(id) else { continue };
        let mut restarts: BTreeMap<u32, Histogram> = BTreeMap::new();
        let trials = run.results.iter().flat_map(|results| &results.trials);
        for trial in trials.filter(|trial| fits(&trial.subject, pick, device)) {
            if let Some(latency) = &trial.latency {
                restarts.entry(trial.subject.run).or_default().merge(latency);
            }
        }
        restarts.retain(|_, all| all.count() > 0);
        if !restarts.is_empty() {
            return Ok(restarts.into_values().collect());
        }
        why = reason(run, pick, device);
    }
    Err(why)
}

/// The mean of each restart's latencies: their mean, and where it lies.
pub fn mean_of(restarts: &[Histogram]) -> Point {
    let means: Vec<f64> = restarts.iter().map(Histogram::mean_ns).collect();
    over_restarts(0.0, &means)
}

/// Why a run has no point of a curve.
fn lacks(run: &Measured, curve: &Curve, pick: &Pick, device: &str) -> String {
    let told = reason(run, pick, device);
    let telemetry =
        matches!(curve.what, What::NodeShare | What::Event | What::Ipc | What::Modelled);
    let watched = |table: &toml::Table| {
        table.get("measure").and_then(|it| it.get("telemetry")?.as_bool()) == Some(true)
    };
    if telemetry && watched(&run.planned.whole) && !watched(&run.planned.carried) {
        return "cut by --quick: devices are not watched".into();
    }
    let Some(results) = run.results.as_ref().filter(|_| telemetry) else { return told };
    let mut seen = results.telemetry.iter().filter(|it| fits(&it.subject, pick, device));
    match (seen.next(), curve.what) {
        (None, _) if !told.ends_with("measured none") => told,
        (None, _) => "nobody watched the device in this run".into(),
        (Some(record), What::Event | What::Ipc) => match &record.refused {
            Some(why) => format!("the host hides its counters: {why}"),
            None if curve.what == What::Ipc => "cycles or instructions are not counted".into(),
            None => format!("no counter is called {}", curve.names.join(" or ")),
        },
        (Some(record), What::Modelled) => match &record.refused {
            None => "not modelled: the host shows its counters".into(),
            Some(_) => {
                let mine = |it: &&FailureRecord| fits(&it.subject, pick, device);
                let mut failures = results.failures.iter().filter(mine);
                match failures.find(|it| it.reason.contains("valgrind")) {
                    Some(failure) => in_words(failure),
                    None if told.ends_with("measured none") => {
                        "not modelled: the lab does not know which functions its nodes are".into()
                    }
                    None => told,
                }
            }
        },
        (Some(_), _) => format!("the device tells of no node {}", curve.names.join(" or ")),
    }
}

fn x_of(subject: &lab_record::Subject, axis: &str) -> Option<f64> {
    subject.axes.get(axis)?.parse().ok()
}

fn rates(runs: &Runs<'_>, id: &str, pick: &Pick, axis: &str, device: &str) -> Vec<Point> {
    let metric = |name: &str| pick.metric.as_deref().is_none_or(|wanted| wanted == name);
    let rows = runs.rates(id).iter();
    let rows = rows.filter(|row| fits(&row.subject, pick, device) && metric(&row.metric));
    let point = |row: &lab_report::summary::Row| {
        Some(Point {
            x: x_of(&row.subject, axis)?,
            y: row.value_pps,
            interval: row.interval,
            runs: row.runs,
            at_least: row.is_at_least(),
        })
    };
    rows.filter_map(point).collect()
}

fn costs(runs: &Runs<'_>, id: &str, pick: &Pick, axis: &str, device: &str) -> Vec<Point> {
    let rows = runs.costs(id).filter(|row| fits(&row.subject, pick, device));
    let point = |row: &lab_report::quantities::Row| {
        Some(Point {
            x: x_of(&row.subject, axis)?,
            y: row.median,
            interval: row.interval,
            runs: row.runs,
            at_least: false,
        })
    };
    rows.filter_map(point).collect()
}

/// One value each restart: their mean, and its interval.
fn over_restarts(x: f64, values: &[f64]) -> Point {
    let interval = interval_of_bounds(values, values);
    Point { x, y: mean(values), interval, runs: values.len(), at_least: false }
}

fn timed(results: &Results, curve: &Curve, pick: &Pick, axis: &str, device: &str) -> Vec<Point> {
    // x, in thousandths, and restart ─▶ the trials.
    let mut found: BTreeMap<u64, BTreeMap<u32, Vec<&TrialRecord>>> = BTreeMap::new();
    for trial in &results.trials {
        if trial.latency.is_none() || !fits(&trial.subject, pick, device) {
            continue;
        }
        let Some(x) = x_of(&trial.subject, axis) else { continue };
        let runs = found.entry((x * 1e3).round() as u64).or_default();
        runs.entry(trial.subject.run).or_default().push(trial);
    }
    let value = |trials: &Vec<&TrialRecord>| {
        let mut all = Histogram::default();
        trials.iter().filter_map(|it| it.latency.as_ref()).for_each(|it| all.merge(it));
        match curve.what {
            What::Percentile => all.percentile_ns(curve.percent) as f64,
            What::Loss => {
                let lost: u64 = trials.iter().map(|it| it.outcome.blame().device).sum();
                lost as f64 / trials.iter().map(|it| it.outcome.offered).sum::<u64>().max(1) as f64
            }
            _ => all.mean_ns(),
        }
    };
    let point = |(x, runs): (u64, BTreeMap<u32, Vec<&TrialRecord>>)| {
        let values: Vec<f64> = runs.values().map(value).collect();
        let x = x as f64 / 1e3;
        over_restarts(if axis == LoadPercent::NAME { x / 100.0 } else { x }, &values)
    };
    found.into_iter().map(point).collect()
}

fn node_shares(
    results: &Results,
    curve: &Curve,
    pick: &Pick,
    axis: &str,
    device: &str,
) -> Vec<Point> {
    let named = |node: &str| curve.names.iter().any(|name| node.contains(name.as_str()));
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for record in results.telemetry.iter().filter(|it| fits(&it.subject, pick, device)) {
        let all: f64 = record.nodes.iter().map(|node| node.cycles).sum();
        let mut mine = record.nodes.iter().filter(|node| named(&node.node)).peekable();
        let (Some(x), true, true) = (x_of(&record.subject, axis), all > 0.0, mine.peek().is_some())
        else {
            continue;
        };
        let share = mine.map(|node| node.cycles).sum::<f64>() / all;
        values.entry(x.round() as u64).or_default().push(share);
    }
    values.into_iter().map(|(x, values)| over_restarts(x as f64, &values)).collect()
}

fn events(results: &Results, curve: &Curve, pick: &Pick, axis: &str, device: &str) -> Vec<Point> {
    let named = |event: &str| curve.names.iter().any(|name| event.contains(name.as_str()));
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for record in results.telemetry.iter().filter(|it| fits(&it.subject, pick, device)) {
        let Some(x) = x_of(&record.subject, axis) else { continue };
        let found = match curve.what {
            What::Ipc => record.ipc_ipp().map(|[ipc, _]| ipc),
            _ => record.per_packet.iter().find(|(event, _)| named(event)).map(|it| it.1),
        };
        if let Some(each) = found {
            values.entry(x.round() as u64).or_default().push(each);
        }
    }
    values.into_iter().map(|(x, values)| over_restarts(x as f64, &values)).collect()
}

/// Instructions of all nodes for each packet that came in. Nodes that poll are not among them.
fn modelled(results: &Results, pick: &Pick, axis: &str, device: &str) -> Vec<Point> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for record in results.modelled.iter().filter(|it| fits(&it.subject, pick, device)) {
        let packets = record.nodes.iter().map(|node| node.packets).max().unwrap_or(0);
        let (Some(x), true) = (x_of(&record.subject, axis), packets > 0) else { continue };
        let of_node = |node: &ModelledCost| node.instructions * node.packets as f64;
        let all: f64 = record.nodes.iter().map(of_node).sum();
        values.entry(x.round() as u64).or_default().push(all / packets as f64);
    }
    values.into_iter().map(|(x, values)| over_restarts(x as f64, &values)).collect()
}
