//! What a search found that is no rate: bursts in frames, times in seconds.

use std::fmt::Write;

use super::Section;
use crate::report::record::{QuantityRecord, Results, Subject, Unit};
use crate::report::svg::canvas::escape;
use crate::stats::summary::median;

/// A value as a reader wants it.
pub fn told(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Frames => format!("{value:.0} frames"),
        Unit::Seconds if value < 1e-3 => format!("{:.1} µs", value * 1e6),
        Unit::Seconds if value < 1.0 => format!("{:.2} ms", value * 1e3),
        Unit::Seconds => format!("{value:.3} s"),
    }
}

/// Of each device and case, over all its runs: median, least, most.
pub fn rows(results: &Results) -> Vec<(Subject, String, Unit, Vec<f64>)> {
    let mut rows: Vec<(Subject, String, Unit, Vec<f64>)> = Vec::new();
    for QuantityRecord { subject, metric, unit, values } in &results.quantities {
        let subject = Subject { run: 0, ..subject.clone() };
        match rows.iter_mut().find(|row| row.0 == subject && row.1 == *metric) {
            Some(row) => row.3.extend(values),
            None => rows.push((subject, metric.clone(), *unit, values.clone())),
        }
    }
    rows.retain(|row| !row.3.is_empty());
    rows
}

pub(super) fn section(results: &Results) -> Option<Section> {
    let rows = rows(results);
    let mut body = String::from(
        "<table>\n<tr><th>device</th><th>case</th><th></th><th class=\"n\">median</th>\
         <th class=\"n\">least</th><th class=\"n\">most</th><th class=\"n\">trials</th></tr>\n",
    );
    for (subject, metric, unit, values) in &rows {
        let (least, most) = values
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &it| (low.min(it), high.max(it)));
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&subject.device),
            escape(&subject.case()),
            escape(metric),
            told(median(values), *unit),
            told(least, *unit),
            told(most, *unit),
            values.len()
        );
    }
    body.push_str("</table>\n");
    let lead = "RFC 2544, 26.4 to 26.6: the longest burst at full rate that loses nothing, the time until the \
                last loss after an overload, the time without packets when the device is started anew."
        .into();
    (!rows.is_empty()).then_some(Section { title: "Bursts, recovery, reset", lead, body })
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
        };
        let quantities = vec![record(0, &[0.5, 1.25]), record(1, &[0.75])];
        let body = section(&Results { quantities, ..Results::default() }).unwrap().body;
        let cells = ["750.00 ms", "500.00 ms", "1.250 s", "3"];
        let cells: String = cells.iter().map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        assert!(body.contains(&cells), "{body}");
        assert_eq!(told(2_048.4, Unit::Frames), "2048 frames");
        assert!(section(&Results::default()).is_none());
    }
}
