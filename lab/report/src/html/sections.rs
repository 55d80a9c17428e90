//! The parts of the page: which figures the results allow, and the tables beside them.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab_record::{Campaign, Histogram, Results, Subject, TrialRecord};

use super::{Section, accounts, checks, host, quantities, telemetry};
use crate::figures::{bars, curves, forest, histogram, loss, percentiles, throughput, timeline};
use crate::summary::{Row, rows};
use crate::svg::canvas::escape;
use crate::svg::scale::Unit;
use crate::words::{rate, verdict};

/// Axes with a figure of their own where they have three values or more: name, label, log.
const AXES: [(&str, &str, bool); 6] = [
    ("entries", "table entries", true),
    ("flows", "flows", true),
    ("workers", "workers", false),
    ("clock_percent", "clock, % of its maximum", false),
    ("vector_packets", "vector size, packets", true),
    ("frame_bytes", "frame size, octets", true),
];
/// Purpose of the trials whose latency is drawn; their loads are chosen, not searched for.
const LATENCY: &str = "latency";
/// Subjects that get figures of their own; a sweep of fifty table sizes is not fifty time lines.
const MOST_SUBJECTS: usize = 6;

pub(super) fn all(results: &Results) -> Vec<Section> {
    let rows = rows(results);
    let sections = [
        throughput_section(&rows, results),
        checks::section(results),
        quantities::section(results),
        quantities::streams(results),
        failures_section(results),
        comparison_section(results),
        curves_section(&rows),
        bars_section(&rows),
        latency_section(results),
        loss_section(results),
        timeline_section(results),
        telemetry::section(results),
        host::section(results),
        accounts::spikes(results),
        accounts::packets(results),
        Some(method_section(results)),
    ];
    sections.into_iter().flatten().collect()
}

fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n", escape(caption))
}

/// A row's rate, and whether it may be more.
fn rate_of(row: &Row) -> String {
    format!("{}{}", if row.is_at_least() { "≥\u{a0}" } else { "" }, rate(row.value_pps))
}

fn throughput_section(rows: &[Row], results: &Results) -> Option<Section> {
    if rows.is_empty() {
        return None;
    }
    let (names, metrics) = (distinct(rows.iter().map(Row::name)), metrics(rows));
    let dot = |row: &Row| throughput::Dot {
        row: place(&names, &row.name()),
        metric: place(&metrics, &row.metric),
        value_pps: row.value_pps,
        interval: row.interval,
        at_least: row.is_at_least(),
    };
    let dots: Vec<_> = rows.iter().map(dot).collect();
    let mut body = if names.len() <= 40 {
        let caption = match dots.iter().any(|dot| dot.at_least) {
            true => "Throughput by device and case. ≥: the generator could do no more.",
            false => "Throughput by device and case.",
        };
        figure(&throughput::draw(&names, &metrics, &dots), caption)
    } else {
        String::new()
    };
    body.push_str("<table>\n<tr><th>device</th><th>case</th><th></th><th class=\"n\">rate</th>\
                   <th class=\"n\">of the first</th><th class=\"n\">95 % interval</th><th class=\"n\">sd</th><th class=\"n\">runs</th></tr>\n");
    for row in rows {
        let interval = format!("{} – {}", rate(row.interval.low), rate(row.interval.high));
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{interval}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&row.subject.device),
            escape(&row.subject.case()),
            // A name of two words stays on one line.
            escape(&row.metric).replace(' ', "\u{a0}"),
            rate_of(row),
            of_the_first(row, rows),
            spread(row),
            row.runs
        );
        for found in &row.verdicts {
            let phrase = escape(&verdict(found));
            let _ = writeln!(
                body,
                "<tr><td></td><td colspan=\"7\" class=\"verdict\">{phrase}</td></tr>"
            );
        }
    }
    body.push_str("</table>\n");
    let lead = host::fitness(results).unwrap_or_default();
    Some(Section { title: "Throughput", lead, body })
}

/// The standard deviation over restarts, as a share; one run has none.
fn spread(row: &Row) -> String {
    match row.runs {
        0 | 1 => "–".into(),
        _ => format!("{:.2} %", 100.0 * row.sd_pps / row.value_pps.max(1e-9)),
    }
}

