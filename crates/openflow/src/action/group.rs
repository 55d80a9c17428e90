//! To a group.

use super::{Code, Kind, nicira, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Group {
    /// Its number.
    pub group: u32,
}

impl Kind for Group {
    const CODES: &'static [Code] = &[Code::New(22), Code::Nicira(40)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        if matches!(code, Code::Nicira(_)) {
            body.skip(2)?;
        }
        Ok(Self { group: body.u32()? })
    }

    fn check(&self) -> Result<(), Fault> {
        if self.group > 0xffff_ff00 { Err(Fault::BadOutGroup) } else { Ok(()) }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        match version {
            Version::V10 => nicira(40, out, |out| {
                out.u16(0);
                out.u32(self.group);
            }),
            _ => standard(22, out, |out| out.u32(self.group)),
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.group(self.group);
    }
}
