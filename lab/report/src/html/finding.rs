//! What was found, in one sentence, and how sure that is: the first thing on the page.
//!
//! ```text
//! comparisons ─▶ checks ─▶ rates of the first case ─▶ other numbers ─▶ nothing
//! ```
//! The first of these that the results have speaks; what failed, and whether the host was fit for
//! it, is added.

use lab_record::{ComparisonRecord, Finding, RatioReading, Results, TrialRecord, Verdict};

use super::host;
use super::section::Page;
use crate::summary::Row;
use crate::words::rate;
use crate::{checks, quantities};

/// The sentence, as plain text.
pub fn finding(results: &Results) -> String {
    of(&Page::of(results))
}

pub(super) fn of(page: &Page<'_>) -> String {
    let results = page.results;
    let told = comparison(results)
        .or_else(|| checked(results))
        .or_else(|| rates(&page.rows))
        .or_else(|| number(results))
        .unwrap_or_else(|| "Nothing was measured.".into());
    let wrong = results.failures.iter().filter(|it| !it.refused).count();
    let failed = match results.failures.iter().find(|it| !it.refused) {
        None => String::new(),
        Some(first) => {
            let more = if wrong > 1 { format!(", and {} more", wrong - 1) } else { String::new() };
            let (device, case) = (&first.subject.device, first.subject.case());
            format!(
                " Not measured: {device}, {case}{more}: {}.",
                first.reason.trim_end_matches('.')
            )
        }
    };
    let unfit = host::is_unfit(results);
    let host = if unfit { " The host was not fit for absolute numbers." } else { "" };
    format!("{told}{failed}{}{host}", disagreements(&results.trials))
}

/// Of the first device whose counters do not add up: how often, and by how much.
fn disagreements(trials: &[TrialRecord]) -> String {
    let missing = |trial: &TrialRecord| {
        trial.verdicts.iter().find_map(|it| match it {
            Verdict::CountersDisagree { missing } => Some(missing.unsigned_abs()),
            _ => None,
        })
    };
    let Some(first) = trials.iter().find(|trial| missing(trial).is_some()) else {
        return String::new();
    };
    let device = &first.subject.device;
    let of_device: Vec<_> = trials.iter().filter(|it| it.subject.device == *device).collect();
    let wrong: Vec<u64> = of_device.iter().filter_map(|trial| missing(trial)).collect();
    let most = wrong.iter().max().copied().unwrap_or(0);
    format!(
        " The counters of {device} do not add up in {} of {} trials, by at most {most} packet{}.",
        wrong.len(),
        of_device.len(),
        if most == 1 { "" } else { "s" }
    )
}

fn comparison(results: &Results) -> Option<String> {
    let told = |it: &&ComparisonRecord| it.reading() != RatioReading::Nothing;
    let Some(record) = results.comparisons.iter().find(told) else {
        let record = results.comparisons.first()?;
        let ComparisonRecord { base, other, case, .. } = record;
        return Some(format!(
            "Which of {base} and {other} is faster is not known ({case}): neither was brought to its limit."
        ));
    };
    let ComparisonRecord { base, other, case, comparison: it, cost, .. } = record;
    let by = if cost.is_some() { ", by what a packet costs" } else { "" };
    let percent = |ratio: f64| format!("{:+.2} %", 100.0 * (ratio - 1.0));
    let chance = if it.p < 1e-4 { "p < 0.0001".into() } else { format!("p = {:.4}", it.p) };
    let sure = format!(
        "{} in {} blocks, 95 % interval {} to {}, {chance}",
        percent(it.ratio),
        it.blocks,
        percent(it.ratio_95.low),
        percent(it.ratio_95.high),
    );
    Some(match it.finding {
        Finding::Higher => format!("{other} is faster than {base} ({case}{by}): {sure}."),
        Finding::Lower => format!("{other} is slower than {base} ({case}{by}): {sure}."),
        Finding::NoDifference => {
            let least = it.smallest_believable.map_or_else(String::new, |least| {
                format!("; nothing below {:.2} % would have been believed", 100.0 * least)
            });
            format!(
                "No difference between {other} and {base} was found ({case}{by}): {sure}{least}."
            )
        }
    })
}

fn checked(results: &Results) -> Option<String> {
    let all = results.checks.len();
    let wrong: Vec<_> = results.checks.iter().filter(|check| !check.passed()).collect();
    match wrong.first() {
        _ if all == 0 => None,
        None => Some(format!(
            "All {all} functions that were checked are as they must be, octet for octet."
        )),
        Some(first) => Some(format!(
            "{} of {all} functions that were checked are WRONG, first: {}.",
            wrong.len(),
            checks::line(first)
        )),
    }
}

