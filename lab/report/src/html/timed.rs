//! Percentiles of latency over restarts: a table, and curves over what was varied.
//!
//! ```text
//! restart 0   ▁▃▇▂▁ ─▶ p50 p99 p99.9 ─┐
//! restart 1   ▁▃▇▂▁ ─▶ p50 p99 p99.9 ─┼─▶ mean and 95 % interval of each; under 3 restarts what they span
//! ```

use std::fmt::Write;

use lab_record::axes::{Axis, Flows, FrameBytes, LoadPercent};
use lab_record::{Back, DelayVariation, Histogram, Interval, Results, Subject, TrialRecord};
use lab_search::stats::summary::Summary;

use super::section::{MOST_SUBJECTS, figure};
use super::subjects::{header, row};
use crate::figures::curves;
use crate::svg::scale::Unit;

/// Percentiles that are told.
const PERCENTS: [f64; 3] = [50.0, 99.0, 99.9];
/// What they may be drawn over: name, label, whether each step is a factor.
const OVER: [(&str, &str, bool); 3] = [
    (LoadPercent::NAME, "load, % of the throughput", false),
    (Flows::NAME, "flows", true),
    (FrameBytes::NAME, "frame size, octets", true),
];

/// The timed trials of a device and case, all restarts.
pub(crate) struct Timed<'a> {
    pub(crate) subject: Subject,
    pub(crate) trials: Vec<&'a TrialRecord>,
}

impl Timed<'_> {
    /// A percentile of each restart's packets, in nanoseconds: mean, and where it lies.
    pub(crate) fn percentile(&self, percent: f64) -> Option<(f64, Interval)> {
        let mut runs: Vec<(u32, Histogram)> = Vec::new();
        for (run, latency) in
            self.trials.iter().filter_map(|it| Some((it.subject.run, it.latency.as_ref()?)))
        {
            match runs.iter_mut().find(|it| it.0 == run) {
                Some((_, all)) => all.merge(latency),
                None => runs.push((run, latency.clone())),
            }
        }
        let each: Vec<f64> =
            runs.iter().map(|(_, all)| all.percentile_ns(percent) as f64).collect();
        let found = Summary::of(&each).ok()?;
        let interval = match each.len() {
            0..3 => Interval { low: found.min, high: found.max },
            // Nothing arrives before it was sent.
            _ => Interval { low: found.mean_95.low.max(0.0), ..found.mean_95 },
        };
        Some((found.mean, interval))
    }

    /// Latencies of all restarts together.
    pub(crate) fn all(&self) -> Histogram {
        let mut all = Histogram::default();
        self.trials.iter().filter_map(|it| it.latency.as_ref()).for_each(|it| all.merge(it));
        all
    }

    /// Starts of the device.
    pub(crate) fn restarts(&self) -> usize {
        let mut runs: Vec<u32> = self.trials.iter().map(|it| it.subject.run).collect();
        runs.sort_unstable();
        runs.dedup();
        runs.len()
    }

    /// How late the generator was, in nanoseconds: the 99th percentile and the largest.
    pub(crate) fn lateness(&self) -> Option<[u64; 2]> {
        let mut all = Histogram::default();
        self.trials.iter().filter_map(|it| it.lateness.as_ref()).for_each(|it| all.merge(it));
        (all.count() > 0).then(|| [all.percentile_ns(99.0), all.max_ns()])
    }

    /// The largest of something there, and back where packets went back.
    fn ways(
        &self,
        there: impl Fn(&TrialRecord) -> Option<f64>,
        back: impl Fn(&Back) -> f64,
    ) -> String {
        let there = self.trials.iter().filter_map(|it| there(it)).reduce(f64::max);
        let back = self.trials.iter().filter_map(|it| it.back.as_ref()).map(back);
        match (there, back.reduce(f64::max)) {
            (Some(there), Some(back)) => format!("{} there, {} back", us(there), us(back)),
            (Some(there), None) => us(there),
            (None, _) => "–".into(),
        }
    }
}

/// Nanoseconds as microseconds.
fn us(ns: f64) -> String {
    format!("{:.2}", ns / 1e3)
}

/// The timed trials, by device and case in the order in which they were first measured.
pub(crate) fn of(results: &Results) -> Vec<Timed<'_>> {
    let mut all: Vec<Timed<'_>> = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.latency.is_some()) {
        let subject = Subject { run: 0, ..trial.subject.clone() };
        match all.iter_mut().find(|it| it.subject == subject) {
            Some(timed) => timed.trials.push(trial),
            None => all.push(Timed { subject, trials: vec![trial] }),
        }
    }
    all
}

/// The table and the curves; nothing where nothing was timed.
pub(super) fn body(results: &Results) -> String {
    let all = of(results);
    if all.is_empty() {
        return String::new();
    }
    let mut body = table(&all);
    let curves = curves(&all);
    if !curves.is_empty() {
        let _ = writeln!(
            body,
            "<details>\n<summary>Over loads, flows and frame sizes, device by device</summary>\n{curves}</details>"
        );
    }
    body
}

