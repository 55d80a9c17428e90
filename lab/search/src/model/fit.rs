//! What a fit says of itself: parameters, goodness, residuals, and the error where it did not look.
//!
//! ```text
//! R² = 1 - Σ (y - f)² / Σ (y - mean)²
//! held-out error: leave each point out, fit the rest, predict it; the root mean square, relative
//! ```

use serde::{Deserialize, Serialize};

use crate::Error;

/// How well a formula describes points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Share of the variance explained; negative for a formula worse than the mean.
    pub r2: f64,
    /// Measured minus modelled, point by point.
    pub residuals: Vec<f64>,
    /// Largest relative residual.
    pub worst: f64,
}

impl Quality {
    /// Judges a formula on (x, y) points.
    pub fn of(points: &[(f64, f64)], formula: impl Fn(f64) -> f64) -> Self {
        let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len().max(1) as f64;
        let residuals: Vec<f64> = points.iter().map(|&(x, y)| y - formula(x)).collect();
        let left: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let all: f64 = points.iter().map(|point| (point.1 - mean).powi(2)).sum();
        let relative = points.iter().zip(&residuals).map(|(&(_, y), it)| (it / y).abs());
        let r2 = if all > 0.0 { 1.0 - left / all } else { f64::from(left == 0.0) };
        Self { r2, worst: relative.fold(0.0, f64::max), residuals }
    }
}

/// A fitted formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The formula, in words that a reader can compute with.
    pub formula: String,
    /// Name and value of each parameter.
    pub parameters: Vec<(String, f64)>,
    /// On the points that it was fitted to.
    pub quality: Quality,
    /// Root mean square relative error on points left out, where there are enough to leave any out.
    pub held_out: Option<f64>,
}

/// A formula with parameters to find.
pub trait Model<const N: usize> {
    /// The formula in words.
    const FORMULA: &'static str;
    /// Names of the parameters.
    const NAMES: [&'static str; N];

    /// The parameters that describe the points best.
    fn solve(&self, points: &[(f64, f64)]) -> Result<[f64; N], Error>;

    /// The formula's value.
    fn value(&self, parameters: &[f64; N], x: f64) -> f64;

    /// Fits, and judges the fit.
    fn fit(&self, points: &[(f64, f64)]) -> Result<Fit, Error> {
        let parameters = self.solve(points)?;
        let quality = Quality::of(points, |x| self.value(&parameters, x));
        let names = Self::NAMES.iter().map(|name| (*name).to_owned());
        Ok(Fit {
            formula: Self::FORMULA.to_owned(),
            parameters: names.zip(parameters).collect(),
            quality,
            held_out: self.held_out(points),
        })
    }

    /// The error on each point by a fit of the others; none where the others do not suffice.
    fn held_out(&self, points: &[(f64, f64)]) -> Option<f64> {
        let mut squares = 0.0;
        for (index, &(x, y)) in points.iter().enumerate() {
            let others = points.iter().enumerate().filter(|&(other, _)| other != index);
            let others: Vec<_> = others.map(|(_, &point)| point).collect();
            if others.len() < N {
                return None;
            }
            let parameters = self.solve(&others).ok()?;
            squares += ((y - self.value(&parameters, x)) / y).powi(2);
        }
        Some((squares / points.len() as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Constant;

    impl Model<1> for Constant {
        const FORMULA: &'static str = "y = c";
        const NAMES: [&'static str; 1] = ["c"];

        fn solve(&self, points: &[(f64, f64)]) -> Result<[f64; 1], Error> {
            Ok([points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64])
        }

        fn value(&self, parameters: &[f64; 1], _: f64) -> f64 {
            parameters[0]
        }
    }

    #[test]
    fn the_mean_explains_nothing_and_its_held_out_error_is_larger_than_its_residuals() {
        let fit = Constant.fit(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]).unwrap();
        assert_eq!((fit.quality.r2, fit.parameters[0].1), (0.0, 2.0));
        assert_eq!(fit.quality.residuals, [-1.0, 0.0, 1.0]);
        assert!(fit.held_out.unwrap() > fit.quality.worst / 2.0);
    }

    #[test]
    fn one_point_leaves_none_to_fit_when_it_is_held_out() {
        assert_eq!(Constant.fit(&[(0.0, 1.0)]).unwrap().held_out, None);
    }
}
