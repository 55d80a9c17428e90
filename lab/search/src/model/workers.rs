//! Throughput against the number of workers: f(w) = w t until the line is full.
//!
//! ```text
//! Mpps │        ╭────────── line rate
//!      │      ╱
//!      │    ╱   slope t: what one worker does
//!      └──────────────── workers
//! ```

use super::fit::Model;
use crate::Error;

/// Linear scaling with a ceiling.
#[derive(Debug, Clone, Copy)]
pub struct Workers {
    /// The line's rate, in the unit of the points.
    pub line_rate: f64,
}

impl Model<1> for Workers {
    const FORMULA: &'static str = "f(w) = min(w t, line rate)";
    const NAMES: [&'static str; 1] = ["t"];

    fn solve(&self, points: &[(f64, f64)]) -> Result<[f64; 1], Error> {
        // Points at the line rate say nothing of a worker.
        let below = points.iter().filter(|point| point.1 < 0.98 * self.line_rate);
        let (mut over, mut under) = (0.0, 0.0);
        for &(w, f) in below {
            over += w * f;
            under += w * w;
        }
        if under == 0.0 {
            return Err(Error::TooFew { what: "points below line rate", needed: 1, got: 0 });
        }
        Ok([over / under])
    }

    fn value(&self, &[per_worker]: &[f64; 1], w: f64) -> f64 {
        (w * per_worker).min(self.line_rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_workers_share_is_read_off_below_the_line_rate() {
        let points = [(1.0, 4.0), (2.0, 8.0), (3.0, 12.0), (4.0, 14.88), (5.0, 14.87)];
        let fit = Workers { line_rate: 14.88 }.fit(&points).unwrap();
        assert!((fit.parameters[0].1 - 4.0).abs() < 1e-12 && fit.quality.worst < 0.001);
    }

    #[test]
    fn points_at_line_rate_alone_say_nothing() {
        assert!(Workers { line_rate: 10.0 }.fit(&[(2.0, 10.0)]).is_err());
    }
}
