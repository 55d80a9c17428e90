//! Every load measured so far, and the bounds that matter for a target.
//!
//! ```text
//! load      10   20   30   40   50        L lower bound, U upper bound, ? undecided
//! class      L    L    ?    U    L
//!                 ▲         ▲    └ above the first U: loss inversion, not believed
//!            relevant lower  relevant upper
//! ```

use std::collections::BTreeMap;

use lab_record::Outcome;

use super::load_stat::{Class, LoadStat};
use super::target::Target;

/// The largest load known to reach a target below the smallest load known to miss it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lower: Option<i64>,
    pub(super) upper: Option<i64>,
}

/// Statistics of each load for each target.
#[derive(Debug, Clone)]
pub(super) struct Database {
    targets: Vec<Target>,
    loads: BTreeMap<i64, Vec<LoadStat>>,
}

impl Database {
    pub(super) fn new(targets: Vec<Target>) -> Self {
        Self { targets, loads: BTreeMap::new() }
    }

    pub(super) fn target(&self, id: usize) -> &Target {
        &self.targets[id]
    }

    pub(super) fn add(&mut self, notch: i64, outcome: &Outcome) {
        let targets = &self.targets;
        let stats =
            self.loads.entry(notch).or_insert_with(|| vec![LoadStat::default(); targets.len()]);
        for (stat, target) in stats.iter_mut().zip(targets) {
            stat.add(target, outcome);
        }
    }

    pub(super) fn clear(&mut self) {
        self.loads.clear();
    }

    pub(super) fn bounds(&self, id: usize) -> Bounds {
        let mut bounds = Bounds::default();
        for (&notch, stats) in &self.loads {
            match stats[id].class(&self.targets[id]) {
                Class::Lower => bounds.lower = Some(notch),
                Class::Upper => {
                    bounds.upper = Some(notch);
                    break;
                }
                Class::Undecided => {}
            }
        }
        bounds
    }

    /// The loads that look good above the relevant upper bound.
    pub(super) fn inversions(&self, id: usize) -> Vec<i64> {
        let upper = self.bounds(id).upper.unwrap_or(i64::MAX);
        let above = self.loads.iter().filter(|&(&notch, _)| notch > upper);
        above
            .filter(|(_, stats)| stats[id].class(&self.targets[id]) == Class::Lower)
            .map(|(&notch, _)| notch)
            .collect()
    }

    pub(super) fn conditional_loss(&self, notch: i64, id: usize) -> Option<f64> {
        self.loads.get(&notch).map(|stats| stats[id].conditional_loss(&self.targets[id]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::mlr::target::targets;
    use crate::search::mlr::{Goal, Grid};
    use lab_record::Trial;

    #[test]
    fn a_good_load_above_a_bad_one_is_an_inversion_and_no_bound() {
        let goal = Goal { duration_sum_s: 1.0, ..Goal::ndr() };
        let grid = Grid::new(1e4, 1e7, &[0.005]).unwrap();
        let mut database = Database::new(targets(&goal, &grid));
        for (notch, lost) in [(10, 0), (20, 0), (40, 7), (50, 0)] {
            let trial = Trial::new(1e5, 1.0);
            database.add(notch, &Outcome::of(trial, trial.packets() - lost));
        }
        assert_eq!(database.bounds(2), Bounds { lower: Some(20), upper: Some(40) });
        assert_eq!(database.inversions(2), vec![50]);
    }
}
