//! Trends: a series of results cut into groups by minimum description length.
//!
//! ```text
//! 9.1 9.2 9.1 9.2 | 8.4 8.5 8.4 | 9.3 9.2          | = a change worth its description
//! ```
//! A group costs its size, its mean, its spread, and where its values lie given those: on a sphere
//! around the mean, whose surface grows with the spread. A cut is made only if describing two
//! groups is shorter than describing one. The best cuts come by dynamic programming, not greedily.
//! The idea is that of the `jumpavg` package; here the group before does not matter to the next.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::special::ln_gamma;
use super::summary::mean;

/// Resolution of a value: the largest of the series over 2^this.
const BITS_PER_VALUE: i32 = 13;

/// Neighbouring values that look like one population.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Index of the first value.
    pub from: usize,
    /// Number of values.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (of the population).
    pub sd: f64,
}

/// Cuts a series, in order of time, into groups. Values are positive (rates, times).
pub fn groups(series: &[f64]) -> Vec<Group> {
    let largest = series.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        let whole = Group { from: 0, count: series.len(), mean: mean(series), sd: 0.0 };
        return if series.is_empty() { Vec::new() } else { vec![whole] };
    }
    let unit = largest / 2f64.powi(BITS_PER_VALUE);
    // best[n] = (bits of the first n values, start of their last group)
    let mut best = vec![(0.0, 0)];
    for end in 1..=series.len() {
        let mut moments = Moments::default();
        let mut record = (f64::INFINITY, 0);
        for from in (0..end).rev() {
            moments.add(series[from] / unit);
            let bits = best[from].0 + moments.bits(largest / unit);
            if bits < record.0 {
                record = (bits, from);
            }
        }
        best.push(record);
    }
    let mut found = Vec::new();
    let mut end = series.len();
    while end > 0 {
        let from = best[end].1;
        let mut moments = Moments::default();
        series[from..end].iter().for_each(|&value| moments.add(value));
        found.push(Group { from, count: end - from, mean: moments.mean, sd: moments.sd() });
        end = from;
    }
    found.reverse();
    found
}

#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.count;
        self.squares += distance * (value - self.mean);
    }

    fn sd(&self) -> f64 {
        (self.squares / self.count).max(0.0).sqrt()
    }

    /// Bits to describe the group; values in units of the resolution, at most `largest`.
    fn bits(&self, largest: f64) -> f64 {
        let n = self.count;
        // The count by a prior of 1/(n(n+1)), the mean by a uniform one.
        let mut nats = (n * (n + 1.0)).ln() + (largest + 1.0).ln();
        if n >= 2.0 {
            let sd = self.sd();
            // The spread by a prior of 1/((s+1)(s+2)), then the place on the sphere of n - 2
            // dimensions with that radius.
            nats += ((sd + 1.0) * (sd + 2.0)).ln();
            let half = (n - 1.0) / 2.0;
            nats += 2f64.ln() + half * PI.ln() - ln_gamma(half);
            nats += (n - 2.0) * ((sd + 1.0).ln() + 0.5 * n.ln());
        }
        nats / 2f64.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn cuts(levels: &[(usize, f64)], noise: f64, seed: u64) -> Vec<usize> {
        let mut random = Random::new(seed);
        let mut series = Vec::new();
        for &(count, level) in levels {
            series.extend((0..count).map(|_| level * (1.0 + noise * random.normal())));
        }
        groups(&series).iter().skip(1).map(|group| group.from).collect()
    }

    #[test]
    fn a_regression_and_its_repair_are_cut_where_they_happened() {
        assert_eq!(cuts(&[(20, 9.2), (10, 8.7), (15, 9.2)], 0.004, 1), [20, 30]);
    }

    #[test]
    fn a_steady_series_is_one_group() {
        let cut = (0..50).filter(|&seed| !cuts(&[(40, 9.2)], 0.01, seed).is_empty());
        assert!(cut.count() <= 2);
    }

    #[test]
    fn a_lone_outlier_is_described_apart_and_the_rest_stays_together() {
        let mut series = vec![10.0, 10.01, 9.99, 10.0, 10.02, 9.98, 10.0, 10.01, 9.99, 10.0];
        series.extend([5.0, 10.0, 9.99, 10.01, 10.0, 10.0, 9.99, 10.01, 10.02, 9.98]);
        let found = groups(&series);
        assert!(found.iter().any(|group| group.count == 1 && group.mean == 5.0), "{found:?}");
    }

    #[test]
    fn nothing_and_zeros_are_no_trouble() {
        assert!(groups(&[]).is_empty());
        assert_eq!(groups(&[0.0, 0.0])[0].count, 2);
    }
}
