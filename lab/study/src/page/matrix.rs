//! A table of several columns: a line for the source's numbers, and one for each of our devices.
//!
//! ```text
//! row ─┬─ theirs   13.20           12.90
//!      ├─ volley   15.1 [15, 15.2] 14.8 [14, 15]
//!      └─ vpp      –ᵃ              14.1 [14, 14.2]        a  vpp: refused: no such clock
//! ```
//! Where columns name the devices that stand in them, all of ours is one line. A reason is told
//! once, below, however many places have it.

use std::collections::BTreeSet;
use std::fmt::Write;

use lab_report::svg::canvas::escape;

use super::Page;
use super::table::{cycles, told};
use crate::cell::{Cell, Number};
use crate::folder::plain;
use crate::study::{Column, TableOf, Unit};
use crate::table::Place;

/// What stands below, each once, with the devices that it is of.
#[derive(Default)]
struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    /// The mark of a note.
    fn mark(&mut self, text: &str, device: &str) -> String {
        let at = self.0.iter().position(|(known, _)| known == text).unwrap_or_else(|| {
            self.0.push((text.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        let devices = &mut self.0[at].1;
        if !device.is_empty() && !devices.iter().any(|known| known == device) {
            devices.push(device.to_owned());
        }
        letters(at)
    }

    fn told(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let mut body = String::from("<ul class=\"notes\">\n");
        for (index, (text, devices)) in self.0.iter().enumerate() {
            let of = if devices.is_empty() { "" } else { ": " };
            let _ = writeln!(
                body,
                "<li><sup>{}</sup> {}{of}{}</li>",
                letters(index),
                escape(&devices.join(", ")),
                escape(text)
            );
        }
        body + "</ul>\n"
    }
}

/// a, b … z, aa, ab …
fn letters(index: usize) -> String {
    let last = char::from(b'a' + (index % 26) as u8).to_string();
    match index / 26 {
        0 => last,
        before => letters(before - 1) + &last,
    }
}

pub(super) fn body(page: &Page<'_>, table: &TableOf) -> String {
    let places = page.of_item(&table.id);
    let mut notes = Notes::default();
    let mut body = String::from("<table class=\"matrix\">\n<tr><th></th><th></th>");
    for column in &table.columns {
        let _ = write!(body, "<th class=\"n\">{}</th>", escape(&column.name));
    }
    body += "</tr>\n";
    for row in &table.rows {
        let mine: Vec<&Place> = places.iter().copied().filter(|it| it.row == row.name).collect();
        let mut lines = Vec::new();
        if row.theirs.iter().any(|it| it.is_finite()) {
            lines.push(theirs(table, row));
        }
        for (name, of) in ours(table, &mine) {
            let cells = table.columns.iter().map(|column| {
                let here: Vec<&Place> =
                    of.iter().copied().filter(|it| it.column == column.name).collect();
                cell(page, table, column, &here, &mut notes)
            });
            let cells: String = cells.collect();
            lines.push(format!("<td>{}</td>{cells}", escape(&name)));
        }
        let first = format!("<td rowspan=\"{}\">{}</td>", lines.len(), escape(&row.name));
        for (index, line) in lines.iter().enumerate() {
            let first = if index == 0 { first.as_str() } else { "" };
            let _ = writeln!(body, "<tr>{first}{line}</tr>");
        }
    }
    body += "</table>\n";
    body += &notes.told();
    let remark = if table.remark.is_empty() { String::new() } else { format!(" {}", table.remark) };
    let _ = writeln!(
        body,
        "<p class=\"facts\">{}{}{}</p>",
        unit(table.unit),
        escape(&spread(&places)),
        escape(&remark)
    );
    body
}

/// The source's line.
fn theirs(table: &TableOf, row: &crate::study::Row) -> String {
    let mut line = String::from("<td class=\"theirs\">theirs</td>");
    for (index, column) in table.columns.iter().enumerate() {
        let value = row.theirs.get(index).copied().filter(|it| it.is_finite());
        let cycles = value.zip(column.ghz).filter(|_| table.unit == Unit::Mpps);
        let cycles = cycles.map(|(mpps, ghz)| cycles_in_words(&format!("{:.0}", 1e3 * ghz / mpps)));
        let _ = write!(
            line,
            "<td class=\"n theirs\">{}{}</td>",
            value.map_or_else(String::new, |it| told(it, table.unit)),
            cycles.unwrap_or_default()
        );
    }
    line
}

/// Our lines, each with what stands in it.
fn ours<'a>(table: &TableOf, places: &[&'a Place]) -> Vec<(String, Vec<&'a Place>)> {
    if table.columns.iter().all(|column| column.devices.is_some()) {
        return vec![("ours".into(), places.to_vec())];
    }
    let mut lines: Vec<(String, Vec<&Place>)> = Vec::new();
    for &place in places {
        let name = place.device.as_deref().map_or("ours", plain);
        match lines.iter_mut().find(|(known, _)| known == name) {
            Some((_, of)) => of.push(place),
            None => lines.push((name.to_owned(), vec![place])),
        }
    }
    lines
}

fn cell(
    page: &Page<'_>,
    table: &TableOf,
    column: &Column,
    places: &[&Place],
    notes: &mut Notes,
) -> String {
    let several = column.devices.as_ref().is_some_and(|devices| devices.len() > 1);
    let mut marks: Vec<String> = Vec::new();
    let mut numbers: Vec<String> = Vec::new();
    for place in places {
        let device = place.device.as_deref().map_or("", plain);
        match &place.cell {
            Cell::Reason(reason) => marks.push(notes.mark(reason, device)),
            Cell::Number(number) => {
                let mut words = number_in_words(number, table.unit);
                if table.unit == Unit::Mpps && table.columns.iter().any(|it| it.ghz.is_some()) {
                    let cycles = cycles(page, number).map(|told| cycles_in_words(&told));
                    words += &cycles.unwrap_or_default();
                }
                if several {
                    let _ = write!(words, "<br><small>{}</small>", escape(device));
                }
                // What rates must be read with stands under Anomalies, run by run.
                if table.unit != Unit::Mpps {
                    for anomaly in &number.anomalies {
                        let mark = notes.mark(anomaly, "");
                        let _ = write!(words, "<sup>{mark}</sup>");
                    }
                }
                numbers.push(words);
            }
        }
    }
    let marks = if marks.is_empty() {
        String::new()
    } else {
        format!(
            "<sup>{}</sup>",
            BTreeSet::from_iter(marks).into_iter().collect::<Vec<_>>().join(",")
        )
    };
    match numbers.is_empty() {
        true => format!("<td class=\"n reason\">–{marks}</td>"),
        false => format!("<td class=\"n\">{}{marks}</td>", numbers.join("<br>")),
    }
}

fn number_in_words(number: &Number, unit: Unit) -> String {
    let divisor = unit.divisor();
    let sign = if number.at_least { "≥\u{a0}" } else { "" };
    let mut words = format!("{sign}{}", told(number.value / divisor, unit));
    // Of one start there is nothing that it lies in.
    if number.runs > 1 {
        let end = |value: f64| match value.is_finite() {
            true => told(value / divisor, unit),
            false => "?".into(),
        };
        let (low, high) = (end(number.interval.low), end(number.interval.high));
        let _ = write!(words, "<br><small>[{low}, {high}]</small>");
    }
    words
}

fn cycles_in_words(cycles: &str) -> String {
    format!("<br><small>{cycles} cycles</small>")
}

fn unit(unit: Unit) -> String {
    let (name, cycles) = match unit {
        Unit::Mpps => (
            "Mpps",
            ", with cycles a packet: by a known clock, or what it costs by the device's own count, where \
             the generator limited the rate",
        ),
        Unit::Right => ("Percent of the packets", ""),
        other => (other.name(), ""),
    };
    format!("{name}{cycles}. Brown: the source's own numbers.")
}

/// Of how many restarts the numbers are, and what stands in brackets.
fn spread(places: &[&Place]) -> String {
    let runs: BTreeSet<usize> = places
        .iter()
        .filter_map(|place| match &place.cell {
            Cell::Number(number) => Some(number.runs),
            Cell::Reason(_) => None,
        })
        .collect();
    let (Some(least), Some(most)) = (runs.first(), runs.last()) else { return String::new() };
    let of = if least == most { most.to_string() } else { format!("{least} to {most}") };
    match (least, most) {
        (_, 1) => " Ours are of one start each: there is no interval.".into(),
        (_, 2) => format!(" Ours are of {of} starts; in brackets is what these span."),
        (0..=2, _) => format!(
            " Ours are of {of} starts; in brackets is the 95 % interval, of one or two what these span."
        ),
        _ => format!(" Ours are of {of} starts; in brackets is the 95 % interval."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_once_with_all_that_they_are_of() {
        let mut notes = Notes::default();
        assert_eq!(notes.mark("no <such>", "ovs"), "a");
        assert_eq!(notes.mark("emulated", ""), "b");
        assert_eq!(notes.mark("no <such>", "volley"), "a");
        assert_eq!(notes.mark("no <such>", "ovs"), "a");
        let told = notes.told();
        assert!(told.contains("<sup>a</sup> ovs, volley: no &lt;such&gt;</li>"), "{told}");
        assert!(told.contains("<sup>b</sup> emulated</li>"), "{told}");
        assert_eq!(
            [0, 25, 26, 27, 52, 701, 702].map(letters),
            ["a", "z", "aa", "ab", "ba", "zz", "aaa"]
        );
    }
}
