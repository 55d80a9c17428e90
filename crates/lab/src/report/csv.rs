//! The summary as CSV (RFC 4180), for spreadsheets and scripts.

use super::record::Results;
use super::summary::rows;

/// A field, quoted where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// One line for each device, case and metric.
pub fn render(results: &Results) -> String {
    let mut text = String::from("device,case,metric,runs,pps,low_pps,high_pps,sd_pps\r\n");
    for row in rows(results) {
        let fields = [
            field(&row.subject.device),
            field(&row.subject.case()),
            field(&row.metric),
            row.runs.to_string(),
            format!("{:.1}", row.value_pps),
            format!("{:.1}", row.interval.low),
            format!("{:.1}", row.interval.high),
            format!("{:.1}", row.sd_pps),
        ];
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::record::{AnswerRecord, Subject};

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        let subject = Subject { device: "a \"b\", c".into(), ..Subject::default() };
        let (metric, verdicts) = ("NDR".into(), Vec::new());
        let answer = AnswerRecord { subject, metric, low_pps: 1.0, high_pps: 2.0, verdicts };
        let results = Results { answers: vec![answer], ..Results::default() };
        let line = render(&results).lines().nth(1).unwrap().to_owned();
        assert_eq!(line, "\"a \"\"b\"\", c\",,NDR,1,1.5,1.0,2.0,0.0");
    }
}
