//! The mean of a number of which each run only tells two bounds.
//!
//! ```text
//! run 1   ├────────┤               of each run: P(between its bounds | mean, deviation)
//! run 2       ├────────┤           all together, over a grid of means and deviations: where the
//! run 3   ├────────┤               mean lies with 95 %
//!           ╰──95 %──╯
//! ```
//! Student's interval of the middles would be too narrow where all runs fall between the same two
//! loads, as if that they agree were all there is to know; the hull of the bounds' own intervals is
//! too wide where they do not. Runs are taken for normal; deviations of every order of magnitude
//! for equally likely, from a share of the bounds' distance on: below that nobody could tell.

use lab_record::Interval;

use super::special::normal_cdf;
use super::summary::{Summary, deviation, mean};

/// Means and deviations of the grid.
const MEANS: usize = 300;
const DEVIATIONS: usize = 16;
/// The smallest deviation, as a share of the mean distance between bounds.
const LEAST: f64 = 0.2;

/// The 95 % interval of the mean; none of fewer than three runs.
pub fn mean_95(lows: &[f64], highs: &[f64]) -> Option<Interval> {
    let (low, high) = (Summary::of(lows).ok()?, Summary::of(highs).ok()?);
    let widths: Vec<f64> = lows.iter().zip(highs).map(|(low, high)| high - low).collect();
    let width = mean(&widths);
    if low.count < 3 {
        return None;
    }
    let middles: Vec<f64> = lows.iter().zip(highs).map(|(l, h)| l.midpoint(*h)).collect();
    if width <= 0.0 {
        return Some(low.mean_95);
    }
    // Far beyond the ends: what lies there counts.
    let margin = width + 2.0 * (low.mean_95.high - low.mean).max(high.mean_95.high - high.mean);
    let (from, to) = (low.mean_95.low - margin, high.mean_95.high + margin);
    let sd = deviation(&middles);
    let (least, most) = ((LEAST * width).max(sd / 6.0), 10.0 * (sd + width));
    let logs: Vec<Vec<f64>> = (0..DEVIATIONS)
        .map(|at| {
            let sd = least * (most / least).powf(at as f64 / (DEVIATIONS - 1) as f64);
            let log = |index: usize| {
                let mean = from + (to - from) * (index as f64 + 0.5) / MEANS as f64;
                let bounds = lows.iter().zip(highs);
                let share = |(low, high): (&f64, &f64)| {
                    let (a, b) = ((low - mean) / sd, (high - mean) / sd);
                    // Of the upper tail its mirror, where shares near 1 would lose their digits.
                    let inside = match a > 0.0 {
                        true => normal_cdf(-a) - normal_cdf(-b),
                        false => normal_cdf(b) - normal_cdf(a),
                    };
                    inside.max(1e-300).ln()
                };
                bounds.map(share).sum::<f64>()
            };
            (0..MEANS).map(log).collect()
        })
        .collect();
    let largest = logs.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |index: usize| logs.iter().map(|it| (it[index] - largest).exp()).sum::<f64>();
    let weights: Vec<f64> = (0..MEANS).map(weight).collect();
    let quantile = |share: f64| {
        let mut left = share * weights.iter().sum::<f64>();
        let step = (to - from) / MEANS as f64;
        for (index, weight) in weights.iter().enumerate() {
            if left < *weight {
                return from + step * (index as f64 + left / weight);
            }
            left -= weight;
        }
        to
    };
    Some(Interval { low: quantile(0.025), high: quantile(0.975) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_between_the_same_two_loads_leave_most_of_what_lies_between_them() {
        let found = mean_95(&[100.0; 10], &[110.0; 10]).unwrap();
        assert!(found.low > 100.0 && found.low < 102.5, "{found:?}");
        assert!(found.high < 110.0 && found.high > 107.5, "{found:?}");
    }

    #[test]
    fn runs_that_spread_far_more_than_their_bounds_are_a_plain_sample() {
        let lows = [90.0, 95.0, 100.0, 105.0, 110.0];
        let highs = lows.map(|low| low + 0.01);
        let (found, plain) = (mean_95(&lows, &highs).unwrap(), Summary::of(&lows).unwrap().mean_95);
        assert!((found.low / plain.low - 1.0).abs() < 0.02, "{found:?} {plain:?}");
        assert!((found.high / plain.high - 1.0).abs() < 0.02, "{found:?} {plain:?}");
        assert_eq!(mean_95(&lows, &lows), Some(plain));
    }

    #[test]
    fn two_runs_have_no_interval() {
        assert_eq!(mean_95(&[1.0, 2.0], &[2.0, 3.0]), None);
        assert_eq!(mean_95(&[], &[]), None);
    }
}
