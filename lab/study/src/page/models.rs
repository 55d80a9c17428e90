//! The source's formulas beside ours: constants, how well they describe the points, residuals.

use std::fmt::Write;

use lab_report::svg::canvas::escape;
use lab_search::model::Fit;
use lab_search::model::cache::bytes_per_entry;
use lab_search::model::latency::LatencyCurve;

use super::Page;
use super::drawn::{Drawn, caches};
use crate::cell::Cell;
use crate::folder::plain;
use crate::model::{Fitted, Found, fit, latency_curve};
use crate::study::{FigureOf, ModelKind, ModelOf, TableOf};
use crate::what::What;

/// Fits to each row of a table, over its columns: the source's numbers, and ours.
pub(super) fn of_table(page: &Page<'_>, table: &TableOf) -> String {
    let Some(model) = &table.model else { return String::new() };
    let ghz: Vec<Option<f64>> = table.columns.iter().map(|column| column.ghz).collect();
    let max = ghz.iter().flatten().copied().fold(0.0, f64::max);
    let mut all = Vec::new();
    for row in &table.rows {
        let theirs = ghz.iter().zip(&row.theirs);
        let points: Vec<(f64, f64)> =
            theirs.filter_map(|(ghz, &mpps)| Some(((*ghz)?, mpps))).collect();
        all.extend(fitted("source", &row.name, model.kind, &points, max));
        for device in &page.state.devices {
            let (mut points, mut bounds) = (Vec::new(), 0);
            for (column, ghz) in table.columns.iter().zip(&ghz) {
                let here = |it: &&crate::table::Place| {
                    it.item == table.id && it.row == row.name && it.column == column.name
                };
                let mut places = page.places.iter().filter(here);
                let mine = places.find(|it| it.device.as_ref() == Some(device));
                // A share of our own clock, as theirs is of theirs.
                match (mine.map(|it| &it.cell), ghz) {
                    (Some(Cell::Number(number)), Some(_)) if number.at_least => bounds += 1,
                    (Some(Cell::Number(number)), Some(ghz)) => {
                        points.push((*ghz, number.value / 1e6));
                    }
                    _ => {}
                }
            }
            let of = without(&row.name, bounds);
            all.extend(fitted(plain(device), &of, model.kind, &points, max));
        }
    }
    table_of(page, model, &all)
}

/// Fits to the curves of a figure.
pub(super) fn of_figure(page: &Page<'_>, figure: &FigureOf, drawn: &[Drawn<'_>]) -> String {
    let Some(model) = &figure.model else { return String::new() };
    let mut all = Vec::new();
    for device in &page.state.devices {
        let mine = || drawn.iter().filter(|it| it.device == device.as_str());
        let plainly = |it: &Drawn<'_>, scale: f64| -> Vec<(f64, f64)> {
            let known = it.points.iter().filter(|point| !point.at_least);
            known.map(|point| (point.x, point.y * scale)).collect()
        };
        let of = |it: &Drawn<'_>| {
            let bounds = it.points.iter().filter(|point| point.at_least).count();
            without(&it.curve.name, bounds)
        };
        let before = all.len();
        match model.kind {
            ModelKind::Lookup => {
                let share = mine().find(|it| it.curve.what == What::NodeShare);
                let rate = mine().find(|it| it.curve.what == What::Rate);
                let (Some(share), Some(rate)) = (share, rate) else {
                    all.push(nothing(device, "a rate and the lookup's share of the same device"));
                    continue;
                };
                let known = || rate.points.iter().filter(|it| !it.at_least);
                let at = |x: f64| known().find(|it| it.x == x).map(|it| it.y / 1e6);
                let points: Vec<(f64, f64)> =
                    share.points.iter().filter_map(|it| Some((it.y, at(it.x)?))).collect();
                all.extend(fitted(plain(device), "rate against share", model.kind, &points, 1.0));
            }
            ModelKind::Latency => {
                for it in mine().filter(|it| it.curve.what == What::Mean) {
                    // Beyond the maximum the formula has no value.
                    let mut points = plainly(it, 1e-3);
                    points.retain(|point| point.0 <= 1.0);
                    all.extend(fitted(plain(device), &it.curve.name, model.kind, &points, 1.0));
                }
            }
            ModelKind::Clock | ModelKind::Workers | ModelKind::Knee => {
                for it in mine().filter(|it| it.curve.what == What::Rate) {
                    let points = plainly(it, 1e-6);
                    let max = points.iter().map(|point| point.0).fold(0.0, f64::max);
                    all.extend(fitted(plain(device), &of(it), model.kind, &points, max));
                }
            }
        }
        if all.len() == before {
            all.push(nothing(device, "a curve"));
        }
    }
    let mut body = table_of(page, model, &all);
    if model.kind == ModelKind::Latency {
        body += &source_latency(page, drawn);
    }
    body
}

