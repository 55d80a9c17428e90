//! A table as grouped bars: the source's numbers, and ours with their intervals.

use lab_record::Interval;
use lab_report::figures::bars::{Group, draw};
use lab_report::svg::canvas::escape;
use lab_report::svg::scale::Unit as Scaled;

use super::Page;
use crate::cell::Cell;
use crate::folder::plain;
use crate::study::{BarsOf, TableOf, Unit};
use crate::table::Place;

/// Bars of a group that can be told apart.
const MOST_BARS: usize = 6;

pub(super) fn body(page: &Page<'_>, figure: &BarsOf) -> String {
    let Some(table) = page.study.table(&figure.of) else { return String::new() };
    let places = page.of_item(&figure.id);
    let mut body = String::new();
    let theirs: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.name.clone())
        .filter(|name| places.iter().any(|it| it.column == *name && it.theirs.is_some()))
        .collect();
    let of_theirs = |row: &str, column: &String| {
        let place = places.iter().find(|it| it.row == row && it.column == *column)?;
        let value = scaled(place.theirs?, table.unit);
        Some((value, Interval { low: value, high: value }, false))
    };
    body += &drawing(figure, table, &theirs, "theirs, as printed", of_theirs);
    let mut ours: Vec<String> = Vec::new();
    for place in &places {
        let name = series(place);
        if matches!(place.cell, Cell::Number(_)) && !ours.contains(&name) {
            ours.push(name);
        }
    }
    let of_ours = |row: &str, name: &String| {
        let place = places.iter().find(|it| it.row == row && series(it) == *name)?;
        let Cell::Number(number) = &place.cell else { return None };
        let told = |value: f64| scaled(value / table.unit.divisor(), table.unit);
        Some((told(number.value), number.interval.map(told), number.at_least))
    };
    for part in ours.chunks(MOST_BARS) {
        body += &drawing(figure, table, part, "ours", of_ours);
    }
    if ours.is_empty() {
        body += &format!(
            "<p class=\"reason\">Nothing of ours is drawn: {} has the reason of each place.</p>\n",
            escape(&figure.of)
        );
    }
    body
}

/// Which bar of a group a place is.
fn series(place: &Place) -> String {
    match &place.device {
        Some(device) => format!("{} ({})", place.column, plain(device)),
        None => place.column.clone(),
    }
}

/// As the drawing's scale has it.
fn scaled(value: f64, unit: Unit) -> f64 {
    if unit == Unit::Milliseconds { value * 1e6 } else { value }
}

fn drawing(
    figure: &BarsOf,
    table: &TableOf,
    series: &[String],
    whose: &str,
    bar: impl Fn(&str, &String) -> Option<(f64, Interval, bool)>,
) -> String {
    if series.is_empty() {
        return String::new();
    }
    let group = |row: &crate::study::Row| Group {
        name: row.name.clone(),
        bars: series.iter().map(|name| bar(&row.name, name)).collect(),
    };
    let groups: Vec<Group> = table.rows.iter().map(group).collect();
    let scale = if table.unit == Unit::Milliseconds { Scaled::Nanoseconds } else { Scaled::Plain };
    let label = if scale == Scaled::Nanoseconds { "time" } else { table.unit.name() };
    let svg = draw(&groups, series, scale, label);
    format!(
        "<figure>\n{svg}<figcaption>{}: {whose}.</figcaption>\n</figure>\n",
        escape(&figure.title)
    )
}
