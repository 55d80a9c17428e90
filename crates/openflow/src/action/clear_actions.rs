//! Nothing is done at the end of all tables that was to be done there. An instruction.

use super::{Code, Kind};
use crate::bytes::{Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClearActions;

impl Kind for ClearActions {
    const CODES: &'static [Code] = &[];

    fn decode(_: Code, _: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Err(Fault::BadActionType)
    }

    fn encode(&self, _: Version, _: &mut Writer) {}

    fn run(&self, machine: &mut dyn Machine) {
        machine.clear_actions();
    }
}
