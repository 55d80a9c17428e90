//! What devices are measured on: the lab's clock and ports, the links, the cores.

use std::path::PathBuf;

use lab_traffic::clock::Clock;
use lab_traffic::ports::Ports;

use crate::dut::device::Device;
use crate::link::LinkKind;
use crate::link::cards::Cards;
use crate::testbed::Reached;
use crate::{Error, dut};

/// What all rigs of a campaign share.
#[derive(Clone)]
pub struct Bench<'a> {
    /// The time.
    pub clock: &'a Clock,
    /// The ports that DPDK opens for the lab.
    pub ports: &'a Ports,
    /// Kind of the links.
    pub link: LinkKind,
    /// The cards that they are, where they are cards.
    pub cards: Option<Cards>,
    /// Cores that devices get, as `taskset` writes them.
    pub cores: String,
    /// Where devices keep their files.
    pub folder: PathBuf,
    /// The test bed whose devices they are, where they are not this host's.
    pub bed: Option<&'a Reached>,
    /// Asked now and then whether to go on.
    pub go_on: &'a dyn Fn() -> bool,
}

impl Bench<'_> {
    /// The device of a name: this host's, or the test bed's.
    pub(crate) fn device(&self, name: &str) -> Result<Box<dyn Device>, Error> {
        self.bed.map_or_else(|| dut::named(name), |bed| bed.device(name))
    }

    /// The same for a device beside another one.
    pub(crate) fn beside(&self) -> Self {
        let mut name = self.folder.file_name().unwrap_or_default().to_owned();
        name.push("-beside");
        Self { folder: self.folder.with_file_name(name), ..self.clone() }
    }

    /// Whether two devices can be there at a time, each of which rests while the other works.
    pub(crate) fn bears_both(&self, names: [&str; 2]) -> Result<bool, Error> {
        let mut rest = self.bed.is_none() && self.link.is_shared_memory();
        for name in names {
            rest = rest && self.device(name)?.rests();
        }
        Ok(rest)
    }
}
