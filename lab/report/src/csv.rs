//! The summary as CSV (RFC 4180), for spreadsheets and scripts: rates of packets, and all else by
//! unit.

use std::fmt::Write;

use lab_record::axes::{Axis, LoadPercent};
use lab_record::{Blame, Directions, Results};

use super::absences;
use super::checks::told;
use super::html::timed;
use super::quantities;
use super::summary::{rows, spread};
use super::words::verdict;

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
    let mut text = String::from(
        "device,case,metric,directions,runs,at_least,lower_bound_pps,conditional_pps,\
         upper_bound_pps,spread,low_pps,high_pps,sd_pps,\
         limited_by,lost_by_device,unsent_by_generator,lost_to_host,cost_cycles,verdicts\r\n",
    );
    let costs = quantities::costs(results);
    for row in rows(results) {
        let cost = costs.iter().find(|cost| cost.subject == row.subject);
        let verdicts: Vec<String> = row.verdicts.iter().map(verdict).collect();
        let packets = |of: fn(&Blame) -> u64| {
            row.limit.map_or_else(String::new, |limit| of(&limit.blame).to_string())
        };
        let fields = [
            field(&row.subject.device),
            field(&row.subject.case()),
            field(&row.metric),
            row.directions.map_or("", Directions::name).to_owned(),
            row.runs.to_string(),
            row.is_at_least().to_string(),
            format!("{:.1}", row.value_pps),
            row.conditional_pps.map_or_else(String::new, |pps| format!("{pps:.1}")),
            format!("{:.1}", row.upper_pps),
            row.spread().to_owned(),
            format!("{:.1}", row.interval.low),
            if row.interval.high.is_finite() {
                format!("{:.1}", row.interval.high)
            } else {
                String::new()
            },
            format!("{:.1}", row.sd_pps),
            row.limiter.name().to_owned(),
            packets(|blame| blame.device),
            packets(|blame| blame.generator),
            packets(|blame| blame.host),
            cost.map_or_else(String::new, |cost| format!("{:.1}", cost.median)),
            field(&verdicts.join("; ")),
        ];
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

/// One line for each function checked.
pub fn checks(results: &Results) -> String {
    let mut text =
        String::from("device,case,run,passed,sent,came,kept_out_sent,kept_out_came,fault\r\n");
    for check in &results.checks {
        let mut fields = vec![
            field(&check.subject.device),
            field(&check.subject.case()),
            check.subject.run.to_string(),
            check.passed().to_string(),
        ];
        fields.extend(check.counts().map(|count| count.to_string()));
        fields.push(field(&check.fault.as_ref().map_or(String::new(), told)));
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

/// One line for each device, case and metric that is no rate of packets.
pub fn quantities(results: &Results) -> String {
    let mut text =
        String::from("device,case,metric,unit,runs,trials,at_least,median,low,high,sd\r\n");
    for row in quantities::rows(results) {
        let fields = [
            field(&row.subject.device),
            field(&row.subject.case()),
            field(&row.metric),
            row.unit.name().to_owned(),
            row.runs.to_string(),
            row.values.len().to_string(),
            row.at_least.to_string(),
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

/// Percentiles of a latency that are told.
const PERCENTS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// One line for each device and case whose packets were timed, in nanoseconds: percentiles, each
/// with its 95 % interval over restarts, or what fewer than three restarts span.
pub fn latency(results: &Results) -> String {
    let mut text =
        String::from("device,case,load_percent,runs,trials,packets,spread,min_ns,mean_ns");
    for percent in PERCENTS {
        let _ = write!(text, ",p{percent}_ns,p{percent}_low_ns,p{percent}_high_ns");
    }
    text.push_str(",max_ns,generator_late_p99_ns,generator_late_max_ns\r\n");
    for timed in timed::of(results) {
        let (all, runs) = (timed.all(), timed.restarts());
        if all.count() == 0 {
            continue;
        }
        let load = timed.subject.axes.get(LoadPercent::NAME).cloned();
        let mut fields = vec![
            field(&timed.subject.device),
            field(&timed.subject.case()),
            load.unwrap_or_default(),
            runs.to_string(),
            timed.trials.len().to_string(),
            all.count().to_string(),
            spread(runs).to_owned(),
            all.min_ns().to_string(),
            format!("{:.0}", all.mean_ns()),
        ];
        for percent in PERCENTS {
            let found = timed.percentile(percent);
            let three = found.map(|(mean, within)| [mean, within.low, within.high]);
            let three = three.map(|it| it.map(|ns| format!("{ns:.0}"))).unwrap_or_default();
            fields.extend(three);
        }
        fields.push(all.max_ns().to_string());
        let late = timed.lateness().map(|it| it.map(|ns| ns.to_string())).unwrap_or_default();
        fields.extend(late);
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

/// One line for each device, case and who was away in its trials.
pub fn absences(results: &Results) -> String {
    let mut text = String::from("device,case,who,times,longest_us,share,period_ms\r\n");
    for found in absences::of(results) {
        let fields = [
            field(&found.subject.device),
            field(&found.subject.case()),
            found.who.name().to_owned(),
            found.count.to_string(),
            format!("{:.0}", found.longest_us),
            format!("{:.6}", found.share),
            found.period_s.map_or_else(String::new, |it| format!("{:.4}", 1e3 * it)),
        ];
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{
        AnswerRecord, CheckRecord, Checked, Fault, Histogram, Limit, Limiter, Outcome,
        QuantityRecord, Subject, Trial, TrialRecord, Unit, Verdict,
    };

    #[test]
    fn a_check_is_a_line_with_its_counts_and_its_fault() {
        let stream =
            |must_emerge, sent, came| Checked { name: "there".into(), must_emerge, sent, came };
        let (stream_name, reason) = ("there".into(), "1 of 9 packets, lost".into());
        let fault = Fault { stream: stream_name, packet: None, reason, difference: None };
        let check = CheckRecord {
            subject: Subject { device: "ovs".into(), function: "gre".into(), ..Subject::default() },
            streams: vec![stream(true, 9, 8), stream(false, 4, 0)],
            fault: Some(fault),
            ..CheckRecord::default()
        };
        let text = checks(&Results { checks: vec![check], ..Results::default() });
        let line = text.lines().nth(1).unwrap();
        assert_eq!(line, "ovs,gre,0,false,9,8,4,0,\"there: 1 of 9 packets, lost\"");
    }

    #[test]
    fn fields_with_commas_and_quotes_are_quoted_and_verdicts_told() {
        let subject = Subject { device: "a \"b\", c".into(), ..Subject::default() };
        let (metric, verdicts) = ("NDR".into(), vec![Verdict::GeneratorBound { share: 1.0 }]);
        let blame = Blame { device: 0, generator: 7, host: 1 };
        let limit = Some(Limit { by: Limiter::Generator, blame });
        let answer = AnswerRecord {
            subject,
            metric,
            directions: Some(Directions::Each),
            low_pps: 1.0,
            high_pps: 2.0,
            limit,
            verdicts,
            ..AnswerRecord::default()
        };
        let results = Results { answers: vec![answer], ..Results::default() };
        let line = render(&results).lines().nth(1).unwrap().to_owned();
        assert_eq!(
            line,
            "\"a \"\"b\"\", c\",,NDR,each way,1,true,1.0,,2.0,bracket,1.0,,0.0,generator,0,7,1,,generator-bound: 100 % of the generator's ceiling"
        );
    }

    #[test]
    fn latencies_have_percentiles_with_their_intervals_over_restarts() {
        let trial = |run: u32| {
            let axes = [(LoadPercent::NAME.to_owned(), "50".to_owned())].into();
            let subject = Subject { device: "ovs".into(), run, axes, ..Subject::default() };
            let outcome = Outcome::of(Trial::new(1e3, 1.0), 1_000);
            let mut latency = Histogram::default();
            latency.record_many(1_000 + 100 * u64::from(run), 990);
            latency.record_many(50_000, 10);
            let bare = TrialRecord::new(subject, 0, "latency", 0.0, outcome);
            TrialRecord { latency: Some(latency), ..bare }
        };
        let text = latency(&Results { trials: (0..3).map(trial).collect(), ..Results::default() });
        let plain = text.replace("\", 50 % load\"", "half");
        let lines: Vec<Vec<&str>> = plain.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!((lines.len(), lines[0].len()), (2, lines[1].len()), "{text}");
        let value = |name: &str| lines[1][lines[0].iter().position(|it| *it == name).unwrap()];
        let number = |name: &str| value(name).parse::<f64>().unwrap();
        assert_eq!(
            [value("device"), value("load_percent"), value("runs"), value("packets")],
            ["ovs", "50", "3", "3000"]
        );
        assert_eq!(value("spread"), "95 % interval");
        assert!((number("p50_ns") / 1_100.0 - 1.0).abs() < 0.02, "{text}");
        assert!(
            number("p50_low_ns") < number("p50_ns") && number("p50_ns") < number("p50_high_ns")
        );
        assert!(
            number("p99.9_ns") > 49_000.0 && value("generator_late_p99_ns").is_empty(),
            "{text}"
        );
        assert_eq!(latency(&Results::default()).lines().count(), 1);
    }

    #[test]
    fn what_is_no_rate_has_its_unit() {
        let subject =
            Subject { device: "ovs".into(), function: "ip4".into(), ..Subject::default() };
        let (metric, values) = ("reset, longest".into(), vec![0.5, 0.25]);
        let quantity = QuantityRecord { subject, metric, unit: Unit::Seconds, values, note: None };
        let results = Results { quantities: vec![quantity], ..Results::default() };
        let line = quantities(&results).lines().nth(1).unwrap().to_owned();
        assert_eq!(line, "ovs,ip4,\"reset, longest\",seconds,1,2,false,0.375,0.375,0.375,0");
    }
}