/// What a rate is of that of the first device which was measured in the same case.
fn of_the_first(row: &Row, rows: &[Row]) -> String {
    let same = |other: &&Row| {
        other.metric == row.metric
            && other.subject.function == row.subject.function
            && other.subject.axes == row.subject.axes
    };
    let first = rows.iter().find(same).map_or(0.0, |first| first.value_pps);
    if first > 0.0 { format!("{:.2}", row.value_pps / first) } else { "–".into() }
}

fn failures_section(results: &Results) -> Option<Section> {
    let lines = distinct(results.failures.iter().map(|failure| {
        let (device, case) = (escape(&failure.subject.device), escape(&failure.subject.case()));
        let class = if failure.refused { "" } else { " class=\"verdict\"" };
        format!(
            "<tr><td>{device}</td><td>{case}</td><td{class}>{}</td></tr>",
            escape(&failure.reason)
        )
    }));
    let head = "<tr><th>device</th><th>case</th><th>why</th></tr>";
    let body = format!("<table>\n{head}\n{}\n</table>\n", lines.join("\n"));
    (!lines.is_empty()).then_some(Section { title: "Not measured", lead: String::new(), body })
}

fn comparison_section(results: &Results) -> Option<Section> {
    let svg = forest::draw(&results.comparisons)?;
    let lead =
        "Interleaved blocks, compared pair by pair: a ratio whose interval keeps off 1 is a \
                difference."
            .into();
    let mut body = figure(&svg, "Ratios of rates.");
    for record in &results.comparisons {
        for device in &record.unexhausted {
            let (device, case) = (escape(device), escape(&record.case));
            body.push_str(&format!(
                "<p>{case}: {device} lost nothing at the largest load, so it may do more than was seen.</p>\n"
            ));
        }
    }
    Some(Section { title: "Comparison", lead, body })
}

fn curves_section(rows: &[Row]) -> Option<Section> {
    let mut body = String::new();
    for (axis, label, log) in AXES {
        for metric in metrics(rows) {
            let series = series_over(rows, axis, &metric);
            if series.iter().all(|series| series.points.len() < 3) {
                continue;
            }
            let x = curves::AxisStyle { label, unit: Unit::Count, log };
            let y_label = format!("{metric}, packets per second");
            let y = curves::AxisStyle { label: &y_label, unit: Unit::Count, log: false };
            if let Some(svg) = curves::draw(&series, x, y, &[]) {
                body.push_str(&figure(&svg, &format!("{metric} against {label}.")));
            }
        }
    }
    let lead = String::new();
    (!body.is_empty()).then_some(Section { title: "Scaling", lead, body })
}

/// One series for each device, function and combination of the other axes.
fn series_over(rows: &[Row], axis: &str, metric: &str) -> Vec<curves::Series> {
    let mut series: Vec<curves::Series> = Vec::new();
    for row in rows.iter().filter(|row| row.metric == metric) {
        let mut rest = row.subject.clone();
        let Some(x) = rest.axes.remove(axis).and_then(|value| value.parse().ok()) else { continue };
        let name = format!("{}, {}", rest.device, rest.case());
        let point = curves::Point { x, y: row.value_pps, interval: Some(row.interval) };
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(curves::Series { name, points: vec![point], model: Vec::new() }),
        }
    }
    series.iter_mut().for_each(|it| it.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    series
}

fn bars_section(rows: &[Row]) -> Option<Section> {
    let of_axis = |row: &Row, axis: &str| row.subject.axes.get(axis).cloned();
    let groups = distinct(rows.iter().filter_map(|row| of_axis(row, "scheduler")));
    if groups.is_empty() {
        return None;
    }
    let kind = |row: &Row| of_axis(row, "endpoint").unwrap_or_else(|| row.subject.device.clone());
    let kinds = distinct(rows.iter().map(kind));
    let mut body = String::new();
    for metric in metrics(rows) {
        let bar = |group: &String, name: &String| {
            let same = |row: &&Row| {
                row.metric == metric
                    && of_axis(row, "scheduler").as_ref() == Some(group)
                    && kind(row) == *name
            };
            rows.iter().find(same).map(|row| (row.value_pps, row.interval))
        };
        let groups: Vec<bars::Group> = groups
            .iter()
            .map(|group| bars::Group {
                name: group.clone(),
                bars: kinds.iter().map(|name| bar(group, name)).collect(),
            })
            .collect();
        let svg = bars::draw(&groups, &kinds, Unit::Count, &metric);
        body.push_str(&figure(&svg, &format!("{metric} by scheduler and endpoint.")));
    }
    Some(Section { title: "Schedulers", lead: String::new(), body })
}

