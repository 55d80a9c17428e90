//! What a history says about one law of loss: weights on a grid of (middle, spread).
//!
//! ```text
//! ln a │        ⋰⋰⋰          the likeliest point first, then a grid along the axes of the
//!      │      ⋰⋰✚⋰⋰          likelihood around it, five deviations wide
//!      │      ⋰⋰⋰
//!      └──────────── ln m
//! ```
//! A trial of t seconds that lost k packets has the Poisson likelihood of mean loss(load) t. The
//! prior is even in both logarithms, within limits.

use lab_record::Outcome;

use super::models::LossFunction;
use crate::stats::minimise::minimise;
use crate::stats::special::invert;

/// Points to each side of the likeliest, on each axis.
const REACH: i32 = 6;
/// Deviations that the grid reaches to each side.
const DEVIATIONS: f64 = 5.0;
/// Spreads allowed, as shares of the middle: natural logarithms.
const LN_SHARE: (f64, f64) = (-9.0, -0.5);
/// Loss so rare that no test can tell it from none keeps likelihoods finite.
const LEAST_LOSS_PPS: f64 = 1e-9;

/// The critical load by one law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) mean_pps: f64,
    pub(super) sd_pps: f64,
}

pub(super) struct Posterior<'a> {
    function: LossFunction,
    /// Logarithms of the middles allowed.
    ln_middle: (f64, f64),
    loss_ratio: f64,
    history: &'a [Outcome],
}

impl<'a> Posterior<'a> {
    pub(super) fn new(
        function: LossFunction,
        max_pps: f64,
        loss_ratio: f64,
        history: &'a [Outcome],
    ) -> Self {
        let highest = (4.0 * max_pps).ln();
        Self { function, ln_middle: (highest - 9.0, highest), loss_ratio, history }
    }

    pub(super) fn estimate(&self) -> Estimate {
        let (likeliest, least) = self.likeliest();
        let axes = self.axes(&likeliest, least);
        let mut sums = (0.0, 0.0, 0.0);
        for row in -REACH..=REACH {
            for column in -REACH..=REACH {
                let steps = [row, column].map(|it| DEVIATIONS * f64::from(it) / f64::from(REACH));
                let along = |axis: usize| steps[0] * axes[0][axis] + steps[1] * axes[1][axis];
                let point = [likeliest[0] + along(0), likeliest[1] + along(1)];
                let weight = (least - self.misfit(&point)).exp();
                if weight > 1e-8 {
                    let load = self.critical_pps(&point);
                    sums.0 += weight;
                    sums.1 += weight * load;
                    sums.2 += weight * load * load;
                }
            }
        }
        let mean_pps = sums.1 / sums.0;
        let variance = (sums.2 / sums.0 - mean_pps * mean_pps).max(0.0);
        Estimate { mean_pps, sd_pps: variance.sqrt() }
    }

    /// The likeliest point: the best of a coarse grid, then downhill.
    fn likeliest(&self) -> ([f64; 2], f64) {
        let at = |range: (f64, f64), index: i32| {
            range.0 + (range.1 - range.0) * (f64::from(index) + 0.5) / 20.0
        };
        let coarse = (0..400).map(|it| [at(self.ln_middle, it / 20), at(LN_SHARE, it % 20)]);
        let start = coarse.min_by(|a, b| self.misfit(a).total_cmp(&self.misfit(b)));
        let start = start.unwrap_or([self.ln_middle.0, LN_SHARE.0]);
        let (near, _) = minimise(start, [0.2, 0.2], 60, |point| self.misfit(point));
        minimise(near, [0.01, 0.1], 60, |point| self.misfit(point))
    }

