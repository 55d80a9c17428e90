//! A table as grouped bars: the source's numbers, and ours with their intervals.

use lab_record::Interval;
use lab_report::figures::bars::{Group, WHISKERS, draw};
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
    body += &drawing(figure, table, &theirs, ("theirs, as printed", ""), of_theirs);
    let mut ours: Vec<String> = Vec::new();
    for place in &places {
        let name = series(table, place);
        if matches!(place.cell, Cell::Number(_)) && !ours.contains(&name) {
            ours.push(name);
        }
    }
    let of_ours = |row: &str, name: &String| {
        let place = places.iter().find(|it| it.row == row && series(table, it) == *name)?;
        let Cell::Number(number) = &place.cell else { return None };
        let told = |value: f64| scaled(value / table.unit.divisor(), table.unit);
        Some((told(number.value), number.interval.map(told), number.at_least))
    };
    for part in ours.chunks(MOST_BARS) {
        body += &drawing(figure, table, part, ("ours", whiskers(&places)), of_ours);
    }
    if ours.is_empty() {
        body += &format!(
            "<p class=\"reason\">Nothing of ours is drawn: {} has the reason of each place.</p>\n",
            escape(&figure.of)
        );
    }
    body
}

/// What the whiskers of ours are.
fn whiskers(places: &[&Place]) -> &'static str {
    let runs = places.iter().filter_map(|place| match &place.cell {
        Cell::Number(number) => Some(number.runs),
        Cell::Reason(_) => None,
    });
    match runs.max() {
        Some(3..) => WHISKERS,
        Some(2) => "whiskers: what two starts span",
        _ => "of one start: no interval",
    }
}

/// Which bar of a group a place is: its column, and its device where several stand in that.
fn series(table: &TableOf, place: &Place) -> String {
    let column = table.columns.iter().find(|column| column.name == place.column);
    let alone = column.and_then(|it| it.devices.as_ref()).is_some_and(|it| it.len() == 1);
    match &place.device {
        Some(device) if !alone => format!("{} ({})", place.column, plain(device)),
        _ => place.column.clone(),
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
    (whose, whiskers): (&str, &str),
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
    let svg = draw(&groups, series, scale, (label, whiskers));
    format!(
        "<figure>\n{svg}<figcaption>{}: {whose}.</figcaption>\n</figure>\n",
        escape(&figure.title)
    )
}
