//! Soak (PLRsearch): the load at which a tiny loss ratio is met on average, over hours.
//!
//! ```text
//! trial 1: largest load ▶ trial 2: its forwarding rate ▶ trial n: the estimate so far, a little
//!          longer each time, a spread higher after a trial without loss ─▶ … until the time is up
//! ```
//! NDR searches judge a load by trials of seconds and cannot see one loss a minute. Here every
//! trial moves a posterior over two loss models (draft-vpolak-bmwg-plrsearch), from which the
//! critical load comes with its standard deviation. The posterior lives on a fixed grid, not on
//! random samples: the same history gives the same answer, bit for bit.

mod models;
mod posterior;

use lab_record::{Outcome, Trial};
pub use models::LossFunction;
use posterior::{Estimate, Posterior};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Found, Kind, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind { duration_sum_s: USUAL_S, ..Kind::new("soak", pursue) };

/// Half an hour.
const USUAL_S: f64 = 1_800.0;
/// A soak shorter than this knows nothing.
const SHORTEST_S: f64 = 60.0;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    // Trials of under a second make all of it as much shorter.
    let share = terms.trial_s.min(1.0);
    let total_s = terms.duration_sum_s.max(SHORTEST_S * share);
    let usual = Soak::usual(terms.max_pps);
    let first_trial_s = usual.first_trial_s * share;
    let trial_growth_s = usual.trial_growth_s * share;
    let mut search = Soak { total_s, first_trial_s, trial_growth_s, ..usual };
    let SoakAnswer { critical_pps, sd_pps, .. } = finish(&mut search, stand, "the critical load")?;
    let found = Found::between("critical", (critical_pps - sd_pps).max(0.0), critical_pps + sd_pps);
    Ok(vec![Found { loss_ratio: search.loss_ratio, ..found }].into())
}

/// A soak test.
#[derive(Debug, Clone, PartialEq)]
pub struct Soak {
    /// Largest load.
    pub max_pps: f64,
    /// The loss ratio whose load is sought, such as 1e-7.
    pub loss_ratio: f64,
    /// Length of the first trial.
    pub first_trial_s: f64,
    /// What each trial is longer than the one before.
    pub trial_growth_s: f64,
    /// Time after which no trial is begun.
    pub total_s: f64,
}

impl Soak {
    /// Half an hour for a loss ratio of 1e-7.
    pub fn usual(max_pps: f64) -> Self {
        let (first_trial_s, trial_growth_s) = (5.1, 0.1);
        Self { max_pps, loss_ratio: 1e-7, first_trial_s, trial_growth_s, total_s: 1_800.0 }
    }
}

/// What a soak test found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoakAnswer {
    /// The critical load, mean over both models.
    pub critical_pps: f64,
    /// Its standard deviation, the disagreement of the models included.
    pub sd_pps: f64,
    /// Each model's own mean.
    pub by_model_pps: [f64; 2],
    /// Trials made.
    pub trials: usize,
}

impl Soak {
    fn estimates(&self, history: &[Outcome]) -> [Estimate; 2] {
        [LossFunction::Stretch, LossFunction::Erf].map(|function| {
            Posterior::new(function, self.max_pps, self.loss_ratio, history).estimate()
        })
    }
}

