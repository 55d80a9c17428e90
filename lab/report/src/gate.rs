//! Whether results pass: for CI, as one verdict, and as JUnit's XML that build servers read.
//!
//! ```text
//! verified     lower than the reference               ─▶ failed; undecided: an error
//! check        every packet as it must be                ─▶ passed, else failed
//! comparison   slower, by more than is allowed           ─▶ failed; neither at its limit: an error
//! number       found                                     ─▶ passed
//! failure      refused: skipped      went wrong: an error
//! nothing at all was found                               ─▶ an error
//! ```

use std::fmt::Write;

use lab_record::{ComparisonRecord, Finding, RatioReading, Reference, Results, Subject};

use crate::svg::canvas::escape;
use crate::{checks, quantities, reference, summary, words};

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As it should be; what was found, in words.
    Passed(String),
    /// Not as it should be.
    Failed(String),
    /// It could not be measured, though it should have been.
    Error(String),
    /// The device cannot do it at all.
    Skipped(String),
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The device.
    pub device: String,
    /// What of it.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// The worst of some cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worst {
    /// All that was measured is as it should be.
    Passed,
    /// Something is not.
    Failed,
    /// Something, or everything, was not measured.
    Missing,
}

/// All cases of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    /// The cases.
    pub cases: Vec<Case>,
}

impl Gate {
    /// One more case.
    pub fn add(&mut self, device: &str, name: String, outcome: Outcome) {
        self.cases.push(Case { device: device.to_owned(), name, outcome });
    }

    /// The worst: what failed, before what was not measured. Nothing passed: nothing was measured.
    pub fn worst(&self) -> Worst {
        let any = |of: fn(&Outcome) -> bool| self.cases.iter().any(|case| of(&case.outcome));
        if any(|it| matches!(it, Outcome::Failed(_))) {
            Worst::Failed
        } else if any(|it| matches!(it, Outcome::Error(_)))
            || !any(|it| matches!(it, Outcome::Passed(_)))
        {
            Worst::Missing
        } else {
            Worst::Passed
        }
    }

    /// How many did not pass, and of how many.
    pub fn told(&self) -> String {
        let count =
            |of: fn(&Outcome) -> bool| self.cases.iter().filter(|case| of(&case.outcome)).count();
        format!(
            "{} of {} cases failed, {} could not be measured, {} refused",
            count(|it| matches!(it, Outcome::Failed(_))),
            self.cases.len(),
            count(|it| matches!(it, Outcome::Error(_))),
            count(|it| matches!(it, Outcome::Skipped(_)))
        )
    }

    /// As JUnit's XML.
    pub fn junit(&self, suite: &str) -> String {
        let count =
            |of: fn(&Outcome) -> bool| self.cases.iter().filter(|case| of(&case.outcome)).count();
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        let _ = writeln!(
            text,
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            escape(suite),
            self.cases.len(),
            count(|it| matches!(it, Outcome::Failed(_))),
            count(|it| matches!(it, Outcome::Error(_))),
            count(|it| matches!(it, Outcome::Skipped(_)))
        );
        for Case { device, name, outcome } in &self.cases {
            let _ = write!(
                text,
                "<testcase classname=\"{}\" name=\"{}\">",
                escape(device),
                escape(name)
            );
            let element = |name: &str, reason: &str| {
                // XML has no control characters, and what devices say may have them.
                let reason = reason.replace(char::is_control, " ");
                format!("<{name} message=\"{}\"/>", escape(&reason))
            };
            text.push_str(&match outcome {
                Outcome::Passed(found) => format!("<system-out>{}</system-out>", escape(found)),
                Outcome::Failed(reason) => element("failure", reason),
                Outcome::Error(reason) => element("error", reason),
                Outcome::Skipped(reason) => element("skipped", reason),
            });
            text.push_str("</testcase>\n");
        }
        text.push_str("</testsuite>\n</testsuites>\n");
        text
    }
}

/// The gate of a results folder; a ratio may be that much lower (0.02: by 2 %) and passes.
pub fn of(results: &Results, fail_below: f64) -> Gate {
    let mut gate = Gate::default();
    for row in summary::rows(results) {
        let found = format!("{}{}", row.sign(), words::rate(row.value_pps));
        let name = format!("{}, {}", row.subject.case(), row.label());
        let outcome = match reference::verified(results, &row) {
            Some((Reference::Lower, told)) => Outcome::Failed(told),
            Some((Reference::Undecided, told)) => Outcome::Error(told),
            Some((_, told)) => Outcome::Passed(told),
            None => Outcome::Passed(found),
        };
        gate.add(&row.subject.device, name, outcome);
    }
    for row in quantities::rows(results) {
        let found = format!("{}{}", row.sign(), quantities::told(row.median, row.unit));
        let name = format!("{}, {}", row.subject.case(), row.metric);
        gate.add(&row.subject.device, name, Outcome::Passed(found));
    }
    for check in &results.checks {
        let outcome = match &check.fault {
            None => Outcome::Passed("as it must be".into()),
            Some(fault) => Outcome::Failed(checks::told(fault)),
        };
        gate.add(&check.subject.device, with_run(&check.subject), outcome);
    }
    for record in &results.comparisons {
        let name = format!("against {}, {}", record.base, record.case);
        gate.add(&record.other, name, compared(record, fail_below));
    }
    for failure in &results.failures {
        let reason = failure.reason.clone();
        let outcome = match failure.refused {
            true => Outcome::Skipped(reason),
            false => Outcome::Error(reason),
        };
        gate.add(&failure.subject.device, with_run(&failure.subject), outcome);
    }
    gate
}

