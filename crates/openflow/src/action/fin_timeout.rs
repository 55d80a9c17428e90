//! Shorter timeouts for the flow once a connection of it ends.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FinTimeout {
    /// Idle timeout in seconds; 0: as it was.
    pub idle: u16,
    /// Hard timeout in seconds; 0: as it was.
    pub hard: u16,
}

impl Kind for FinTimeout {
    const CODES: &'static [Code] = &[Code::Nicira(19)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Ok(Self { idle: body.u16()?, hard: body.u16()? })
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(19, out, |out| {
            out.u16(self.idle);
            out.u16(self.hard);
            out.u16(0);
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.end_timeouts(self.idle, self.hard);
    }
}