/// Of the first case and metric: who is fastest, by how much, and whether that can be told.
fn rates(rows: &[Row]) -> Option<String> {
    let first = rows.first()?;
    let mut same: Vec<&Row> = rows.iter().filter(|row| row.is_comparable_to(first)).collect();
    same.sort_by(|a, b| b.value_pps.total_cmp(&a.value_pps));
    let best = same[0];
    let sign = if best.is_at_least() { "at least " } else { "" };
    let what = format!("{} ({})", best.label(), best.subject.case());
    let runs = |row: &Row| format!("{} of {} starts", row.interval_in_words(rate), row.runs);
    let mut told = format!(
        "{}: {sign}{} {what}, {} {}",
        best.subject.device,
        rate(best.value_pps),
        best.spread(),
        runs(best)
    );
    if best.is_at_least() {
        told += &format!(", limited by the {}", best.limiter.name());
    }
    let Some(next) = same.get(1) else { return Some(told + ".") };
    let overlap =
        best.interval.low <= next.interval.high && next.interval.low <= best.interval.high;
    let sure = match (best.runs.min(next.runs), overlap) {
        (..3, _) => "too few starts to say how sure that is",
        (_, true) => "their intervals overlap, so that they are not told apart",
        (_, false) => "their intervals keep apart",
    };
    let other = &next.subject.device;
    told += &match best.ratio_to(next) {
        None => format!(
            "; how it compares with {other} is not known, as neither was brought to its limit"
        ),
        Some((sign, ratio)) => format!("; {sign}{ratio:.2} times {other}: {sure}"),
    };
    Some(told + ".")
}

fn number(results: &Results) -> Option<String> {
    let row = quantities::rows(results).into_iter().next()?;
    let told = |value| quantities::told(value, row.unit);
    Some(format!(
        "{}, {}: {} {}{}, {} to {} of {} starts.",
        row.subject.device,
        row.subject.case(),
        row.metric,
        row.sign(),
        told(row.median),
        told(row.interval.low),
        told(row.interval.high),
        row.runs
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{
        AnswerRecord, Comparison, FailureRecord, Interval, Limit, Limiter, Outcome, Subject, Trial,
    };

    fn answer(device: &str, run: u32, pps: f64, by: Limiter) -> AnswerRecord {
        AnswerRecord {
            subject: Subject {
                device: device.into(),
                function: "ip4".into(),
                run,
                ..Subject::default()
            },
            metric: "NDR".into(),
            low_pps: pps,
            high_pps: pps * 1.002,
            limit: Some(Limit { by, ..Limit::LARGEST_LOAD }),
            ..AnswerRecord::default()
        }
    }

    fn told(answers: Vec<AnswerRecord>) -> String {
        finding(&Results { answers, ..Results::default() })
    }

    #[test]
    fn who_is_fastest_is_told_with_how_sure_that_is() {
        let of = |device: &str, pps: f64, by, runs: u32| {
            let spread = move |run| 1.0 + 0.001 * f64::from(run);
            let device = device.to_owned();
            (0..runs)
                .map(move |run| answer(&device, run, pps * spread(run), by))
                .collect::<Vec<_>>()
        };
        let (device, generator) = (Limiter::Device, Limiter::Generator);
        let apart = told([of("one", 1e6, device, 3), of("two", 2e6, device, 3)].concat());
        assert!(
            apart.starts_with("two: 2.00")
                && apart.contains("2.00 times one: their intervals keep apart."),
            "{apart}"
        );
        let near = told([of("one", 1e6, device, 3), of("two", 1.0005e6, device, 3)].concat());
        assert!(near.contains("not told apart"), "{near}");
        let few = told([of("one", 1e6, device, 1), of("two", 2e6, device, 1)].concat());
        assert!(few.contains("too few starts"), "{few}");
        let bound = told([of("one", 1e6, generator, 3), of("two", 2e6, generator, 3)].concat());
        assert!(
            bound.contains("at least 2.00")
                && bound.contains("limited by the generator")
                && bound.contains("is not known"),
            "{bound}"
        );
    }

    #[test]
    fn a_comparison_speaks_first_and_what_failed_is_added() {
        let comparison = |finding| Comparison {
            blocks: 20,
            ratio: 0.99,
            ratio_95: Interval { low: 0.985, high: 0.995 },
            p: 0.001,
            smallest_believable: Some(0.004),
            finding,
        };
        let record = |finding| ComparisonRecord {
            base: "old".into(),
            other: "new".into(),
            case: "ip4".into(),
            comparison: comparison(finding),
            unexhausted: Vec::new(),
            cost: None,
        };
        let of = |finding| {
            let failure = FailureRecord {
                subject: Subject::default(),
                refused: false,
                reason: "it died.".into(),
            };
            super::finding(&Results {
                comparisons: vec![record(finding)],
                failures: vec![failure],
                ..Results::default()
            })
        };
        let slower = of(Finding::Lower);
        assert!(slower.starts_with("new is slower than old (ip4): -1.00 % in 20 blocks, 95 % interval -1.50 % to -0.50 %, p = 0.0010."), "{slower}");
        assert!(slower.contains("Not measured: ") && slower.ends_with("it died."), "{slower}");
        assert!(
            of(Finding::NoDifference).contains("nothing below 0.40 % would have been believed")
        );
        assert_eq!(super::finding(&Results::default()), "Nothing was measured.");
    }

    #[test]
    fn counters_that_do_not_add_up_are_told_with_how_often_and_by_how_much() {
        let trial = |device: &str, verdicts| {
            let subject = Subject { device: device.into(), ..Subject::default() };
            let outcome = Outcome::of(Trial::new(1e6, 1.0), 0);
            TrialRecord { verdicts, ..TrialRecord::new(subject, 0, "mlr", 0.0, outcome) }
        };
        let wrong = |missing| vec![Verdict::CountersDisagree { missing }];
        let trials = vec![
            trial("one", wrong(-1)),
            trial("one", Vec::new()),
            trial("two", wrong(900)),
            trial("one", wrong(7)),
        ];
        let told = finding(&Results { trials, ..Results::default() });
        let expected = "The counters of one do not add up in 2 of 3 trials, by at most 7 packets.";
        assert!(told.contains(expected), "{told}");
    }
}
