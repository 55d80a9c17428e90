//! The key of the tunnel that the packet leaves by.

use super::{Code, Kind, SetField, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Field;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetTunnel {
    /// The key.
    pub key: u64,
}

impl Kind for SetTunnel {
    const CODES: &'static [Code] = &[Code::Nicira(2), Code::Nicira(9)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        if code == Code::Nicira(2) {
            body.skip(2)?;
            return Ok(Self { key: body.u32()?.into() });
        }
        body.skip(6)?;
        Ok(Self { key: body.u64()? })
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        if version > Version::V10 {
            SetField::whole(Field::TunId, self.key.into()).encode(version, out);
        } else if let Ok(key) = u32::try_from(self.key) {
            nicira(2, out, |out| {
                out.u16(0);
                out.u32(key);
            });
        } else {
            nicira(9, out, |out| {
                out.zeros(6);
                out.u64(self.key);
            });
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.write(Field::TunId, self.key.into(), u64::MAX.into());
    }
}
