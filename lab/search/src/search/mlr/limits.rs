//! Keeping a candidate load at a useful distance from what is already known.
//!
//! ```text
//! known lower        a load in here teaches something        known upper
//!      ├─ width ─┤┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈├─ width ─┤
//! ```
//! A load in a margin moves to the margin's inner edge; where the outer edge is a limit of the
//! search that has not been measured yet, it moves there instead.

use super::database::Bounds;
use super::grid::{Grid, split};
use crate::Error;

/// One end of the interval that a candidate must lie in.
#[derive(Clone, Copy)]
struct End {
    notch: i64,
    /// Measured already: to be kept away from, not rounded to.
    known: bool,
}

/// The load to measure in place of `load`, or none where all that is near is known.
pub(super) fn useful_load(
    grid: &Grid,
    load: i64,
    width: i64,
    bounds: Bounds,
) -> Result<Option<i64>, Error> {
    let load = grid.clamp(load);
    let low = End { notch: bounds.lower.unwrap_or(0), known: bounds.lower.is_some() };
    let high = End { notch: bounds.upper.unwrap_or(grid.top()), known: bounds.upper.is_some() };
    if high.known && (high.notch <= 0 || load >= high.notch) {
        return Ok(None);
    }
    if low.known && load <= low.notch {
        // With an upper bound too, an extension that was overtaken; without, a defect.
        return if high.known { Ok(None) } else { Err(below(load, low.notch)) };
    }
    if low.known && low.notch >= grid.top() {
        return Err(below(load, low.notch));
    }
    Ok(away_from_ends(load, width, low, high))
}

fn below(load: i64, lower: i64) -> Error {
    Error::Contradiction(format!("notch {load} is not above the lower bound at {lower}"))
}

fn away_from_ends(load: i64, width: i64, low: End, high: End) -> Option<i64> {
    if width >= high.notch - low.notch {
        return [low, high].into_iter().find(|end| !end.known).map(|end| end.notch);
    }
    let (mut soft_low, mut soft_high) = (low.notch + width, high.notch - width);
    if soft_low > soft_high {
        soft_low = split(low.notch, high.notch, width)?;
        soft_high = soft_low;
    }
    Some(if load < soft_low {
        if low.known { soft_low } else { low.notch }
    } else if load > soft_high {
        if high.known { soft_high } else { high.notch }
    } else {
        load
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn useful(load: i64, width: i64, lower: Option<i64>, upper: Option<i64>) -> Option<i64> {
        let grid = Grid::new(1e4, 1e7, &[0.005]).unwrap();
        useful_load(&grid, load, width, Bounds { lower, upper }).unwrap()
    }

    #[test]
    fn a_load_in_the_margin_of_a_bound_moves_to_its_inner_edge() {
        assert_eq!(useful(103, 10, Some(100), Some(200)), Some(110));
        assert_eq!(useful(199, 10, Some(100), Some(200)), Some(190));
        assert_eq!(useful(150, 10, Some(100), Some(200)), Some(150));
    }

    #[test]
    fn a_load_near_an_unmeasured_limit_moves_onto_it() {
        let top = Grid::new(1e4, 1e7, &[0.005]).unwrap().top();
        assert_eq!(useful(5, 10, None, Some(200)), Some(0));
        assert_eq!(useful(top - 3, 10, Some(100), None), Some(top));
        assert_eq!(useful(top + 50, 10, Some(100), None), Some(top));
    }

    #[test]
    fn nothing_is_useful_between_bounds_that_are_close_enough() {
        assert_eq!(useful(105, 10, Some(100), Some(110)), None);
        assert_eq!(useful(90, 10, Some(100), Some(200)), None);
        assert_eq!(useful(0, 10, None, Some(0)), None);
    }

    #[test]
    fn between_one_and_two_widths_the_middle_is_useful() {
        assert_eq!(useful(101, 10, Some(100), Some(115)), Some(105));
    }
}
