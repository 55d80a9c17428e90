//! Reconfiguration under load: for how long does a live change block traffic?
//!
//! ```text
//! trials in pairs     bare   change   change   bare   bare   change …
//! blocked time of a trial = lost / offered rate
//! ```
//! The load is one that the device carries without loss, so what a trial with a change loses more
//! than a bare one was lost to the change. The order within pairs alternates, so that drift
//! cancels. A change that took longer than its trial came back with a longer one: those after it
//! are as long.

use lab_record::{Changed, Outcome, Trial, Unit};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Kind, Quantity, finish};
use super::largest_table::MOST_ENTRIES;
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::{Parameter, Terms};
use super::throughput;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind {
    repeats: Some(PAIRS),
    parameters: &[CHANGE_ENTRIES],
    reading: "Live changes: packets lost over the rate offered.",
    ..Kind::new("reconfigure", pursue)
};

/// Entries that the change adds.
const CHANGE_ENTRIES: Parameter =
    Parameter { name: "change_entries", what: "entries", range: 1..=MOST_ENTRIES, usual: None };
/// Pairs, unless others are asked for.
const PAIRS: u32 = 5;
/// Share of the throughput at which a device is changed: a load that it carries, with room for a
/// stall of the host.
const CARRIED_SHARE: f64 = 0.8;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    stand.prepare_change(terms.parameter(&CHANGE_ENTRIES))?;
    let throughput = throughput::find_some(terms, stand)?;
    let (load_pps, trial_s) = (CARRIED_SHARE * throughput.low_pps, terms.trial_s);
    let mut search = Reconfigure { load_pps, trial_s, pairs: terms.repeated(PAIRS) };
    let answer = finish(&mut search, stand, "the cost of the change")?;
    Ok(Findings { rates: vec![throughput], quantities: quantities(answer) })
}

/// What a change cost: in time without traffic, and in the rate while it was made and after it.
fn quantities(answer: ReconfigureAnswer) -> Vec<Quantity> {
    let ReconfigureAnswer { changed_s, bare_s, blocked_s, throughput_change, changes } = answer;
    let of = |value: fn(&Changed) -> f64| changes.iter().map(value).collect::<Vec<f64>>();
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let note = format!(
        "{:.3} ms more than without, on average: {:+.3} % of the throughput of a trial",
        1e3 * blocked_s,
        100.0 * throughput_change
    );
    let during: Vec<f64> = changes.iter().map(|it| share(it.during_pps, it.before_pps)).collect();
    let after: Vec<f64> = changes.iter().map(|it| share(it.after_pps, it.before_pps)).collect();
    vec![
        Quantity {
            note: Some(note),
            ..Quantity::new("blocked with a change", Unit::Seconds, changed_s)
        },
        Quantity::new("blocked without", Unit::Seconds, bare_s),
        Quantity::new("the change took", Unit::Seconds, of(|it| it.took_s)),
        Quantity::new("rate during it, of that before", Unit::Share, during),
        Quantity::new("rate after it, of that before", Unit::Share, after),
    ]
}

/// Pairs of trials with and without the change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reconfigure {
    /// A load that the device carries (its NDR, or a share of it).
    pub load_pps: f64,
    /// Length of a trial; the change is made in the middle.
    pub trial_s: f64,
    /// Number of pairs.
    pub pairs: usize,
}

/// What the change cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReconfigureAnswer {
    /// Blocked time of each trial with a change.
    pub changed_s: Vec<f64>,
    /// Blocked time of each bare trial: what the host itself loses.
    pub bare_s: Vec<f64>,
    /// Mean difference.
    pub blocked_s: f64,
    /// Relative change of throughput over a trial; negative is a loss.
    pub throughput_change: f64,
    /// The changes themselves, where the device's were seen.
    pub changes: Vec<Changed>,
}

impl Reconfigure {
    fn has_change(index: usize) -> bool {
        matches!(index % 4, 1 | 2)
    }
}

