//! Where a budget of time is spent: after a first start of everything, on what is known least.
//!
//! ```text
//! first     every device and case once                       however long it takes, searches cut to their share
//! then      fewer than three starts: the fewest first         there is no interval before; searches
//!                                                             that were cut do not count
//! then      the widest 95 % interval, as a share of its mean  until the next start would not fit
//! never     what was the same in three starts and more        nothing would be known better
//! ```
//! What a folder holds already counts, so that an interrupted campaign goes on where it was.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::{AnswerRecord, QuantityRecord, Results, Subject};
use lab_search::stats::bracketed::mean_95;
use lab_search::stats::summary::{mean, median};

/// Starts from which on there is an interval.
const FEWEST: usize = 3;

/// Bounds of a number, start by start.
type Bounds = Vec<(f64, f64)>;

/// What is known of each case of each device.
#[derive(Debug, Default)]
pub(super) struct Known {
    rates: BTreeMap<Subject, BTreeMap<String, Bounds>>,
    others: BTreeMap<Subject, BTreeMap<String, Bounds>>,
    starts: BTreeMap<Subject, usize>,
    /// Of each start whose search was cut short: it is wanted again.
    cut_short: BTreeSet<Subject>,
}

/// How much a further start of something is wanted: less is more.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Want {
    /// There is no interval yet, by so many starts.
    Starts(usize),
    /// The interval is so wide; told as its negative.
    Width(f64),
}

fn of_all_runs(subject: &Subject) -> Subject {
    Subject { run: 0, ..subject.clone() }
}

impl Known {
    /// Of what a folder holds.
    pub(super) fn of(results: &Results) -> Self {
        let mut known = Self::default();
        results.answers.iter().for_each(|it| known.answer(it));
        results.quantities.iter().for_each(|it| known.quantity(it));
        results.done.iter().for_each(|it| known.finished(it));
        known
    }

    /// A rate more, unless it is of a search that was cut short.
    pub(super) fn answer(&mut self, answer: &AnswerRecord) {
        if answer.is_cut_short() {
            self.cut_short.insert(answer.subject.clone());
            return;
        }
        let metrics = self.rates.entry(of_all_runs(&answer.subject)).or_default();
        let bounds = metrics.entry(answer.metric.clone()).or_default();
        bounds.push((answer.low_pps, answer.high_pps));
    }

    /// Another number more.
    pub(super) fn quantity(&mut self, quantity: &QuantityRecord) {
        if quantity.values.is_empty() {
            return;
        }
        let value = median(&quantity.values);
        let metrics = self.others.entry(of_all_runs(&quantity.subject)).or_default();
        metrics.entry(quantity.metric.clone()).or_default().push((value, value));
    }

    /// A start more of a case.
    pub(super) fn finished(&mut self, subject: &Subject) {
        let starts = self.starts.entry(of_all_runs(subject)).or_default();
        *starts += usize::from(!self.cut_short.contains(subject));
    }

    /// How much a further start of these cases is wanted; none where none of them was ever
    /// measured, or all starts said the same: that would not be otherwise the next time.
    pub(super) fn want<'a>(&self, cases: impl Iterator<Item = &'a Subject>) -> Option<Want> {
        let cases: Vec<Subject> = cases.map(of_all_runs).collect();
        let starts = cases.iter().filter_map(|case| self.starts.get(case)).min();
        match *starts? {
            few if few < FEWEST => Some(Want::Starts(few)),
            _ => {
                let width = cases.iter().map(|case| self.width(case)).fold(0.0, f64::max);
                (width > 0.0).then_some(Want::Width(-width))
            }
        }
    }

    /// The widest interval of a case's rates, or of its other numbers where it has no rates.
    fn width(&self, case: &Subject) -> f64 {
        let metrics = self.rates.get(case).or_else(|| self.others.get(case));
        let widths = metrics.into_iter().flat_map(BTreeMap::values).filter_map(|it| width(it));
        widths.fold(0.0, f64::max)
    }
}

