//! Bits of what tables tell each other. An instruction; an action of Open vSwitch's in 1.0.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Field;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WriteMetadata {
    /// The bits.
    pub value: u64,
    /// Which of them.
    pub mask: u64,
}

impl Kind for WriteMetadata {
    const CODES: &'static [Code] = &[Code::Nicira(22)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        body.skip(6)?;
        let (value, mask) = (body.u64()?, body.u64()?);
        Ok(Self { value: value & mask, mask })
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        if version == Version::V10 {
            nicira(22, out, |out| {
                out.zeros(6);
                out.u64(self.value);
                out.u64(self.mask);
            });
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.write(Field::Metadata, self.value.into(), self.mask.into());
    }
}
