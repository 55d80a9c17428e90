//! The two laws of loss that a soak test fits: packets lost per second as a function of the load.
//!
//! ```text
//! loss │            ╱   slope 1: all surplus is lost      m  the middle: the capacity
//!      │          ╱                                       a  the spread: how gradually loss sets in
//!      │      _.-'                                        z = (load - m) / a
//!      │___--─┼───────
//!             m        load
//! ```
//! Both are the mean surplus of a load over a capacity that fluctuates: by a logistic law
//! (`Stretch`: a ln(1 + e^z), heavy tail) or by a normal one (`Erf`: a (z Φ(z) + φ(z)), light
//! tail). Minus their value at no load, where nothing can be lost.

use crate::stats::special::{normal_cdf, normal_density};

/// A law of loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossFunction {
    /// Logistic fluctuation.
    Stretch,
    /// Normal fluctuation.
    Erf,
}

impl LossFunction {
    /// Packets lost per second at a load, for a middle and a spread.
    pub fn loss_pps(self, load_pps: f64, middle_pps: f64, spread_pps: f64) -> f64 {
        let at = |load_pps: f64| spread_pps * self.unit((load_pps - middle_pps) / spread_pps);
        (at(load_pps) - at(0.0)).max(0.0)
    }

    fn unit(self, z: f64) -> f64 {
        match self {
            Self::Stretch if z > 30.0 => z,
            Self::Stretch => z.exp().ln_1p(),
            // Where the two terms cancel, their asymptotic difference.
            Self::Erf if z < -6.0 => normal_density(z) / (z * z) * (1.0 - 3.0 / (z * z)),
            Self::Erf => z * normal_cdf(z) + normal_density(z),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_above_the_middle_all_surplus_is_lost_and_far_below_nothing() {
        for function in [LossFunction::Stretch, LossFunction::Erf] {
            assert!((function.loss_pps(2e6, 1e6, 1e4) - 1e6).abs() < 1.0);
            assert!(function.loss_pps(5e5, 1e6, 1e4) < 1e-12);
            assert_eq!(function.loss_pps(0.0, 1e6, 5e5), 0.0);
        }
    }

    #[test]
    fn loss_rises_smoothly_with_the_load() {
        for function in [LossFunction::Stretch, LossFunction::Erf] {
            let losses: Vec<f64> =
                (500..1_200).map(|k| function.loss_pps(f64::from(k) * 1e3, 1e6, 3e4)).collect();
            assert!(losses.is_sorted_by(|a, b| a < b), "{function:?}");
        }
    }
}
