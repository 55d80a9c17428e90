//! What was found in a few sentences, each with what it stands on.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab_report::html::host::fitness;
use lab_report::svg::canvas::escape;
use lab_search::stats::summary::median;

use super::Page;
use crate::cell::{Cell, Number};
use crate::folder::plain;
use crate::study::{Column, TableOf};

pub(super) fn body(page: &Page<'_>) -> String {
    let mut told = vec![coverage(page)];
    told.extend(fit(page));
    told.extend(cut(page));
    let tables = between(page);
    // Where columns are of devices, tables say more than places that two have in common.
    told.extend(if tables.is_empty() { against(page) } else { tables });
    told.extend(unfinished(page));
    let mut body = String::from("<ul>\n");
    for line in told {
        let _ = writeln!(body, "<li>{}</li>", escape(&line));
    }
    body + "</ul>\n"
}

/// How many rows, cells and curves of the sources have a number of ours beside them.
fn coverage(page: &Page<'_>) -> String {
    let mut places: BTreeMap<(&str, &str, &str), bool> = BTreeMap::new();
    for place in page.places.iter().filter(|place| place.source.is_some()) {
        // A point of a curve is no place of its own: the source has the curve.
        let column = if place.theirs.is_some() { place.column.as_str() } else { "" };
        let measured = places.entry((&place.item, &place.row, column)).or_default();
        *measured |= matches!(place.cell, Cell::Number(_));
    }
    let numbers = places.values().filter(|measured| **measured).count();
    format!(
        "{numbers} of {} cells, curves and drawings of the sources have numbers of ours beside them, with \
         their intervals; {} have the reason why not.",
        places.len(),
        places.len() - numbers
    )
}

/// Whether the host was fit for absolute numbers, by its worst run.
fn fit(page: &Page<'_>) -> Option<String> {
    let of = |results| fitness(results).map(|words| (words.contains("not fit"), words));
    let all: Vec<(String, (bool, String))> = page
        .runs
        .all()
        .iter()
        .filter_map(|run| Some((run.id.clone(), of(run.results.as_ref()?)?)))
        .collect();
    let unfit: Vec<&str> =
        all.iter().filter(|(_, (unfit, _))| *unfit).map(|(id, _)| id.as_str()).collect();
    match (unfit.first(), all.is_empty()) {
        (_, true) => None,
        (None, false) => {
            Some("Idle cores lost next to nothing in every run: fit for absolute numbers.".into())
        }
        (Some(_), false) => Some(format!(
            "This host is not fit for absolute numbers: idle cores were taken away in {} of {} runs ({}). \
             Rates cannot be believed; ratios within a run can, where there are any.",
            unfit.len(),
            all.len(),
            unfit.join(", ")
        )),
    }
}

fn cut(page: &Page<'_>) -> Option<String> {
    page.state.quick.then(|| {
        "Points and repeats are cut by --quick: what each run lost stands under Methods. Of one or two \
         restarts there is a bracket, no interval."
            .to_owned()
    })
}

/// Each device's rate as a share of the first one's, over the places that both have; where the
/// generator limited them, what a packet costs instead.
fn against(page: &Page<'_>) -> Vec<String> {
    let [first, others @ ..] = &page.state.devices[..] else { return Vec::new() };
    let mut told = Vec::new();
    for other in others {
        let (one, two) = (plain(first), plain(other));
        let rates = Ratios::of(page, [first, other], |number| {
            (!number.at_least && number.value > 0.0).then_some(number.value)
        });
        let costs = Ratios::of(page, [first, other], |number| number.cost);
        if let Some(Ratios { median, low, high, places }) = &rates {
            told.push(format!(
                "{two} forwards {median:.2} times what {one} does, median of {places} places where the device \
                 limited both ({low:.2} to {high:.2})."
            ));
        }
        if let Some(Ratios { median, low, high, places }) = &costs {
            told.push(format!(
                "A packet costs {two} {median:.2} times the cycles that it costs {one}, by their own counts: \
                 median of {places} places ({low:.2} to {high:.2}), rates that the generator limited among them."
            ));
        }
        if rates.is_none() && costs.is_none() {
            told.push(format!(
                "{two} against {one}: no place of a table has a rate of both that the device limited, or what \
                 a packet costs both, so there is no ratio."
            ));
        }
    }
    told
}

