//! Copies bits of one field into another.

use super::output_reg::{bare_sub, put_field};
use super::{Code, Kind, nicira, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Sub;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MoveField {
    /// From here.
    pub from: Sub,
    /// To as many bits here.
    pub to: Sub,
}

impl Kind for MoveField {
    const CODES: &'static [Code] = &[Code::Nicira(6), Code::New(28)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let bits = body.u16()?;
        let (from_offset, to_offset) = (body.u16()?, body.u16()?);
        if matches!(code, Code::New(_)) {
            body.skip(2)?;
        }
        let from = bare_sub(body.u32()?, from_offset, bits)?;
        let to = bare_sub(body.u32()?, to_offset, bits)?;
        Ok(Self { from, to })
    }

    fn check(&self) -> Result<(), Fault> {
        if !self.from.is_there() || !self.to.is_there() {
            return Err(Fault::BadSetLength);
        }
        if self.to.field.is_fixed() { Err(Fault::BadSetArgument) } else { Ok(()) }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        let Self { from, to } = *self;
        let places = |out: &mut Writer| out.u16s(&[from.bits, from.offset, to.offset]);
        let fields =
            |out: &mut Writer| [from.field, to.field].iter().for_each(|it| put_field(*it, out));
        if version >= Version::V15 {
            standard(28, out, |out| {
                places(out);
                out.u16(0);
                fields(out);
            });
        } else {
            nicira(6, out, |out| {
                places(out);
                fields(out);
            });
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        // What is not there is not copied, not even as zeros.
        if !machine.has(self.from.field) {
            return;
        }
        let value = machine.read(self.from);
        machine.write(self.to.field, value << self.to.offset, self.to.mask());
    }
}
