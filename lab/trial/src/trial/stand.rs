//! A running device as searches see it: trials at a load, changes under it, entries for its table.

use std::ops::Range;
use std::time::Instant;

use lab_record::{Outcome, Trial};
use lab_search::search::{Stand, Table};

use crate::Error;
use crate::dut::device::Change;
use crate::load::added::Added;
use crate::load::frames::Load;
use crate::trial::rig::{Measured, Rig};
use crate::trial::table::{FREE_SHARE, free_memory_share};
use crate::watch::memory::MemoryWatch;

/// Most that is told of a refusal.
const REASON_CHARS: usize = 300;

/// A device on its rig, with the load that is sent to it.
pub(crate) struct RigStand<'r, 'a> {
    pub(crate) rig: &'r mut Rig<'a>,
    pub(crate) load: &'r Load,
    pub(crate) both: bool,
    /// Until when it may take.
    pub(crate) deadline: Option<Instant>,
    /// Writes a trial down that began then.
    pub(crate) write: &'r mut dyn FnMut(Measured, Instant) -> Result<Outcome, Error>,
    /// Looks at its memory, between trials.
    pub(crate) memory: &'r mut MemoryWatch,
    /// Where entries are added, once a search has asked for the table.
    pub(crate) added: Option<Added>,
}

impl RigStand<'_, '_> {
    fn added(&self) -> Result<Added, Error> {
        self.added.ok_or_else(|| Error::Contradiction("nobody asked for the table".into()))
    }
}

impl Stand for RigStand<'_, '_> {
    fn measure(&mut self, trial: Trial) -> Result<Outcome, Error> {
        let began = Instant::now();
        let measured = self.rig.measure(self.load, trial, self.both)?;
        self.memory.look(&self.rig.place);
        (self.write)(measured, began)
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn prepare_change(&mut self, entries: u64) -> Result<(), Error> {
        self.rig.live_change = Some(self.rig.live_change(entries)?);
        Ok(())
    }

    fn table(&mut self, most: u64) -> Result<&mut dyn Table, Error> {
        self.added = Some(self.rig.addable(most)?);
        Ok(self)
    }
}

impl Table for RigStand<'_, '_> {
    fn ends(&mut self) -> Result<Option<&'static str>, Error> {
        if !(self.rig.bench.go_on)() {
            return Err(Error::Stopped);
        }
        let full = || free_memory_share() < FREE_SHARE;
        Ok(match self.is_over() {
            true => Some("the time was up"),
            false => full().then_some("the host's memory was nearly full"),
        })
    }

    fn add(&mut self, entries: Range<u64>) -> Result<Option<String>, Error> {
        let change = Change { added: self.added()?, entries, remove: false };
        match self.rig.change(&change) {
            Ok(()) => Ok(None),
            Err(Error::Command { reason, .. }) => {
                Ok(Some(reason.trim().chars().take(REASON_CHARS).collect()))
            }
            Err(other) => Err(other),
        }
    }

    fn forwards(&mut self, entries: u64) -> Result<(), Error> {
        self.rig.forwards(self.load, self.added()?, entries)
    }
}
