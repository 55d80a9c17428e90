//! What a search found that is no rate: bursts in frames, times in seconds.

use std::fmt::Write;

use super::Section;
use crate::report::record::{QuantityRecord, Results, Subject, Unit};
use crate::report::svg::canvas::escape;
use crate::stats::summary::median;

/// A value as a reader wants it.
pub fn told(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Percent => format!("{value:.2} %"),
        Unit::Entries => format!("{value:.0} entries"),
        Unit::Frames => format!("{value:.0} frames"),
        Unit::Seconds if value < 1e-3 => format!("{:.1} µs", value * 1e6),
        Unit::Seconds if value < 1.0 => format!("{:.2} ms", value * 1e3),
        Unit::Seconds => format!("{value:.3} s"),
    }
}

/// Of each device and case, over all its runs: as one record each, of run 0, with the notes of all.
pub fn rows(results: &Results) -> Vec<QuantityRecord> {
    let mut rows: Vec<QuantityRecord> = Vec::new();
    for record in &results.quantities {
        let subject = Subject { run: 0, ..record.subject.clone() };
        match rows.iter_mut().find(|row| row.subject == subject && row.metric == record.metric) {
            Some(row) => {
                row.values.extend(&record.values);
                if row.note != record.note {
                    let notes = row.note.take().into_iter().chain(record.note.clone());
                    row.note = Some(notes.collect::<Vec<_>>().join("; "));
                }
            }
            None => rows.push(QuantityRecord { subject, ..record.clone() }),
        }
    }
    rows.retain(|row| !row.values.is_empty());
    rows
}

pub(super) fn section(results: &Results) -> Option<Section> {
    let rows = rows(results);
    let mut body = String::from(
        "<table>\n<tr><th>device</th><th>case</th><th></th><th class=\"n\">median</th>\
         <th class=\"n\">least</th><th class=\"n\">most</th><th class=\"n\">trials</th></tr>\n",
    );
    for QuantityRecord { subject, metric, unit, values, note } in &rows {
        let (least, most) = values
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &it| (low.min(it), high.max(it)));
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&subject.device),
            escape(&subject.case()),
            escape(metric)
                + &note
                    .as_ref()
                    .map_or_else(String::new, |it| format!("<br><small>{}</small>", escape(it))),
            told(median(values), *unit),
            told(least, *unit),
            told(most, *unit),
            values.len()
        );
    }
    body.push_str("</table>\n");
    let lead = "RFC 2544, 26.4 to 26.6: the longest burst at full rate that loses nothing, the time until the \
                last loss after an overload, the time without packets when the device is started anew. Live changes: \
                packets lost over the rate offered. Tables: entries added until one was refused."
        .into();
    let title = "Bursts, recovery, reset, live changes, tables";
    (!rows.is_empty()).then_some(Section { title, lead, body })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let body = section(&Results { quantities, ..Results::default() }).unwrap().body;
        let cells = ["750.00 ms", "500.00 ms", "1.250 s", "3"];
        let cells: String = cells.iter().map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        assert!(body.contains(&cells), "{body}");
        assert!(body.contains("reset<br><small>run &lt;0&gt;; run &lt;1&gt;</small>"), "{body}");
        assert_eq!(told(2_048.4, Unit::Frames), "2048 frames");
        assert_eq!(told(99.5, Unit::Percent), "99.50 %");
        assert!(section(&Results::default()).is_none());
    }
}
