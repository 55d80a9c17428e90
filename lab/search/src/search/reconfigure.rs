//! Reconfiguration under load: for how long does a live change block traffic?
//!
//! ```text
//! trials in pairs     bare   change   change   bare   bare   change …
//! blocked time of a trial = lost / offered rate
//! ```
//! The load is one that the device carries without loss, so what a trial with a change loses more
//! than a bare one was lost to the change. The order within pairs alternates, so that drift
//! cancels. A change that took longer than its trial came back with a longer one: those after it
//! are as long.

use lab_record::{Changed, Outcome, Trial};
use serde::{Deserialize, Serialize};

use super::{Search, Step};
use crate::Error;

/// Pairs of trials with and without the change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reconfigure {
    /// A load that the device carries (its NDR, or a share of it).
    pub load_pps: f64,
    /// Length of a trial; the change is made in the middle.
    pub trial_s: f64,
    /// Number of pairs.
    pub pairs: usize,
}

/// What the change cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReconfigureAnswer {
    /// Blocked time of each trial with a change.
    pub changed_s: Vec<f64>,
    /// Blocked time of each bare trial: what the host itself loses.
    pub bare_s: Vec<f64>,
    /// Mean difference.
    pub blocked_s: f64,
    /// Relative change of throughput over a trial; negative is a loss.
    pub throughput_change: f64,
    /// The changes themselves, where the device's were seen.
    pub changes: Vec<Changed>,
}

impl Reconfigure {
    fn has_change(index: usize) -> bool {
        matches!(index % 4, 1 | 2)
    }
}

impl Search for Reconfigure {
    type Answer = ReconfigureAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<ReconfigureAnswer>, Error> {
        if self.pairs == 0 {
            return Err(Error::TooFew { what: "reconfiguration pairs", needed: 1, got: 0 });
        }
        let lengths_s = history.iter().map(|outcome| outcome.trial.duration_s);
        let trial_s = lengths_s.fold(self.trial_s, f64::max);
        if history.len() < 2 * self.pairs {
            let change = Self::has_change(history.len());
            return Ok(Step::Measure(Trial { change, ..Trial::new(self.load_pps, trial_s) }));
        }
        let blocked_s = |outcome: &Outcome| outcome.loss_ratio() * outcome.trial.duration_s;
        let of = |change: bool| {
            let trials = history.iter().filter(move |outcome| outcome.trial.change == change);
            trials.map(blocked_s).collect::<Vec<f64>>()
        };
        let (changed_s, bare_s) = (of(true), of(false));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let blocked_s = mean(&changed_s) - mean(&bare_s);
        let carried_s = trial_s - mean(&bare_s);
        let throughput_change = if carried_s > 0.0 { -blocked_s / carried_s } else { 0.0 };
        let changes = history.iter().filter_map(|outcome| outcome.changed).collect();
        let answer = ReconfigureAnswer { changed_s, bare_s, blocked_s, throughput_change, changes };
        Ok(Step::Done(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Budget, run};

    #[test]
    fn the_blocked_time_is_what_a_change_loses_more_than_a_bare_trial() {
        let mut search = Reconfigure { load_pps: 1e6, trial_s: 2.0, pairs: 4 };
        let measured = run(&mut search, Budget::default(), |trial| {
            let lost = if trial.change { 5_000 } else { 1_000 };
            let changed =
                trial.change.then(|| Changed::of(&[1_000; 2_000], 0.4, 0.1, 2.0).unwrap());
            Ok(Outcome { changed, ..Outcome::of(trial, trial.packets() - lost) })
        });
        let (answer, history) = measured.unwrap();
        assert!((answer.blocked_s - 0.004).abs() < 1e-9, "{answer:?}");
        assert!((answer.throughput_change + 0.002).abs() < 1e-5);
        assert_eq!(answer.changes.len(), 4);
        let order: Vec<bool> = history.iter().map(|outcome| outcome.trial.change).collect();
        assert_eq!(order, [false, true, true, false, false, true, true, false]);
    }

    #[test]
    fn trials_are_as_long_as_the_longest_that_a_change_needed() {
        let mut search = Reconfigure { load_pps: 1e6, trial_s: 2.0, pairs: 2 };
        let (answer, history) = run(&mut search, Budget::default(), |trial| {
            let needed = if trial.change { trial.duration_s.max(8.0) } else { trial.duration_s };
            let trial = Trial { duration_s: needed, ..trial };
            let lost = if trial.change { trial.packets() / 4 } else { 0 };
            Ok(Outcome::of(trial, trial.packets() - lost))
        })
        .unwrap();
        let lengths: Vec<f64> = history.iter().map(|outcome| outcome.trial.duration_s).collect();
        assert_eq!(lengths, [2.0, 8.0, 8.0, 8.0]);
        assert!((answer.throughput_change + 0.25).abs() < 1e-9, "{answer:?}");
    }
}
