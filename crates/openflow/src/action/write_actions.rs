//! What is to be done at the end of all tables. An instruction.

use super::{Action, Code, Kind};
use crate::bytes::{Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WriteActions {
    /// What is done: of each kind the last.
    pub actions: Vec<Action>,
}

impl Kind for WriteActions {
    const CODES: &'static [Code] = &[];

    fn decode(_: Code, _: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Err(Fault::BadActionType)
    }

    fn encode(&self, _: Version, _: &mut Writer) {}

    fn run(&self, machine: &mut dyn Machine) {
        machine.write_actions(&self.actions);
    }
}
