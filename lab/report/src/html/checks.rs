//! Whether devices do what their functions say: a table of functions and devices, and what is
//! wrong.

use std::fmt::Write;

use lab_record::Results;

use super::section::{Page, Section};
use crate::checks::{Cell, Matrix, matrix, told};
use crate::svg::canvas::escape;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let Matrix { devices, rows } = matrix(results);
    if rows.is_empty() {
        return None;
    }
    let mut body = String::from("<table>\n<tr><th>function</th>");
    for device in &devices {
        let _ = write!(body, "<th>{}</th>", escape(device));
    }
    body.push_str("</tr>\n");
    for (case, cells) in &rows {
        let _ = write!(body, "<tr><td>{}</td>", escape(case));
        for cell in cells {
            body.push_str(&match cell {
                None => "<td></td>".to_owned(),
                Some(cell @ (Cell::Wrong(_) | Cell::Failed(_))) => {
                    format!("<td class=\"verdict\">{}</td>", cell.word())
                }
                Some(cell) => format!("<td>{}</td>", cell.word()),
            });
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table>\n");
    body.push_str(&streams(results));
    let lead = "Every packet looked at, octet for octet: all that were sent have to come out as the function has \
                them, and none that it keeps out. What a device refuses is told below."
        .into();
    Some(Section { title: "Does it do what it says", lead, body })
}

/// What was sent and came, and the first fault.
fn streams(results: &Results) -> String {
    let mut body = String::from(
        "<table>\n<tr><th>device</th><th>case</th><th>frames</th><th></th><th class=\"n\">sent</th>\
         <th class=\"n\">came</th></tr>\n",
    );
    for check in &results.checks {
        for stream in &check.streams {
            let _ = writeln!(
                body,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escape(&check.subject.device),
                escape(&check.subject.case()),
                escape(&stream.name),
                if stream.must_emerge { "come out" } else { "are kept out" },
                stream.sent,
                stream.came
            );
        }
        if let Some(fault) = &check.fault {
            let told = escape(&told(fault));
            let _ =
                writeln!(body, "<tr><td></td><td colspan=\"5\" class=\"verdict\">{told}</td></tr>");
        }
    }
    body.push_str("</table>\n");
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{CheckRecord, Checked, Fault, Subject};

    #[test]
    fn a_wrong_function_stands_out_with_its_reason() {
        let subject =
            Subject { device: "<ovs>".into(), function: "acl".into(), ..Subject::default() };
        let fault = Fault {
            stream: "denied".into(),
            packet: Some(0),
            reason: "came out and must not".into(),
            difference: None,
        };
        let streams = vec![Checked { name: "denied".into(), must_emerge: false, sent: 5, came: 5 }];
        let check = CheckRecord { subject, streams, fault: Some(fault), ..CheckRecord::default() };
        let body = section(&Page::of(&Results { checks: vec![check], ..Results::default() }))
            .unwrap()
            .body;
        assert!(body.contains("<td class=\"verdict\">wrong</td>"), "{body}");
        assert!(body.contains("packet 0 denied came out and must not"), "{body}");
        assert!(body.contains("&lt;ovs&gt;") && body.contains("are kept out"));
        assert!(section(&Page::of(&Results::default())).is_none());
    }
}
