//! Loss scan: the loss at each load of a ladder, walked up and then down.
//!
//! ```text
//! loss │            ╭──────── down: a device that once fell behind recovers later …
//!      │         ╭──╯  ╭───── up: … than it fell behind
//!      │─────────┴─────╯
//!      └───────────────────── load        the gap between the two is the hysteresis
//! ```

use lab_record::{Outcome, Trial};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Found, Kind, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind::new("loss-scan", pursue);

/// Loads that it tries each way.
const STEPS: usize = 20;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let &Terms { max_pps, trial_s, .. } = terms;
    let mut search = LossScan::linear(max_pps / STEPS as f64, max_pps, STEPS, trial_s);
    let answer = finish(&mut search, stand, "the loss scan")?;
    let way = |metric, carried: Option<f64>, first_lossy: Option<f64>| {
        Found::between(metric, carried.unwrap_or(0.0), first_lossy.unwrap_or(max_pps))
    };
    let up = way("way up", answer.carried_up_pps, first_lossy(answer.up.iter()));
    let down = way("way down", answer.carried_down_pps, first_lossy(answer.down.iter().rev()));
    Ok(vec![up, down].into())
}

/// The first load of some that lost anything.
fn first_lossy<'a>(mut points: impl Iterator<Item = &'a (f64, f64)>) -> Option<f64> {
    points.find(|(_, loss)| *loss > 0.0).map(|&(load_pps, _)| load_pps)
}

/// A scan over rising loads, then back.
#[derive(Debug, Clone, PartialEq)]
pub struct LossScan {
    /// The loads, rising.
    pub loads_pps: Vec<f64>,
    /// Length of a trial.
    pub trial_s: f64,
    /// Loss ratio up to which a load counts as carried.
    pub loss_ratio: f64,
    /// Loads in a row above that after which the way up ends; the rest can only be worse.
    pub give_up_after: usize,
}

impl LossScan {
    /// `count` loads from `min_pps` to `max_pps`, equally far apart.
    pub fn linear(min_pps: f64, max_pps: f64, count: usize, trial_s: f64) -> Self {
        let step = (max_pps - min_pps) / count.saturating_sub(1).max(1) as f64;
        let loads_pps = (0..count).map(|index| min_pps + step * index as f64).collect();
        Self { loads_pps, trial_s, loss_ratio: 0.0, give_up_after: usize::MAX }
    }

    /// Trials of the way up, as far as it went.
    fn way_up<'a>(&self, history: &'a [Outcome]) -> (&'a [Outcome], bool) {
        let mut bad_in_a_row = 0;
        for (index, outcome) in history.iter().enumerate() {
            let bad = outcome.loss_ratio() > self.loss_ratio;
            bad_in_a_row = if bad { bad_in_a_row + 1 } else { 0 };
            let top = index + 1 == self.loads_pps.len() || bad_in_a_row >= self.give_up_after;
            if top {
                return (&history[..=index], true);
            }
        }
        (history, self.loads_pps.is_empty())
    }
}

/// What a scan found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LossScanAnswer {
    /// (load, loss ratio), rising.
    pub up: Vec<(f64, f64)>,
    /// (load, loss ratio), falling.
    pub down: Vec<(f64, f64)>,
    /// The largest load carried on the way up before the first that was not.
    pub carried_up_pps: Option<f64>,
    /// The first load carried on the way down from which on all were.
    pub carried_down_pps: Option<f64>,
}

impl LossScanAnswer {
    /// How much later the device recovers than it fell behind, as a share of the load up to which
    /// it kept up. Negative where it carried more on the way down.
    pub fn hysteresis(&self) -> Option<f64> {
        let (up, down) = self.carried_up_pps.zip(self.carried_down_pps)?;
        Some((up - down) / up)
    }
}

impl Search for LossScan {
    type Answer = LossScanAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<LossScanAnswer>, Error> {
        let (up, at_top) = self.way_up(history);
        let down = &history[up.len()..];
        let load_pps = if at_top {
            up.len().checked_sub(1 + down.len()).map(|index| self.loads_pps[index])
        } else {
            Some(self.loads_pps[up.len()])
        };
        if let Some(load_pps) = load_pps {
            return Ok(Step::Measure(Trial::new(load_pps, self.trial_s)));
        }
        let point = |outcome: &Outcome| (outcome.trial.load_pps, outcome.loss_ratio());
        let good = |outcome: &&Outcome| outcome.loss_ratio() <= self.loss_ratio;
        let load = |outcome: &Outcome| outcome.trial.load_pps;
        Ok(Step::Done(LossScanAnswer {
            up: up.iter().map(point).collect(),
            down: down.iter().map(point).collect(),
            carried_up_pps: up.iter().take_while(good).last().map(load),
            carried_down_pps: down.iter().rev().take_while(good).last().map(load),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Budget, run};

    fn scan(mut search: LossScan, device: impl Fn(usize, Trial) -> u64) -> LossScanAnswer {
        let mut count = 0;
        let measured = run(&mut search, Budget::default(), |trial| {
            count += 1;
            Ok(Outcome::of(trial, device(count, trial)))
        });
        measured.unwrap().0
    }

    #[test]
    fn a_device_that_recovers_late_shows_its_hysteresis() {
        let search = LossScan::linear(1e3, 1e4, 10, 1.0);
        let answer = scan(search, |count, trial| {
            let capacity = if count <= 10 { 8_000 } else { 6_000 };
            trial.packets().min(capacity)
        });
        assert_eq!((answer.up.len(), answer.down.len()), (10, 10));
        assert_eq!(answer.carried_up_pps, Some(8_000.0));
        assert_eq!(answer.carried_down_pps, Some(6_000.0));
        assert_eq!(answer.hysteresis(), Some(0.25));
    }

    #[test]
    fn the_way_up_ends_after_enough_bad_loads() {
        let search = LossScan { give_up_after: 2, ..LossScan::linear(1e3, 1e4, 10, 1.0) };
        let answer = scan(search, |_, trial| trial.packets().min(3_000));
        assert_eq!((answer.up.len(), answer.down.len()), (5, 5));
        assert_eq!(answer.down[0].0, 5_000.0);
    }

    #[test]
    fn loss_at_the_smallest_load_leaves_no_carried_load() {
        let answer = scan(LossScan::linear(1e3, 1e4, 3, 1.0), |_, trial| trial.packets() - 1);
        assert_eq!((answer.carried_up_pps, answer.hysteresis()), (None, None));
    }
}
