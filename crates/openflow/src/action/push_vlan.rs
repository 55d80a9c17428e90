//! A VLAN tag in front.

use super::{Code, Kind, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PushVlan {
    /// Its kind: 0x8100 or 0x88a8.
    pub tpid: u16,
}

impl Kind for PushVlan {
    const CODES: &'static [Code] = &[Code::New(17)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Ok(Self { tpid: body.u16()? })
    }

    fn check(&self) -> Result<(), Fault> {
        if matches!(self.tpid, 0x8100 | 0x88a8) { Ok(()) } else { Err(Fault::BadArgument) }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        if version > Version::V10 {
            standard(17, out, |out| out.u16(self.tpid));
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.push_vlan(self.tpid);
    }
}
