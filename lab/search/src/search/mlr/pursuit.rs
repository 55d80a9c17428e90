//! The pursuit of one target: which load to measure next, by the first rule that has something to
//! say.
//!
//! ```text
//! halve         the previous target's bounds are at most two widths apart: measure between them
//! refine lower  is the previous lower bound one for this target too?
//! refine upper  likewise the upper
//! extend down   no lower bound: step down from the upper, each step `expansion` times wider
//! extend up     no upper bound: step up from the lower
//! bisect        both bounds: split between them, or extend from one of them where the previous
//!               target's bound is closer to it than the split
//! ```

use super::database::Bounds;
use super::grid::{Grid, split};
use super::limits::useful_load;
use super::target::Target;
use crate::Error;

/// A load that a rule would measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nomination {
    pub(super) notch: i64,
    /// The step that led here: the least step of any other goal's extension afterwards.
    pub(super) width: i64,
    /// Steps grow when the load becomes this bound, for it was the other one that was sought.
    grow_if: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Lower,
    Upper,
}

/// The state of the pursuit.
#[derive(Debug, Clone)]
pub(super) struct Pursuit {
    target: Target,
    /// Where it started: two interesting loads, or the previous target's bounds.
    start: Bounds,
    /// Width of the next outward step.
    step: i64,
}

impl Pursuit {
    pub(super) fn new(grid: &Grid, target: Target, start: Bounds) -> Self {
        let gap = match (start.lower, start.upper) {
            (Some(lower), Some(upper)) => upper - lower,
            _ => 0,
        };
        let mut pursuit = Self { target, start, step: 0 };
        pursuit.limit_step(grid, gap);
        pursuit
    }

    /// The load to measure, or none when the target is reached.
    pub(super) fn nominate(
        &mut self,
        grid: &Grid,
        bounds: Bounds,
        shared_step: i64,
    ) -> Result<Option<Nomination>, Error> {
        if let Some(found) = self.halve(grid, bounds) {
            return Ok(Some(found));
        }
        for load in [self.start.lower, self.start.upper].into_iter().flatten() {
            if self.is_worth(bounds, load) {
                return Ok(Some(self.narrow(grid, load)));
            }
        }
        let step = self.step.max(shared_step);
        match (bounds.lower, bounds.upper) {
            (None, Some(upper)) if upper > 0 => {
                self.extend(grid, bounds, upper - step, step, Side::Upper)
            }
            (Some(lower), None) if lower < grid.top() => {
                self.extend(grid, bounds, lower + step, step, Side::Lower)
            }
            (Some(lower), Some(upper)) => self.bisect(grid, lower, upper, step),
            _ => Ok(None),
        }
    }

    /// Grows the step when the measured load did not become the bound that was sought; says the
    /// new step then.
    pub(super) fn measured(
        &mut self,
        grid: &Grid,
        bounds: Bounds,
        nomination: Nomination,
    ) -> Option<i64> {
        let became = match nomination.grow_if? {
            Side::Lower => bounds.lower,
            Side::Upper => bounds.upper,
        };
        if became != Some(nomination.notch) {
            return None;
        }
        self.step = grid.clamp(self.step * self.target.expansion);
        Some(self.step)
    }

    fn limit_step(&mut self, grid: &Grid, width: i64) {
        self.step = grid.clamp(width.max(self.target.width) * self.target.expansion);
    }

    /// Whether measuring there would make or better a bound.
    fn is_worth(&self, bounds: Bounds, load: i64) -> bool {
        let above = bounds.lower.is_none_or(|lower| lower < load);
        let below = bounds.upper.is_none_or(|upper| load < upper);
        let wide = match (bounds.lower, bounds.upper) {
            (Some(lower), Some(upper)) => upper - lower > self.target.width,
            _ => true,
        };
        above && below && wide
    }

    fn narrow(&mut self, grid: &Grid, notch: i64) -> Nomination {
        self.limit_step(grid, self.target.width);
        Nomination { notch, width: self.target.width, grow_if: None }
    }