fn latency_section(results: &Results) -> Option<Section> {
    // (device and case without the load) → (load in words → all its latencies)
    let mut subjects: Vec<(String, Vec<(String, Histogram)>)> = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.purpose == LATENCY) {
        let Some(latency) = &trial.latency else { continue };
        let mut rest = trial.subject.clone();
        let load = rest.axes.remove("load_percent");
        let load = load.map_or_else(
            || rate(trial.outcome.trial.load_pps),
            |percent| format!("{percent} % of the load"),
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
    let mut body = String::new();
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

fn loss_section(results: &Results) -> Option<Section> {
    let mut cases: Vec<(String, Vec<(String, loss::Points)>)> = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.purpose != LATENCY) {
        let (case, device) = (trial.subject.case(), &trial.subject.device);
        let at = cases.iter().position(|it| it.0 == case).unwrap_or_else(|| {
            cases.push((case, Vec::new()));
            cases.len() - 1
        });
        let point = (trial.outcome.trial.load_pps, trial.outcome.loss_ratio());
        let devices = &mut cases[at].1;
        match devices.iter_mut().find(|it| it.0 == *device) {
            Some((_, points)) => points.push(point),
            None => devices.push((device.clone(), vec![point])),
        }
    }
    let mut body = String::new();
    for (case, devices) in cases.iter().take(MOST_SUBJECTS) {
        if let Some(svg) = loss::draw(devices) {
            body.push_str(&figure(&svg, &format!("Loss in every trial: {case}.")));
        }
    }
    let lead = "Unsent packets count as lost.".into();
    (!body.is_empty()).then_some(Section { title: "Loss against load", lead, body })
}

fn timeline_section(results: &Results) -> Option<Section> {
    let mut runs: BTreeMap<&Subject, Vec<&TrialRecord>> = BTreeMap::new();
    let mut order: Vec<&Subject> = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.subject.run == 0) {
        if !runs.contains_key(&trial.subject) {
            order.push(&trial.subject);
        }
        runs.entry(&trial.subject).or_default().push(trial);
    }
    let mut body = String::new();
    order.retain(|subject| runs.get(subject).is_some_and(|trials| trials.len() >= 3));
    for subject in order.into_iter().take(MOST_SUBJECTS) {
        if let Some(svg) = runs.get(subject).and_then(|trials| timeline::draw(trials)) {
            let caption = format!("First run of {}: {}.", subject.device, subject.case());
            body.push_str(&figure(&svg, &caption));
        }
    }
    let lead =
        "Each bar is a trial at its load, in order of time; stalls of the lab and of the device above.".into();
    (!body.is_empty()).then_some(Section { title: "Trials over time", lead, body })
}

fn method_section(results: &Results) -> Section {
    let mut body = String::new();
    for campaign in &results.campaigns {
        host_table(&mut body, campaign);
        for device in &campaign.devices {
            let (name, version) = (escape(&device.name), escape(&device.version));
            let commands: Vec<String> = device.commands.iter().map(|it| escape(it)).collect();
            let _ = writeln!(
                body,
                "<details><summary>{name} <span class=\"facts\">{version}</span></summary>\n\
                 <pre>{}</pre></details>",
                commands.join("\n")
            );
        }
    }
    if !results.skipped.is_empty() {
        let lines: Vec<String> = results.skipped.iter().map(|it| escape(it)).collect();
        let _ = writeln!(body, "<p class=\"verdict\">Left out: {}</p>", lines.join("; "));
    }
    let lead =
        "A rate lies between the largest load that satisfied its goal and the smallest that \
                did not; its interval is that of both bounds over restarts of the device."
            .into();
    Section { title: "How it was measured", lead, body }
}

fn host_table(body: &mut String, campaign: &Campaign) {
    if campaign.host.is_empty() {
        return;
    }
    body.push_str("<table>\n");
    for (name, value) in &campaign.host {
        let _ = writeln!(body, "<tr><td>{}</td><td>{}</td></tr>", escape(name), escape(value));
    }
    body.push_str("</table>\n");
}

/// The metrics of the rows, in order of appearance.
fn metrics(rows: &[Row]) -> Vec<String> {
    distinct(rows.iter().map(|row| row.metric.clone()))
}

/// Where a name stands in a list that holds it.
fn place(names: &[String], name: &str) -> usize {
    names.iter().position(|it| it == name).unwrap_or(0)
}

/// The different ones of some names, in order of appearance.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