fn table(all: &[Timed<'_>]) -> String {
    let mut table = header(&[
        "device",
        "case, µs",
        "p50",
        "p99",
        "p99.9",
        "restarts",
        "delay variation, p99",
        "between two packets, p99",
        "one-way jitter",
        "generator late, p99; most",
    ]);
    for timed in all {
        let mut numbers: Vec<String> = Vec::new();
        for percent in PERCENTS {
            numbers.push(timed.percentile(percent).map_or_else(String::new, |(mean, within)| {
                let [mean, low, high] = [mean, within.low, within.high].map(us);
                format!("{mean} [{low}, {high}]")
            }));
        }
        numbers.push(timed.restarts().to_string());
        let variation = |of: fn(&DelayVariation) -> u64| {
            timed.ways(
                |it| it.variation.as_ref().map(|it| of(it) as f64),
                |back| of(&back.variation) as f64,
            )
        };
        numbers.push(variation(|it| it.pdv_p99_ns));
        numbers.push(variation(|it| it.ipdv_p99_ns));
        numbers.push(timed.ways(|it| it.jitter_ns, |back| back.jitter_ns));
        let late = timed.lateness().map(|ns| ns.map(|ns| us(ns as f64)));
        numbers.push(late.map_or_else(|| "–".into(), |[p99, most]| format!("{p99}; {most}")));
        row(&mut table, &timed.subject, &numbers);
    }
    let _ = writeln!(
        table,
        "</table>\n<p class=\"facts\">Percentiles: mean over restarts and its 95 % interval, of under three \
         what they span; latencies of both ways together where packets go both. Delay variation is RFC 5481's, \
         jitter RFC 3550's: the largest of any trial.</p>"
    );
    table
}

fn curves(all: &[Timed<'_>]) -> String {
    let mut body = String::new();
    for (axis, label, log) in OVER {
        let mut groups: Vec<(Subject, Vec<(f64, &Timed<'_>)>)> = Vec::new();
        for timed in all {
            let mut rest = timed.subject.clone();
            let Some(x) = rest.axes.remove(axis).and_then(|it| it.parse().ok()) else { continue };
            match groups.iter_mut().find(|it| it.0 == rest) {
                Some((_, points)) => points.push((x, timed)),
                None => groups.push((rest, vec![(x, timed)])),
            }
        }
        for (rest, mut points) in
            groups.into_iter().filter(|it| it.1.len() >= 3).take(MOST_SUBJECTS)
        {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let series = PERCENTS.map(|percent| curves::Series {
                name: format!("p{percent}"),
                points: points.iter().filter_map(|&(x, timed)| point(x, timed, percent)).collect(),
                model: Vec::new(),
            });
            let x = curves::AxisStyle { label, unit: Unit::Count, log };
            let y = curves::AxisStyle { label: "latency", unit: Unit::Nanoseconds, log: true };
            let caption = format!("Latency against {label}: {} — {}.", rest.device, rest.case());
            let svg = curves::draw(&series, x, y, &[]);
            body.push_str(&svg.map_or_else(String::new, |svg| figure(&svg, &caption)));
        }
    }
    body
}

fn point(x: f64, timed: &Timed<'_>, percent: f64) -> Option<curves::Point> {
    let (y, interval) = timed.percentile(percent)?;
    Some(curves::Point { x, y, interval: Some(interval), at_least: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Outcome, Trial};

    /// Five restarts, each a little slower, at three loads, the generator 7 µs late.
    fn results() -> Results {
        let mut trials = Vec::new();
        for run in 0..5 {
            for load in [10, 50, 90] {
                let axes = [(LoadPercent::NAME.to_owned(), load.to_string())].into();
                let subject = Subject { device: "ours".into(), run, axes, ..Subject::default() };
                let outcome = Outcome::of(Trial::new(1e3, 1.0), 1_000);
                let bare = TrialRecord::new(subject, 0, "latency", 0.0, outcome);
                let (mut latency, mut lateness) = (Histogram::default(), Histogram::default());
                latency.record_many(1_000 * load + 10 * u64::from(run), 1_000);
                lateness.record_many(7_000, 1_000);
                let (latency, lateness) = (Some(latency), Some(lateness));
                trials.push(TrialRecord { latency, lateness, jitter_ns: Some(2e3), ..bare });
            }
        }
        Results { trials, ..Results::default() }
    }

    #[test]
    fn percentiles_have_intervals_over_restarts_and_are_drawn_over_loads() {
        let results = results();
        let body = body(&results);
        assert_eq!(body.matches("<figure>").count(), 1, "over the load alone");
        assert_eq!(body.matches("<tr><td>ours").count(), 3);
        let all = Timed {
            subject: Subject::default(),
            trials: results.trials.iter().step_by(3).collect(),
        };
        let (mean, within) = all.percentile(50.0).unwrap();
        assert!(within.low < mean && mean < within.high, "{within:?}");
        assert!((10_000.0..10_060.0).contains(&mean), "{mean}");
        assert!(within.high - within.low < 100.0, "{within:?}");
        assert!(
            body.contains(">2.00<") && body.contains("7.00; 7.00") || body.contains("; 7.0"),
            "{body}"
        );
        assert_eq!(super::body(&Results::default()), "");
    }
}