/// What the second of two devices has, as a share of what the first has.
struct Ratios {
    median: f64,
    low: f64,
    high: f64,
    places: usize,
}

impl Ratios {
    /// Over the places of tables at which rates of both are told; none where there is none.
    fn of(
        page: &Page<'_>,
        devices: [&String; 2],
        value: impl Fn(&Number) -> Option<f64>,
    ) -> Option<Self> {
        let [first, second] = devices.map(|device| {
            let mine =
                page.places.iter().filter(move |place| place.device.as_ref() == Some(device));
            let rate = mine.filter(|place| place.unit == "Mpps" && !place.column.is_empty());
            rate.filter_map(|place| match &place.cell {
                Cell::Number(number) => {
                    Some(((&place.item, &place.row, &place.column), value(number)?))
                }
                Cell::Reason(_) => None,
            })
            .collect::<BTreeMap<_, _>>()
        });
        let ratios: Vec<f64> =
            first.iter().filter_map(|(place, one)| Some(second.get(place)? / one)).collect();
        (!ratios.is_empty()).then(|| Self {
            median: median(&ratios),
            low: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            high: ratios.iter().copied().fold(0.0, f64::max),
            places: ratios.len(),
        })
    }
}

/// What a column is of, but for its device: columns of one such are held against each other.
fn ends(column: &Column) -> Vec<(&String, &String)> {
    column.pick.axes.iter().collect()
}

/// Of each table whose columns are of devices: the others' numbers as a share of the first
/// device's, between the same ends and in the same row.
fn between(page: &Page<'_>) -> Vec<String> {
    let [first, others @ ..] = &page.state.devices[..] else { return Vec::new() };
    let tables = page.study.chapters.iter().flat_map(|chapter| &chapter.tables);
    let tables: Vec<&TableOf> =
        tables.filter(|table| table.columns.iter().all(|it| it.devices.is_some())).collect();
    let mut told = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        // A part of one that was told of says nothing more.
        if tables[..index].iter().any(|before| before.pick == table.pick) {
            continue;
        }
        let places = page.of_item(&table.id);
        let value = |row: &str, column: &Column, device: &String| {
            let mut here = places.iter().filter(|it| it.row == row && it.column == column.name);
            match &here.find(|it| it.device.as_ref() == Some(device))?.cell {
                Cell::Number(it) if !it.at_least && it.value > 0.0 => Some(it.value),
                _ => None,
            }
        };
        let mut each = Vec::new();
        for other in others {
            let mut ratios: Vec<f64> = Vec::new();
            for row in &table.rows {
                for one in &table.columns {
                    let Some(mine) = value(&row.name, one, first) else { continue };
                    let same = table.columns.iter().filter(|it| ends(it) == ends(one));
                    let theirs = same.filter_map(|it| value(&row.name, it, other)).next();
                    ratios.extend(theirs.map(|it| it / mine));
                }
            }
            if !ratios.is_empty() {
                let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let high = ratios.iter().copied().fold(0.0, f64::max);
                each.push(format!(
                    "{} has {:.2} times (median of {} places, {low:.2} to {high:.2})",
                    plain(other),
                    median(&ratios),
                    ratios.len()
                ));
            }
        }
        if !each.is_empty() {
            let (title, first) = (&table.title, plain(first));
            told.push(format!("{title}: of what {first} has, {}.", each.join(", ")));
        }
    }
    told
}

/// Runs that did not end, or not well.
fn unfinished(page: &Page<'_>) -> Vec<String> {
    let mut told = Vec::new();
    let open: Vec<&str> = page
        .runs
        .all()
        .iter()
        .filter(|run| run.ended.is_none() && !run.devices.is_empty())
        .map(|run| run.id.as_str())
        .collect();
    if !open.is_empty() {
        told.push(format!(
            "The study is not finished: {} are missing, in whole or in part. The same command with the same \
             --out goes on.",
            open.join(", ")
        ));
    }
    for run in page.runs.all() {
        if let Some(failure) = run.ended.as_ref().and_then(|ended| ended.failure.as_ref()) {
            told.push(format!("Run {}: {failure}.", run.id));
        }
    }
    told
}
