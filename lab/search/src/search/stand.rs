//! What a search is tried on: a device on its stand, real or simulated.

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
