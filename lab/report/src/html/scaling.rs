//! Rates against each axis that has three values or more.

use lab_record::axes::{self, Figure};

use super::section::{Page, Section, figure, metrics};
use crate::figures::curves;
use crate::summary::Row;
use crate::svg::scale::Unit;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let rows = &page.rows;
    let mut body = String::new();
    for (axis, Figure { label, log, .. }) in axes::drawn() {
        for metric in metrics(rows) {
            let series = series_over(rows, axis, &metric);
            if series.iter().all(|series| series.points.len() < 3) {
                continue;
            }
            let x = curves::AxisStyle { label, unit: Unit::Count, log };
            let y_label = format!("{metric}, packets per second");
            let y = curves::AxisStyle { label: &y_label, unit: Unit::Count, log: false };
            if let Some(svg) = curves::draw(&series, x, y, &[]) {
                let at_least = series.iter().flat_map(|it| &it.points).any(|it| it.at_least);
                let note = if at_least { " ≥: not the device limited it." } else { "" };
                body.push_str(&figure(&svg, &format!("{metric} against {label}.{note}")));
            }
        }
    }
    let lead = String::new();
    (!body.is_empty()).then_some(Section { title: "Scaling", lead, body })
}

/// One series for each device, function and combination of the other axes.
fn series_over(rows: &[Row], axis: &str, metric: &str) -> Vec<curves::Series> {
    let mut series: Vec<curves::Series> = Vec::new();
    for row in rows.iter().filter(|row| row.label() == metric) {
        let mut rest = row.subject.clone();
        let Some(x) = rest.axes.remove(axis).and_then(|value| value.parse().ok()) else { continue };
        let name = format!("{}, {}", rest.device, rest.case());
        let point = curves::Point {
            x,
            y: row.value_pps,
            interval: Some(row.interval),
            at_least: row.is_at_least(),
        };
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(curves::Series { name, points: vec![point], model: Vec::new() }),
        }
    }
    series.iter_mut().for_each(|it| it.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    series
}
