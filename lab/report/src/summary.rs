//! The table behind the figures: one row for each device, case and metric, over all its runs.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::{
    AnswerRecord, Directions, Interval, Limit, Limiter, RatioReading, Results, Subject, Verdict,
};
use lab_search::stats::bracketed::mean_95;
use lab_search::stats::summary::{Summary, mean};
use lab_search::stats::verdict::of_series;

/// A number over all runs of its subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Device, function and axes; its run is 0.
    pub subject: Subject,
    /// Name of the number.
    pub metric: String,
    /// Which directions it is of; none in files of before this was told.
    pub directions: Option<Directions>,
    /// How many starts of the device it is the mean of.
    pub runs: usize,
    /// The lower bound, as RFC 2544 and MLRsearch report a throughput: the largest load that
    /// satisfied its goal, or the number itself; mean over restarts.
    pub value_pps: f64,
    /// The smallest load that did not, likewise.
    pub upper_pps: f64,
    /// Conditional throughput at the lower bound, likewise, where the method has one.
    pub conditional_pps: Option<f64>,
    /// Where the load between both lies with 95 %; of fewer than three restarts, the bracket. No
    /// upper end where the device may do more.
    pub interval: Interval,
    /// Standard deviation of the lower bounds over restarts.
    pub sd_pps: f64,
    /// What kept its runs from being higher, together; none in files of before this was told.
    pub limit: Option<Limit>,
    /// Who did.
    pub limiter: Limiter,
    /// What it must be read with.
    pub verdicts: Vec<Verdict>,
}

impl Row {
    /// Device and case in words.
    pub fn name(&self) -> String {
        format!("{} — {}", self.subject.device, self.subject.case())
    }

    /// The number's name, with the directions that it is of.
    pub fn label(&self) -> String {
        let Some(directions) = self.directions else { return self.metric.clone() };
        format!("{}, {}", self.metric, directions.name())
    }

    /// Whether it was not the device that kept it from being higher: the device may do better.
    pub fn is_at_least(&self) -> bool {
        self.limiter != Limiter::Device
    }

    /// What its interval is: of fewer than three restarts, no interval.
    pub fn spread(&self) -> &'static str {
        spread(self.runs)
    }

    /// Its interval in words, each end by a function.
    pub fn interval_in_words(&self, end: impl Fn(f64) -> String) -> String {
        match self.interval.high.is_finite() {
            true => format!("[{}, {}]", end(self.interval.low), end(self.interval.high)),
            false => format!("[{}, ?]", end(self.interval.low)),
        }
    }

    /// What stands before the number.
    pub fn sign(&self) -> &'static str {
        if self.is_at_least() { "≥" } else { "" }
    }

    /// Whether another is the same number of the same case.
    pub fn is_comparable_to(&self, other: &Self) -> bool {
        other.label() == self.label()
            && other.subject.function == self.subject.function
            && other.subject.axes == self.subject.axes
    }

    /// What its rate is of another's, and how that is to be read; none of a rate of nothing, and
    /// none of two that are both lower bounds.
    pub fn ratio_to(&self, base: &Self) -> Option<(&'static str, f64)> {
        let sign = RatioReading::of(self.is_at_least(), base.is_at_least()).sign()?;
        (base.value_pps > 0.0).then(|| (sign, self.value_pps / base.value_pps))
    }
}

