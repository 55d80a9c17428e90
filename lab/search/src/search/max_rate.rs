//! MRR and FRMOL: what comes through at the largest load, loss or not.
//!
//! ```text
//! load     max  max  max  max  max …      `trials` trials, all at the largest load
//! received  r1   r2   r3   r4   r5        MRR = their mean; FRMOL = the same per RFC 2889 3.
//! ```
//! Cheap (ten one-second trials) and steady, so it is what trends are drawn of. It says nothing of
//! loss: a device may forward less at the largest load than below it. Where the time is up before
//! the last trial it is the mean of those that were made, and that is said.

use lab_record::{Outcome, Trial, Verdict};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Found, Kind, carry_out};
use super::stand::{Stand, Witness};
use super::strategy::{Search, Step};
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind =
    Kind { of_both_directions: true, repeats: Some(TRIALS), ..Kind::new("max-rate", pursue) };

/// A device that loses no more than this of the largest load is not known to be at its limit.
pub const SATURATED: f64 = 0.01;

/// Trials that CSIT makes.
const TRIALS: u32 = 10;
/// Trials of which there is a rate where there was no time for all.
const FEWEST: usize = 2;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let &Terms { max_pps, trial_s, .. } = terms;
    let mut search = MaxRate { max_pps, trial_s, trials: terms.repeated(TRIALS) };
    let mut seen = Witness { stand, outcomes: Vec::new() };
    let mut found = Found { loss_ratio: SATURATED, ..Found::one("MRR", 0.0) };
    let (answer, made) = carry_out(&mut search, &mut seen)?;
    let answer = match answer {
        None if made >= FEWEST => {
            found.verdicts.push(Verdict::CutShort { trials: made as u64 });
            search.trials = made;
            match search.next(&seen.outcomes)? {
                Step::Done(answer) => Some(answer),
                Step::Measure(_) => None,
            }
        }
        answer => answer,
    };
    let answer = answer.ok_or(Error::TimeUp { search: "the maximum rate" })?;
    (found.low_pps, found.high_pps) = (answer.mean_pps, answer.mean_pps);
    Ok(vec![found].into())
}

/// Trials at the largest load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxRate {
    /// The largest load.
    pub max_pps: f64,
    /// Length of a trial.
    pub trial_s: f64,
    /// Number of trials.
    pub trials: usize,
}

/// What came through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MaxRateAnswer {
    /// Forwarding rate of each trial.
    pub rates_pps: Vec<f64>,
    /// Their mean.
    pub mean_pps: f64,
    /// Their standard deviation (of the sample; 0 for one trial).
    pub sd_pps: f64,
    /// The load really offered, mean over the trials: below the intended one, the generator is the
    /// bottleneck.
    pub offered_pps: f64,
}

impl Search for MaxRate {
    type Answer = MaxRateAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<MaxRateAnswer>, Error> {
        if self.trials == 0 {
            return Err(Error::TooFew { what: "a maximum receive rate", needed: 1, got: 0 });
        }
        if history.len() < self.trials {
            return Ok(Step::Measure(Trial::new(self.max_pps, self.trial_s)));
        }
        let count = history.len() as f64;
        let per_s = |packets: u64, outcome: &Outcome| packets as f64 / outcome.trial.duration_s;
        let rates_pps: Vec<f64> = history.iter().map(|it| per_s(it.received, it)).collect();
        let mean_pps = rates_pps.iter().sum::<f64>() / count;
        let squares = rates_pps.iter().map(|rate| (rate - mean_pps).powi(2)).sum::<f64>();
        let sd_pps = if history.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let offered_pps = history.iter().map(|it| per_s(it.offered, it)).sum::<f64>() / count;
        Ok(Step::Done(MaxRateAnswer { rates_pps, mean_pps, sd_pps, offered_pps }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::kind::testing;
    use crate::search::{Budget, run};
    use crate::sim::{Device, Model};

    #[test]
    fn the_maximum_receive_rate_is_the_capacity_of_an_overloaded_device() {
        let mut device = Device::new(Model::quiet(1e6), 1);
        let mut search = MaxRate { max_pps: 3e6, trial_s: 1.0, trials: 10 };
        let measured = run(&mut search, Budget::default(), |trial| Ok(device.measure(trial)));
        let (answer, history) = measured.unwrap();
        assert_eq!((answer.mean_pps, answer.sd_pps, history.len()), (1e6, 0.0, 10));
    }

    #[test]
    fn as_many_trials_are_made_as_are_asked_for() {
        for (repetitions, trials) in [(None, 10), (Some(1), 1), (Some(25), 25)] {
            let mut device = Device::new(Model::quiet(4e6), 1);
            let mut made = 0;
            let mut stand = |trial: Trial| {
                made += 1;
                Ok(device.measure(trial))
            };
            let terms = Terms { repetitions, ..testing::terms() };
            let found = KIND.carry_out(&terms, &mut stand).unwrap();
            assert_eq!((made, found.rates[0].low_pps), (trials, 4e6));
        }
    }

    /// A device that so many trials can be made on.
    struct Short(usize);

    impl Stand for Short {
        fn measure(&mut self, trial: Trial) -> Result<Outcome, Error> {
            self.0 -= 1;
            Ok(Device::new(Model::quiet(4e6), 1).measure(trial))
        }

        fn is_over(&self) -> bool {
            self.0 == 0
        }
    }

    #[test]
    fn where_the_time_is_up_it_is_the_mean_of_what_was_made_and_says_so() {
        let found = KIND.carry_out(&testing::terms(), &mut Short(3)).unwrap();
        assert_eq!(found.rates[0].low_pps, 4e6);
        assert_eq!(found.rates[0].verdicts, [Verdict::CutShort { trials: 3 }]);
        let whole = KIND.carry_out(&testing::terms(), &mut Short(10)).unwrap();
        assert!(whole.rates[0].verdicts.is_empty());
        let none = KIND.carry_out(&testing::terms(), &mut Short(1));
        assert!(matches!(none, Err(Error::TimeUp { .. })), "{none:?}");
    }

    #[test]
    fn a_slow_generator_shows_in_the_offered_load() {
        let mut device = Device::new(Model { generator_pps: 5e5, ..Model::quiet(1e6) }, 1);
        let mut search = MaxRate { max_pps: 3e6, trial_s: 1.0, trials: 2 };
        let measured = run(&mut search, Budget::default(), |trial| Ok(device.measure(trial)));
        assert_eq!(measured.unwrap().0.offered_pps, 5e5);
    }
}
