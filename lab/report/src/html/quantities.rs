//! What a search found that is no rate: bursts in frames, times in seconds; and streams between
//! endpoints.

use std::collections::BTreeSet;
use std::fmt::Write;

use lab_record::Results;
use lab_search::search::ALL;

use super::Section;
use crate::figures::bars;
use crate::quantities::{self, Row, told};
use crate::svg::canvas::escape;
use crate::svg::scale;
use crate::words::verdict;

/// What searches for bursts and upsets found.
pub(super) fn section(results: &Results) -> Option<Section> {
    let rows: Vec<Row> = own(results, false);
    // What each search says beside its numbers.
    let readings = ALL.iter().map(|kind| kind.reading).filter(|reading| !reading.is_empty());
    let lead = readings.collect::<Vec<_>>().join(" ");
    let body = table(&rows);
    let title = "Bursts, recovery, reset, live changes, tables";
    (!rows.is_empty()).then_some(Section { title, lead, body })
}

/// Streams between endpoints.
pub(super) fn streams(results: &Results) -> Option<Section> {
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

/// The rows of streams, or the others.
fn own(results: &Results, of_streams: bool) -> Vec<Row> {
    quantities::rows(results).into_iter().filter(|row| row.of_streams == of_streams).collect()
}

/// Grouped bars of a metric: schedulers side by side where they differ, else cases; a bar for each
/// device and kind of endpoint.
fn figure(rows: &[Row], metric: &str, unit: scale::Unit) -> Option<String> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.metric == metric).collect();
    let scheduled = rows.iter().any(|row| row.subject.axes.contains_key("scheduler"));
    let several = |axis: &str| {
        let values = rows.iter().map(|row| row.subject.axes.get(axis));
        values.collect::<BTreeSet<_>>().len() > 1
    };
    let endpoints = several("endpoint");
    let series = |row: &Row| match (row.subject.axes.get("endpoint"), endpoints) {
        (Some(endpoint), true) => format!("{}, {endpoint}", row.subject.device),
        _ => row.subject.device.clone(),
    };
    let group = |row: &Row| {
        let mut of = row.subject.clone();
        of.axes.remove("endpoint");
        match of.axes.remove("scheduler") {
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
        Some((row.median * factor, row.interval.map(|end| end * factor)))
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
        let svg = bars::draw(&groups, &names, unit, &label);
        format!("<figure>\n{svg}<figcaption>{}.</figcaption>\n</figure>\n", escape(metric))
    })
}

fn table(rows: &[Row]) -> String {
    let mut body = String::from(
        "<table>\n<tr><th>device</th><th>case</th><th></th><th class=\"n\">median</th>\
         <th class=\"n\">least</th><th class=\"n\">most</th><th class=\"n\">95 % interval</th>\
         <th class=\"n\">trials</th><th class=\"n\">runs</th></tr>\n",
    );
    for Row { subject, metric, unit, values, runs, median, interval, note, .. } in rows {
        let told = |value: f64| told(value, *unit);
        let note = note.as_ref().map(|note| format!("<br><small>{}</small>", escape(note)));
        let note = note.unwrap_or_default();
        let (least, most) = values
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &it| (low.min(it), high.max(it)));
        let numbers = [told(*median), told(least), told(most)]
            .into_iter()
            .chain([format!("{} – {}", told(interval.low), told(interval.high))])
            .chain([values.len().to_string(), runs.to_string()]);
        let numbers: String = numbers.map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td>{numbers}</tr>",
            escape(&subject.device),
            escape(&subject.case()),
            escape(metric) + &note,
        );
    }
    body.push_str("</table>\n");
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{QuantityRecord, StreamRecord, Subject, Unit, Verdict, Way};

    #[test]
    fn runs_of_a_subject_are_one_row_in_the_unit_that_fits() {
        let record = |run, values: &[f64]| QuantityRecord {
            subject: Subject { device: "ovs".into(), run, ..Subject::default() },
            metric: "reset".into(),
            unit: Unit::Seconds,
            values: values.to_vec(),
            note: Some(format!("run <{run}>")),
        };
        let quantities = vec![record(0, &[0.5, 1.25]), record(1, &[0.75])];
        let body = section(&Results { quantities, ..Results::default() }).unwrap().body;
        let cells = ["750.00 ms", "500.00 ms", "1.250 s", "750.00 ms – 875.00 ms", "3", "2"];
        let cells: String = cells.iter().map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        assert!(body.contains(&cells), "{body}");
        assert!(body.contains("reset<br><small>run &lt;0&gt;; run &lt;1&gt;</small>"), "{body}");
        assert!(section(&Results::default()).is_none() && streams(&Results::default()).is_none());
    }

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
        let body = super::streams(&Results { streams, ..Results::default() }).unwrap().body;
        for word in
            ["fifo", "sfq", "ovs, namespace", "ovs, vm", "90.00 Mbit/s", "n/a", "generator-bound"]
        {
            assert!(body.contains(word), "{word}: {body}");
        }
        assert_eq!(body.matches("<svg").count(), 1);
    }
}
