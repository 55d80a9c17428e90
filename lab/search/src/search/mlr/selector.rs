//! One goal's way along its chain of targets.
//!
//! ```text
//! pursue target 0 ──reached──▶ pursue target 1 ──reached──▶ … goal ──reached──▶ nothing to ask
//!        └ its bounds become the start of the next pursuit ┘
//! ```

use std::ops::Range;

use super::database::{Bounds, Database};
use super::grid::Grid;
use super::pursuit::{Nomination, Pursuit};
use crate::Error;

/// A trial that one goal would like next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) nomination: Nomination,
    pub(super) trial_s: f64,
}

impl Candidate {
    /// Whether this one goes before `other` when both goals are equal otherwise: low loads first,
    /// then long trials (they teach every goal), then wide steps.
    pub(super) fn precedes(&self, other: &Self) -> bool {
        let order = self.nomination.notch.cmp(&other.nomination.notch);
        let order = order.then(other.trial_s.total_cmp(&self.trial_s));
        order.then(other.nomination.width.cmp(&self.nomination.width)).is_le()
    }
}

/// The state of one goal.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    /// Ids in the database of the targets still to come.
    later: Range<usize>,
    current: usize,
    fail_fast: bool,
    pursuit: Pursuit,
}

impl Selector {
    pub(super) fn new(
        grid: &Grid,
        database: &Database,
        mut chain: Range<usize>,
        fail_fast: bool,
        start: Bounds,
    ) -> Self {
        let current = chain.start;
        chain.start += 1;
        let pursuit = Pursuit::new(grid, *database.target(current), start);
        Self { later: chain, current, fail_fast, pursuit }
    }

    /// What this goal would measure next; none when it is reached.
    pub(super) fn nominate(
        &mut self,
        grid: &Grid,
        database: &Database,
        shared_step: i64,
    ) -> Result<Option<Candidate>, Error> {
        loop {
            let bounds = database.bounds(self.current);
            if let Some(nomination) = self.pursuit.nominate(grid, bounds, shared_step)? {
                let trial_s = database.target(self.current).trial_s;
                return Ok(Some(Candidate { nomination, trial_s }));
            }
            if bounds == Bounds::default() {
                return Err(Error::Contradiction("a target without any bound".into()));
            }
            let Some(next) = self.later.next() else {
                let hopeless = bounds.lower.is_none() && self.fail_fast;
                let min_pps = grid.load_pps(0);
                return if hopeless { Err(Error::NoLowerBound { min_pps }) } else { Ok(None) };
            };
            self.current = next;
            self.pursuit = Pursuit::new(grid, *database.target(next), bounds);
        }
    }

    /// Tells the goal that its nomination has been measured; the grown step, if it grew.
    pub(super) fn measured(
        &mut self,
        grid: &Grid,
        database: &Database,
        nomination: Nomination,
    ) -> Option<i64> {
        self.pursuit.measured(grid, database.bounds(self.current), nomination)
    }
}
