//! A figure: curves of each unit, what the source says of it, its model, every point as a number.

use std::fmt::Write;

use lab_report::figures::{curves, histogram};
use lab_report::svg::canvas::{escape, text_width};
use lab_report::svg::scale::Unit;
use lab_report::words::digits;

use super::drawn::{Drawn, caches, drawn};
use super::table::folded;
use super::{Page, models};
use crate::cell::Cell;
use crate::curve::{self, Point};
use crate::folder::plain;
use crate::study::FigureOf;
use crate::what::What;

/// Room for the names of a drawing's curves, as wide as it is without its axis. Where those of all
/// devices have none, each device has drawings of its own.
const LEGEND: f64 = 520.0;

pub(super) fn body(page: &Page<'_>, figure: &FigureOf) -> String {
    let all = drawn(page, figure);
    let mut body = String::new();
    let marks = marks(page, figure);
    for what in What::DRAWN {
        let kin = |it: &&Drawn<'_>| it.curve.what.axis() == what.axis();
        let mine: Vec<&Drawn<'_>> = all.iter().filter(kin).collect();
        let together = |it: &&Drawn<'_>| width(&format!("{}, {}", plain(it.device), it.curve.name));
        if mine.iter().map(together).sum::<f64>() <= LEGEND {
            body += &draw(figure, what, &mine, &marks, "");
            continue;
        }
        for device in &page.state.devices {
            let of: Vec<&Drawn<'_>> =
                mine.iter().copied().filter(|it| it.device == device.as_str()).collect();
            for part in parts(&of) {
                body += &draw(figure, what, part, &marks, plain(device));
            }
        }
    }
    body += &histograms(page, figure);
    body += &says(figure);
    body += &models::of_figure(page, figure, &all);
    body += &numbers(page, figure);
    if !figure.remark.is_empty() {
        let _ = writeln!(body, "<p class=\"facts\">{}</p>", escape(&figure.remark));
    }
    body
}

/// Curves of a device in drawings that have room for their names, as many in each.
fn parts<'a, 'b>(all: &'a [&'b Drawn<'b>]) -> std::slice::Chunks<'a, &'b Drawn<'b>> {
    let names = all.iter().map(|it| width(&it.curve.name));
    let drawings = (names.sum::<f64>() / LEGEND).ceil().max(1.0);
    all.chunks((all.len() as f64 / drawings).ceil().max(1.0) as usize)
}

/// A name in a legend, with its marker and the distance to the next.
fn width(name: &str) -> f64 {
    text_width(name, 12.0) + 33.0
}

fn draw(
    figure: &FigureOf,
    what: What,
    all: &[&Drawn<'_>],
    marks: &[(f64, String)],
    device: &str,
) -> String {
    let Some((label, unit)) = what.axis() else { return String::new() };
    let series = |it: &&Drawn<'_>| curves::Series {
        name: match device {
            "" => format!("{}, {}", plain(it.device), it.curve.name),
            _ => it.curve.name.clone(),
        },
        points: it.points.iter().map(point).collect(),
        model: models::curve_of(figure, it),
    };
    let series: Vec<curves::Series> = all.iter().map(series).collect();
    let axis = axis_words(&figure.axis);
    let load = figure.axis == "load_percent";
    let x = curves::AxisStyle {
        label: &axis,
        unit: if load { Unit::Share } else { Unit::Count },
        log: figure.log,
    };
    // From what rests to what is full it is a thousandfold.
    let latency = matches!(what, What::Mean | What::Percentile);
    let y = curves::AxisStyle { label, unit, log: latency };
    let Some(svg) = curves::draw(&series, x, y, marks) else { return String::new() };
    let whose = if device.is_empty() { String::new() } else { format!(" {device}.") };
    let note = "With intervals over restarts, or what they span.";
    format!(
        "<figure>\n{svg}<figcaption>{}: {label} against {}.{} {note}</figcaption>\n</figure>\n",
        escape(&figure.title),
        escape(&axis),
        escape(&whose)
    )
}

fn point(point: &Point) -> curves::Point {
    let Point { x, y, interval, at_least, .. } = *point;
    curves::Point { x, y, interval: Some(interval), at_least }
}

fn axis_words(axis: &str) -> String {
    match axis {
        "load_percent" => "load as a share of the device's NDR".into(),
        "entries" => "entries".into(),
        other => other.replace('_', " "),
    }
}

/// Where a table would leave each cache of this host, by the source's octets an entry.
fn marks(page: &Page<'_>, figure: &FigureOf) -> Vec<(f64, String)> {
    let Some(bytes) = figure.entry_bytes else { return Vec::new() };
    caches(page)
        .into_iter()
        .map(|(name, size)| (size / bytes, format!("{name} / {bytes:.0}")))
        .collect()
}

fn histograms(page: &Page<'_>, figure: &FigureOf) -> String {
    let mut body = String::new();
    for device in &page.state.devices {
        let mut found = Vec::new();
        for curve in figure.curves.iter().filter(|it| it.what == What::Histogram) {
            let pick = figure.pick.with(&curve.pick);
            if let Ok(restarts) = curve::histograms(page.runs, &pick, device) {
                let mut all = lab_record::Histogram::default();
                restarts.iter().for_each(|it| all.merge(it));
                found.push((curve.name.clone(), all));
            }
        }
        // Three at a time: as many as are told apart.
        for part in found.chunks(3) {
            let series: Vec<(String, &lab_record::Histogram)> =
                part.iter().map(|(name, all)| (name.clone(), all)).collect();
            if let Some(svg) = histogram::draw(&series) {
                let _ = writeln!(
                    body,
                    "<figure>\n{svg}<figcaption>{}: {}</figcaption>\n</figure>",
                    escape(&figure.title),
                    escape(plain(device))
                );
            }
        }
    }
    body
}

fn says(figure: &FigureOf) -> String {
    if figure.says.is_empty() {
        return String::new();
    }
    let mut body = String::from(
        "<table class=\"theirs\">\n<tr><th>of what</th><th>the source says</th><th>where</th></tr>\n",
    );
    for said in &figure.says {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&said.of),
            escape(&said.theirs),
            escape(&said.place)
        );
    }
    body + "</table>\n<p class=\"facts\">The source prints no table of this figure's points.</p>\n"
}