fn with_run(subject: &Subject) -> String {
    format!("{}, start {}", subject.case(), subject.run + 1)
}

/// Slower is what is believed to be, by more than is allowed, and at its own limit.
fn compared(record: &ComparisonRecord, fail_below: f64) -> Outcome {
    let it = &record.comparison;
    let Some(sign) = record.reading().sign() else {
        return Outcome::Error("no ratio, as neither was brought to its limit".into());
    };
    let interval = it.ratio_95;
    let told = format!("{sign}{:.4} [{:.4}, {:.4}]", it.ratio, interval.low, interval.high);
    // What may be more than was seen is not known to be slower.
    let is_known = record.reading() != RatioReading::AtLeast;
    match it.finding {
        Finding::Lower if is_known && it.ratio < 1.0 - fail_below => Outcome::Failed(told),
        Finding::Lower | Finding::Higher | Finding::NoDifference => Outcome::Passed(told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{
        AnswerRecord, CheckRecord, ComparedCost, Comparison, FailureRecord, Fault, Interval,
        RoundTrips, StreamRecord,
    };

    fn comparison(finding: Finding, ratio: f64, unexhausted: &[&str]) -> Results {
        let ratio_95 = Interval { low: ratio - 0.01, high: ratio + 0.01 };
        let p = 0.01;
        let comparison =
            Comparison { blocks: 6, ratio, ratio_95, p, smallest_believable: None, finding };
        Results {
            comparisons: vec![ComparisonRecord {
                base: "a".into(),
                other: "b".into(),
                case: "ip4".into(),
                comparison,
                unexhausted: unexhausted.iter().map(|it| (*it).to_owned()).collect(),
                cost: None,
            }],
            ..Results::default()
        }
    }

    fn worst(results: &Results) -> Worst {
        of(results, 0.0).worst()
    }

    #[test]
    fn a_slower_device_fails_by_more_than_is_allowed() {
        let slower = comparison(Finding::Lower, 0.97, &[]);
        assert_eq!(worst(&slower), Worst::Failed);
        assert_eq!(of(&slower, 0.02).worst(), Worst::Failed);
        assert_eq!(of(&slower, 0.05).worst(), Worst::Passed);
        assert_eq!(worst(&comparison(Finding::NoDifference, 0.97, &[])), Worst::Passed);
        assert_eq!(worst(&comparison(Finding::Higher, 1.2, &[])), Worst::Passed);
        // The base may be faster still; the device may be no slower at all.
        assert_eq!(worst(&comparison(Finding::Lower, 0.97, &["a"])), Worst::Failed);
        assert_eq!(worst(&comparison(Finding::Lower, 0.97, &["b"])), Worst::Passed);
        assert_eq!(worst(&comparison(Finding::NoDifference, 1.0, &["a", "b"])), Worst::Missing);
        // Costs tell also where neither was at its limit.
        let mut costlier = comparison(Finding::Lower, 0.97, &["a", "b"]);
        let cost = ComparedCost { cycles: [97.0, 100.0], vector_packets: [256.0; 2] };
        costlier.comparisons[0].cost = Some(cost);
        assert_eq!(worst(&costlier), Worst::Failed);
    }

    #[test]
    fn a_wrong_function_fails_and_what_was_not_measured_is_missing() {
        let fault = Fault {
            stream: "there".into(),
            packet: None,
            reason: "lost & gone".into(),
            difference: None,
        };
        let check = |fault| vec![CheckRecord { fault, ..CheckRecord::default() }];
        let checks = |fault| Results { checks: check(fault), ..Results::default() };
        assert_eq!(worst(&checks(None)), Worst::Passed);
        assert_eq!(worst(&checks(Some(fault.clone()))), Worst::Failed);
        let failure = |refused| {
            let reason = "it is not installed".into();
            vec![FailureRecord { subject: Subject::default(), refused, reason }]
        };
        let failures = |refused| Results { failures: failure(refused), ..Results::default() };
        assert_eq!([true, false].map(|it| worst(&failures(it))), [Worst::Missing; 2]);
        assert_eq!(worst(&Results::default()), Worst::Missing);
        let answers = vec![AnswerRecord::default()];
        let found = |refused| Results { answers: answers.clone(), ..failures(refused) };
        assert_eq!(worst(&found(true)), Worst::Passed, "others cannot do it: that is no fault");
        assert_eq!(worst(&found(false)), Worst::Missing);
        let round_trips = RoundTrips { asked: 1, answered: 1, ..RoundTrips::default() };
        let streams = vec![StreamRecord { round_trips, ..StreamRecord::default() }];
        assert_eq!(worst(&Results { streams, ..Results::default() }), Worst::Passed);

        let all = Results { failures: failure(true), ..checks(Some(fault)) };
        let text = of(&all, 0.0).junit("a \"b\"");
        assert!(text.contains("name=\"a &quot;b&quot;\" tests=\"2\" failures=\"1\" errors=\"0\""));
        assert!(text.contains("<failure message=\"there: lost &amp; gone\"/>"), "{text}");
        assert!(text.contains("<skipped message=\"it is not installed\"/>"), "{text}");
    }
}
