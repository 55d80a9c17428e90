//! What the trials at one load say about one target: lower bound, upper bound, or not known yet.
//!
//! ```text
//!                 good        bad
//! long trial    good_long   bad_long      long = at least the target's trial duration
//! short trial   good_short  bad_short     short ones only count where more of them are bad than
//!                                         the exceed ratio excuses
//! ```

use lab_record::Outcome;

use super::target::Target;

/// Trial time at one load, told apart for one target.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadStat {
    good_long_s: f64,
    bad_long_s: f64,
    good_short_s: f64,
    bad_short_s: f64,
    /// (loss ratio, time of the long trials that had it), by rising loss ratio.
    long_losses: Vec<(f64, f64)>,
}

/// The place of a load relative to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Lower,
    Upper,
    Undecided,
}

impl LoadStat {
    pub(super) fn add(&mut self, target: &Target, outcome: &Outcome) {
        let loss = outcome.loss_ratio();
        let time_s = outcome.elapsed_s;
        let long = outcome.trial.duration_s >= target.trial_s;
        let bad = loss > target.loss_ratio;
        *match (long, bad) {
            (true, false) => &mut self.good_long_s,
            (true, true) => &mut self.bad_long_s,
            (false, false) => &mut self.good_short_s,
            (false, true) => &mut self.bad_short_s,
        } += time_s;
        if long {
            let at = self.long_losses.partition_point(|&(known, _)| known < loss);
            match self.long_losses.get_mut(at) {
                Some((known, sum_s)) if *known == loss => *sum_s += time_s,
                _ => self.long_losses.insert(at, (loss, time_s)),
            }
        }
    }

    /// Where this load stands. Decided once the trials still missing could not change it: the
    /// optimist takes them all for good ones, the pessimist for bad ones.
    pub(super) fn class(&self, target: &Target) -> Class {
        let excused_s = self.good_short_s * target.exceed_ratio / (1.0 - target.exceed_ratio);
        let bad_s = self.bad_long_s + (self.bad_short_s - excused_s).max(0.0);
        let whole_s = (self.good_long_s + bad_s).max(target.duration_sum_s);
        let allowed_s = whole_s * target.exceed_ratio;
        let optimist = bad_s <= allowed_s;
        let pessimist = whole_s - self.good_long_s <= allowed_s;
        match (optimist, pessimist) {
            (true, true) => Class::Lower,
            (false, false) => Class::Upper,
            _ => Class::Undecided,
        }
    }

    /// The loss ratio of the worst long trial that the exceed ratio does not excuse; time not
    /// measured counts as lost whole. Conditional throughput is load x (1 - this).
    pub(super) fn conditional_loss(&self, target: &Target) -> f64 {
        let measured_s = self.good_long_s + self.bad_long_s;
        let mut left_s = target.duration_sum_s.max(measured_s) * (1.0 - target.exceed_ratio);
        let mut loss = None;
        for &(ratio, time_s) in &self.long_losses {
            if loss.is_some() && left_s <= 0.0 {
                return loss.unwrap_or(1.0);
            }
            loss = Some(ratio);
            left_s -= time_s;
        }
        // Sums of tenths of seconds miss their whole by a rounding error: no time is missing then.
        if left_s > 1e-9 * measured_s { 1.0 } else { loss.unwrap_or(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::mlr::target::targets;
    use crate::search::mlr::{Goal, Grid};
    use lab_record::Trial;

    fn target() -> Target {
        let grid = Grid::new(1e4, 1e7, &[0.005]).unwrap();
        *targets(&Goal { duration_sum_s: 5.0, ..Goal::ndr() }, &grid).last().unwrap()
    }

    fn after(trials: &[(f64, u64)]) -> LoadStat {
        let mut stat = LoadStat::default();
        for &(duration_s, lost) in trials {
            let trial = Trial::new(1000.0, duration_s);
            stat.add(&target(), &Outcome::of(trial, trial.packets() - lost));
        }
        stat
    }

    #[test]
    fn half_the_time_good_decides_before_the_whole_sum_is_measured() {
        assert_eq!(after(&[(1.0, 0); 2]).class(&target()), Class::Undecided);
        assert_eq!(after(&[(1.0, 0); 3]).class(&target()), Class::Lower);
        assert_eq!(after(&[(1.0, 5); 2]).class(&target()), Class::Undecided);
        assert_eq!(after(&[(1.0, 5); 3]).class(&target()), Class::Upper);
    }

    #[test]
    fn short_good_trials_prove_nothing_and_only_excuse_short_bad_ones() {
        assert_eq!(after(&[(0.5, 0); 20]).class(&target()), Class::Undecided);
        assert_eq!(after(&[(0.5, 5); 6]).class(&target()), Class::Upper);
        let mixed: Vec<_> = [[(0.5, 5), (0.5, 0)]; 6].concat();
        assert_eq!(after(&mixed).class(&target()), Class::Undecided);
    }

    #[test]
    fn conditional_loss_is_the_quantile_that_the_exceed_ratio_names() {
        let stat = after(&[(1.0, 9), (1.0, 0), (1.0, 3), (1.0, 1), (1.0, 500)]);
        assert!((stat.conditional_loss(&target()) - 0.003).abs() < 1e-12);
        assert_eq!(after(&[(1.0, 0); 2]).conditional_loss(&target()), 1.0);
    }
}
