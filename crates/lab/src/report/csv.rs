//! The summary as CSV (RFC 4180), for spreadsheets and scripts: rates of packets, and all else by unit.

use super::quantities;
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

/// One line for each device, case and metric that is no rate of packets.
pub fn quantities(results: &Results) -> String {
    let mut text = String::from("device,case,metric,unit,runs,trials,median,low,high,sd\r\n");
    for row in quantities::rows(results) {
        let fields = [
            field(&row.subject.device),
            field(&row.subject.case()),
            field(&row.metric),
            row.unit.name().to_owned(),
            row.runs.to_string(),
            row.values.len().to_string(),
            row.median.to_string(),
            row.interval.low.to_string(),
            row.interval.high.to_string(),
            row.sd.to_string(),
        ];
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::record::{AnswerRecord, QuantityRecord, Subject, Unit};

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        let subject = Subject { device: "a \"b\", c".into(), ..Subject::default() };
        let (metric, verdicts) = ("NDR".into(), Vec::new());
        let answer = AnswerRecord { subject, metric, low_pps: 1.0, high_pps: 2.0, verdicts };
        let results = Results { answers: vec![answer], ..Results::default() };
        let line = render(&results).lines().nth(1).unwrap().to_owned();
        assert_eq!(line, "\"a \"\"b\"\", c\",,NDR,1,1.5,1.0,2.0,0.0");
    }

    #[test]
    fn what_is_no_rate_has_its_unit() {
        let subject =
            Subject { device: "ovs".into(), function: "ip4".into(), ..Subject::default() };
        let (metric, values) = ("reset, longest".into(), vec![0.5, 0.25]);
        let quantity = QuantityRecord { subject, metric, unit: Unit::Seconds, values, note: None };
        let results = Results { quantities: vec![quantity], ..Results::default() };
        let line = quantities(&results).lines().nth(1).unwrap().to_owned();
        assert_eq!(line, "ovs,ip4,\"reset, longest\",seconds,1,2,0.375,0.375,0.375,0");
    }
}
