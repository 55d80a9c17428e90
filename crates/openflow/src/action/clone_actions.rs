//! Does something to a copy; the packet goes on as it was.

use super::{Action, Code, Kind, decode_list, encode_list, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CloneActions {
    /// What is done.
    pub actions: Vec<Action>,
}

impl Kind for CloneActions {
    const CODES: &'static [Code] = &[Code::Nicira(42)];

    fn decode(_: Code, body: &mut Reader<'_>, version: Version) -> Result<Self, Fault> {
        body.skip(6)?;
        Ok(Self { actions: decode_list(body, version)? })
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        nicira(42, out, |out| {
            out.zeros(6);
            encode_list(&self.actions, version, out);
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.on_copy(&self.actions);
    }
}
