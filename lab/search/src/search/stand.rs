//! What a search is tried on: a device on its stand, real or simulated.

use std::collections::VecDeque;
use std::ops::Range;

use lab_record::{Outcome, Trial};

use crate::Error;

/// A device that trials can be carried out on.
pub trait Stand {
    /// Carries out a trial.
    fn measure(&mut self, trial: Trial) -> Result<Outcome, Error>;

    /// Whether the time is up: no further trial is begun.
    fn is_over(&self) -> bool {
        false
    }

    /// Gets ready for trials with a change, which adds so many entries to the device's table. Where
    /// this does nothing, a trial with a change starts the device anew.
    fn prepare_change(&mut self, _entries: u64) -> Result<(), Error> {
        Ok(())
    }

    /// The table of the running device, for up to `most` entries more.
    fn table(&mut self, _most: u64) -> Result<&mut dyn Table, Error> {
        Err(Error::NoSearch { search: "largest-table".into() })
    }
}

/// The table of a device that runs.
pub trait Table {
    /// Why nothing more can be added, if so.
    fn ends(&mut self) -> Result<Option<&'static str>, Error>;

    /// Adds entries; what the device said where it refused them.
    fn add(&mut self, entries: Range<u64>) -> Result<Option<String>, Error>;

    /// An error unless the device forwards by what it was started with and by so many entries that
    /// were added.
    fn forwards(&mut self, entries: u64) -> Result<(), Error>;
}

impl<F: FnMut(Trial) -> Result<Outcome, Error>> Stand for F {
    fn measure(&mut self, trial: Trial) -> Result<Outcome, Error> {
        self(trial)
    }
}

/// A stand that keeps what came of every trial.
pub(super) struct Witness<'a> {
    pub(super) stand: &'a mut dyn Stand,
    pub(super) outcomes: Vec<Outcome>,
}

impl Stand for Witness<'_> {
    fn measure(&mut self, trial: Trial) -> Result<Outcome, Error> {
        let outcome = self.stand.measure(trial)?;
        self.outcomes.push(outcome);
        Ok(outcome)
    }

    fn is_over(&self) -> bool {
        self.stand.is_over()
    }

    fn prepare_change(&mut self, entries: u64) -> Result<(), Error> {
        self.stand.prepare_change(entries)
    }

    fn table(&mut self, most: u64) -> Result<&mut dyn Table, Error> {
        self.stand.table(most)
    }
}

/// A stand that hands out what was measured before, as long as just that is asked for.
pub struct Resumed<'a> {
    /// Where all else is measured.
    pub stand: &'a mut dyn Stand,
    /// Earlier trials of the same search, in order.
    pub earlier: VecDeque<Outcome>,
}

impl Stand for Resumed<'_> {
    fn measure(&mut self, trial: Trial) -> Result<Outcome, Error> {
        match self.earlier.pop_front() {
            Some(outcome) if outcome.trial == trial => Ok(outcome),
            _ => {
                // It went another way: what comes later is of no use.
                self.earlier.clear();
                self.stand.measure(trial)
            }
        }
    }

    fn is_over(&self) -> bool {
        self.earlier.is_empty() && self.stand.is_over()
    }

    fn prepare_change(&mut self, entries: u64) -> Result<(), Error> {
        // The device is not in the state that those trials left behind.
        self.earlier.clear();
        self.stand.prepare_change(entries)
    }

    fn table(&mut self, most: u64) -> Result<&mut dyn Table, Error> {
        self.earlier.clear();
        self.stand.table(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Terms;
    use crate::search::named;
    use crate::sim::{Device, Model};

    #[test]
    fn a_search_that_goes_on_makes_each_trial_once_and_finds_the_same() {
        let terms = Terms {
            max_pps: 1e7,
            load_share: 1.0,
            stalls_per_s: 0.0,
            trial_s: 1.0,
            relative_width: 0.005,
            duration_sum_s: 21.0,
            loss_ratios: &[0.0, 0.005],
            repetitions: None,
            reference: None,
            parameters: Default::default(),
        };
        for search in ["mlr", "throughput", "max-rate", "loss-scan", "frame-loss", "soak"] {
            let kind = named(search).unwrap();
            let mut device = Device::new(Model { noise: 0.002, ..Model::quiet(4e6) }, 1);
            let mut made = Vec::new();
            let whole = kind
                .carry_out(&terms, &mut |trial: Trial| {
                    made.push(device.measure(trial));
                    Ok(*made.last().unwrap())
                })
                .unwrap();
            for cut in [0, 1, made.len() / 2, made.len() - 1, made.len()] {
                let mut rest = made[cut..].iter().copied();
                let mut more = 0;
                let mut stand = |_: Trial| {
                    more += 1;
                    Ok(rest.next().unwrap())
                };
                let earlier = made[..cut].iter().copied().collect();
                let mut resumed = Resumed { stand: &mut stand, earlier };
                assert_eq!(kind.carry_out(&terms, &mut resumed).unwrap(), whole, "{search}");
                assert_eq!(more, made.len() - cut, "{search} after {cut}");
            }
        }
    }
}