/// The rows: the cases in the order in which they were first measured, and within each the devices
/// likewise.
pub fn rows(results: &Results) -> Vec<Row> {
    let mut order: Vec<(Subject, String)> = Vec::new();
    let mut groups: BTreeMap<(Subject, String), Vec<&AnswerRecord>> = BTreeMap::new();
    for answer in &results.answers {
        let key = (Subject { run: 0, ..answer.subject.clone() }, answer.metric.clone());
        if !groups.contains_key(&key) {
            order.push(key.clone());
        }
        groups.entry(key).or_default().push(answer);
    }
    let mut cases: Vec<String> = Vec::new();
    for (subject, _) in &order {
        let case = subject.case();
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    order.sort_by_key(|(subject, _)| cases.iter().position(|case| *case == subject.case()));
    let stalled: BTreeSet<Subject> = results
        .trials
        .iter()
        .filter(|trial| !trial.stalls.is_empty())
        .map(|trial| Subject { run: 0, ..trial.subject.clone() })
        .collect();
    let row_of = |key: (Subject, String)| {
        let interval = match stalled.contains(&key.0) {
            true => interval_on_stalling_host,
            false => interval_of_bounds,
        };
        groups.get(&key).map(|group| row(key, group, interval))
    };
    order.into_iter().filter_map(row_of).collect()
}

fn row(
    (subject, metric): (Subject, String),
    answers: &[&AnswerRecord],
    interval: fn(&[f64], &[f64]) -> Interval,
) -> Row {
    let (answers, left_out) = counted(answers);
    let lows: Vec<f64> = answers.iter().map(|answer| answer.low_pps).collect();
    let highs: Vec<f64> = answers.iter().map(|answer| answer.high_pps).collect();
    let bounds = interval(&lows, &highs);
    let mut verdicts: Vec<Verdict> = of_series(&lows);
    if left_out > 0 {
        verdicts.push(Verdict::NotCounted { starts: left_out as u64 });
    }
    for verdict in answers.iter().flat_map(|answer| &answer.verdicts) {
        if !verdicts.iter().any(|known| says_the_same(known, verdict)) {
            verdicts.push(verdict.clone());
        }
    }
    let sd_pps = Summary::of(&lows).map_or(0.0, |summary| summary.sd);
    let (value_pps, upper_pps) = (mean(&lows), mean(&highs));
    let conditional: Option<Vec<f64>> = answers.iter().map(|it| it.conditional_pps).collect();
    let conditional_pps = conditional.map(|all| mean(&all));
    let limit = answers.iter().filter_map(|answer| answer.limit).reduce(Limit::with);
    let limiter = answers.iter().map(|answer| answer.limiter()).max().unwrap_or(Limiter::Device);
    let runs = answers.len();
    let directions = answers.iter().find_map(|answer| answer.directions);
    let interval = match limiter {
        Limiter::Device => bounds,
        // Nobody looked higher.
        Limiter::Host | Limiter::Generator => Interval { high: f64::INFINITY, ..bounds },
    };
    Row {
        subject,
        metric,
        directions,
        runs,
        value_pps,
        upper_pps,
        conditional_pps,
        interval,
        sd_pps,
        limit,
        limiter,
        verdicts,
    }
}

/// The answers that a number is the mean of, and how many it is not. A search that was cut short
/// ends below what its device carries, at nothing where it had found no load yet: such starts
/// count only where there are no others.
fn counted<'a>(answers: &[&'a AnswerRecord]) -> (Vec<&'a AnswerRecord>, usize) {
    let (cut, whole): (Vec<_>, Vec<_>) = answers.iter().partition(|it| it.is_cut_short());
    match whole.is_empty() {
        true => (cut, 0),
        false => (whole, cut.len()),
    }
}

/// Whether one line will do for both: that a search was limited, not by how much on each run.
fn says_the_same(one: &Verdict, other: &Verdict) -> bool {
    use Verdict::{CutShort, GeneratorBound};
    let limited = matches!(
        (one, other),
        (GeneratorBound { .. }, GeneratorBound { .. }) | (CutShort { .. }, CutShort { .. })
    );
    limited || one == other
}

/// What the interval of so many restarts is called.
pub fn spread(runs: usize) -> &'static str {
    if runs < 3 { "bracket" } else { "95 % interval" }
}

/// The 95 % interval of a number known, on each run, only to lie between two bounds. Of fewer than
/// three runs, the bracket: what they span.
pub fn interval_of_bounds(lows: &[f64], highs: &[f64]) -> Interval {
    if let Some(interval) = mean_95(lows, highs) {
        // No rate is below 0, whatever the spread.
        return Interval { low: interval.low.max(0.0), ..interval };
    }
    match (Summary::of(lows), Summary::of(highs)) {
        (Ok(low), Ok(high)) => Interval { low: low.min, high: high.max },
        _ => Interval { low: f64::NEG_INFINITY, high: f64::INFINITY },
    }
}

