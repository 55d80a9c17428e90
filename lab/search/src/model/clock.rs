//! Throughput against the processor's clock.
//!
//! ```text
//! one term   f = (0.9 c / c_max + 0.1) p_max       the source's: a straight line
//! two terms  1 / f = C / c + M                     C cycles of work, M seconds of waiting for memory
//! ```
//! Memory does not run on the processor's clock: the two-term form says so, fits the same table,
//! and its parameters mean something (cycles and nanoseconds per packet).

use super::fit::Model;
use super::linear::least_squares;
use crate::Error;

/// The source's line, with the maximum rate as the only parameter. Clocks in GHz.
#[derive(Debug, Clone, Copy)]
pub struct OneTerm {
    /// The highest clock.
    pub max_ghz: f64,
}

impl Model<1> for OneTerm {
    const FORMULA: &'static str = "f(c) = (0.9 c/c_max + 0.1) p_max";
    const NAMES: [&'static str; 1] = ["p_max"];

    fn solve(&self, points: &[(f64, f64)]) -> Result<[f64; 1], Error> {
        let row = |&(c, f): &(f64, f64)| ([0.9 * c / self.max_ghz + 0.1], f, 1.0);
        least_squares(&points.iter().map(row).collect::<Vec<_>>())
    }

    fn value(&self, &[p_max]: &[f64; 1], c: f64) -> f64 {
        (0.9 * c / self.max_ghz + 0.1) * p_max
    }
}

/// Cycles plus memory time. Clocks in GHz, rates in Mpps: C is in cycles per packet / 1000 and M in
/// microseconds.
#[derive(Debug, Clone, Copy)]
pub struct TwoTerm;

impl Model<2> for TwoTerm {
    const FORMULA: &'static str = "1/f(c) = C/c + M";
    const NAMES: [&'static str; 2] = ["C", "M"];

    fn solve(&self, points: &[(f64, f64)]) -> Result<[f64; 2], Error> {
        // Weights f² make the errors of 1/f relative ones.
        let row = |&(c, f): &(f64, f64)| ([1.0 / c, 1.0], 1.0 / f, f * f);
        least_squares(&points.iter().map(row).collect::<Vec<_>>())
    }

    fn value(&self, &[cycles, memory]: &[f64; 2], c: f64) -> f64 {
        1.0 / (cycles / c + memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reference::{CLOCKS_GHZ, VPP_MPPS};

    #[test]
    fn cycles_and_memory_time_are_recovered() {
        let points: Vec<_> =
            [1.6, 2.4, 3.2].map(|c: f64| (c, 1.0 / (0.25 / c + 0.02))).into_iter().collect();
        let fit = TwoTerm.fit(&points).unwrap();
        assert!(
            (fit.parameters[0].1 - 0.25).abs() < 1e-9 && (fit.parameters[1].1 - 0.02).abs() < 1e-9
        );
        assert!(fit.quality.r2 > 0.999_999);
    }

    #[test]
    fn the_two_term_form_describes_the_sources_table_at_least_as_well() {
        let points = |row: &[f64; 3]| CLOCKS_GHZ.into_iter().zip(*row).collect::<Vec<_>>();
        let (mut one, mut two) = (0.0, 0.0);
        for (_, row) in &VPP_MPPS {
            let points = points(row);
            let left = |residuals: &[f64]| residuals.iter().map(|it| it * it).sum::<f64>();
            one += left(&OneTerm { max_ghz: 3.2 }.fit(&points).unwrap().quality.residuals);
            two += left(&TwoTerm.fit(&points).unwrap().quality.residuals);
        }
        assert!(two < one, "{two} {one}");
    }
}
