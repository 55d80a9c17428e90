//! The Kolmogorov-Smirnov test: does a sample come from a distribution?
//!
//! ```text
//! 1 │        ┌──╱─     D = the largest distance between the sample's steps
//!   │     ┌──┘╱            and the distribution's curve
//!   │  ┌──┘ ╱
//! 0 └──┴──╱───────
//! ```

use super::special::kolmogorov_tail;

/// The largest distance of the sample from a distribution function.
pub fn distance(sample: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let steps = sorted.iter().enumerate().map(|(index, &value)| {
        let expected = cdf(value);
        (expected - index as f64 / count).max((index as f64 + 1.0) / count - expected)
    });
    steps.fold(0.0, f64::max)
}

/// The probability of a distance at least this large, if the sample does come from it. With
/// Stephens' correction for small samples.
pub fn p_value(sample: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let root = (sample.len() as f64).sqrt();
    kolmogorov_tail((root + 0.12 + 0.11 / root) * distance(sample, cdf))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn samples_of_the_distribution_pass_as_often_as_they_should() {
        let mut random = Random::new(1);
        let failed = (0..1_000).filter(|_| {
            let sample: Vec<f64> = (0..50).map(|_| random.uniform()).collect();
            p_value(&sample, |x| x) < 0.05
        });
        let failed = failed.count();
        assert!((30..75).contains(&failed), "{failed}");
    }

    #[test]
    fn another_distribution_fails() {
        let mut random = Random::new(2);
        let sample: Vec<f64> = (0..500).map(|_| random.uniform().powf(1.3)).collect();
        assert!(p_value(&sample, |x| x) < 0.001);
    }

    #[test]
    fn the_distance_of_one_value_is_to_its_farther_side() {
        assert_eq!(distance(&[0.25], |x| x), 0.75);
    }
}
