//! Through a meter: an instruction of 1.3 and 1.4, an action of 1.5.

use super::{Code, Kind, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Meter {
    /// Its number.
    pub meter: u32,
}

impl Kind for Meter {
    const CODES: &'static [Code] = &[Code::New(29)];

    fn decode(_: Code, body: &mut Reader<'_>, version: Version) -> Result<Self, Fault> {
        if version < Version::V15 {
            return Err(Fault::BadActionType);
        }
        Ok(Self { meter: body.u32()? })
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        if version >= Version::V15 {
            standard(29, out, |out| out.u32(self.meter));
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.meter(self.meter);
    }
}
