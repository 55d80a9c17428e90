//! What was found that is no rate of packets: bursts in frames, times in seconds, streams in bits a
//! second.
//!
//! ```text
//! quantity lines ─ every repetition ─┐
//! stream lines ─── every trial ──────┴▶ the median of each restart ▶ one row for each device, case and metric
//! ```

use std::collections::BTreeMap;

use lab_record::{Interval, QuantityRecord, Results, StreamRecord, Subject, Unit, Verdict};
use lab_search::stats::summary::{Summary, median};

use super::summary::interval_of_bounds;

/// A quantity over all runs of its subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Device, function and axes; its run is 0.
    pub subject: Subject,
    /// Name of the number.
    pub metric: String,
    /// What it is counted in.
    pub unit: Unit,
    /// Whether it is of streams between endpoints, not of a search.
    pub of_streams: bool,
    /// Every value, of all runs.
    pub values: Vec<f64>,
    /// How many starts of the device the values are of.
    pub runs: usize,
    /// Median of all values.
    pub median: f64,
    /// 95 % interval of the restarts' medians; of fewer than three, what they span.
    pub interval: Interval,
    /// Standard deviation of the restarts' medians.
    pub sd: f64,
    /// Whether the ends could do no more in some trial: the device may.
    pub at_least: bool,
    /// What it must be read with, of all runs.
    pub note: Option<String>,
}

impl Row {
    /// Whether it is what a packet costs a device, in cycles.
    pub fn is_cost(&self) -> bool {
        self.metric == COST && self.unit == Unit::Cycles
    }

    /// What stands before the number.
    pub fn sign(&self) -> &'static str {
        if self.at_least { "≥" } else { "" }
    }
}

/// Values of a row to be, by run.
struct Gathered {
    subject: Subject,
    metric: String,
    unit: Unit,
    of_streams: bool,
    runs: BTreeMap<u32, Vec<f64>>,
    at_least: bool,
    notes: Vec<String>,
}

/// The rows, in the order in which their subjects were first measured.
pub fn rows(results: &Results) -> Vec<Row> {
    let mut gathered: Vec<Gathered> = Vec::new();
    let mut add = |subject: &Subject,
                   metric: &str,
                   (unit, of_streams): (Unit, bool),
                   values: &[f64],
                   at_least: bool,
                   note: &Option<String>| {
        let of = Subject { run: 0, ..subject.clone() };
        let same = |it: &Gathered| it.subject == of && it.metric == metric;
        let at = gathered.iter().position(same).unwrap_or_else(|| {
            let (metric, runs) = (metric.to_owned(), BTreeMap::new());
            let (at_least, notes) = (false, Vec::new());
            gathered.push(Gathered {
                subject: of,
                metric,
                unit,
                of_streams,
                runs,
                at_least,
                notes,
            });
            gathered.len() - 1
        });
        let gathered = &mut gathered[at];
        gathered.at_least |= at_least;
        gathered.runs.entry(subject.run).or_default().extend(values);
        gathered.notes.extend(note.clone().filter(|note| !gathered.notes.contains(note)));
    };
    for QuantityRecord { subject, metric, unit, values, note } in &results.quantities {
        add(subject, metric, (*unit, false), values, false, note);
    }
    for record in &results.streams {
        let bound = |verdict: &Verdict| matches!(verdict, Verdict::GeneratorBound { .. });
        let bound = record.verdicts.iter().any(bound);
        for (metric, unit, value) in of_stream(record) {
            let at_least = bound && unit == Unit::BitsPerSecond;
            add(&record.subject, metric, (unit, true), &[value], at_least, &None);
        }
    }
    gathered.into_iter().filter_map(row).collect()
}

/// What a packet costs, cycles at full vectors.
pub const COST: &str = "cost";

/// The rows of what packets cost.
pub fn costs(results: &Results) -> Vec<Row> {
    rows(results).into_iter().filter(Row::is_cost).collect()
}

fn row(gathered: Gathered) -> Option<Row> {
    let Gathered { subject, metric, unit, of_streams, runs, at_least, notes } = gathered;
    let values: Vec<f64> = runs.values().flatten().copied().collect();
    let medians: Vec<f64> =
        runs.values().filter(|values| !values.is_empty()).map(|values| median(values)).collect();
    let sd = Summary::of(&medians).ok()?.sd;
    let interval = interval_of_bounds(&medians, &medians);
    let (runs, median) = (medians.len(), median(&values));
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Some(Row {
        subject,
        metric,
        unit,
        of_streams,
        values,
        runs,
        median,
        interval,
        sd,
        at_least,
        note,
    })
}