/// Width of an interval, as a share of its mean.
fn width(bounds: &[(f64, f64)]) -> Option<f64> {
    let (lows, highs): (Vec<f64>, Vec<f64>) = bounds.iter().copied().unzip();
    let (middle, within) = (mean(&lows), mean_95(&lows, &highs)?);
    (middle > 0.0).then(|| (within.high - within.low) / middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::Verdict;

    fn subject(device: &str, run: u32) -> Subject {
        Subject { device: device.into(), run, ..Subject::default() }
    }

    fn answer(device: &str, run: u32, low_pps: f64) -> AnswerRecord {
        let metric = "NDR".into();
        let (subject, high_pps) = (subject(device, run), low_pps);
        AnswerRecord { subject, metric, low_pps, high_pps, ..AnswerRecord::default() }
    }

    /// What is wanted of a device with these rates, a start each.
    fn want(rates: &[f64]) -> Option<Want> {
        let mut results = Results::default();
        for (run, &rate) in (0..).zip(rates) {
            results.answers.push(answer("a", run, rate));
            results.done.push(subject("a", run));
        }
        Known::of(&results).want([subject("a", 0)].iter())
    }

    #[test]
    fn few_starts_come_before_wide_intervals_and_these_before_narrow_ones() {
        let (one, two) = (want(&[100.0]), want(&[100.0, 101.0]));
        let (wide, narrow) = (want(&[100.0, 120.0, 80.0]), want(&[100.0, 101.0, 100.0]));
        assert!(one < two && two < wide && wide < narrow, "{one:?} {two:?} {wide:?} {narrow:?}");
        assert_eq!((one, want(&[])), (Some(Want::Starts(1)), None));
    }

    #[test]
    fn a_start_whose_search_was_cut_short_is_wanted_again() {
        let mut results = Results::default();
        for run in 0..4 {
            let mut answer = answer("a", run, 100.0);
            if run >= 2 {
                answer.low_pps = 0.0;
                answer.verdicts = vec![Verdict::CutShort { trials: 4 }];
            }
            results.answers.push(answer);
            results.done.push(subject("a", run));
        }
        let want = |results: &Results| Known::of(results).want([subject("a", 0)].iter());
        assert_eq!(want(&results), Some(Want::Starts(2)));
        // Three that ended, all the same: what was cut makes them no less known.
        results.answers.push(answer("a", 4, 100.0));
        results.done.push(subject("a", 4));
        assert_eq!(want(&results), None);
    }

    #[test]
    fn of_several_cases_of_a_start_the_least_known_counts() {
        let mut known = Known::default();
        let case = |flows: &str, run| Subject {
            axes: [("flows".to_owned(), flows.to_owned())].into(),
            ..subject("a", run)
        };
        for run in 0..3 {
            for (flows, spread) in [("1", 0.0), ("9", 20.0)] {
                let rate = 100.0 + spread * f64::from(run);
                known.answer(&AnswerRecord { subject: case(flows, run), ..answer("a", run, rate) });
                known.finished(&case(flows, run));
            }
        }
        let want = |flows: &[&str]| {
            let cases: Vec<Subject> = flows.iter().map(|flows| case(flows, 0)).collect();
            known.want(cases.iter())
        };
        // What is the same each time is known.
        assert_eq!(want(&["1"]), None);
        assert!(matches!(want(&["9"]), Some(Want::Width(width)) if width < 0.0));
        assert_eq!(want(&["1", "9"]), want(&["9"]));
        // A case that was never measured is no reason to start again, nor to stop.
        assert_eq!(want(&["9", "77"]), want(&["9"]));
    }

    #[test]
    fn what_has_no_rates_is_judged_by_its_other_numbers() {
        let mut known = Known::default();
        for run in 0..3 {
            let (metric, unit) = ("reset".into(), lab_record::Unit::Seconds);
            let values = vec![1.0 + f64::from(run)];
            known.quantity(&QuantityRecord {
                subject: subject("a", run),
                metric,
                unit,
                values,
                note: None,
            });
            known.finished(&subject("a", run));
        }
        let Some(Want::Width(width)) = known.want([subject("a", 0)].iter()) else { panic!() };
        assert!(width < -1.0, "{width}");
    }
}
