//! The summary as OpenMetrics text, for Prometheus and dashboards.

use std::fmt::Write;

use lab_record::{Blame, Interval, Results};

use super::quantities;
use super::summary::{Row, rows};

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The label of the directions that a rate is of, where it is known.
fn directions(row: &Row) -> String {
    row.directions.map_or_else(String::new, |of| format!(",directions=\"{}\"", of.name()))
}

/// The exposition: rates with the ends of their intervals, and trials made.
pub fn render(results: &Results) -> String {
    let mut text = String::new();
    let families: [(&str, &str); 6] = [
        ("volley_lab_rate_pps", "Lower bound of the rate, or the rate itself; mean over starts."),
        ("volley_lab_rate_conditional_pps", "Conditional throughput at the lower bound."),
        ("volley_lab_rate_upper_pps", "Upper bound of the rate."),
        (
            "volley_lab_rate_low_pps",
            "Lower end of the 95 % interval; of under 3 starts, the bracket's.",
        ),
        ("volley_lab_rate_high_pps", "Upper end of it; +Inf where the device may do more."),
        (
            "volley_lab_rate_at_least",
            "1 where the generator or the host limited it: the device may do more. Else 0.",
        ),
    ];
    let rows = rows(results);
    for (index, (name, help)) in families.into_iter().enumerate() {
        let _ = writeln!(text, "# TYPE {name} gauge\n# HELP {name} {help}");
        for row in &rows {
            let at_least = f64::from(row.is_at_least());
            let Interval { low, high } = row.interval;
            let conditional = row.conditional_pps;
            let all =
                [Some(row.value_pps), conditional, Some(row.upper_pps), Some(low), Some(high)];
            let Some(value) = all.into_iter().chain([Some(at_least)]).nth(index).flatten() else {
                continue;
            };
            let value = match value.is_finite() {
                true => format!("{value:.1}"),
                false => "+Inf".into(),
            };
            let (device, case) = (label(&row.subject.device), label(&row.subject.case()));
            let (metric, directions) = (label(&row.metric), directions(row));
            let _ = writeln!(
                text,
                "{name}{{device=\"{device}\",case=\"{case}\",metric=\"{metric}\"{directions}}} {value}"
            );
        }
    }
    let name = "volley_lab_rate_limit_packets";
    let help = "Packets that did not come through at the upper bound, by whose doing.";
    let _ = writeln!(text, "# TYPE {name} gauge\n# HELP {name} {help}");
    for row in &rows {
        let (device, case) = (label(&row.subject.device), label(&row.subject.case()));
        let (metric, blame) = (label(&row.metric), row.limit.map(|limit| limit.blame));
        if let Some(Blame { device: by_device, generator, host }) = blame {
            for (by, packets) in [("device", by_device), ("generator", generator), ("host", host)] {
                let directions = directions(row);
                let _ = writeln!(
                    text,
                    "{name}{{device=\"{device}\",case=\"{case}\",metric=\"{metric}\"{directions},by=\"{by}\"}} {packets}"
                );
            }
        }
    }
    if !results.checks.is_empty() {
        checks(&mut text, results);
    }
    let quantities = quantities::rows(results);
    let families: [(&str, &str); 3] = [
        ("volley_lab_quantity", "What was found that is no rate of packets, median."),
        ("volley_lab_quantity_low", "Lower end of the 95 % interval."),
        ("volley_lab_quantity_high", "Upper end of the 95 % interval."),
    ];
    for (index, (name, help)) in families.into_iter().enumerate().filter(|_| !quantities.is_empty())
    {
        let _ = writeln!(text, "# TYPE {name} gauge\n# HELP {name} {help}");
        for row in &quantities {
            let value = [row.median, row.interval.low, row.interval.high][index];
            let (device, case) = (label(&row.subject.device), label(&row.subject.case()));
            let (metric, unit) = (label(&row.metric), row.unit.name());
            let _ = writeln!(
                text,
                "{name}{{device=\"{device}\",case=\"{case}\",metric=\"{metric}\",unit=\"{unit}\"}} {value}"
            );
        }
    }
    let name = "volley_lab_trials";
    let _ = writeln!(text, "# TYPE {name} counter\n# HELP {name} Trials made.");
    let _ = writeln!(text, "{name}_total {}", results.trials.len() + results.streams.len());
    text.push_str("# EOF\n");
    text
}

/// The worst of all restarts.
fn checks(text: &mut String, results: &Results) {
    let name = "volley_lab_check_passed";
    let _ = writeln!(
        text,
        "# TYPE {name} gauge\n# HELP {name} Whether a device does what its function says."
    );
    let mut told: Vec<(&str, String, bool)> = Vec::new();
    for check in &results.checks {
        let (device, case) = (check.subject.device.as_str(), check.subject.case());
        match told.iter_mut().find(|it| it.0 == device && it.1 == case) {
            Some((_, _, passed)) => *passed &= check.passed(),
            None => told.push((device, case, check.passed())),
        }
    }
    for (device, case, passed) in told {
        let (device, case) = (label(device), label(&case));
        let _ =
            writeln!(text, "{name}{{device=\"{device}\",case=\"{case}\"}} {}", u8::from(passed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{AnswerRecord, Directions, Subject};

    #[test]
    fn a_function_has_passed_if_it_did_at_each_restart() {
        use lab_record::{CheckRecord, Fault};
        let check = |run, fault| {
            let subject = Subject { device: "ovs".into(), run, ..Subject::default() };
            CheckRecord { subject, fault, ..CheckRecord::default() }
        };
        let (stream, reason) = ("there".into(), "lost".into());
        let fault = Fault { stream, packet: None, reason, difference: None };
        let passed = |checks| {
            let text = render(&Results { checks, ..Results::default() });
            text.contains(r#"volley_lab_check_passed{device="ovs",case=""} 1"#)
        };
        assert!(passed(vec![check(0, None), check(1, None)]));
        assert!(!passed(vec![check(0, Some(fault)), check(1, None)]));
    }

    #[test]
    fn labels_are_escaped_and_the_exposition_ends_as_it_must() {
        let subject = Subject { device: "a\"b".into(), ..Subject::default() };
        let metric = "NDR".into();
        let answer = AnswerRecord {
            subject,
            metric,
            low_pps: 1.0,
            high_pps: 2.0,
            ..AnswerRecord::default()
        };
        let blame = Blame { device: 0, generator: 7, host: 1 };
        let limit = Some(lab_record::Limit { by: lab_record::Limiter::Host, blame });
        let directions = Some(Directions::Together);
        let held_back = AnswerRecord { metric: "PDR".into(), directions, limit, ..answer.clone() };
        let text = render(&Results { answers: vec![answer, held_back], ..Results::default() });
        assert!(
            text.contains(r#"volley_lab_rate_at_least{device="a\"b",case="",metric="PDR",directions="both ways together"} 1.0"#)
        );
        assert!(
            text.contains(r#"metric="PDR",directions="both ways together",by="generator"} 7"#),
            "{text}"
        );
        assert!(text.contains(r#"volley_lab_rate_pps{device="a\"b",case="",metric="NDR"} 1.0"#));
        assert!(
            text.contains(r#"volley_lab_rate_at_least{device="a\"b",case="",metric="NDR"} 0.0"#)
        );
        assert!(text.ends_with("volley_lab_trials_total 0\n# EOF\n"));
    }
}
