//! RFC 2544 26.6, after RFC 6201: for how long a device that is started anew forwards nothing.
//!
//! ```text
//! sent      ││││││││││││││││││││││││││││││
//! received  │││││││                 ││││││
//!                 A ── the outage ── B        from the last frame before the reset to the first after it
//! ```
//! The reset is of software: its processes end and are started with the same job. It is made in the
//! course of the trial, at the throughput rate, with frames of the smallest size.

use lab_record::{Outcome, Trial, Unit};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Kind, Quantity, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use super::throughput;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind {
    repeats: Some(RESETS),
    reading: "the time without packets when the device is started anew.",
    ..Kind::new("reset", pursue)
};

/// Resets, unless others are asked for.
const RESETS: u32 = 5;
/// Shortest trial with one: devices take their time to start, and one that takes longer is started
/// again in a longer trial.
const SHORTEST_S: f64 = 3.0;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let throughput = throughput::find_some(terms, stand)?;
    let (load_pps, trial_s) = (throughput.low_pps, terms.trial_s.max(SHORTEST_S));
    let mut search = Reset { load_pps, trial_s, repetitions: terms.repeated(RESETS) };
    let answer = finish(&mut search, stand, "the reset")?;
    let quantities = vec![Quantity::new("reset", Unit::Seconds, answer.outage_s)];
    Ok(Findings { rates: vec![throughput], quantities })
}

/// Resets, one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reset {
    /// The throughput found before.
    pub load_pps: f64,
    /// Length of a trial: more than the device takes to come back.
    pub trial_s: f64,
    /// Number of trials.
    pub repetitions: usize,
}

/// How long it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResetAnswer {
    /// In each trial.
    pub outage_s: Vec<f64>,
}

impl Search for Reset {
    type Answer = ResetAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<ResetAnswer>, Error> {
        if history.len() < self.repetitions {
            let trial = Trial::new(self.load_pps, self.trial_s);
            return Ok(Step::Measure(Trial { change: true, ..trial }));
        }
        let outage_s = history.iter().map(|outcome| outcome.outage_s.unwrap_or(0.0)).collect();
        Ok(Step::Done(ResetAnswer { outage_s }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::kind::testing;
    use crate::search::{Budget, run};
    use crate::sim::{Device, Model};

    #[test]
    fn the_time_without_packets_is_the_devices_start() {
        let mut device = Device::new(Model { reset_s: 0.7, ..Model::quiet(1e6) }, 1);
        let mut search = Reset { load_pps: 1e5, trial_s: 4.0, repetitions: 2 };
        let measured = run(&mut search, Budget::default(), |trial| Ok(device.measure(trial)));
        let (answer, history) = measured.unwrap();
        assert_eq!(answer.outage_s, [0.7, 0.7]);
        assert!(history.iter().all(|outcome| outcome.lost() == 70_000));
    }

    #[test]
    fn resets_are_found_as_often_as_they_are_repeated() {
        let model = Model { recovery_s: 0.03, reset_s: 1.5, ..Model::quiet(4e6) };
        let mut device = Device::new(model, 1);
        let found = testing::pursue("reset", &mut |trial| Ok(device.measure(trial))).unwrap();
        let [Quantity { unit, values, .. }] = &found.quantities[..] else { panic!() };
        assert_eq!((*unit, values.len()), (Unit::Seconds, 5));
        assert!(values.iter().all(|it| (it - 1.5).abs() < 1e-6), "{values:?}");
    }
}
