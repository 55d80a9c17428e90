//! What a device is wanted for, and who is refused it at once.

use lab_record::axes::Placement;

use crate::Error;
use crate::dut::device::{Device, Job};
use crate::dut::settings::Settings;
use crate::host::topology;
use crate::link::{DeviceEnd, LinkKind};
use crate::scenario::{Function, FunctionKind};

/// What a device is wanted for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// The function.
    pub function: Function,
    /// Entries of its table.
    pub entries: u64,
    /// Worker threads.
    pub workers: u64,
    /// What else it is set to.
    pub settings: Settings,
    /// Largest frame, with checksum.
    pub max_frame_bytes: u16,
}

impl Wish {
    /// What is wanted of a device at these ends.
    pub(crate) fn job(&self, link: LinkKind, ends: [DeviceEnd; 2]) -> Job {
        let Self { function, entries, workers, settings, .. } = self.clone();
        Job { function, entries, workers, settings, link, mtu: self.mtu(), ends }
    }

    /// The processors that the device gets.
    pub(crate) fn cores(
        &self,
        device: &dyn Device,
        cores: &str,
        link: LinkKind,
    ) -> Result<String, Error> {
        let Some(placement) = self.settings.get::<Placement>() else {
            return Ok(cores.to_owned());
        };
        let beside = if self.workers > 1 { device.cores_beside_workers() } else { 0 };
        let chosen = topology::choose(cores, placement, self.workers, beside);
        chosen.map_err(|reason| Error::Refused {
            device: device.name().to_owned(),
            job: format!("{} over {link}", self.function.name()),
            reason,
        })
    }

    /// Octets that a frame may carry.
    pub(crate) fn mtu(&self) -> u16 {
        self.max_frame_bytes.max(1_518) - 18
    }
}

/// A function that most adapters do not have.
pub(crate) fn refuse_what_it_does_not_speak(
    device: &dyn Device,
    wish: &Wish,
    link: LinkKind,
) -> Result<(), Error> {
    if wish.function.kind != FunctionKind::Lisp || device.speaks_lisp() {
        return Ok(());
    }
    Err(Error::Refused {
        device: device.name().to_owned(),
        job: format!("{} over {link}", wish.function.name()),
        reason: "it does not speak LISP, or its adapter does not".into(),
    })
}