impl Search for Soak {
    type Answer = SoakAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<SoakAnswer>, Error> {
        if !(self.loss_ratio > 0.0 && self.loss_ratio < 1.0) {
            let range = "between 0 and 1: a soak test models loss, it cannot seek none";
            return Err(Error::Parameter {
                what: "soak loss ratio",
                value: self.loss_ratio,
                range,
            });
        }
        let spent_s: f64 = history.iter().map(|outcome| outcome.elapsed_s).sum();
        let trial_s = self.first_trial_s + self.trial_growth_s * history.len() as f64;
        let done = spent_s + trial_s > self.total_s && history.len() >= 2;
        let Some(last) = history.last() else {
            return Ok(Step::Measure(Trial::new(self.max_pps, trial_s)));
        };
        if history.len() == 1 {
            let rate_pps = last.forwarding_pps().clamp(1e-3 * self.max_pps, self.max_pps);
            return Ok(Step::Measure(Trial::new(rate_pps, trial_s)));
        }
        let both = self.estimates(history);
        let critical_pps = (both[0].mean_pps * both[1].mean_pps).sqrt();
        let apart_pps = (both[0].mean_pps - both[1].mean_pps) / 2.0;
        let variance = both.iter().map(|it| it.sd_pps * it.sd_pps).sum::<f64>() / 2.0;
        let sd_pps = (variance + apart_pps * apart_pps).sqrt();
        if done {
            let by_model_pps = both.map(|estimate| estimate.mean_pps);
            let trials = history.len();
            return Ok(Step::Done(SoakAnswer { critical_pps, sd_pps, by_model_pps, trials }));
        }
        let lossless = last.loss_ratio() == 0.0;
        let load_pps = critical_pps + if lossless { sd_pps } else { 0.0 };
        Ok(Step::Measure(Trial::new(load_pps.min(self.max_pps), trial_s)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::search::{Budget, run};

    /// A device whose loss follows `function` exactly, each packet on its own.
    fn soak(function: LossFunction, loss_ratio: f64, seed: u64) -> (f64, SoakAnswer) {
        let (middle_pps, spread_pps) = (1e6, 2e4);
        let loss = |load_pps: f64| function.loss_pps(load_pps, middle_pps, spread_pps);
        let truth = crate::stats::special::invert(loss_ratio, 1.0, 2e6, |load| loss(load) / load);
        let mut random = Random::new(seed);
        let mut search = Soak { loss_ratio, total_s: 200.0, ..Soak::usual(2e6) };
        let measured = run(&mut search, Budget::default(), |trial| {
            let lost = random.poisson(loss(trial.load_pps) * trial.duration_s);
            Ok(Outcome::of(trial, trial.packets().saturating_sub(lost)))
        });
        (truth, measured.unwrap().0)
    }

    #[test]
    fn the_critical_load_is_found_within_its_error_for_either_law_of_loss() {
        for function in [LossFunction::Stretch, LossFunction::Erf] {
            let (truth, answer) = soak(function, 1e-5, 1);
            let error = (answer.critical_pps - truth).abs();
            assert!(error < 3.0 * answer.sd_pps && error < 0.03 * truth, "{truth} {answer:?}");
        }
    }

    #[test]
    fn a_soak_in_short_has_shorter_trials_and_no_load_below_nothing() {
        use crate::search::kind::testing::terms;
        use crate::sim::{Device, Model};
        struct Short(Device, Vec<f64>);
        impl crate::search::Stand for Short {
            fn measure(&mut self, trial: Trial) -> Result<Outcome, Error> {
                self.1.push(trial.duration_s);
                Ok(self.0.measure(trial))
            }
        }
        let mut stand = Short(Device::new(Model::quiet(3e4), 1), Vec::new());
        let short = Terms { trial_s: 0.05, duration_sum_s: 0.2, ..terms() };
        let found = pursue(&short, &mut stand).unwrap().rates;
        assert!(found[0].low_pps >= 0.0 && found[0].high_pps > 0.0, "{found:?}");
        assert!(stand.1[0] < 0.3 && stand.1.iter().sum::<f64>() <= 3.0 + 0.5, "{:?}", stand.1);
    }

    #[test]
    fn the_same_history_gives_the_same_answer_to_the_bit() {
        assert_eq!(soak(LossFunction::Erf, 1e-5, 2).1, soak(LossFunction::Erf, 1e-5, 2).1);
    }

    #[test]
    fn no_loss_at_all_cannot_be_soaked_for() {
        let mut search = Soak { loss_ratio: 0.0, ..Soak::usual(1e6) };
        assert!(search.next(&[]).is_err());
    }
}
