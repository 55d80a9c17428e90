//! RFC 2544 26.1: the fastest rate at which the device loses none of the frames sent to it.
//!
//! ```text
//! low ├───────────────┼───────────────┤ high      loses: high = middle    carries: low = middle
//! ```
//! Strict: each trial lasts at least 60 s (section 24), no loss at all. One unlucky host stall
//! turns a trial bad, and the search then never comes back above it: prefer MLRsearch on shared
//! hosts.

use lab_record::{Outcome, Trial};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Found, Kind, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind { trial_s: STRICT_TRIAL_S, ..Kind::new("throughput", pursue) };

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    Ok(vec![find(terms, stand)?].into())
}

/// The throughput, for those too that measure at it.
pub(super) fn find(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Found, Error> {
    let &Terms { max_pps, trial_s, relative_width, .. } = terms;
    let strict = Throughput::strict(terms.min_pps(), max_pps, relative_width);
    let answer = finish(&mut Throughput { trial_s, ..strict }, stand, "RFC 2544 throughput")?;
    let (low_pps, high_pps) = (answer.throughput_pps, answer.upper_pps);
    Ok(Found::between("RFC 2544", low_pps.unwrap_or(0.0), high_pps.unwrap_or(max_pps)))
}

/// The same for those who measure at it: there must be some.
pub(super) fn find_some(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Found, Error> {
    let found = find(terms, stand)?;
    match found.low_pps > 0.0 {
        true => Ok(found),
        false => Err(Error::NoThroughput { min_pps: terms.min_pps() }),
    }
}

/// The trial length that RFC 2544 section 24 asks for.
const STRICT_TRIAL_S: f64 = 60.0;

/// Binary search for the throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throughput {
    /// Smallest load.
    pub min_pps: f64,
    /// Largest load.
    pub max_pps: f64,
    /// Length of a trial.
    pub trial_s: f64,
    /// Loss ratio that a good trial may have: 0 by the letter.
    pub loss_ratio: f64,
    /// When to stop: width of the interval relative to its upper end.
    pub relative_width: f64,
}

impl Throughput {
    /// The search as the RFC has it: 60 s trials, no loss.
    pub fn strict(min_pps: f64, max_pps: f64, relative_width: f64) -> Self {
        Self { min_pps, max_pps, trial_s: STRICT_TRIAL_S, loss_ratio: 0.0, relative_width }
    }

    /// Whether its results may be called RFC 2544 throughput.
    pub fn is_strict(&self) -> bool {
        self.trial_s >= STRICT_TRIAL_S && self.loss_ratio == 0.0
    }
}

/// The throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThroughputAnswer {
    /// The largest load carried; none where even the smallest was not.
    pub throughput_pps: Option<f64>,
    /// The smallest load not carried; none where the largest was.
    pub upper_pps: Option<f64>,
    /// Whether it was found by the letter of the RFC.
    pub strict: bool,
}

impl Search for Throughput {
    type Answer = ThroughputAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<ThroughputAnswer>, Error> {
        let &mut Self { min_pps, max_pps, .. } = self;
        if !(min_pps > 0.0 && min_pps < max_pps) {
            return Err(Error::LoadLimits { min_pps, max_pps });
        }
        let (mut low, mut high): (Option<f64>, Option<f64>) = (None, None);
        for outcome in history {
            let load_pps = outcome.trial.load_pps;
            if outcome.loss_ratio() <= self.loss_ratio {
                low = Some(low.map_or(load_pps, |low| low.max(load_pps)));
            } else {
                high = Some(high.map_or(load_pps, |high| high.min(load_pps)));
            }
        }
        let next = match (low, high) {
            (None, None) => Some(max_pps),
            (None, Some(high)) if high > min_pps => {
                let middle = (min_pps + high) / 2.0;
                let close = high - min_pps <= self.relative_width * high;
                Some(if close { min_pps } else { middle })
            }
            (Some(low), Some(high)) if high - low > self.relative_width * high => {
                Some((low + high) / 2.0)
            }
            _ => None,
        };
        Ok(match next {
            Some(load_pps) => Step::Measure(Trial::new(load_pps, self.trial_s)),
            None => Step::Done(ThroughputAnswer {
                throughput_pps: low,
                upper_pps: high,
                strict: self.is_strict(),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Budget, run};
    use crate::sim::{Device, Model};

    fn search(capacity_pps: f64, mut search: Throughput) -> (ThroughputAnswer, Vec<Outcome>) {
        let mut device = Device::new(Model::quiet(capacity_pps), 1);
        run(&mut search, Budget::default(), |trial| Ok(device.measure(trial))).unwrap()
    }

    #[test]
    fn the_capacity_lies_between_the_two_bounds_that_are_close_enough() {
        for capacity_pps in [1.5e4, 3.3e5, 9.99e6] {
            let (answer, _) = search(capacity_pps, Throughput::strict(1e4, 1e7, 0.005));
            let (low, high) = (answer.throughput_pps.unwrap(), answer.upper_pps.unwrap());
            assert!(low <= capacity_pps && capacity_pps < high && high - low <= 0.005 * high);
            assert!(answer.strict);
        }
    }

    #[test]
    fn a_device_faster_than_the_link_needs_one_trial() {
        let (answer, history) = search(2e7, Throughput::strict(1e4, 1e7, 0.005));
        assert_eq!((answer.throughput_pps, answer.upper_pps), (Some(1e7), None));
        assert_eq!(history.len(), 1);
    }

    #[test]
    fn a_device_slower_than_the_smallest_load_has_no_throughput() {
        let (answer, _) = search(5e3, Throughput::strict(1e4, 1e7, 0.005));
        assert_eq!((answer.throughput_pps, answer.upper_pps), (None, Some(1e4)));
    }

    #[test]
    fn short_trials_or_allowed_loss_are_not_strict() {
        let strict = Throughput::strict(1.0, 2.0, 0.1);
        assert!(!Throughput { trial_s: 1.0, ..strict }.is_strict());
        assert!(!Throughput { loss_ratio: 0.001, ..strict }.is_strict());
    }
}
