//! The chain of ever finer targets that leads to a goal.
//!
//! ```text
//! target 0 (coarse)     width x4   duration sum  1 s     ┐ preceding targets: cheap, and
//! target 1              width x2   duration sum 4.6 s    ┘ most loads need no more
//! target 2 = the goal   width      duration sum 21 s
//! ```

use super::grid::Grid;
use crate::search::goal::Goal;

/// The targets of this goal, coarsest first, the goal itself last.
pub(super) fn targets(goal: &Goal, grid: &Grid) -> Vec<Target> {
    let mut width = grid.width(goal.relative_width);
    let target = |width: i64, trial_s: f64, duration_sum_s: f64| Target {
        loss_ratio: goal.loss_ratio,
        exceed_ratio: goal.exceed_ratio,
        width: grid.clamp(width),
        trial_s,
        duration_sum_s,
        expansion: goal.expansion,
    };
    let mut chain = vec![target(width, goal.final_trial_s, goal.duration_sum_s)];
    let count = goal.preceding_targets;
    let shrink = (goal.initial_trial_s / goal.duration_sum_s).powf(1.0 / f64::from(count));
    for step in 1..=count {
        let sum_s = if step == count {
            goal.initial_trial_s
        } else {
            goal.duration_sum_s * shrink.powf(f64::from(step))
        };
        width *= 2;
        chain.push(target(width, goal.final_trial_s.min(sum_s), sum_s));
    }
    chain.reverse();
    chain
}

/// One link of the chain that leads to a goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    pub(super) loss_ratio: f64,
    pub(super) exceed_ratio: f64,
    /// In notches of the grid.
    pub(super) width: i64,
    pub(super) trial_s: f64,
    pub(super) duration_sum_s: f64,
    pub(super) expansion: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_starts_cheap_and_coarse_and_ends_at_the_goal() {
        let goal =
            Goal { initial_trial_s: 1.0, final_trial_s: 60.0, duration_sum_s: 60.0, ..Goal::ndr() };
        let grid = Grid::new(1e4, 1e7, &[goal.relative_width]).unwrap();
        let chain = targets(&goal, &grid);
        let sums: Vec<f64> = chain.iter().map(|target| target.duration_sum_s).collect();
        assert_eq!((sums[0], sums[2]), (1.0, 60.0));
        assert!((sums[1] - 60f64.sqrt()).abs() < 1e-9);
        assert_eq!(chain[0].width, 4 * chain[2].width);
        assert_eq!((chain[0].trial_s, chain[1].trial_s), (1.0, sums[1]));
    }
}