    fn halve(&mut self, grid: &Grid, bounds: Bounds) -> Option<Nomination> {
        let (lower, upper) = (self.start.lower?, self.start.upper?);
        if upper - lower > 2 * self.target.width {
            return None;
        }
        let load = split(lower, upper, self.target.width)?;
        self.is_worth(bounds, load).then(|| self.narrow(grid, load))
    }

    fn extend(
        &self,
        grid: &Grid,
        bounds: Bounds,
        load: i64,
        width: i64,
        from: Side,
    ) -> Result<Option<Nomination>, Error> {
        let useful = useful_load(grid, load, self.target.width, bounds)?;
        let worth = useful.filter(|&notch| self.is_worth(bounds, notch));
        Ok(worth.map(|notch| Nomination { notch, width, grow_if: Some(from) }))
    }

    fn bisect(
        &mut self,
        grid: &Grid,
        lower: i64,
        upper: i64,
        step: i64,
    ) -> Result<Option<Nomination>, Error> {
        if lower >= grid.top() || upper <= 0 {
            return Ok(None);
        }
        let Some(middle) = split(lower, upper, self.target.width) else { return Ok(None) };
        let bounds = Bounds { lower: Some(lower), upper: Some(upper) };
        if let Some(start) = self.start.upper.filter(|&start| middle < start) {
            let down = self.extend(grid, bounds, upper - step, step, Side::Upper)?;
            if let Some(found) = down.filter(|down| middle < down.notch && down.notch < start) {
                return Ok(Some(found));
            }
        }
        if let Some(start) = self.start.lower.filter(|&start| start < middle) {
            let up = self.extend(grid, bounds, lower + step, step, Side::Lower)?;
            if let Some(found) = up.filter(|up| start < up.notch && up.notch < middle) {
                return Ok(Some(found));
            }
        }
        let width = (middle - lower).min(upper - middle);
        self.limit_step(grid, width);
        Ok(Some(Nomination { notch: middle, width, grow_if: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::mlr::Goal;
    use crate::search::mlr::target::targets;

    fn pursuit(start: (i64, i64)) -> (Grid, Pursuit) {
        let grid = Grid::new(1e4, 1e7, &[0.005]).unwrap();
        let target = Target { width: 10, ..*targets(&Goal::ndr(), &grid).last().unwrap() };
        let start = Bounds { lower: Some(start.0), upper: Some(start.1) };
        let pursuit = Pursuit::new(&grid, target, start);
        (grid, pursuit)
    }

    fn bounds(lower: Option<i64>, upper: Option<i64>) -> Bounds {
        Bounds { lower, upper }
    }

    #[test]
    fn bounds_within_two_widths_are_halved_first() {
        let (grid, mut pursuit) = pursuit((100, 120));
        let found = pursuit.nominate(&grid, Bounds::default(), 0).unwrap().unwrap();
        assert_eq!((found.notch, found.width), (110, 10));
    }

    #[test]
    fn the_previous_bounds_are_measured_again_lower_first() {
        let (grid, mut pursuit) = pursuit((100, 200));
        let mut next = |bounds| pursuit.nominate(&grid, bounds, 0).unwrap().unwrap().notch;
        assert_eq!(next(Bounds::default()), 100);
        assert_eq!(next(bounds(Some(100), None)), 200);
        // Extending from the new bound towards the old one beats the split at 140.
        assert_eq!(next(bounds(Some(100), Some(200))), 180);
    }

    #[test]
    fn outward_steps_double_while_the_bound_is_not_found() {
        let (grid, mut pursuit) = pursuit((800, 840));
        let mut upper = 800;
        let mut steps = Vec::new();
        for _ in 0..3 {
            let known = bounds(None, Some(upper));
            let found = pursuit.nominate(&grid, known, 0).unwrap().unwrap();
            steps.push(upper - found.notch);
            upper = found.notch;
            pursuit.measured(&grid, bounds(None, Some(upper)), found);
        }
        assert_eq!(steps, [80, 160, 320]);
    }

    #[test]
    fn nothing_is_nominated_when_the_bounds_are_close_enough() {
        let (grid, mut pursuit) = pursuit((100, 120));
        let known = bounds(Some(110), Some(120));
        assert_eq!(pursuit.nominate(&grid, known, 0).unwrap(), None);
    }
}
