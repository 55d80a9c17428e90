//! What MLRsearch found for one goal.

use serde::{Deserialize, Serialize};

use super::database::Database;
use super::grid::Grid;
use crate::search::goal::Goal;

/// The bounds of one goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoalAnswer {
    /// Loss ratio of the goal: 0 for an NDR.
    pub loss_ratio: f64,
    /// Largest load known to satisfy the goal, none where even the smallest does not.
    pub lower_pps: Option<f64>,
    /// Smallest load known to miss it, none where even the largest satisfies it.
    pub upper_pps: Option<f64>,
    /// What got through at the lower bound, in the trials that the exceed ratio does not excuse.
    pub conditional_pps: Option<f64>,
    /// Loads above the upper bound that looked good: a loss inversion, worth a verdict.
    pub inversions_pps: Vec<f64>,
}

impl GoalAnswer {
    pub(super) fn read(grid: &Grid, database: &Database, goal: &Goal, id: usize) -> Self {
        let bounds = database.bounds(id);
        let loss = bounds.lower.and_then(|lower| database.conditional_loss(lower, id));
        let lower_pps = bounds.lower.map(|notch| grid.load_pps(notch));
        Self {
            loss_ratio: goal.loss_ratio,
            lower_pps,
            upper_pps: bounds.upper.map(|notch| grid.load_pps(notch)),
            conditional_pps: lower_pps.zip(loss).map(|(load, loss)| load * (1.0 - loss)),
            inversions_pps: database.inversions(id).iter().map(|&at| grid.load_pps(at)).collect(),
        }
    }
}