    /// The two axes of the likelihood around its top, one deviation long each.
    fn axes(&self, top: &[f64; 2], least: f64) -> [[f64; 2]; 2] {
        let rise = |x: f64, y: f64| self.misfit(&[top[0] + x, top[1] + y]) - least;
        // Half a nat is one deviation of a normal likelihood.
        let reach = |rise: &dyn Fn(f64) -> f64| {
            let mut step = 1e-7;
            while rise(step).max(rise(-step)) < 0.5 && step < 1.0 {
                step *= 1.5;
            }
            step
        };
        let (dx, dy) = (reach(&|x| rise(x, 0.0)), reach(&|y| rise(0.0, y)));
        // In units of dx and dy: the matrix [[a, b], [b, c]] of second derivatives.
        let bounded = |value: f64| value.clamp(1e-2, 1e2);
        let a = bounded(rise(dx, 0.0) + rise(-dx, 0.0));
        let c = bounded(rise(0.0, dy) + rise(0.0, -dy));
        let cross = rise(dx, dy) + rise(-dx, -dy) - rise(dx, -dy) - rise(-dx, dy);
        let b = (cross / 4.0).clamp(-0.999 * (a * c).sqrt(), 0.999 * (a * c).sqrt());
        let angle = 0.5 * (2.0 * b).atan2(a - c);
        let axis = |angle: f64| {
            let (sin, cos) = angle.sin_cos();
            let curvature = a * cos * cos + 2.0 * b * sin * cos + c * sin * sin;
            let length = 1.0 / curvature.max(1e-3).sqrt();
            [length * cos * dx, length * sin * dy]
        };
        [axis(angle), axis(angle + std::f64::consts::FRAC_PI_2)]
    }

    /// Minus the logarithm of the posterior, up to a constant.
    fn misfit(&self, point: &[f64; 2]) -> f64 {
        let outside =
            |value: f64, range: (f64, f64)| (range.0 - value).max(value - range.1).max(0.0);
        let beyond = outside(point[0], self.ln_middle) + outside(point[1], LN_SHARE);
        let (middle, spread) = (point[0].exp(), (point[0] + point[1]).exp());
        let of_trial = |outcome: &Outcome| {
            let loss_pps = self.function.loss_pps(outcome.trial.load_pps, middle, spread);
            let mean = loss_pps.max(LEAST_LOSS_PPS) * outcome.trial.duration_s;
            let lost = outcome.loss_ratio() * outcome.intended as f64;
            mean - lost * mean.ln()
        };
        self.history.iter().map(of_trial).sum::<f64>() + 100.0 * beyond
    }

    /// The load at which the loss ratio is met.
    fn critical_pps(&self, point: &[f64; 2]) -> f64 {
        let (middle, spread) = (point[0].exp(), (point[0] + point[1]).exp());
        let ratio = |load: f64| self.function.loss_pps(load, middle, spread) / load;
        invert(self.loss_ratio, 1e-6 * middle, 2.0 * middle, ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::Trial;

    #[test]
    fn more_trials_narrow_the_estimate_around_the_truth() {
        let device = |load_pps: f64, trial_s: f64| {
            let lost = LossFunction::Erf.loss_pps(load_pps, 1e6, 1e4) * trial_s;
            let trial = Trial::new(load_pps, trial_s);
            Outcome::of(trial, trial.packets() - lost.round() as u64)
        };
        let history: Vec<_> = (0..40).map(|k| device(9.6e5 + 2e3 * f64::from(k), 5.0)).collect();
        let estimate =
            |part: &[Outcome]| Posterior::new(LossFunction::Erf, 2e6, 1e-4, part).estimate();
        let (few, all) = (estimate(&history[..14]), estimate(&history));
        assert!(all.sd_pps < 0.75 * few.sd_pps, "{few:?} {all:?}");
        let ratio = |load: f64| LossFunction::Erf.loss_pps(load, 1e6, 1e4) / load;
        let truth = invert(1e-4, 1.0, 2e6, ratio);
        assert!((all.mean_pps / truth - 1.0).abs() < 0.002, "{truth} {all:?}");
    }

    #[test]
    fn trials_without_any_loss_still_give_a_finite_estimate() {
        let trial = Trial::new(1e6, 10.0);
        let history = [Outcome::of(trial, trial.packets()); 5];
        let estimate = Posterior::new(LossFunction::Stretch, 1e6, 1e-6, &history).estimate();
        assert!(estimate.mean_pps > 9e5 && estimate.sd_pps.is_finite(), "{estimate:?}");
    }
}
