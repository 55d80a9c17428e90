//! Mean, spread, quantiles, and the interval that a mean comes with.

pub use lab_record::Interval;
use serde::{Deserialize, Serialize};

use super::special::student_quantile;
use crate::Error;

/// A sample in short. A result never stands alone: count and spread go with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the sample.
    pub sd: f64,
    /// Smallest value.
    pub min: f64,
    /// The middle value; of an even number, the mean of the middle two.
    pub median: f64,
    /// Largest value.
    pub max: f64,
    /// 95 % interval of the mean (Student's), as wide as the line for a single value.
    pub mean_95: Interval,
}

impl Summary {
    /// Summarises one value or more.
    pub fn of(values: &[f64]) -> Result<Self, Error> {
        let count = values.len();
        if count == 0 {
            return Err(Error::TooFew { what: "a summary", needed: 1, got: 0 });
        }
        let (mean, sd) = (mean(values), deviation(values));
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let half = if count > 1 {
            student_quantile(0.975, count as f64 - 1.0) * sd / (count as f64).sqrt()
        } else {
            f64::INFINITY
        };
        Ok(Self {
            count,
            mean,
            sd,
            min: sorted[0],
            median: quantile(&sorted, 0.5),
            max: sorted[count - 1],
            mean_95: Interval { low: mean - half, high: mean + half },
        })
    }
}

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The standard deviation of the sample; 0 of fewer than two values.
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// A quantile of sorted values, between neighbours in proportion; 0 of nothing.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The median of values in any order.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// The median distance from the median, scaled to the standard deviation of a normal sample.
pub fn robust_deviation(values: &[f64]) -> f64 {
    let middle = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.482_602_218_505_602 * median(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_five_values() {
        let summary = Summary::of(&[5.0, 1.0, 2.0, 4.0, 3.0]).unwrap();
        assert_eq!((summary.mean, summary.median, summary.min, summary.max), (3.0, 3.0, 1.0, 5.0));
        let half = 2.776_445 * 2.5f64.sqrt() / 5f64.sqrt();
        assert!((summary.mean_95.high - 3.0 - half).abs() < 1e-5);
    }

    #[test]
    fn a_single_value_says_nothing_of_its_error() {
        assert!(Summary::of(&[1.0]).unwrap().mean_95.contains(-1e300));
        assert!(Summary::of(&[]).is_err());
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!((median(&[4.0, 1.0]), robust_deviation(&[1.0, 1.0, 9.0])), (2.5, 0.0));
    }
}
