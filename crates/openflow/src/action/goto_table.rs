//! Goes on in another table. An instruction; 1.0 is told of a resubmission.

use super::{Code, Kind, Resubmit};
use crate::bytes::{Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GotoTable {
    /// Its number.
    pub table: u8,
}

impl Kind for GotoTable {
    const CODES: &'static [Code] = &[];

    fn decode(_: Code, _: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Err(Fault::BadActionType)
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        if version == Version::V10 {
            Resubmit { port: None, table: Some(self.table) }.encode(version, out);
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.goto_table(self.table);
    }
}