impl Search for Reconfigure {
    type Answer = ReconfigureAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<ReconfigureAnswer>, Error> {
        if self.pairs == 0 {
            return Err(Error::TooFew { what: "reconfiguration pairs", needed: 1, got: 0 });
        }
        let lengths_s = history.iter().map(|outcome| outcome.trial.duration_s);
        let trial_s = lengths_s.fold(self.trial_s, f64::max);
        if history.len() < 2 * self.pairs {
            let change = Self::has_change(history.len());
            return Ok(Step::Measure(Trial { change, ..Trial::new(self.load_pps, trial_s) }));
        }
        let blocked_s = |outcome: &Outcome| outcome.loss_ratio() * outcome.trial.duration_s;
        let of = |change: bool| {
            let trials = history.iter().filter(move |outcome| outcome.trial.change == change);
            trials.map(blocked_s).collect::<Vec<f64>>()
        };
        let (changed_s, bare_s) = (of(true), of(false));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let blocked_s = mean(&changed_s) - mean(&bare_s);
        let carried_s = trial_s - mean(&bare_s);
        let throughput_change = if carried_s > 0.0 { -blocked_s / carried_s } else { 0.0 };
        let changes = history.iter().filter_map(|outcome| outcome.changed).collect();
        let answer = ReconfigureAnswer { changed_s, bare_s, blocked_s, throughput_change, changes };
        Ok(Step::Done(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::kind::testing;
    use crate::search::{Budget, run};
    use crate::sim::{Device, Model};

    #[test]
    fn the_blocked_time_is_what_a_change_loses_more_than_a_bare_trial() {
        let mut search = Reconfigure { load_pps: 1e6, trial_s: 2.0, pairs: 4 };
        let measured = run(&mut search, Budget::default(), |trial| {
            let lost = if trial.change { 5_000 } else { 1_000 };
            let changed =
                trial.change.then(|| Changed::of(&[1_000; 2_000], 0.4, 0.1, 2.0).unwrap());
            Ok(Outcome { changed, ..Outcome::of(trial, trial.packets() - lost) })
        });
        let (answer, history) = measured.unwrap();
        assert!((answer.blocked_s - 0.004).abs() < 1e-9, "{answer:?}");
        assert!((answer.throughput_change + 0.002).abs() < 1e-5);
        assert_eq!(answer.changes.len(), 4);
        let order: Vec<bool> = history.iter().map(|outcome| outcome.trial.change).collect();
        assert_eq!(order, [false, true, true, false, false, true, true, false]);
    }

    #[test]
    fn trials_are_as_long_as_the_longest_that_a_change_needed() {
        let mut search = Reconfigure { load_pps: 1e6, trial_s: 2.0, pairs: 2 };
        let (answer, history) = run(&mut search, Budget::default(), |trial| {
            let needed = if trial.change { trial.duration_s.max(8.0) } else { trial.duration_s };
            let trial = Trial { duration_s: needed, ..trial };
            let lost = if trial.change { trial.packets() / 4 } else { 0 };
            Ok(Outcome::of(trial, trial.packets() - lost))
        })
        .unwrap();
        let lengths: Vec<f64> = history.iter().map(|outcome| outcome.trial.duration_s).collect();
        assert_eq!(lengths, [2.0, 8.0, 8.0, 8.0]);
        assert!((answer.throughput_change + 0.25).abs() < 1e-9, "{answer:?}");
    }

    #[test]
    fn a_live_change_is_held_against_trials_without_one() {
        let mut device = Device::new(Model { reset_s: 0.01, ..Model::quiet(4e6) }, 1);
        let mut trial = |trial: Trial| {
            let per_ms = [3_200; 1_000];
            let changed = trial.change.then(|| Changed::of(&per_ms, 0.2, 0.1, 1.0).unwrap());
            Ok(Outcome { changed, ..device.measure(trial) })
        };
        let found = testing::pursue("reconfigure", &mut trial).unwrap();
        assert!(found.rates[0].low_pps > 3.4e6);
        let [blocked, bare, took, during, after] = &found.quantities[..] else { panic!() };
        assert!(
            blocked.values.len() == 5 && blocked.values.iter().all(|it| (it - 0.01).abs() < 1e-6)
        );
        assert_eq!((&bare.values, &took.values), (&vec![0.0; 5], &vec![0.1; 5]));
        assert_eq!((during.values[0], after.values[0], during.unit), (1.0, 1.0, Unit::Share));
        assert!(blocked.note.as_ref().unwrap().contains("10.000 ms more"), "{:?}", blocked.note);
    }
}
