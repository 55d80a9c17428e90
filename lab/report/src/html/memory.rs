//! The memory of devices while they were measured, and which of them kept growing.

use std::fmt::Write;

use super::section::{Page, Section};
use crate::memory::{Growth, rows, told};
use crate::svg::canvas::escape;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let rows = rows(page.results);
    if rows.is_empty() {
        return None;
    }
    let mut growing: Vec<&str> = rows
        .iter()
        .filter(|it| matches!(it.growth, Growth::Growing(_)))
        .map(|it| it.subject.device.as_str())
        .collect();
    growing.dedup();
    let lead = match growing.is_empty() {
        true => "No device was still growing when a search ended.".to_owned(),
        false => format!(
            "<span class=\"verdict\">Still growing when a search ended: {}.</span>",
            escape(&growing.join(", "))
        ),
    };
    let mut body = String::from(
        "<table>\n<tr><th>device</th><th>case</th><th class=\"n\">begin</th><th class=\"n\">end</th>\
         <th class=\"n\">most</th><th class=\"n\">runs</th><th></th></tr>\n",
    );
    for row in &rows {
        let class = match row.growth {
            Growth::Growing(_) => " class=\"verdict\"",
            Growth::Steady | Growth::Settled | Growth::Grew => "",
        };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td{class}>{}</td></tr>",
            escape(&row.subject.device),
            escape(&row.subject.case()),
            told(row.begin),
            told(row.end),
            told(row.most as f64),
            row.runs,
            row.words()
        );
    }
    body.push_str(
        "</table>\n<p class=\"facts\">Resident memory of all processes of the device, huge pages included, from the \
         beginning of a case to the end of its search.</p>\n",
    );
    Some(Section { title: "Memory", lead, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{MemoryRecord, MemorySample, Results, Subject};

    #[test]
    fn a_device_that_grows_is_named_first() {
        let record = |device: &str, step: u64| MemoryRecord {
            subject: Subject { device: device.into(), ..Subject::default() },
            processes: 1,
            samples: (0..8)
                .map(|at| MemorySample { at_s: at as f64, bytes: (10 + at * step) << 20 })
                .collect(),
        };
        let results =
            Results { memory: vec![record("<ovs>", 0), record("volley", 2)], ..Results::default() };
        let Section { lead, body, .. } = section(&Page::of(&results)).unwrap();
        assert!(lead.contains("Still growing when a search ended: volley."), "{lead}");
        assert!(body.contains("&lt;ovs&gt;") && body.contains("10.0 MiB"), "{body}");
        assert!(section(&Page::of(&Results::default())).is_none());
    }
}
