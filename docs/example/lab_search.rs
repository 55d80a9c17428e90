//! First loss: the load climbs in equal steps until a trial loses something.
//!
//! ```text
//! load   1/n  2/n  3/n … of the largest          ×  the first with a loss: the one before carried
//! ```
//! A quick look, not a throughput: one stall of the host ends it.

use lab_record::{Outcome, Trial};

use crate::Error;
use crate::search::kind::{Findings, Found, Kind, finish};
use crate::search::stand::Stand;
use crate::search::strategy::{Search, Step};
use crate::search::terms::{Parameter, Terms};

/// As scenarios name it.
pub const KIND: Kind = Kind { parameters: &[STEPS], ..Kind::new("first-loss", pursue) };

/// Steps up to the largest load.
const STEPS: Parameter =
    Parameter { name: "first_loss_steps", what: "steps", range: 2..=1_000, usual: Some(20) };

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let &Terms { max_pps, trial_s, .. } = terms;
    let mut search = FirstLoss { max_pps, steps: terms.parameter(&STEPS), trial_s };
    let carried_pps = finish(&mut search, stand, "the first loss")?;
    Ok(vec![Found::one("before the first loss", carried_pps)].into())
}

/// The climb.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstLoss {
    /// The largest load.
    pub max_pps: f64,
    /// Steps up to it.
    pub steps: u64,
    /// Length of a trial.
    pub trial_s: f64,
}

impl Search for FirstLoss {
    /// The largest load below the first loss; 0 where there is none.
    type Answer = f64;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<f64>, Error> {
        let load_pps = |step: usize| self.max_pps * step as f64 / self.steps as f64;
        let carried = history.iter().take_while(|outcome| outcome.loss_ratio() == 0.0).count();
        let is_over = carried < history.len() || carried as u64 == self.steps;
        Ok(match is_over {
            true => Step::Done(load_pps(carried)),
            false => Step::Measure(Trial::new(load_pps(carried + 1), self.trial_s)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::kind::testing;
    use crate::sim::{Device, Model};
    use lab_record::Limiter;

    #[test]
    fn the_climb_ends_below_what_a_device_can_do() {
        let mut device = Device::new(Model::quiet(4.2e6), 1);
        let mut loads_pps = Vec::new();
        let mut trial = |trial: Trial| {
            loads_pps.push(trial.load_pps);
            Ok(device.measure(trial))
        };
        // Up to 10 Mpps in steps of half a million.
        let found = testing::pursued(&KIND, &mut trial).unwrap();
        let [rate] = &found.rates[..] else { panic!("{found:?}") };
        assert_eq!((rate.metric.as_str(), rate.low_pps), ("before the first loss", 4e6));
        assert_eq!(rate.limit.by, Limiter::Device);
        assert_eq!(loads_pps.len(), 9);
    }
}
