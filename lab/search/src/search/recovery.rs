//! RFC 2544 26.5: how long a device goes on losing frames after an overload.
//!
//! ```text
//! load   110 % ────────────┐ A
//!         50 %             └───────────────   recovery = B - A
//!        lost  ×××××××××××× ×× ×          B: the last frame lost
//! ```
//! Strict: the overload lasts at least 60 s. What a frame lost after A means is told by its number,
//! so nothing depends on the clock of the receiver.

use lab_record::{Outcome, Overload, Trial, Unit};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Kind, Quantity, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use super::throughput;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind {
    repeats: Some(OVERLOADS),
    reading: "the time until the last loss after an overload,",
    ..Kind::new("recovery", pursue)
};

/// Overloads, unless others are asked for.
const OVERLOADS: u32 = 5;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let throughput = throughput::find_some(terms, stand)?;
    let &Terms { max_pps, trial_s, .. } = terms;
    let (throughput_pps, repetitions) = (throughput.low_pps, terms.repeated(OVERLOADS));
    let mut search = Recovery { throughput_pps, max_pps, trial_s, repetitions };
    let answer = finish(&mut search, stand, "the recovery")?;
    let quantities = vec![Quantity::new("recovery", Unit::Seconds, answer.recovery_s)];
    Ok(Findings { rates: vec![throughput], quantities })
}

/// The overload that the RFC asks for, as a share of the throughput, and the load after it.
const OVERLOAD: f64 = 1.1;
const AFTER: f64 = 0.5;

/// Overloads, one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recovery {
    /// The throughput found before.
    pub throughput_pps: f64,
    /// The most that the link carries: a device at line rate is not overloaded further.
    pub max_pps: f64,
    /// Length of the overload, and of what is watched after it.
    pub trial_s: f64,
    /// Number of trials.
    pub repetitions: usize,
}

/// How long it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryAnswer {
    /// In each trial.
    pub recovery_s: Vec<f64>,
}

impl Search for Recovery {
    type Answer = RecoveryAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<RecoveryAnswer>, Error> {
        let &mut Self { throughput_pps, max_pps, trial_s, repetitions } = self;
        if throughput_pps <= 0.0 {
            return Err(Error::LoadLimits { min_pps: throughput_pps, max_pps });
        }
        if history.len() < repetitions {
            let overload = Overload {
                load_pps: (OVERLOAD * throughput_pps).min(max_pps),
                duration_s: trial_s,
            };
            let after = Trial::new(AFTER * throughput_pps, trial_s);
            return Ok(Step::Measure(Trial { overload: Some(overload), ..after }));
        }
        let recovery_s = history.iter().map(|outcome| outcome.last_lost_s.unwrap_or(0.0)).collect();
        Ok(Step::Done(RecoveryAnswer { recovery_s }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::kind::testing;
    use crate::search::{Budget, run};
    use crate::sim::{Device, Model};

    fn search(recovery_s: f64, throughput_pps: f64) -> (Vec<f64>, Vec<Outcome>) {
        let model = Model { recovery_s, ..Model::quiet(1e6) };
        let mut device = Device::new(model, 1);
        let mut search = Recovery { throughput_pps, max_pps: 1.05e6, trial_s: 1.0, repetitions: 3 };
        let measured = run(&mut search, Budget::default(), |trial| Ok(device.measure(trial)));
        let (answer, history) = measured.unwrap();
        (answer.recovery_s, history)
    }

    #[test]
    fn a_device_that_chokes_after_an_overload_is_told_for_how_long() {
        let (found, history) = search(0.02, 1e6);
        assert!(found.len() == 3 && found.iter().all(|it| (it - 0.02).abs() < 1e-5), "{found:?}");
        let trial = history[0].trial;
        assert_eq!(trial.load_pps, 5e5);
        // The link carries no more.
        assert_eq!(trial.overload, Some(Overload { load_pps: 1.05e6, duration_s: 1.0 }));
    }

    #[test]
    fn one_that_recovers_at_once_or_was_never_overloaded_takes_no_time() {
        assert_eq!(search(0.0, 1e6).0, [0.0; 3]);
        assert_eq!(search(0.02, 5e5).0, [0.0; 3]);
    }

    #[test]
    fn recovery_is_found_as_often_as_it_is_repeated() {
        let model = Model { recovery_s: 0.03, reset_s: 1.5, ..Model::quiet(4e6) };
        let mut device = Device::new(model, 1);
        let found = testing::pursue("recovery", &mut |trial| Ok(device.measure(trial))).unwrap();
        let [Quantity { unit, values, .. }] = &found.quantities[..] else { panic!() };
        assert_eq!((*unit, values.len()), (Unit::Seconds, 5));
        assert!(values.iter().all(|it| (it - 0.03).abs() < 1e-6), "{values:?}");
    }
}
