//! RFC 2544 26.6, after RFC 6201: for how long a device that is started anew forwards nothing.
//!
//! ```text
//! sent      ││││││││││││││││││││││││││││││
//! received  │││││││                 ││││││
//!                 A ── the outage ── B        from the last frame before the reset to the first after it
//! ```
//! The reset is of software: its processes end and are started with the same job. It is made in the
//! course of the trial, at the throughput rate, with frames of the smallest size.

use lab_record::{Outcome, Trial};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::search::{Search, Step};

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
}
