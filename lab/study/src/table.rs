//! A table's places: each row, column and device, with the source's number and ours.
//!
//! ```text
//! row ─ column ─ theirs ─┬─ volley  number [interval] | reason
//!                        └─ vpp     number [interval] | reason
//! ```

use std::fmt::Write;

use crate::cell::{Cell, Number, Runs};
use crate::curve::{self, Point};
use crate::folder::plain;
use crate::study::{Column, FigureOf, Pick, Row, Study, TableOf, Unit};
use crate::what::What;

/// A place of a table or a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The source; none of what is ours alone.
    pub source: Option<String>,
    /// Table, figure or note, as the source numbers it.
    pub item: String,
    /// Row, or curve.
    pub row: String,
    /// Column, or value of the axis.
    pub column: String,
    /// What it is counted in.
    pub unit: &'static str,
    /// The source's number, where it prints one.
    pub theirs: Option<f64>,
    /// Our device, as it was named; none of what was not measured by us at all.
    pub device: Option<String>,
    /// Ours.
    pub cell: Cell,
}

impl Unit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpps => "Mpps",
            Self::Entries => "entries",
            Self::Percent => "%",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Mbps => "Mbit/s",
            Self::Right => "% right",
        }
    }

    /// What a number of ours is divided by to be in it.
    pub fn divisor(self) -> f64 {
        match self {
            Self::Mpps | Self::Mbps => 1e6,
            Self::Entries | Self::Seconds => 1.0,
            Self::Milliseconds => 1e-3,
            Self::Percent | Self::Right => 0.01,
        }
    }
}

/// The pick of a place.
pub fn pick_of(table: &TableOf, row: &Row, column: &Column) -> Pick {
    table.pick.with(&column.pick).with(&row.pick)
}

/// Our devices beside a row, as they were named: those of its runs.
fn beside(runs: &Runs<'_>, row: &Row, column: &Column, pick: &Pick) -> Vec<String> {
    let wanted = |device: &&String| {
        let only = [&row.devices, &column.devices].into_iter().flatten();
        only.into_iter().all(|only| only.iter().any(|name| name == plain(device)))
    };
    let of = |id: &String| runs.run(id).map_or(&[][..], |run| &run.devices);
    let mut found: Vec<String> = Vec::new();
    for device in pick.runs.iter().flat_map(of).filter(wanted) {
        if !found.contains(device) {
            found.push(device.clone());
        }
    }
    found
}

/// Every place of a table.
pub fn places(runs: &Runs<'_>, table: &TableOf) -> Vec<Place> {
    let mut places = Vec::new();
    for row in &table.rows {
        for (index, column) in table.columns.iter().enumerate() {
            let place = |device: Option<String>, cell: Cell| Place {
                source: table.source.clone(),
                item: table.id.clone(),
                row: row.name.clone(),
                column: column.name.clone(),
                unit: table.unit.name(),
                theirs: row.theirs.get(index).copied().filter(|it| it.is_finite()),
                device,
                cell,
            };
            let pick = pick_of(table, row, column);
            let ours = beside(runs, row, column, &pick);
            let told = row.reason.as_ref().or(column.reason.as_ref());
            match (told, ours.is_empty()) {
                (Some(reason), _) => places.push(place(None, Cell::Reason(reason.clone()))),
                (None, true) => {
                    let only = row.devices.as_ref().or(column.devices.as_ref());
                    let only = only.cloned().unwrap_or_default().join(", ");
                    let reason = format!("device not here: {only} is not among --devices");
                    places.push(place(None, Cell::Reason(reason)));
                }
                (None, false) => {
                    places.extend(ours.into_iter().map(|device| {
                        let cell = runs.cell(&pick, &device);
                        place(Some(device), cell)
                    }));
                }
            }
        }
    }
    places
}

