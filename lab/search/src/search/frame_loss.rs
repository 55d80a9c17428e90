//! RFC 2544 26.3: frame loss against load, from the full rate down in steps of at most a tenth,
//! until two successive loads lose nothing.

use lab_record::{Outcome, Trial};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Found, Kind, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind::new("frame-loss", pursue);

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let &Terms { max_pps, trial_s, .. } = terms;
    let mut search = FrameLoss { max_pps, step: 0.1, trial_s };
    let points = finish(&mut search, stand, "the frame loss")?.points;
    let lossy = points.iter().take_while(|&&(_, loss)| loss > 0.0).count();
    let load = |at: usize| points.get(at).map(|&(load_pps, _)| load_pps);
    let above_pps = lossy.checked_sub(1).and_then(load).unwrap_or(max_pps);
    let low_pps = load(lossy).unwrap_or(0.0);
    Ok(vec![Found::between("largest load without loss", low_pps, above_pps)].into())
}

/// Loads from the largest down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameLoss {
    /// The largest load.
    pub max_pps: f64,
    /// Step as a share of the largest load: 0.1 by the letter, less is finer.
    pub step: f64,
    /// Length of a trial.
    pub trial_s: f64,
}

/// Loss at each load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameLossAnswer {
    /// (load, loss ratio), falling.
    pub points: Vec<(f64, f64)>,
}

impl Search for FrameLoss {
    type Answer = FrameLossAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<FrameLossAnswer>, Error> {
        if !(self.step > 0.0 && self.step <= 0.1) {
            let (what, range) = ("frame loss step", "above 0, at most 0.1");
            return Err(Error::Parameter { what, value: self.step, range });
        }
        let clean = history.iter().rev().take_while(|outcome| outcome.loss_ratio() == 0.0).count();
        let share = 1.0 - self.step * history.len() as f64;
        if clean < 2 && share > self.step / 2.0 {
            return Ok(Step::Measure(Trial::new(self.max_pps * share, self.trial_s)));
        }
        let point = |outcome: &Outcome| (outcome.trial.load_pps, outcome.loss_ratio());
        Ok(Step::Done(FrameLossAnswer { points: history.iter().map(point).collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Budget, run};

    fn loads(capacity: u64) -> Vec<f64> {
        let mut search = FrameLoss { max_pps: 1e6, step: 0.1, trial_s: 1.0 };
        let measured = run(&mut search, Budget::default(), |trial| {
            Ok(Outcome::of(trial, trial.packets().min(capacity)))
        });
        measured.unwrap().0.points.iter().map(|point| (point.0 / 1e4).round()).collect()
    }

    #[test]
    fn two_loads_in_a_row_without_loss_end_the_test() {
        assert_eq!(loads(750_000), [100.0, 90.0, 80.0, 70.0, 60.0]);
        assert_eq!(loads(2_000_000), [100.0, 90.0]);
    }

    #[test]
    fn a_device_that_always_loses_is_measured_down_to_the_last_step() {
        assert_eq!(loads(0).len(), 10);
    }

    #[test]
    fn steps_coarser_than_the_rfc_allows_are_refused() {
        let mut search = FrameLoss { max_pps: 1e6, step: 0.2, trial_s: 1.0 };
        assert!(search.next(&[]).is_err());
    }
}
