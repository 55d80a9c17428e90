//! Throughput against the share of time that lookups take: f = t_max (1 - d).
//!
//! ```text
//! Mpps │╲            t_max: the rate if lookups were free
//!      │  ╲
//!      │    ╲        d = share of the processor's time in lookup nodes
//!      └──────╲── d
//!      0       1
//! ```

use super::fit::Model;
use super::linear::least_squares;
use crate::Error;

/// The line through (share, rate) that ends at (1, 0).
#[derive(Debug, Clone, Copy)]
pub struct LookupShare;

impl Model<1> for LookupShare {
    const FORMULA: &'static str = "f(d) = t_max (1 - d)";
    const NAMES: [&'static str; 1] = ["t_max"];

    fn solve(&self, points: &[(f64, f64)]) -> Result<[f64; 1], Error> {
        least_squares(&points.iter().map(|&(d, f)| ([1.0 - d], f, 1.0)).collect::<Vec<_>>())
    }

    fn value(&self, &[t_max]: &[f64; 1], d: f64) -> f64 {
        t_max * (1.0 - d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_with_free_lookups_is_extrapolated() {
        let fit = LookupShare.fit(&[(0.1, 9.0), (0.25, 7.5), (0.6, 4.0)]).unwrap();
        assert!((fit.parameters[0].1 - 10.0).abs() < 1e-12 && fit.held_out.unwrap() < 1e-12);
    }
}
