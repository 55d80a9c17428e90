//! The grid of loads: equal steps on a logarithmic scale between the smallest and the largest load.
//!
//! ```text
//! notch   0        1        2            steps
//! load    min ──── x r ──── x r² ── … ── max        r = (max/min)^(1/steps)
//! ```
//!
//! `steps` is the smallest number for which each relative width asked for is a whole number of
//! steps, at most 1 % narrower than asked and never wider. Loads become integers, so that "twice as
//! wide" and "halfway" are exact and two searches that reason alike measure at the same load.
//!
//! The load of a notch comes from halving the whole range down to it. Another formula would be as
//! good, but the rounding of this one is what other implementations of the algorithm agree on.

use crate::Error;

/// The narrowest share of a wished width that the grid may give instead.
const NARROWEST: f64 = 0.99;
/// The widest: a little below 1, so that rounding never makes a width wider than its goal.
const WIDEST: f64 = 0.999_999;

/// Loads between two limits, as whole notches on a log scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    min_pps: f64,
    max_pps: f64,
    steps: i64,
}

impl Grid {
    /// The coarsest grid from `min_pps` to `max_pps` that expresses each of `widths`.
    pub fn new(min_pps: f64, max_pps: f64, widths: &[f64]) -> Result<Self, Error> {
        if !(min_pps > 0.0 && min_pps < max_pps && max_pps.is_finite()) {
            return Err(Error::LoadLimits { min_pps, max_pps });
        }
        if let Some(&width) = widths.iter().find(|&&width| !(width > 0.0 && width < 1.0)) {
            return Err(Error::Goal { field: "relative_width", value: width });
        }
        let range = max_pps.ln() - min_pps.ln();
        let wishes: Vec<f64> = widths.iter().map(|&width| -(-width).ln_1p()).collect();
        let mut steps = 1i64;
        loop {
            let step = range / steps as f64;
            let mut next = (steps + 1) as f64;
            let mut fits = true;
            for wish in &wishes {
                let exact = wish / step;
                let whole = exact.floor();
                if !(NARROWEST..=WIDEST).contains(&(whole / exact)) {
                    fits = false;
                    next = next.max((whole + 1.0) / WIDEST / exact * steps as f64);
                }
            }
            if fits {
                return Ok(Self { min_pps, max_pps, steps });
            }
            steps = next.ceil() as i64;
        }
    }

    /// The notch of the largest load.
    pub fn top(&self) -> i64 {
        self.steps
    }

    /// Brings a notch back between the limits.
    pub fn clamp(&self, notch: i64) -> i64 {
        notch.clamp(0, self.steps)
    }

    /// The load at a notch; beyond the limits, the limit.
    pub fn load_pps(&self, notch: i64) -> f64 {
        if notch <= 0 {
            return self.min_pps;
        }
        if notch >= self.steps {
            return self.max_pps;
        }
        let (mut low, mut high) = self.whole();
        loop {
            let middle = halve(low, high);
            match middle.0.cmp(&notch) {
                std::cmp::Ordering::Less => low = middle,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return middle.1,
            }
        }
    }

    /// The highest notch whose load is at most `load_pps`.
    pub fn notch_below(&self, load_pps: f64) -> i64 {
        if load_pps <= self.min_pps {
            return 0;
        }
        if load_pps >= self.max_pps {
            return self.steps;
        }
        let (mut low, mut high) = self.whole();
        while high.0 - low.0 >= 2 {
            let middle = halve(low, high);
            if middle.1 > load_pps {
                high = middle;
            } else {
                low = middle;
            }
        }
        low.0
    }

    /// How many steps a relative width spans, rounded down, never more than the whole grid.
    pub fn width(&self, relative: f64) -> i64 {
        let load_pps = self.min_pps / (1.0 - relative);
        let notch = self.notch_below(load_pps);
        if self.load_pps(notch) > load_pps { notch - 1 } else { notch }
    }

    fn whole(&self) -> ((i64, f64), (i64, f64)) {
        ((0, self.min_pps), (self.steps, self.max_pps))
    }
}

/// The point halfway (rounded down) between two points of the grid.
fn halve(low: (i64, f64), high: (i64, f64)) -> (i64, f64) {
    let notch = (low.0 + high.0) / 2;
    let mut exponent = high.1.ln() - low.1.ln();
    exponent *= (notch - low.0) as f64 / (high.0 - low.0) as f64;
    (notch, low.1 * exponent.exp())
}

/// Where to split `low..high`, wider than `goal`: one half is `goal` times a power of two, the most
/// even such split, the narrower half below (lower loads are the careful choice).
pub(super) fn split(low: i64, high: i64, goal: i64) -> Option<i64> {
    let width = high - low;
    if width <= goal || goal < 1 {
        return None;
    }
    if width == 2 * goal {
        return Some(low + goal);
    }
    if width < 2 * goal {
        let even_goal = goal % 2 == 0;
        return if even_goal { split(low, high, goal / 2) } else { Some(low + width / 2) };
    }
    let mut upper = goal;
    while width - 2 * upper > 2 * upper {
        upper *= 2;
    }
    let lower = width - upper;
    let (doubled, rest) = (2 * upper, width - 2 * upper);
    // The larger product is the more even split; the narrower part goes below.
    Some(low + if upper * lower > doubled * rest { upper } else { rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_never_wider_than_asked_and_at_most_one_percent_narrower() {
        for widths in [vec![0.005], vec![0.005, 0.01], vec![0.003, 0.0171, 0.2]] {
            let grid = Grid::new(9_001.0, 14_880_952.0, &widths).unwrap();
            for wished in widths {
                let got = 1.0 - grid.load_pps(0) / grid.load_pps(grid.width(wished));
                assert!(got <= wished && got >= 0.989 * wished, "{wished} became {got}");
            }
        }
    }

    #[test]
    fn a_notch_and_its_load_name_each_other() {
        let grid = Grid::new(1e4, 1e7, &[0.005]).unwrap();
        for notch in 0..=grid.top() {
            assert_eq!(grid.notch_below(grid.load_pps(notch)), notch);
        }
        assert_eq!(grid.notch_below(grid.load_pps(7) * 1.000_01), 7);
        assert_eq!(grid.notch_below(grid.load_pps(7) * 0.999_99), 6);
        assert_eq!((grid.load_pps(-3), grid.load_pps(i64::MAX)), (1e4, 1e7));
    }

    #[test]
    fn a_split_keeps_one_part_a_power_of_two_goals() {
        assert_eq!(split(0, 4, 2), Some(2));
        assert_eq!(split(0, 5, 4), Some(2));
        assert_eq!(split(0, 5, 3), Some(2));
        assert_eq!(split(0, 3, 3), None);
        for width in 3..500 {
            let low = split(100, 100 + width, 1).unwrap() - 100;
            assert!(low <= width - low, "{low} of {width} is the upper part");
            let high = width - low;
            assert!(low.count_ones() == 1 || high.count_ones() == 1, "{low} + {high}");
        }
    }

    #[test]
    fn limits_that_make_no_range_are_refused() {
        assert!(Grid::new(0.0, 1.0, &[0.1]).is_err());
        assert!(Grid::new(2.0, 1.0, &[0.1]).is_err());
        assert!(Grid::new(1.0, 2.0, &[1.0]).is_err());
    }
}
