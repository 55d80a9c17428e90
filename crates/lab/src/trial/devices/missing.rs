//! Devices that Debian has no package of: refused by name, never skipped in silence.

use crate::Error;
use crate::trial::device::{Counters, Device, Job};
use crate::trial::place::{Place, has_program};

/// One that cannot be measured here.
pub(super) struct Missing {
    pub(super) name: &'static str,
    pub(super) program: &'static str,
}

impl Device for Missing {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> Result<String, Error> {
        let reason = match has_program(self.program) {
            true => format!("{} is installed, but its adapter is not written", self.program),
            false => format!("{} is not installed", self.program),
        };
        Err(Error::Refused { device: self.name.into(), job: "any job".into(), reason })
    }

    fn start(&mut self, job: &Job, _: &mut Place) -> Result<(), Error> {
        self.version().map(drop).and(Err(self.refuse(job, "no adapter")))
    }

    fn counters(&mut self, _: &mut Place) -> Result<Counters, Error> {
        Ok(Counters::default())
    }
}
