//! Forgets what connection tracking said of the packet.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CtClear;

impl Kind for CtClear {
    const CODES: &'static [Code] = &[Code::Nicira(43)];

    fn decode(_: Code, _: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(43, out, |out| out.zeros(6));
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.untrack();
    }
}
