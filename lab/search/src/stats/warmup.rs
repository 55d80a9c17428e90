//! Warm-up: how many values at the start of a series are not yet like the rest?
//!
//! White's MSER rule: drop the number of leading values after which the standard error of the mean
//! of what is left is least. If that is more than half of the series, the device was still warming
//! up when the series ended.

/// What to drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// The first values, possibly none.
    Drop(usize),
    /// More than half: the series never became steady.
    Unfinished,
}

/// How much of the start of a series is warm-up.
pub fn warmup(series: &[f64]) -> Warmup {
    let count = series.len();
    if count < 8 {
        return Warmup::Drop(0);
    }
    // Sums from the back, so that each candidate costs one step.
    let (mut sum, mut squares) = (0.0, 0.0);
    let origin = series[count - 1];
    let mut best = (f64::INFINITY, 0);
    let fewest = 4;
    for from in (0..count).rev() {
        let value = series[from] - origin;
        sum += value;
        squares += value * value;
        let kept = (count - from) as f64;
        if count - from >= fewest {
            let error = (squares - sum * sum / kept).max(0.0) / (kept * kept);
            if error <= best.0 {
                best = (error, from);
            }
        }
    }
    if best.1 > count / 2 { Warmup::Unfinished } else { Warmup::Drop(best.1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn series(start: f64, time_constant: f64) -> Vec<f64> {
        let mut random = Random::new(7);
        let value = |step: i32| start * (-f64::from(step) / time_constant).exp() + random.normal();
        (0..100).map(value).map(|value| 100.0 + value).collect()
    }

    #[test]
    fn a_cold_start_is_dropped_and_little_more() {
        let Warmup::Drop(dropped) = warmup(&series(-50.0, 4.0)) else {
            panic!("steady in the end")
        };
        assert!((12..=30).contains(&dropped), "{dropped}");
    }

    #[test]
    fn a_steady_series_keeps_almost_all() {
        let Warmup::Drop(dropped) = warmup(&series(0.0, 1.0)) else { panic!("steady all along") };
        assert!(dropped <= 15, "{dropped}");
    }

    #[test]
    fn a_series_that_still_rises_at_its_end_is_unfinished() {
        let rising: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(warmup(&rising), Warmup::Unfinished);
    }
}
