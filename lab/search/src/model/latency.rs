//! Latency against load: l(t) = a - b (1 - t/t_max)^(t_max / (k t)).
//!
//! ```text
//! us │              │      the source: a = 59, b = 62, k = 8, in microseconds
//!    │             ╱
//!    │________---╱         flat while there is time to spare, steep where the queue fills
//!    └──────────────── t / t_max
//! ```

use super::fit::{Model, Quality};
use crate::Error;
use crate::stats::minimise::minimise;

/// The source's parameters.
pub const SOURCE: [f64; 3] = [59.0, 62.0, 8.0];

/// The curve; x is load over the maximum, y microseconds.
#[derive(Debug, Clone, Copy)]
pub struct LatencyCurve;

impl LatencyCurve {
    /// How well the source's own parameters describe the points.
    pub fn source_quality(&self, points: &[(f64, f64)]) -> Quality {
        Quality::of(points, |share| self.value(&SOURCE, share))
    }
}

impl Model<3> for LatencyCurve {
    const FORMULA: &'static str = "l(t) = a - b (1 - t/t_max)^(t_max/(k t))";
    const NAMES: [&'static str; 3] = ["a", "b", "k"];

    fn solve(&self, points: &[(f64, f64)]) -> Result<[f64; 3], Error> {
        if points.len() < 3 {
            return Err(Error::TooFew { what: "a latency curve", needed: 3, got: points.len() });
        }
        let top = points.iter().map(|point| point.1).fold(0.0, f64::max);
        // k by its logarithm, so that it stays above 0.
        let free = |p: &[f64; 3]| [p[0], p[1], p[2].exp()];
        let misfit = |p: &[f64; 3]| {
            points.iter().map(|&(x, y)| (y - self.value(&free(p), x)).powi(2)).sum::<f64>()
        };
        let start = [top, top, SOURCE[2].ln()];
        let (near, _) = minimise(start, [0.3 * top, 0.3 * top, 1.0], 400, misfit);
        let (found, _) = minimise(near, [0.05 * top, 0.05 * top, 0.2], 400, misfit);
        Ok(free(&found))
    }

    fn value(&self, &[a, b, k]: &[f64; 3], share: f64) -> f64 {
        let share = share.clamp(1e-6, 1.0);
        a - b * (1.0 - share).powf(1.0 / (k * share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_curve_is_recovered_from_its_own_points() {
        let points: Vec<(f64, f64)> = (1..=19)
            .map(|step| f64::from(step) / 20.0)
            .map(|share| (share, LatencyCurve.value(&SOURCE, share)))
            .collect();
        let fit = LatencyCurve.fit(&points).unwrap();
        for ((name, got), expected) in fit.parameters.iter().zip(SOURCE) {
            assert!((got / expected - 1.0).abs() < 0.02, "{name} = {got}");
        }
        assert!(fit.quality.r2 > 0.9999 && fit.held_out.unwrap() < 0.02);
        assert!(LatencyCurve.source_quality(&points).r2 > 0.999_999);
    }

    #[test]
    fn latency_rises_with_load() {
        let curve: Vec<f64> =
            (1..100).map(|it| LatencyCurve.value(&SOURCE, f64::from(it) / 100.0)).collect();
        assert!(curve[98] > curve[0] && curve[50..].is_sorted());
    }
}
