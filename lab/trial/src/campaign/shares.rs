//! What is measured at shares of what a search found: every packet's latency, and what a device
//! costs its processor.
//!
//! ```text
//! found             shares of the lowest rate that is found
//! nothing found     shares of the most that came through in any trial, and a verdict says so
//! ```
//! Where others keep the device's core busy it loses something at every load, or the time is up
//! before a bound is found. Then there is no rate without loss; but each packet that came through
//! took its time, and had its price.

use lab_record::axes::{Axis, LoadPercent};
use lab_record::{Outcome, Subject, Trial, Verdict};

use crate::Error;
use crate::campaign::Running;
use crate::load::frames::Load;
use crate::trial::cost;
use crate::trial::rig::Rig;
use crate::watch::telemetry;

/// Share of what a device carries at which it is watched.
const WATCHED_SHARE: f64 = 0.5;
/// Trials at each load of `latency_at_percent`: this many times as long as a search's.
const LATENCY_TRIALS: f64 = 2.0;

/// What loads are shares of, each way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Of {
    /// What a search found.
    Carried(f64),
    /// What came through where it found nothing.
    Through(f64),
}

impl Of {
    /// A share of it; none where that is no load.
    fn share(self, share: f64) -> Option<f64> {
        let (Self::Carried(pps) | Self::Through(pps)) = self;
        Some(pps * share).filter(|pps| (1.0..f64::INFINITY).contains(pps))
    }

    /// What a trial at a share of it must be read with.
    fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Carried(_) => None,
            Self::Through(through_pps) => Some(Verdict::NoBound { through_pps }),
        }
    }
}

/// The rate of one direction that came through in a trial.
pub(super) fn came_through(outcome: &Outcome) -> f64 {
    let share = outcome.received as f64 / outcome.intended.max(1) as f64;
    outcome.trial.load_pps * share.min(1.0)
}

impl Running<'_> {
    /// What is measured at shares of a rate, where a search found none: of the most that came
    /// through in its trials, or in one at the ceiling where it had no time for any.
    pub(super) fn without_bounds(
        &mut self,
        rig: &mut Rig<'_>,
        load: &Load,
        subject: &Subject,
        (most_pps, ceiling_pps): (f64, f64),
    ) -> Result<(), Error> {
        let scenario = self.campaign.scenario;
        let (measure, both) = (&scenario.measure, scenario.traffic.both_directions);
        if measure.latency_at_percent.is_empty() && !measure.telemetry {
            return Ok(());
        }
        let most_pps = if most_pps < 1.0 {
            let full = Trial::new(ceiling_pps, measure.trial_s);
            came_through(&rig.measure(load, full, both)?.outcome)
        } else {
            most_pps
        };
        let whole_pps = ceiling_pps * if both { 2.0 } else { 1.0 };
        self.at_shares(rig, load, subject, Of::Through(most_pps), whole_pps)
    }

    /// What a packet costs a device that tells, unless it is known.
    pub(super) fn cost(
        &mut self,
        rig: &mut Rig<'_>,
        load: &Load,
        subject: &Subject,
    ) -> Result<(), Error> {
        if self.earlier.has_answer(subject, cost::METRIC) {
            return Ok(());
        }
        let scenario = self.campaign.scenario;
        let both = scenario.traffic.both_directions;
        let found = cost::measure(rig, load, both, scenario.measure.trial_s)?;
        found.map_or(Ok(()), |it| self.recorder.write(it.record(subject.clone())))
    }

    /// Latencies at shares of a rate; and what the device costs, where that is wanted.
    pub(super) fn at_shares(
        &mut self,
        rig: &mut Rig<'_>,
        load: &Load,
        subject: &Subject,
        of: Of,
        whole_pps: f64,
    ) -> Result<(), Error> {
        let scenario = self.campaign.scenario;
        let (measure, both) = (&scenario.measure, scenario.traffic.both_directions);
        for percent in &measure.latency_at_percent {
            let Some(load_pps) = of.share(*percent as f64 / 100.0) else { continue };
            let mut subject = subject.clone();
            subject.axes.insert(LoadPercent::NAME.into(), percent.to_string());
            if self.earlier.has_latency(&subject) {
                continue;
            }
            let at_s = self.began.elapsed().as_secs_f64();
            let long = Trial::new(load_pps, measure.trial_s * LATENCY_TRIALS);
            let measured = rig.measure(load, Trial { timed: true, ..long }, both)?;
            let mut record =
                measured.record(subject, self.trials, "latency", at_s, Some(whole_pps));
            record.verdicts.extend(of.verdict());
            self.trials += 1;
            self.recorder.write(record)?;
        }
        let wanted = measure.telemetry && subject.run == 0 && !self.earlier.has_telemetry(subject);
        if let (true, Some(watched_pps)) = (wanted, of.share(WATCHED_SHARE)) {
            let seen = telemetry::watch(rig, load, subject.clone(), watched_pps, both)?;
            self.recorder.write(seen)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_through_is_of_one_direction_and_no_more_than_was_sent() {
        let both = |received| Outcome {
            intended: 2_000,
            offered: 1_900,
            ..Outcome::of(Trial::new(1e4, 0.1), received)
        };
        assert_eq!(came_through(&both(500)), 2_500.0);
        assert_eq!(came_through(&both(2_100)), 1e4);
        assert_eq!(came_through(&Outcome::of(Trial::new(0.0, 0.1), 0)), 0.0);
    }

    #[test]
    fn loads_without_a_bound_say_so_and_shares_of_nothing_are_none() {
        assert_eq!(Of::Carried(1e4).share(0.1), Some(1e3));
        assert_eq!(Of::Carried(1e4).verdict(), None);
        assert_eq!(Of::Through(9.0).share(0.1), None);
        assert_eq!(Of::Carried(f64::INFINITY).share(0.5), None);
        assert_eq!(Of::Through(9.0).verdict(), Some(Verdict::NoBound { through_pps: 9.0 }));
    }
}
