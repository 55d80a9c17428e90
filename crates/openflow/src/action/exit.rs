//! Nothing behind this is done, here and in tables that led here.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Exit;

impl Kind for Exit {
    const CODES: &'static [Code] = &[Code::Nicira(17)];

    fn decode(_: Code, _: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(17, out, |out| out.zeros(6));
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.exit();
    }
}
