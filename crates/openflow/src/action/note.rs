//! Bytes for who reads flows.

use super::{Code, Kind, nicira};
use crate::bytes::{Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Note {
    /// The bytes, with what they are padded with.
    pub bytes: Vec<u8>,
}

impl Kind for Note {
    const CODES: &'static [Code] = &[Code::Nicira(8)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Ok(Self { bytes: body.rest().to_vec() })
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(8, out, |out| out.extend(&self.bytes));
    }

    fn run(&self, _: &mut dyn Machine) {}
}
