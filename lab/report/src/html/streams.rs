//! Streams between endpoints: throughput and round trips.

use std::collections::BTreeSet;
use std::fmt::Write;

use lab_record::axes::{Axis, Endpoint, Scheduler};

use super::quantities::{own, table};
use super::section::{Page, Section};
use crate::figures::bars;
use crate::quantities::{self, Row};
use crate::svg::canvas::escape;
use crate::svg::scale;
use crate::words::verdict;

/// Streams between endpoints.
pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let rows = own(results, true);
    let mut body = String::new();
    for (metric, unit) in [
        (quantities::THROUGHPUT, scale::Unit::Count),
        (quantities::THROUGHPUT_BACK, scale::Unit::Count),
        (quantities::ALONE_MEDIAN, scale::Unit::Nanoseconds),
        (quantities::LOADED_MEDIAN, scale::Unit::Nanoseconds),
        (quantities::LOADED_JITTER, scale::Unit::Nanoseconds),
    ] {
        body.push_str(&figure(&rows, metric, unit).unwrap_or_default());
    }
    body.push_str(&table(&rows));
    let mut found = BTreeSet::new();
    for record in &results.streams {
        for phrase in &record.verdicts {
            found.insert((record.subject.device.clone(), record.subject.case(), verdict(phrase)));
        }
    }
    for (device, case, phrase) in found {
        let (device, case, phrase) = (escape(&device), escape(&case), escape(&phrase));
        let _ = writeln!(body, "<p class=\"verdict\">{device}, {case}: {phrase}</p>");
    }
    let lead = "TCP by the kernel's own ends, with checksums and segmentation done there and not by the link, and \
                small requests that are answered at once: alone, one after the other, and at a steady pace beside \
                the streams. The ends share the lab's core."
        .into();
    (!rows.is_empty()).then_some(Section { title: "Streams between endpoints", lead, body })
}

/// Grouped bars of a metric: schedulers side by side where they differ, else cases; a bar for each
/// device and kind of endpoint.
fn figure(rows: &[Row], metric: &str, unit: scale::Unit) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.metric == metric).collect();
    let scheduled = rows.iter().any(|row| row.subject.axes.contains_key(Scheduler::NAME));
    let several = |axis: &str| {
        let values = rows.iter().map(|row| row.subject.axes.get(axis));
        values.collect::<BTreeSet<_>>().len() > 1
    };
    let endpoints = several(Endpoint::NAME);
    let series = |row: &Row| match (row.subject.axes.get(Endpoint::NAME), endpoints) {
        (Some(endpoint), true) => format!("{}, {endpoint}", row.subject.device),
        _ => row.subject.device.clone(),
    };
    let group = |row: &Row| {
        let mut of = row.subject.clone();
        of.axes.remove(Endpoint::NAME);
        match of.axes.remove(Scheduler::NAME) {
            Some(scheduler) if scheduled && of.axes.is_empty() => scheduler,
            Some(scheduler) => format!("{scheduler}, {}", of.case()),
            None => of.case(),
        }
    };
    let (mut groups, mut names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for row in &rows {
        let (group, name) = (group(row), series(row));
        if !groups.contains(&group) {
            groups.push(group);
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let factor = if unit == scale::Unit::Nanoseconds { 1e9 } else { 1.0 };
    let bar = |of: &String, name: &String| {
        let row = rows.iter().find(|row| group(row) == *of && series(row) == *name)?;
        Some((row.median * factor, row.interval.map(|end| end * factor), row.at_least))
    };
    let groups: Vec<bars::Group> = groups
        .iter()
        .map(|of| bars::Group {
            name: of.clone(),
            bars: names.iter().map(|name| bar(of, name)).collect(),
        })
        .collect();
    let label = if factor == 1.0 { format!("{metric}, bit/s") } else { metric.to_owned() };
    (!rows.is_empty()).then(|| {
        let svg = bars::draw(&groups, &names, unit, (&label, bars::WHISKERS));
        format!("<figure>\n{svg}<figcaption>{}.</figcaption>\n</figure>\n", escape(metric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Results, StreamRecord, Subject, Verdict, Way};

    #[test]
    fn streams_are_bars_by_scheduler_with_a_series_for_each_kind_of_endpoint() {
        let record = |scheduler: &str, endpoint: &str| {
            let axes = [("scheduler", scheduler), ("endpoint", endpoint)];
            let axes = axes.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            let subject = Subject { device: "ovs".into(), axes, ..Subject::default() };
            let ways = vec![Way { bps: 9e7, ..Way::default() }];
            let verdicts = vec![Verdict::GeneratorBound { share: 0.95 }];
            StreamRecord { subject, ways, verdicts, ..StreamRecord::default() }
        };
        let streams =
            vec![record("fifo", "namespace"), record("sfq", "namespace"), record("sfq", "vm")];
        let body = section(&Page::of(&Results { streams, ..Results::default() })).unwrap().body;
        for word in
            ["fifo", "sfq", "ovs, namespace", "ovs, vm", "≥90.00 Mbit/s", "n/a", "generator-bound"]
        {
            assert!(body.contains(word), "{word}: {body}");
        }
        assert_eq!(body.matches("<svg").count(), 1);
        assert!(section(&Page::of(&Results::default())).is_none());
    }
}
