//! Who was away while packets waited, how often, and in which period: trials pooled on one clock.
//!
//! ```text
//! trial 0   ▏   ▏   ▏                      at 12:00:00.1 .2 .3
//! trial 1              ▏   ▏   ▏           at 12:00:07.2 .3 .4     ─▶ each 100 ms, over both
//! ```

use lab_record::{Results, Stall, Subject, TrialRecord, Who};
use lab_search::stats::period;

use crate::html::by_subject;

/// Somebody's absences, over all trials of a device and case.
#[derive(Debug, Clone, PartialEq)]
pub struct Absences {
    /// Device and case.
    pub subject: Subject,
    /// Whose doing they were.
    pub who: Who,
    /// How many are written down.
    pub count: usize,
    /// The longest.
    pub longest_us: f64,
    /// Their sum, of the time of all trials.
    pub share: f64,
    /// From one to the next, where that is always the same.
    pub period_s: Option<f64>,
}

/// All of them, by device and case.
pub fn of(results: &Results) -> Vec<Absences> {
    let groups = by_subject(results);
    groups.iter().flat_map(|(subject, trials)| of_subject(subject, trials)).collect()
}

fn of_subject(subject: &Subject, trials: &[&TrialRecord]) -> Vec<Absences> {
    let elapsed_s: f64 = trials.iter().map(|trial| trial.outcome.elapsed_s).sum();
    let of = |who: Who| {
        let is = |stall: &&Stall| stall.who == Some(who);
        let all = || trials.iter().flat_map(|trial| trial.stalls.iter().filter(is));
        let times = |least_us: f64| {
            move |trial: &TrialRecord| -> Vec<f64> {
                let own = trial.stalls.iter().filter(is).filter(|it| it.length_us >= least_us);
                own.map(|stall| stall.at_s).collect()
            }
        };
        let mut lengths_us: Vec<f64> = all().map(|stall| stall.length_us).collect();
        lengths_us.sort_by(f64::total_cmp);
        let long_us = lengths_us.get(lengths_us.len() * 9 / 10).map_or(0.0, |it| it / 2.0);
        let total_us: f64 = all().map(|stall| stall.length_us).sum();
        (all().count() > 0).then(|| Absences {
            subject: subject.clone(),
            who,
            count: all().count(),
            longest_us: all().map(|stall| stall.length_us).fold(0.0, f64::max),
            share: total_us / 1e6 / elapsed_s.max(1e-9),
            // What is long may come in a period among much that is short.
            period_s: period_of(trials, times(long_us)).or_else(|| period_of(trials, times(0.0))),
        })
    };
    Who::ALL.into_iter().filter_map(of).collect()
}

/// The period of events that each trial tells since its beginning: over all trials, or else of the
/// one that has most of them.
pub(crate) fn period_of(
    trials: &[&TrialRecord],
    times: impl Fn(&TrialRecord) -> Vec<f64>,
) -> Option<f64> {
    let each: Vec<(f64, Vec<f64>)> = trials
        .iter()
        .map(|trial| (trial.began_unix_s.unwrap_or(trial.at_s), times(trial)))
        .filter(|(_, times)| !times.is_empty())
        .collect();
    // Small numbers keep their last digits.
    let first_s = each.iter().map(|it| it.0).fold(f64::INFINITY, f64::min);
    let pooled = each
        .iter()
        .flat_map(|(began_s, times)| times.iter().map(move |at_s| began_s - first_s + at_s));
    let most = each.iter().max_by_key(|it| it.1.len()).map(|it| it.1.clone());
    find(pooled.collect()).or_else(|| find(most.unwrap_or_default()))
}

fn find(mut times_s: Vec<f64>) -> Option<f64> {
    times_s.sort_by(f64::total_cmp);
    period::find(&times_s).map(|found| found.period_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Outcome, Trial};

    /// Ten trials of 0.35 s, a stop of the device each 100 ms, by a clock that all of them share;
    /// the host is away now and then.
    #[test]
    fn a_period_longer_than_a_third_of_a_trial_is_found_over_all_of_them() {
        let trial = |index: u32| {
            let outcome = Outcome::of(Trial::new(1e5, 0.35), 35_000);
            let mut trial =
                TrialRecord::new(Subject::default(), index, "x", f64::from(index), outcome);
            let began_s = 1.7e9 + 0.877 * f64::from(index);
            trial.began_unix_s = Some(began_s);
            let first_s = ((began_s - 1.7e9) / 0.1).ceil() * 0.1 - (began_s - 1.7e9);
            trial.stalls.extend((0..3).map(|step| {
                let stall = Stall::new(first_s + 0.1 * f64::from(step), 1e3, Stall::KERNEL);
                Stall { who: Some(Who::Device), ..stall }
            }));
            let stray = Stall::new(0.01 * f64::from(index * index % 13), 5e3, "generator");
            trial.stalls.push(Stall { who: Some(Who::Host), ..stray });
            trial
        };
        let mut results = Results { trials: (0..10).map(trial).collect(), ..Results::default() };
        let found = of(&results);
        let whose: Vec<_> = found.iter().map(|it| (it.who, it.count)).collect();
        assert_eq!(whose, [(Who::Device, 30), (Who::Host, 10)]);
        let period_s = found[0].period_s.unwrap();
        assert!((period_s / 0.1 - 1.0).abs() < 0.01, "{period_s}");
        assert!((found[0].share - 0.03 / 3.5).abs() < 2e-3, "{}", found[0].share);
        assert_eq!((found[1].period_s, found[1].longest_us), (None, 5e3));
        // The same among as many of another period that are shorter.
        for trial in &mut results.trials {
            trial.stalls.extend((0..80).map(|step| {
                let stall = Stall::new(0.004 * f64::from(step), 400.0, Stall::KERNEL);
                Stall { who: Some(Who::Device), ..stall }
            }));
            trial.stalls.retain(|it| it.who == Some(Who::Device));
            trial
                .stalls
                .iter_mut()
                .filter(|it| it.length_us > 900.0)
                .for_each(|it| it.length_us = 2e4);
        }
        let among = of(&results)[0].period_s;
        assert!(
            among.is_some_and(|it| (it / 0.004 - 1.0).abs() < 0.01),
            "few are no tenth: {among:?}"
        );
        results.trials.iter_mut().for_each(|it| it.stalls.truncate(20));
        let among = of(&results)[0].period_s;
        assert!(among.is_some_and(|it| (it / 0.1 - 1.0).abs() < 0.01), "{among:?}");
    }
}
