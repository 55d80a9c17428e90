//! What one wants to know of a device: a goal, after draft-ietf-bmwg-mlrsearch.

use super::terms::Terms;
use crate::Error;

/// One question to the device: "the highest load at which at most `exceed_ratio` of the time loses
/// more than `loss_ratio`".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Loss ratio that a good trial does not exceed. 0 makes the result an NDR.
    pub loss_ratio: f64,
    /// Share of the time that may be spent in bad trials.
    pub exceed_ratio: f64,
    /// How close the two bounds must come, relative to the upper one.
    pub relative_width: f64,
    /// Shortest trial.
    pub initial_trial_s: f64,
    /// Longest trial; shorter ones count less.
    pub final_trial_s: f64,
    /// Trial time after which a load is decided.
    pub duration_sum_s: f64,
    /// Coarser targets before this one.
    pub preceding_targets: u32,
    /// Factor by which steps grow while no bound is found.
    pub expansion: i64,
    /// Whether a goal that even the smallest load misses ends the whole search.
    pub fail_fast: bool,
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            loss_ratio: 0.0,
            exceed_ratio: 0.5,
            relative_width: 0.005,
            initial_trial_s: 1.0,
            final_trial_s: 1.0,
            duration_sum_s: 21.0,
            preceding_targets: 2,
            expansion: 2,
            fail_fast: true,
        }
    }
}

impl Goal {
    /// Those of a scenario; an error names what is out of range.
    pub fn all(terms: &Terms<'_>) -> Result<Vec<Self>, Error> {
        let goal = |&loss_ratio: &f64| {
            let goal = Self {
                loss_ratio,
                relative_width: terms.relative_width,
                initial_trial_s: terms.trial_s.min(1.0),
                final_trial_s: terms.trial_s,
                duration_sum_s: terms.duration_sum_s,
                ..Self::default()
            };
            goal.check().map(|()| goal)
        };
        terms.loss_ratios.iter().map(goal).collect()
    }

    /// No drop allowed in a good trial.
    pub fn ndr() -> Self {
        Self::default()
    }

    /// Half a percent of loss allowed in a good trial.
    pub fn pdr() -> Self {
        Self { loss_ratio: 0.005, ..Self::default() }
    }

    /// The goal for a host that stalls `stalls_per_s` times a second: many short trials, so that a
    /// stall spoils one of them instead of all.
    pub fn on_stalling_host(self, stalls_per_s: f64) -> Self {
        let longest_s = if stalls_per_s > 0.0 { 0.2 / stalls_per_s } else { f64::INFINITY };
        let trial_s = self.final_trial_s.min(longest_s).max(0.01);
        if trial_s >= self.final_trial_s {
            return self;
        }
        let duration_sum_s = (60.0 * trial_s).min(self.duration_sum_s);
        let initial_trial_s = self.initial_trial_s.min(trial_s);
        Self { initial_trial_s, final_trial_s: trial_s, duration_sum_s, ..self }
    }

    /// Refuses values that no search could satisfy.
    pub fn check(&self) -> Result<(), Error> {
        let share = 0.0..1.0;
        let rules = [
            ("loss_ratio", self.loss_ratio, share.contains(&self.loss_ratio)),
            ("exceed_ratio", self.exceed_ratio, share.contains(&self.exceed_ratio)),
            (
                "relative_width",
                self.relative_width,
                self.relative_width > 0.0 && self.relative_width < 1.0,
            ),
            ("initial_trial_s", self.initial_trial_s, self.initial_trial_s > 0.0),
            ("final_trial_s", self.final_trial_s, self.final_trial_s >= self.initial_trial_s),
            ("duration_sum_s", self.duration_sum_s, self.duration_sum_s >= self.final_trial_s),
            ("expansion", self.expansion as f64, self.expansion >= 2),
            (
                "preceding_targets",
                f64::from(self.preceding_targets),
                self.preceding_targets > 0 || self.initial_trial_s >= self.duration_sum_s,
            ),
        ];
        match rules.into_iter().find(|&(_, _, holds)| !holds) {
            Some((field, value, _)) => Err(Error::Goal { field, value }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_out_of_range_is_named_with_its_value() {
        let goal = Goal { exceed_ratio: 1.5, ..Goal::ndr() };
        assert_eq!(
            goal.check().unwrap_err().to_string(),
            "search goal: exceed_ratio = 1.5 is out of range"
        );
        assert!(Goal { preceding_targets: 0, ..Goal::ndr() }.check().is_err());
        assert!(Goal { preceding_targets: 0, duration_sum_s: 1.0, ..Goal::ndr() }.check().is_ok());
    }

    #[test]
    fn a_stalling_host_gets_short_trials_and_a_quiet_one_keeps_its_goal() {
        let goal = Goal::ndr().on_stalling_host(2.0);
        assert!(
            (goal.final_trial_s - 0.1).abs() < 1e-12 && (goal.duration_sum_s - 6.0).abs() < 1e-9
        );
        assert!(goal.check().is_ok());
        assert_eq!(Goal::ndr().on_stalling_host(0.0), Goal::ndr());
    }
}
