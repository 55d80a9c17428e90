//! A table of one column: a line for each row and device, the source's number first. Of several
//! columns it is a matrix.

use std::fmt::Write;

use lab_report::svg::canvas::escape;
use lab_report::words::digits;

use super::{Page, matrix};
use crate::cell::{Cell, Number};
use crate::folder::plain;
use crate::study::{TableOf, Unit};
use crate::table::Place;

pub(super) fn body(page: &Page<'_>, table: &TableOf) -> String {
    if table.columns.len() > 1 {
        return matrix::body(page, table);
    }
    let cycles = table.unit == Unit::Mpps && table.columns.iter().any(|it| it.ghz.is_some());
    let mut body = String::from("<table>\n<tr><th></th><th class=\"n\">theirs</th>");
    if cycles {
        body += "<th class=\"n\">cycles a packet</th>";
    }
    let name = table.columns.first().map_or("number", |column| column.name.as_str());
    body += "<th>ours</th>";
    let _ = write!(body, "<th class=\"n\">{}</th>", escape(name));
    body += "<th>lies in</th><th class=\"n\">restarts</th>";
    if cycles {
        body += "<th class=\"n\">cycles a packet</th>";
    }
    body += "</tr>\n";
    let mut before = (String::new(), String::new());
    for (place, devices) in folded(&page.of_item(&table.id)) {
        let here = (place.row.clone(), place.column.clone());
        let again = here == before;
        let first = |text: &str| if again { String::new() } else { escape(text) };
        let _ = write!(
            body,
            "<tr><td>{}</td><td class=\"n theirs\">{}</td>",
            first(&place.row),
            place.theirs.filter(|_| !again).map_or_else(String::new, |it| told(it, table.unit))
        );
        if cycles {
            let ghz = table.columns.iter().find(|it| it.name == place.column).and_then(|it| it.ghz);
            let theirs = ghz.zip(place.theirs).filter(|_| !again);
            let words =
                theirs.map_or_else(String::new, |(ghz, mpps)| format!("{:.0}", 1e3 * ghz / mpps));
            let _ = write!(body, "<td class=\"n theirs\">{words}</td>");
        }
        before = here;
        body += &ours(page, place, &devices, table.unit, cycles);
        body += "</tr>\n";
    }
    body += "</table>\n";
    let mark = "Brown: the source's own numbers.";
    let remark = if table.remark.is_empty() { String::new() } else { format!(" {}", table.remark) };
    let _ = writeln!(body, "<p class=\"facts\">{}{}</p>", mark, escape(&remark));
    body
}

/// Places, each with its devices: those that have one reason for one place stand together.
pub(super) fn folded<'a>(places: &[&'a Place]) -> Vec<(&'a Place, String)> {
    let mut found: Vec<(&Place, String)> = Vec::new();
    for &place in places {
        let device = place.device.as_deref().map_or("", plain);
        let same = |(other, _): &&mut (&Place, String)| {
            matches!(place.cell, Cell::Reason(_))
                && (&other.row, &other.column, &other.cell)
                    == (&place.row, &place.column, &place.cell)
        };
        match found.iter_mut().rev().find(same) {
            Some((_, devices)) => {
                devices.push_str(", ");
                devices.push_str(device);
            }
            None => found.push((place, device.to_owned())),
        }
    }
    found
}

fn ours(page: &Page<'_>, place: &Place, device: &str, unit: Unit, with_cycles: bool) -> String {
    match &place.cell {
        Cell::Reason(reason) => format!(
            "<td>{}</td><td colspan=\"{}\" class=\"reason\">{}</td>",
            escape(device),
            if with_cycles { 4 } else { 3 },
            escape(reason)
        ),
        Cell::Number(number) => {
            let divisor = unit.divisor();
            let sign = if number.at_least { "≥\u{a0}" } else { "" };
            let mut line = format!(
                "<td>{}</td><td class=\"n\">{sign}{}</td><td>{}</td><td class=\"n\">{}</td>",
                escape(device),
                told(number.value / divisor, unit),
                interval(number, unit),
                number.runs
            );
            if with_cycles {
                let words = cycles(page, number).unwrap_or_else(|| "–".to_owned());
                let _ = write!(line, "<td class=\"n\">{words}</td>");
            }
            line
        }
    }
}

/// Cycles a packet: by the device's own count, where it could do more than it was sent, else by its
/// rate.
pub(super) fn cycles(page: &Page<'_>, number: &Number) -> Option<String> {
    if let Some(cost) = number.cost.filter(|_| number.at_least) {
        return Some(format!("costs {cost:.0}"));
    }
    let sign = if number.at_least { "≤\u{a0}" } else { "" };
    let ghz = clock_ghz(page, &number.run).filter(|_| number.value > 0.0)?;
    Some(format!("{sign}{:.0}", 1e9 * ghz / number.value))
}

/// Where a number lies, with what that is.
pub(super) fn interval(number: &Number, unit: Unit) -> String {
    let divisor = unit.divisor();
    let end = |value: f64| match value.is_finite() {
        true => told(value / divisor, unit),
        false => "?".into(),
    };
    let (low, high) = (end(number.interval.low), end(number.interval.high));
    format!("[{low}, {high}] <span class=\"facts\">{}</span>", number.spread)
}

pub(super) fn told(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Mpps | Unit::Seconds | Unit::Milliseconds | Unit::Mbps => digits(value),
        Unit::Percent | Unit::Right => format!("{value:.2}\u{a0}%"),
        Unit::Entries => format!("{value:.0}"),
    }
}

/// Clock of this host in a run, as it said when the run began.
pub(super) fn clock_ghz(page: &Page<'_>, run: &str) -> Option<f64> {
    let results = page.runs.run(run)?.results.as_ref()?;
    let mhz = results.campaigns.first()?.host.get("clock, MHz")?;
    mhz.parse::<f64>().ok().map(|mhz| mhz / 1e3)
}
