//! Latencies at loads that were chosen.

use std::fmt::Write;

use lab_record::Histogram;
use lab_record::axes::{Axis, LoadPercent};

use super::section::{MOST_SUBJECTS, Page, Section, figure};
use super::timed;
use crate::figures::{histogram, percentiles};
use crate::svg::canvas::escape;
use crate::words::rate;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    // (device and case without the load) → (load in words → all its latencies)
    let mut subjects: Vec<(String, Vec<(String, Histogram)>)> = Vec::new();
    for trial in &results.trials {
        let Some(latency) = &trial.latency else { continue };
        let mut rest = trial.subject.clone();
        let load = rest.axes.remove(LoadPercent::NAME);
        let load = load.map_or_else(
            || rate(trial.outcome.trial.load_pps),
            |percent| format!("{percent} % of the throughput"),
        );
        let name = format!("{} — {}", rest.device, rest.case());
        let found = subjects.iter().position(|subject| subject.0 == name).unwrap_or_else(|| {
            subjects.push((name, Vec::new()));
            subjects.len() - 1
        });
        let series = &mut subjects[found].1;
        match series.iter_mut().find(|it| it.0 == load) {
            Some((_, histogram)) => histogram.merge(latency),
            None => series.push((load, latency.clone())),
        }
    }
    let mut body = together(&subjects);
    body.push_str(&timed::body(results));
    // What each load did to each device is there for who looks for it.
    for (name, series) in subjects.iter().take(MOST_SUBJECTS) {
        let series: Vec<(String, &Histogram)> =
            series.iter().map(|(load, histogram)| (load.clone(), histogram)).collect();
        let _ = writeln!(body, "<details>\n<summary>{}, by load</summary>", escape(name));
        for (svg, caption) in [
            (percentiles::draw(&series), "Latency of every packet, by percentile."),
            (histogram::draw(&series), "The same latencies as histograms."),
        ] {
            body.push_str(&svg.map_or_else(String::new, |svg| figure(&svg, caption)));
        }
        body.push_str("</details>\n");
    }
    let lead = "From the intended time of sending, every packet: a generator that is late shows \
                here too."
        .into();
    (!body.is_empty()).then_some(Section { title: "Latency", lead, body })
}

/// As many curves can still be told apart.
const MOST_CURVES: usize = 7;

/// All devices and cases in one chart, each at the load in the middle of its own: a device that was
/// asked for half of what it carries beside one that was asked for the same.
fn together(subjects: &[(String, Vec<(String, Histogram)>)]) -> String {
    let middle = |(name, series): &'_ (String, Vec<(String, Histogram)>)| {
        let (load, histogram) = series.get(series.len() / 2)?;
        let (device, case) = name.split_once(" — ").unwrap_or((name, ""));
        Some(([device, case, load].map(str::to_owned), histogram.clone()))
    };
    let series: Vec<([String; 3], Histogram)> = subjects.iter().filter_map(middle).collect();
    // What all have in common stands below, once.
    let common = [1, 2].map(|part| series.iter().all(|it| it.0[part] == series[0].0[part]));
    let name = |parts: &[String; 3]| {
        let own = [1, 2].into_iter().filter(|part| !common[part - 1] && !parts[*part].is_empty());
        own.fold(parts[0].clone(), |name, part| format!("{name}, {}", parts[part]))
    };
    let shown: Vec<(String, &Histogram)> =
        series.iter().take(MOST_CURVES).map(|(parts, it)| (name(parts), it)).collect();
    let shared = [1, 2].into_iter().filter(|part| common[part - 1]);
    let shared: Vec<&str> = shared
        .filter_map(|part| Some(series.first()?.0[part].as_str()))
        .filter(|text| !text.is_empty())
        .collect();
    let which = match series.len().saturating_sub(MOST_CURVES) {
        0 => "all devices".to_owned(),
        more => format!("the first {MOST_CURVES} devices and cases of {}", MOST_CURVES + more),
    };
    let mut caption = format!("Latency of every packet, {which}");
    if !shared.is_empty() {
        let _ = write!(caption, ": {}", shared.join(", "));
    }
    caption.push('.');
    percentiles::draw(&shown).map_or_else(String::new, |svg| figure(&svg, &caption))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Outcome, Results, Subject, Trial, TrialRecord};

    #[test]
    fn all_devices_are_in_one_chart_and_no_number_is_told_twice() {
        let trial = |device: &str, percent: u64| {
            let axes = [(LoadPercent::NAME.to_owned(), percent.to_string())].into();
            let subject = Subject { device: device.into(), axes, ..Subject::default() };
            let mut trial = TrialRecord::new(
                subject,
                0,
                "latency",
                0.0,
                Outcome::of(Trial::new(1e3, 1.0), 1_000),
            );
            let mut latency = Histogram::default();
            latency.record_many(1_000 * percent, 1_000);
            trial.latency = Some(latency);
            trial
        };
        let devices = ["ours", "theirs"];
        let trials =
            devices.iter().flat_map(|it| [10, 50, 90].map(|load| trial(it, load))).collect();
        let body = section(&Page::of(&Results { trials, ..Results::default() })).unwrap().body;
        let chart = &body[..body.find("</figure>").unwrap()];
        assert!(devices.iter().all(|it| chart.contains(it)), "{chart}");
        assert!(chart.ends_with(": 50 % of the throughput.</figcaption>\n"), "{chart}");
        assert_eq!((body.matches("<table>").count(), body.matches("<details>").count()), (1, 3));
    }
}