/// Every point as a number, and every curve without one with its reason.
fn numbers(page: &Page<'_>, figure: &FigureOf) -> String {
    let places = page.of_item(&figure.id);
    let mut reasons = String::new();
    let mut points = String::new();
    for (place, device) in folded(&places) {
        match &place.cell {
            Cell::Reason(reason) => {
                let _ = writeln!(
                    reasons,
                    "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"reason\">{}</td></tr>",
                    escape(&place.row),
                    escape(&device),
                    escape(&place.column),
                    escape(reason)
                );
            }
            Cell::Number(number) => {
                let end = |value: f64| match value.is_finite() {
                    true => scaled(value, place.unit),
                    false => "?".into(),
                };
                let sign = if number.at_least { "≥\u{a0}" } else { "" };
                let _ = writeln!(
                    points,
                    "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{sign}{}</td>\
                     <td>[{}, {}] {}</td></tr>",
                    escape(&place.row),
                    escape(&device),
                    escape(&place.column),
                    scaled(number.value, place.unit),
                    end(number.interval.low),
                    end(number.interval.high),
                    number.spread
                );
            }
        }
    }
    let mut body = String::new();
    if !reasons.is_empty() {
        let _ = writeln!(
            body,
            "<table>\n<tr><th>curve</th><th>ours</th><th class=\"n\">at</th><th>why it is not drawn</th></tr>\n{reasons}</table>"
        );
    }
    if !points.is_empty() {
        let _ = writeln!(
            body,
            "<details><summary>every point as a number</summary>\n<table>\n<tr><th>curve</th><th>ours</th>\
             <th class=\"n\">at</th><th class=\"n\">number</th><th>lies in</th></tr>\n{points}</table>\n</details>"
        );
    }
    body
}

fn scaled(value: f64, unit: &str) -> String {
    match unit {
        "pps" => lab_report::words::rate(value),
        "ns" => format!("{} µs", digits(value / 1e3)),
        "share" => format!("{:.3} %", 100.0 * value),
        _ => digits(value),
    }
}