/// Every point, or reason, of a figure.
pub fn of_figure(runs: &Runs<'_>, figure: &FigureOf, devices: &[String]) -> Vec<Place> {
    let mut places = Vec::new();
    for drawn in &figure.curves {
        let pick = figure.pick.with(&drawn.pick);
        let place = |device: Option<&String>, column: String, cell: Cell| Place {
            source: figure.source.clone(),
            item: figure.id.clone(),
            row: drawn.name.clone(),
            column,
            unit: drawn.what.unit(),
            theirs: None,
            device: device.cloned(),
            cell,
        };
        if let Some(reason) = &drawn.reason {
            places.push(place(None, String::new(), Cell::Reason(reason.clone())));
            continue;
        }
        for device in devices {
            if drawn.what == What::Histogram {
                let cell = match curve::histograms(runs, &pick, device) {
                    Ok(restarts) => Cell::Number(number(&curve::mean_of(&restarts), &pick)),
                    Err(reason) => Cell::Reason(reason),
                };
                places.push(place(Some(device), "mean of the histogram".into(), cell));
                continue;
            }
            match curve::points(runs, drawn, &pick, &figure.axis, device) {
                Err(reason) => {
                    places.push(place(Some(device), String::new(), Cell::Reason(reason)));
                }
                Ok(points) => {
                    let missing =
                        curve::missing(runs, drawn, &pick, &figure.axis, device).into_iter();
                    let missing = missing
                        .filter(|(x, _)| points.iter().all(|it| it.x.to_string() != *x))
                        .map(|(x, why)| place(Some(device), x, Cell::Reason(why)));
                    places.extend(missing);
                    places.extend(points.iter().map(|point| {
                        let number = number(point, &pick);
                        place(Some(device), format!("{}", point.x), Cell::Number(number))
                    }));
                }
            }
        }
    }
    places
}

/// A point as a number.
fn number(point: &Point, pick: &Pick) -> Number {
    Number {
        value: point.y,
        interval: point.interval,
        spread: lab_report::summary::spread(point.runs),
        runs: point.runs,
        at_least: point.at_least,
        cost: None,
        anomalies: Vec::new(),
        run: pick.runs.first().cloned().unwrap_or_default(),
    }
}

/// Every place of a study: tables, figures, notes.
pub fn all(study: &Study, runs: &Runs<'_>, devices: &[String]) -> Vec<Place> {
    let mut found = Vec::new();
    for chapter in &study.chapters {
        for table in &chapter.tables {
            found.extend(places(runs, table));
        }
        for figure in &chapter.figures {
            found.extend(of_figure(runs, figure, devices));
        }
        for bars in &chapter.bars {
            let of = study.table(&bars.of).map(|table| places(runs, table)).unwrap_or_default();
            let drawn = |place: Place| Place {
                source: bars.source.clone(),
                item: bars.id.clone(),
                ..place
            };
            found.extend(of.into_iter().map(drawn));
        }
        found.extend(chapter.notes.iter().map(|note| Place {
            source: Some(note.source.clone()),
            item: note.id.clone(),
            row: note.title.clone(),
            column: String::new(),
            unit: "",
            theirs: None,
            device: None,
            cell: Cell::Reason(note.reason.clone()),
        }));
    }
    found
}

/// All of them as comma-separated values.
pub fn csv(places: &[Place]) -> String {
    let mut text = String::from(
        "source,item,row,column,unit,theirs,device,value,low,high,spread,runs,at_least,run,reason\n",
    );
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\"").replace('\n', " "));
    let finite = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
    for place in places {
        let divisor = match place.unit {
            "Mpps" | "Mbit/s" => 1e6,
            "%" | "% right" => 0.01,
            "ms" => 1e-3,
            _ => 1.0,
        };
        let head = [
            quoted(place.source.as_deref().unwrap_or_default()),
            quoted(&place.item),
            quoted(&place.row),
            quoted(&place.column),
            quoted(place.unit),
            place.theirs.map_or_else(String::new, |it| it.to_string()),
            quoted(place.device.as_deref().unwrap_or_default()),
        ];
        let tail = match &place.cell {
            Cell::Number(number) => [
                finite(number.value / divisor),
                finite(number.interval.low / divisor),
                finite(number.interval.high / divisor),
                quoted(number.spread),
                number.runs.to_string(),
                number.at_least.to_string(),
                quoted(&number.run),
                String::new(),
            ],
            Cell::Reason(reason) => {
                let mut tail = <[String; 8]>::default();
                tail[7] = quoted(reason);
                tail
            }
        };
        let _ = writeln!(text, "{},{}", head.join(","), tail.join(","));
    }
    text
}