/// Names of what streams are told by.
pub const THROUGHPUT: &str = "TCP throughput";
/// The other direction's.
pub const THROUGHPUT_BACK: &str = "TCP throughput back";
/// Beside streams.
pub const LOADED_MEDIAN: &str = "round trip beside streams, median";
/// The same, 99th percentile.
pub const LOADED_P99: &str = "round trip beside streams, p99";
/// Jitter beside streams.
pub const LOADED_JITTER: &str = "jitter beside streams";
/// With nothing else on the way.
pub const ALONE_MEDIAN: &str = "round trip alone, median";
/// The same, 99th percentile.
pub const ALONE_P99: &str = "round trip alone, p99";
/// Jitter with nothing else on the way.
pub const ALONE_JITTER: &str = "jitter alone";
/// Requests without an answer.
pub const LOST: &str = "requests lost beside streams";
/// How evenly streams share.
pub const FAIRNESS: &str = "fairness of streams";

/// The numbers of one trial.
fn of_stream(record: &StreamRecord) -> Vec<(&'static str, Unit, f64)> {
    let round_trips = &record.round_trips;
    let seconds = |percent| round_trips.histogram.percentile_ns(percent) as f64 / 1e9;
    let loaded = !record.ways.is_empty();
    let mut found = Vec::new();
    for (metric, way) in [THROUGHPUT, THROUGHPUT_BACK].into_iter().zip(&record.ways) {
        found.push((metric, Unit::BitsPerSecond, way.bps));
    }
    found.extend(record.fairness().map(|fairness| (FAIRNESS, Unit::Share, fairness)));
    if round_trips.answered > 0 {
        let names = match loaded {
            true => [LOADED_MEDIAN, LOADED_P99, LOADED_JITTER],
            false => [ALONE_MEDIAN, ALONE_P99, ALONE_JITTER],
        };
        let values = [seconds(50.0), seconds(99.0), round_trips.jitter_ns / 1e9];
        found.extend(
            names.into_iter().zip(values).map(|(name, value)| (name, Unit::Seconds, value)),
        );
    }
    if loaded && round_trips.asked > 0 {
        let lost = 1.0 - round_trips.answered as f64 / round_trips.asked as f64;
        found.push((LOST, Unit::Share, lost));
    }
    found
}

/// A value as a reader wants it.
pub fn told(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Frames => format!("{value:.0} frames"),
        Unit::Entries => format!("{value:.0} entries"),
        Unit::Seconds if value < 1e-3 => format!("{:.1} µs", value * 1e6),
        Unit::Seconds if value < 1.0 => format!("{:.2} ms", value * 1e3),
        Unit::Seconds => format!("{value:.3} s"),
        Unit::BitsPerSecond if value >= 1e9 => format!("{:.3} Gbit/s", value / 1e9),
        Unit::BitsPerSecond if value >= 1e6 => format!("{:.2} Mbit/s", value / 1e6),
        Unit::BitsPerSecond => format!("{:.2} kbit/s", value / 1e3),
        Unit::Share => format!("{:.2} %", 100.0 * value),
        Unit::Cycles => format!("{value:.1} cycles a packet"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{RoundTrips, Way};

    fn subject(run: u32) -> Subject {
        Subject { device: "ovs".into(), run, ..Subject::default() }
    }

    #[test]
    fn runs_of_a_subject_are_one_row_with_the_interval_of_their_medians() {
        let record = |run, values: &[f64]| QuantityRecord {
            subject: subject(run),
            metric: "reset".into(),
            unit: Unit::Seconds,
            values: values.to_vec(),
            note: None,
        };
        let quantities = vec![record(0, &[0.5, 1.25, 0.75]), record(1, &[1.0])];
        let rows = rows(&Results { quantities, ..Results::default() });
        let [Row { runs: 2, values, median, interval, .. }] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((values.len(), *median), (4, 0.875));
        assert_eq!(*interval, Interval { low: 0.75, high: 1.0 });
    }

    #[test]
    fn a_trial_with_streams_has_throughput_and_one_without_has_round_trips_alone() {
        let mut round_trips = RoundTrips { asked: 4, answered: 3, ..RoundTrips::default() };
        round_trips.histogram.record_many(1_000, 3);
        let alone = StreamRecord { subject: subject(0), round_trips, ..StreamRecord::default() };
        let way = Way { bps: 9e8, streams_bps: vec![6e8, 3e8], ..Way::default() };
        let loaded = StreamRecord { ways: vec![way], ..alone.clone() };
        let rows = rows(&Results { streams: vec![alone, loaded], ..Results::default() });
        let value = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap().median;
        assert_eq!((value(THROUGHPUT), value(LOST)), (9e8, 0.25));
        assert!((value(FAIRNESS) - 0.9).abs() < 1e-12);
        assert!((value(ALONE_MEDIAN) / 1e-6 - 1.0).abs() < 0.02);
        assert!(rows.iter().all(|row| row.metric != THROUGHPUT_BACK));
    }

    #[test]
    fn values_are_told_in_the_unit_that_fits() {
        let told = [
            told(2_048.4, Unit::Frames),
            told(12.5e-6, Unit::Seconds),
            told(94.1e6, Unit::BitsPerSecond),
            told(2.5e9, Unit::BitsPerSecond),
            told(0.0125, Unit::Share),
        ];
        assert_eq!(told, ["2048 frames", "12.5 µs", "94.10 Mbit/s", "2.500 Gbit/s", "1.25 %"]);
    }
}
