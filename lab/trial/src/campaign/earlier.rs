//! What a results folder has already: a campaign goes on where it was cut off, and measures nothing
//! twice.
//!
//! ```text
//! done (subject)            ─▶ passed over, and its start with it where all of a start is done
//! trials without a "done"   ─▶ handed to the search again, as if it had just made them
//! refused                   ─▶ passed over: it cannot do it at the next try either
//! failed                    ─▶ tried again; what comes of it takes the failure's place
//! ```
//! A search that is handed its trials asks for the next one as if it had never stopped, as long as
//! its loads are the same: so the ceilings of the lab, and the stalls that it should live with, are
//! those of the beginning. Searches that change the device's table as they go begin anew.

use std::collections::VecDeque;

use lab_record::axes::{Axis, LoadPercent};
use lab_record::{Outcome, Results, Subject};

/// The earlier results.
pub(crate) struct Earlier<'a>(pub(crate) &'a Results);

impl Earlier<'_> {
    /// Whether a case need not be measured.
    pub(crate) fn is_over(&self, subject: &Subject) -> bool {
        let Self(results) = self;
        let refused = |of: &Subject| {
            // What a device cannot do is written down for its first start alone.
            Subject { run: 0, ..of.clone() } == Subject { run: 0, ..subject.clone() }
        };
        results.done.contains(subject)
            || results.failures.iter().any(|it| it.refused && refused(&it.subject))
    }

    /// Whether anything of a case is there.
    pub(crate) fn has_begun(&self, subject: &Subject) -> bool {
        self.is_over(subject) || self.0.trials.iter().any(|it| it.subject == *subject)
    }

    /// The trials of a search that was cut off.
    pub(crate) fn trials(&self, subject: &Subject, purpose: &str) -> VecDeque<Outcome> {
        let own = self.0.trials.iter().filter(|it| it.subject == *subject && it.purpose == purpose);
        own.map(|trial| trial.outcome).collect()
    }

    /// Whether an answer is there.
    pub(crate) fn has_answer(&self, subject: &Subject, metric: &str) -> bool {
        let Self(results) = self;
        results.answers.iter().any(|it| it.subject == *subject && it.metric == metric)
            || results.quantities.iter().any(|it| it.subject == *subject && it.metric == metric)
    }

    /// Whether the latency at a share of the load is there.
    pub(crate) fn has_latency(&self, subject: &Subject) -> bool {
        debug_assert!(subject.axes.contains_key(LoadPercent::NAME));
        self.0.trials.iter().any(|it| it.subject == *subject && it.purpose == "latency")
    }

    /// Whether telemetry of a case is there.
    pub(crate) fn has_telemetry(&self, subject: &Subject) -> bool {
        self.0.telemetry.iter().any(|it| it.subject == *subject)
    }

    /// Whether what a packet of a case costs under valgrind is there.
    pub(crate) fn has_model(&self, subject: &Subject) -> bool {
        self.0.modelled.iter().any(|it| it.subject == *subject)
    }

    /// Number of the next trial.
    pub(crate) fn next_trial(&self) -> u32 {
        let trials = self.0.trials.iter().map(|it| it.index + 1);
        trials.chain(self.0.streams.iter().map(|it| it.index + 1)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{FailureRecord, Trial, TrialRecord};

    #[test]
    fn what_is_done_or_refused_is_over_and_what_failed_is_not() {
        let subject =
            |device: &str, run| Subject { device: device.into(), run, ..Subject::default() };
        let failure = |device: &str, refused| FailureRecord {
            subject: subject(device, 0),
            refused,
            reason: String::new(),
        };
        let outcome = Outcome::of(Trial::new(1e3, 1.0), 1_000);
        let trial = TrialRecord::new(subject("cut", 0), 6, "mlr", 10.0, outcome);
        let results = Results {
            done: vec![subject("done", 0)],
            failures: vec![failure("refused", true), failure("failed", false)],
            trials: vec![trial],
            ..Results::default()
        };
        let earlier = Earlier(&results);
        assert!(earlier.is_over(&subject("done", 0)) && !earlier.is_over(&subject("done", 1)));
        assert!(earlier.is_over(&subject("refused", 3)) && !earlier.is_over(&subject("failed", 0)));
        let cut = subject("cut", 0);
        assert!(earlier.has_begun(&cut) && !earlier.is_over(&cut));
        assert_eq!(
            (earlier.trials(&cut, "mlr").len(), earlier.trials(&cut, "latency").len()),
            (1, 0)
        );
        assert_eq!((earlier.next_trial(), results.elapsed_s()), (7, 11.0));
    }
}