/// The same where the host took the processor away: trials that a stall spoiled count as bad, so
/// that both bounds lie a little low, by an amount that the interval between them does not know.
/// From the lower end of the lower bounds' interval to the upper end of the upper bounds'.
pub fn interval_on_stalling_host(lows: &[f64], highs: &[f64]) -> Interval {
    match (Summary::of(lows), Summary::of(highs)) {
        (Ok(low), Ok(high)) if low.count >= 3 => {
            let hull = low.mean_95.hull(high.mean_95);
            Interval { low: hull.low.max(0.0), ..hull }
        }
        _ => interval_of_bounds(lows, highs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(device: &str, run: u32, low_pps: f64) -> AnswerRecord {
        AnswerRecord {
            subject: Subject { device: device.into(), run, ..Subject::default() },
            metric: "NDR".into(),
            low_pps,
            high_pps: low_pps + 10.0,
            ..AnswerRecord::default()
        }
    }

    #[test]
    fn a_number_says_which_directions_it_is_of() {
        let label = |directions| {
            let answers = vec![AnswerRecord { directions, ..answer("a", 0, 95.0) }];
            rows(&Results { answers, ..Results::default() }).remove(0).label()
        };
        assert_eq!(label(Some(Directions::Each)), "NDR, each way");
        assert_eq!(label(Some(Directions::Together)), "NDR, both ways together");
        assert_eq!(label(None), "NDR");
    }

    #[test]
    fn a_search_that_was_cut_short_counts_only_where_no_other_ended() {
        let cut = |run, low_pps| AnswerRecord {
            verdicts: vec![Verdict::CutShort { trials: 4 }],
            ..answer("a", run, low_pps)
        };
        let row = |answers| rows(&Results { answers, ..Results::default() }).remove(0);
        let told = row(vec![answer("a", 0, 90.0), answer("a", 1, 110.0), cut(2, 0.0)]);
        assert_eq!((told.runs, told.value_pps, told.upper_pps), (2, 100.0, 110.0));
        assert_eq!(told.interval, Interval { low: 90.0, high: 120.0 });
        assert_eq!(told.verdicts, [Verdict::NotCounted { starts: 1 }]);
        let told = row(vec![cut(0, 90.0), cut(1, 70.0)]);
        assert_eq!((told.runs, told.value_pps), (2, 80.0));
        assert_eq!(told.verdicts, [Verdict::CutShort { trials: 4 }]);
    }

    #[test]
    fn a_ratio_of_two_lower_bounds_is_none() {
        let row = |by| {
            let limit = Some(Limit { by, ..Limit::LARGEST_LOAD });
            rows(&Results {
                answers: vec![AnswerRecord { limit, ..answer("a", 0, 95.0) }],
                ..Results::default()
            })
            .remove(0)
        };
        let (device, host) = (row(Limiter::Device), row(Limiter::Host));
        assert_eq!(device.ratio_to(&device), Some(("", 1.0)));
        assert_eq!(host.ratio_to(&device), Some(("≥", 1.0)));
        assert_eq!(device.ratio_to(&host), Some(("≤", 1.0)));
        assert_eq!(host.ratio_to(&row(Limiter::Generator)), None);
        assert_eq!([device.sign(), host.sign()], ["", "≥"]);
    }

    #[test]
    fn runs_of_one_subject_make_one_row_in_the_order_measured() {
        let mut results = Results::default();
        for run in 0..5 {
            results.answers.push(answer("zebra", run, 100.0 + f64::from(run)));
            results.answers.push(answer("ant", run, 50.0));
        }
        let rows = rows(&results);
        assert_eq!(
            rows.iter().map(|row| row.subject.device.as_str()).collect::<Vec<_>>(),
            ["zebra", "ant"]
        );
        let (first, second) = (&rows[0], &rows[1]);
        assert_eq!((first.runs, first.value_pps, first.upper_pps), (5, 102.0, 112.0));
        assert!(first.interval.contains(107.0) && first.interval.low > 95.0);
        // All runs between the same two loads: anything in between.
        assert!(second.interval.low < 52.0 && second.interval.high > 58.0);
    }

    #[test]
    fn a_number_that_the_generator_limited_has_no_upper_end() {
        for runs in [1, 2, 3, 5] {
            let limit = Some(Limit::LARGEST_LOAD);
            let most = |run| AnswerRecord { high_pps: 100.0, limit, ..answer("a", run, 100.0) };
            let answers = (0..runs).map(most).collect();
            let row = rows(&Results { answers, ..Results::default() }).remove(0);
            assert_eq!(row.interval.high, f64::INFINITY, "{runs} runs");
            assert_eq!(row.spread(), if runs < 3 { "bracket" } else { "95 % interval" });
        }
    }

    #[test]
    fn devices_of_one_case_stand_together_and_a_limit_is_told_once() {
        let mut results = Results::default();
        for (device, function) in
            [("ours", "l2"), ("ours", "ip4"), ("theirs", "l2"), ("theirs", "ip4")]
        {
            for run in 0..2 {
                let mut answer = answer(device, run, 100.0);
                answer.subject.function = function.into();
                answer.verdicts =
                    vec![Verdict::GeneratorBound { share: 0.9 + 0.01 * f64::from(run) }];
                results.answers.push(answer);
            }
        }
        let rows = rows(&results);
        let names: Vec<_> = rows
            .iter()
            .map(|row| (row.subject.function.as_str(), row.subject.device.as_str()))
            .collect();
        let wanted = [("l2", "ours"), ("l2", "theirs"), ("ip4", "ours"), ("ip4", "theirs")];
        assert_eq!(names, wanted);
        assert!(rows.iter().all(|row| row.verdicts.len() == 1 && row.is_at_least()), "{rows:?}");
    }

    #[test]
    fn a_wide_spread_does_not_make_a_rate_negative() {
        let interval = interval_of_bounds(&[1.0, 1.0, 90.0], &[2.0, 2.0, 95.0]);
        assert!(interval.low == 0.0 && interval.high > 95.0, "{interval:?}");
    }

    #[test]
    fn two_runs_span_what_they_span() {
        assert_eq!(interval_of_bounds(&[1.0, 2.0], &[3.0, 5.0]), Interval { low: 1.0, high: 5.0 });
    }
}
