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
    let mut body = timed::body(results);
    for (name, series) in subjects.iter().take(MOST_SUBJECTS) {
        let series: Vec<(String, &Histogram)> =
            series.iter().map(|(load, histogram)| (load.clone(), histogram)).collect();
        let _ = writeln!(body, "<h3>{}</h3>", escape(name));
        for (svg, caption) in [
            (percentiles::draw(&series), "Latency of every packet, by percentile."),
            (histogram::draw(&series), "The same latencies as histograms."),
        ] {
            body.push_str(&svg.map_or_else(String::new, |svg| figure(&svg, caption)));
        }
        body.push_str(&percentile_table(&series));
    }
    let lead = "From the intended time of sending, every packet: a generator that is late shows \
                here too."
        .into();
    (!body.is_empty()).then_some(Section { title: "Latency", lead, body })
}

fn percentile_table(series: &[(String, &Histogram)]) -> String {
    const PERCENTS: [f64; 7] = [0.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9];
    let mut table = String::from("<table>\n<tr><th>latency, µs</th>");
    for percent in PERCENTS {
        let name = if percent == 0.0 { "min".into() } else { format!("p{percent}") };
        let _ = write!(table, "<th class=\"n\">{name}</th>");
    }
    table.push_str("<th class=\"n\">max</th></tr>\n");
    for (name, histogram) in series {
        let _ = write!(table, "<tr><td>{}</td>", escape(name));
        let values = PERCENTS.iter().map(|&percent| histogram.percentile_ns(percent));
        for value_ns in values.chain([histogram.max_ns()]) {
            let _ = write!(table, "<td class=\"n\">{:.2}</td>", value_ns as f64 / 1e3);
        }
        table.push_str("</tr>\n");
    }
    table.push_str("</table>\n");
    table
}
