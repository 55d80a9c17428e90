//! Drift: does a series rise or fall over its length?
//!
//! Mann-Kendall's test (are later values larger more often than chance allows?) with the
//! Theil-Sen slope (the median slope over all pairs). Neither minds outliers.

use serde::{Deserialize, Serialize};

use super::special::normal_cdf;
use super::summary::median;

/// The trend of a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Change per step, as the median over all pairs.
    pub per_step: f64,
    /// Change over the whole series as a share of its median.
    pub share: f64,
    /// Two-sided p-value of no trend.
    pub p: f64,
}

/// The trend of a series in order of time; none of fewer than eight values.
pub fn drift(series: &[f64]) -> Option<Drift> {
    let count = series.len();
    if count < 8 {
        return None;
    }
    let (mut score, mut slopes) = (0.0, Vec::with_capacity(count * (count - 1) / 2));
    for (first, &earlier) in series.iter().enumerate() {
        for (distance, &later) in series[first + 1..].iter().enumerate() {
            let rise = later - earlier;
            if rise != 0.0 {
                score += rise.signum();
            }
            slopes.push(rise / (distance as f64 + 1.0));
        }
    }
    let n = count as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    let distance = (score.abs() - 1.0).max(0.0);
    let per_step = median(&slopes);
    let middle = median(series);
    let share = if middle == 0.0 { 0.0 } else { per_step * (n - 1.0) / middle };
    Some(Drift { per_step, share, p: 2.0 * normal_cdf(-distance / variance.sqrt()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_slow_rise_under_noise_is_found_with_its_slope() {
        let mut random = Random::new(1);
        let series: Vec<f64> =
            (0..60).map(|step| 100.0 + 0.1 * f64::from(step) + random.normal()).collect();
        let drift = drift(&series).unwrap();
        assert!(drift.p < 1e-4 && (drift.per_step - 0.1).abs() < 0.03, "{drift:?}");
        assert!((drift.share - 0.057).abs() < 0.02);
    }

    #[test]
    fn noise_alone_seldom_drifts() {
        let mut random = Random::new(2);
        let alarms = (0..500).filter(|_| {
            let series: Vec<f64> = (0..20).map(|_| random.normal()).collect();
            drift(&series).unwrap().p < 0.01
        });
        assert!(alarms.count() <= 12);
    }

    #[test]
    fn a_constant_series_does_not_drift() {
        assert_eq!(drift(&[3.0; 10]).unwrap().p, 1.0);
        assert_eq!(drift(&[3.0; 7]), None);
    }
}