/// The curve of the model that is fitted to a curve, in its own units; nothing where none is.
pub(super) fn curve_of(figure: &FigureOf, drawn: &Drawn<'_>) -> Vec<(f64, f64)> {
    let latency = figure.model.as_ref().is_some_and(|it| it.kind == ModelKind::Latency);
    if !latency || drawn.curve.what != What::Mean {
        return Vec::new();
    }
    let mut points: Vec<(f64, f64)> = drawn.points.iter().map(|it| (it.x, it.y / 1e3)).collect();
    points.retain(|point| point.0 <= 1.0);
    match fit(ModelKind::Latency, &points, 1.0).pop() {
        Some(Ok(Found::Formula(found))) => {
            let low = points.iter().map(|point| point.0).fold(1.0, f64::min);
            let along = latency_curve(&found).into_iter();
            along.filter(|&(x, y)| x >= low && y > 0.0).map(|(x, us)| (x, us * 1e3)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a fit is of, and how many points it leaves out: of a lower bound nobody knows the value.
fn without(of: &str, bounds: usize) -> String {
    match bounds {
        0 => of.to_owned(),
        1 => format!("{of}, without one that is a lower bound"),
        _ => format!("{of}, without {bounds} that are lower bounds"),
    }
}

fn nothing(device: &str, what: &str) -> Fitted {
    let found = Err(format!("it takes {what}: the reasons why there is none stand below"));
    Fitted { whose: plain(device).to_owned(), of: String::new(), found }
}

fn fitted(
    whose: &str,
    of: &str,
    kind: ModelKind,
    points: &[(f64, f64)],
    max: f64,
) -> impl Iterator<Item = Fitted> {
    let (whose, of) = (whose.to_owned(), of.to_owned());
    fit(kind, points, max).into_iter().map(move |found| Fitted {
        whose: whose.clone(),
        of: of.clone(),
        found,
    })
}

fn table_of(page: &Page<'_>, model: &ModelOf, all: &[Fitted]) -> String {
    let mut body = format!(
        "<p class=\"theirs\">The source's formula ({}): <code>{}</code></p>\n<details open><summary>fitted to the \
         source's points and to ours</summary>\n<table>\n<tr><th>points of</th><th>what</th><th>formula</th>\
         <th>constants</th><th class=\"n\">R²</th><th class=\"n\">worst</th><th class=\"n\">held out</th></tr>\n",
        escape(&model.place),
        escape(&model.theirs)
    );
    for Fitted { whose, of, found } in &folded(all) {
        let class = if whose == "source" { " class=\"theirs\"" } else { "" };
        let _ = write!(body, "<tr{class}><td>{}</td><td>{}</td>", escape(whose), escape(of));
        match found {
            Err(reason) => {
                let _ = write!(body, "<td colspan=\"5\" class=\"reason\">{}</td>", escape(reason));
            }
            Ok(Found::Knee(entries)) => {
                let _ = write!(body, "<td colspan=\"5\">{}</td>", escape(&knee(page, *entries)));
            }
            Ok(Found::Formula(fit)) => body += &cells(fit),
        }
        body += "</tr>\n";
    }
    body + "</table>\n</details>\n"
}

/// Fits that failed for one reason, of one row or curve, stand together.
fn folded(all: &[Fitted]) -> Vec<Fitted> {
    let mut found: Vec<Fitted> = Vec::new();
    for one in all {
        match found.last_mut() {
            Some(last)
                if one.found.is_err() && (&last.of, &last.found) == (&one.of, &one.found) =>
            {
                last.whose = format!("{}, {}", last.whose, one.whose);
            }
            _ => found.push(one.clone()),
        }
    }
    found
}

fn cells(fit: &Fit) -> String {
    let constants: Vec<String> =
        fit.parameters.iter().map(|(name, value)| format!("{name} = {value:.4}")).collect();
    let residuals: Vec<String> =
        fit.quality.residuals.iter().map(|it| format!("{it:+.3}")).collect();
    let held = fit.held_out.map_or_else(|| "–".to_owned(), |it| format!("{:.1} %", 100.0 * it));
    format!(
        "<td><code>{}</code></td><td>{}<br><span class=\"facts\">residuals {}</span></td><td class=\"n\">{:.4}</td>\
         <td class=\"n\">{:.1} %</td><td class=\"n\">{held}</td>",
        escape(&fit.formula),
        escape(&constants.join(", ")),
        escape(&residuals.join(" ")),
        fit.quality.r2,
        100.0 * fit.quality.worst
    )
}

/// Where a curve breaks, and the octets an entry that each cache would explain it with.
fn knee(page: &Page<'_>, entries: f64) -> String {
    let of = |(name, size): (String, f64)| {
        format!("{:.0} octets an entry if it leaves {name}", bytes_per_entry(size, entries))
    };
    let caches: Vec<String> = caches(page).into_iter().map(of).collect();
    format!("it breaks at {entries:.0} entries: {}", caches.join(", "))
}

/// How well the source's own constants describe our points.
fn source_latency(page: &Page<'_>, drawn: &[Drawn<'_>]) -> String {
    let mut told = Vec::new();
    for it in drawn.iter().filter(|it| it.curve.what == What::Mean) {
        let points: Vec<(f64, f64)> =
            it.points.iter().filter(|it| it.x <= 1.0).map(|it| (it.x, it.y / 1e3)).collect();
        if points.len() > 1 {
            let quality = LatencyCurve.source_quality(&points);
            told.push(format!("{}, {}: R² = {:.3}", plain(it.device), it.curve.name, quality.r2));
        }
    }
    let _ = page;
    if told.is_empty() {
        return String::new();
    }
    format!(
        "<p class=\"facts\">The source's own constants on our points: {}.</p>\n",
        escape(&told.join("; "))
    )
}
