//! RFC 2544 26.2: latency at the throughput rate, or a share of it, the mean of at least 20 trials.
//!
//! The RFC tags one frame a trial; here every frame is timed and the trial reports its mean,
//! median, 99th percentile and largest, so that one frame does not stand for all.

use lab_record::{Latency, Outcome, Trial, Unit};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Kind, Quantity, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use super::throughput;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind { repeats: Some(TRIALS), ..Kind::new("latency", pursue) };

/// Trials that RFC 2544 asks for.
const TRIALS: u32 = 20;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let throughput = throughput::find_some(terms, stand)?;
    let (load_pps, trial_s) = (throughput.low_pps * terms.load_share, terms.trial_s);
    let mut search = LatencyTest { load_pps, trial_s, trials: terms.repeated(TRIALS) };
    let answer = finish(&mut search, stand, "the latency")?;
    Ok(Findings { rates: vec![throughput], quantities: quantities(&answer) })
}

/// At the load: the mean and the largest of each trial.
fn quantities(answer: &LatencyAnswer) -> Vec<Quantity> {
    let of = |ns: fn(&Latency) -> f64| answer.trials.iter().map(|it| ns(it) / 1e9).collect();
    let lossy = answer.worst_loss_ratio > 0.0;
    let note =
        lossy.then(|| format!("the worst trial lost {:.4} %", 100.0 * answer.worst_loss_ratio));
    vec![
        Quantity { note, ..Quantity::new("latency, mean", Unit::Seconds, of(|it| it.mean_ns)) },
        Quantity::new("latency, largest", Unit::Seconds, of(|it| it.max_ns)),
    ]
}

/// Trials at one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyTest {
    /// The throughput found before, or another load of interest.
    pub load_pps: f64,
    /// Length of a trial; the RFC asks for 120 s.
    pub trial_s: f64,
    /// Number of trials; the RFC asks for at least 20.
    pub trials: usize,
}

/// Latency over the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyAnswer {
    /// Means over the trials; the largest is the largest of all.
    pub latency: Latency,
    /// Standard deviation of the trials' means.
    pub sd_ns: f64,
    /// That of each trial that measured it.
    pub trials: Vec<Latency>,
    /// Loss ratio of the worst trial: latency of a device that loses is that of its queues.
    pub worst_loss_ratio: f64,
}

impl Search for LatencyTest {
    type Answer = LatencyAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<LatencyAnswer>, Error> {
        if history.len() < self.trials {
            let trial = Trial::new(self.load_pps, self.trial_s);
            return Ok(Step::Measure(Trial { timed: true, ..trial }));
        }
        let timed: Vec<Latency> = history.iter().filter_map(|outcome| outcome.latency).collect();
        if timed.is_empty() {
            return Err(Error::TooFew { what: "a latency test's timed trials", needed: 1, got: 0 });
        }
        let count = timed.len() as f64;
        let mean = |of: fn(&Latency) -> f64| timed.iter().map(of).sum::<f64>() / count;
        let mean_ns = mean(|it| it.mean_ns);
        let squares = timed.iter().map(|it| (it.mean_ns - mean_ns).powi(2)).sum::<f64>();
        Ok(Step::Done(LatencyAnswer {
            latency: Latency {
                mean_ns,
                p50_ns: mean(|it| it.p50_ns),
                p99_ns: mean(|it| it.p99_ns),
                max_ns: timed.iter().map(|it| it.max_ns).fold(0.0, f64::max),
            },
            sd_ns: (squares / (count - 1.0).max(1.0)).sqrt(),
            trials: timed,
            worst_loss_ratio: history.iter().map(Outcome::loss_ratio).fold(0.0, f64::max),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::kind::testing;
    use crate::search::{Budget, run};
    use crate::sim::{Device, Model};

    fn measure(timed: bool) -> Result<LatencyAnswer, Error> {
        let mut trial_number = 0.0;
        let mut search = LatencyTest { load_pps: 1e5, trial_s: 120.0, trials: 20 };
        let measured = run(&mut search, Budget::default(), |trial| {
            trial_number += 1.0;
            let mean_ns = 5_000.0 + trial_number;
            let latency =
                Latency { mean_ns, p50_ns: 1.0, p99_ns: 2.0, max_ns: 10.0 * trial_number };
            let outcome = Outcome::of(trial, trial.packets());
            Ok(Outcome { latency: timed.then_some(latency), ..outcome })
        });
        measured.map(|(answer, _)| answer)
    }

    #[test]
    fn latency_is_the_mean_over_twenty_trials_and_the_largest_of_all() {
        let answer = measure(true).unwrap();
        assert_eq!((answer.latency.mean_ns, answer.latency.max_ns), (5_010.5, 200.0));
        assert!((answer.sd_ns - 5.916).abs() < 0.001 && answer.trials.len() == 20);
    }

    #[test]
    fn trials_without_timestamps_are_refused() {
        assert!(matches!(measure(false), Err(Error::TooFew { .. })));
    }

    #[test]
    fn latency_is_that_of_twenty_trials_at_the_throughput() {
        let mut device = Device::new(Model::quiet(4e6), 1);
        let mut loads_pps = Vec::new();
        let mut trial = |trial: Trial| {
            loads_pps.push(trial.load_pps);
            Ok(device.measure(trial))
        };
        let found = testing::pursue("latency", &mut trial).unwrap();
        let [mean, largest] = &found.quantities[..] else { panic!() };
        assert_eq!((mean.values.len(), mean.unit, mean.note.as_deref()), (20, Unit::Seconds, None));
        assert!(mean.values.iter().zip(&largest.values).all(|(mean, largest)| mean <= largest));
        assert!(loads_pps.ends_with(&[found.rates[0].low_pps; 20]));
    }

    #[test]
    fn a_load_is_a_share_of_the_devices_own_throughput_and_its_packets_are_timed() {
        let mut device = Device::new(Model::quiet(4e6), 1);
        let mut trials = Vec::new();
        let mut stand = |trial: Trial| {
            trials.push(trial);
            Ok(device.measure(trial))
        };
        let terms = testing::terms();
        let terms = Terms { load_share: 0.1, ..terms };
        let found = KIND.carry_out(&terms, &mut stand).unwrap();
        let at_pps = 0.1 * found.rates[0].low_pps;
        assert!((3.4e5..4.01e5).contains(&at_pps), "{at_pps}");
        let (timed, searched): (Vec<Trial>, Vec<Trial>) = trials.iter().partition(|it| it.timed);
        assert_eq!((timed.len(), timed[0].load_pps), (20, at_pps));
        assert!(searched.len() > 5);
    }

    #[test]
    fn a_device_that_carries_nothing_has_no_latency_and_says_why() {
        let mut stand = |trial: Trial| Ok(Outcome::of(trial, 0));
        for search in ["latency", "recovery", "reset"] {
            let told = testing::pursue(search, &mut stand).unwrap_err().to_string();
            assert!(told.contains("the smallest load that was tried: there is no"), "{told}");
        }
    }
}
