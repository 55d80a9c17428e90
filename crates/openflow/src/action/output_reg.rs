//! To the port whose number some bits of a field are.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::{Field, Sub};
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OutputReg {
    /// Where the number is.
    pub from: Sub,
    /// Bytes of the packet that controllers get.
    pub max_len: u16,
}

impl Kind for OutputReg {
    const CODES: &'static [Code] = &[Code::Nicira(15), Code::Nicira(32)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let (offset, bits) = offset_and_bits(body.u16()?);
        let (field, max_len) = match code {
            Code::Nicira(32) => {
                let max_len = body.u16()?;
                (bare_field(body)?, max_len)
            }
            _ => (bare_field(body)?, body.u16()?),
        };
        let from = Sub { field, offset, bits };
        if !from.is_there() {
            return Err(Fault::BadSetLength);
        }
        Ok(Self { from, max_len })
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(15, out, |out| {
            out.u16(self.from.offset << 6 | (self.from.bits - 1));
            put_field(self.from.field, out);
            out.u16(self.max_len);
            out.zeros(6);
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        let number = machine.read(self.from);
        if let Ok(port) = u16::try_from(number) {
            machine.output(port, self.max_len);
        }
    }
}

/// The lowest bit and how many, of ten and six bits.
pub(super) fn offset_and_bits(word: u16) -> (u16, u16) {
    (word >> 6, (word & 0x3f) + 1)
}

/// A field's header without a value.
pub(super) fn bare_field(body: &mut Reader<'_>) -> Result<Field, Fault> {
    match Field::of_word(body.u32()?) {
        Some((field, _, false)) => Ok(field),
        _ => Err(Fault::BadSetType),
    }
}

/// Writes a field's header without a value.
pub(super) fn put_field(field: Field, out: &mut Writer) {
    out.u32(field.header(true).map_or(0, |header| header.word(false)));
}
