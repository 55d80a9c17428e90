//! To one controller, with a reason.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Controller {
    /// Bytes of the packet that it gets.
    pub max_len: u16,
    /// Which controller, by the number that it gave itself.
    pub controller: u16,
    /// `OFPR_*`.
    pub reason: u8,
}

impl Kind for Controller {
    const CODES: &'static [Code] = &[Code::Nicira(20)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let (max_len, controller, reason) = (body.u16()?, body.u16()?, body.u8()?);
        if body.u8()? != 0 {
            return Err(Fault::ActionMustBeZero);
        }
        Ok(Self { max_len, controller, reason })
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(20, out, |out| {
            out.u16(self.max_len);
            out.u16(self.controller);
            out.u8(self.reason);
            out.u8(0);
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.controller(self.max_len, self.controller, self.reason);
    }
}
