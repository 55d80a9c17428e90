//! What a search found that is no rate: bursts in frames, times in seconds.

use std::fmt::Write;

use lab_record::Results;
use lab_search::search::ALL;

use super::section::{Page, Section};
use crate::quantities::{self, Row, told};
use crate::svg::canvas::escape;

/// What searches for bursts and upsets found.
pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let rows: Vec<Row> = own(results, false);
    // What each search says beside its numbers.
    let readings = ALL.iter().map(|kind| kind.reading).filter(|reading| !reading.is_empty());
    let lead = readings.collect::<Vec<_>>().join(" ");
    let body = table(&rows);
    let title = "Bursts, recovery, reset, live changes, tables";
    (!rows.is_empty()).then_some(Section { title, lead, body })
}

/// The rows of streams, or the others.
pub(super) fn own(results: &Results, of_streams: bool) -> Vec<Row> {
    quantities::rows(results).into_iter().filter(|row| row.of_streams == of_streams).collect()
}

/// A row for each quantity.
pub(super) fn table(rows: &[Row]) -> String {
    let mut body = String::from(
        "<table>\n<tr><th>device</th><th>case</th><th></th><th class=\"n\">median</th>\
         <th class=\"n\">least</th><th class=\"n\">most</th><th class=\"n\">95 % interval, of under 3 runs their span</th>\
         <th class=\"n\">trials</th><th class=\"n\">runs</th></tr>\n",
    );
    for row in rows {
        let Row { subject, metric, unit, values, runs, median, interval, note, .. } = row;
        let told = |value: f64| told(value, *unit);
        let note = note.as_ref().map(|note| format!("<br><small>{}</small>", escape(note)));
        let note = note.unwrap_or_default();
        let (least, most) = values
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &it| (low.min(it), high.max(it)));
        let numbers = [row.sign().to_owned() + &told(*median), told(least), told(most)]
            .into_iter()
            .chain([format!("{} – {}", told(interval.low), told(interval.high))])
            .chain([values.len().to_string(), runs.to_string()]);
        let numbers: String = numbers.map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td>{numbers}</tr>",
            escape(&subject.device),
            escape(&subject.case()),
            escape(metric) + &note,
        );
    }
    body.push_str("</table>\n");
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{QuantityRecord, Subject, Unit};

    #[test]
    fn runs_of_a_subject_are_one_row_in_the_unit_that_fits() {
        let record = |run, values: &[f64]| QuantityRecord {
            subject: Subject { device: "ovs".into(), run, ..Subject::default() },
            metric: "reset".into(),
            unit: Unit::Seconds,
            values: values.to_vec(),
            note: Some(format!("run <{run}>")),
        };
        let quantities = vec![record(0, &[0.5, 1.25]), record(1, &[0.75])];
        let body = section(&Page::of(&Results { quantities, ..Results::default() })).unwrap().body;
        let cells = ["750.00 ms", "500.00 ms", "1.250 s", "750.00 ms – 875.00 ms", "3", "2"];
        let cells: String = cells.iter().map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        assert!(body.contains(&cells), "{body}");
        assert!(body.contains("reset<br><small>run &lt;0&gt;; run &lt;1&gt;</small>"), "{body}");
        assert!(section(&Page::of(&Results::default())).is_none());
    }
}
