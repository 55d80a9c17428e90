//! Bootstrap intervals: how much a statistic varies when the sample is drawn from itself.
//!
//! Bias-corrected and accelerated (Efron 1987): the percentiles that are read off the resamples are
//! moved by the median bias and by the skew that leaving out one value at a time shows.

use lab_record::Interval;

use super::special::{normal_cdf, normal_quantile};
use super::summary::{mean, quantile};
use crate::Error;
use crate::random::Random;

/// Resamples drawn for an interval.
const RESAMPLES: usize = 2_000;

/// The interval of `statistic` over `values`, with this confidence.
pub fn interval(
    values: &[f64],
    confidence: f64,
    seed: u64,
    statistic: impl Fn(&[f64]) -> f64,
) -> Result<Interval, Error> {
    let count = values.len();
    if count < 3 {
        return Err(Error::TooFew { what: "a bootstrap interval", needed: 3, got: count });
    }
    let observed = statistic(values);
    let mut random = Random::new(seed);
    let mut sample = vec![0.0; count];
    let mut replicates: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            sample.fill_with(|| values[random.below(count as u64) as usize]);
            statistic(&sample)
        })
        .collect();
    replicates.sort_by(f64::total_cmp);
    if replicates[0] == replicates[RESAMPLES - 1] {
        return Ok(Interval { low: observed, high: observed });
    }
    let below = replicates.partition_point(|&value| value < observed);
    let bias = normal_quantile((below as f64 / RESAMPLES as f64).clamp(0.001, 0.999));
    let skew = acceleration(values, &statistic);
    let at = |z: f64| {
        let moved = bias + z;
        quantile(&replicates, normal_cdf(bias + moved / (1.0 - skew * moved)))
    };
    let z = normal_quantile(0.5 + confidence / 2.0);
    Ok(Interval { low: at(-z), high: at(z) })
}

/// The interval of the mean.
pub fn mean_interval(values: &[f64], confidence: f64, seed: u64) -> Result<Interval, Error> {
    interval(values, confidence, seed, mean)
}

/// A sixth of the skewness of the statistic with each value left out in turn.
fn acceleration(values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> f64 {
    let mut rest = values[1..].to_vec();
    let mut left_out = Vec::with_capacity(values.len());
    for index in 0..values.len() {
        left_out.push(statistic(&rest));
        if index < rest.len() {
            rest[index] = values[index];
        }
    }
    let middle = mean(&left_out);
    let power = |exponent: i32| -> f64 {
        left_out.iter().map(|value| (middle - value).powi(exponent)).sum()
    };
    let spread = power(2).powf(1.5);
    if spread > 0.0 { power(3) / (6.0 * spread) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(draw: impl Fn(&mut Random) -> f64, truth: f64) -> f64 {
        let mut random = Random::new(1);
        let held = (0..400).filter(|&seed| {
            let values: Vec<f64> = (0..25).map(|_| draw(&mut random)).collect();
            mean_interval(&values, 0.95, seed).unwrap().contains(truth)
        });
        held.count() as f64 / 400.0
    }

    #[test]
    fn the_mean_lies_in_nineteen_of_twenty_intervals() {
        let normal = coverage(|random| 10.0 + random.normal(), 10.0);
        assert!((0.90..=0.98).contains(&normal), "{normal}");
        let skewed = coverage(|random| random.exponential(), 1.0);
        assert!((0.87..=0.98).contains(&skewed), "{skewed}");
    }

    #[test]
    fn a_constant_sample_has_no_width_and_a_tiny_one_no_interval() {
        let interval = mean_interval(&[2.0; 5], 0.95, 1).unwrap();
        assert_eq!((interval.low, interval.high), (2.0, 2.0));
        assert!(mean_interval(&[1.0, 2.0], 0.95, 1).is_err());
    }
}
