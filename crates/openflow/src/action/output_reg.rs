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
        let (word, max_len) = match code {
            Code::Nicira(32) => {
                let max_len = body.u16()?;
                (body.u32()?, max_len)
            }
            _ => (body.u32()?, body.u16()?),
        };
        let from = bare_sub(word, offset, bits)?;
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

/// Bits of the field that a header without a value names.
pub(super) fn bare_sub(word: u32, offset: u16, bits: u16) -> Result<Sub, Fault> {
    match meant_field(word) {
        Some((field, false)) => Ok(Sub { field, offset, bits }),
        _ => Err(Fault::BadSetType),
    }
}

/// The field that an action means by a word, and whether a mask comes with the value.
pub(super) fn meant_field(word: u32) -> Option<(Field, bool)> {
    let (field, header, has_mask) = Field::of_word(word)?;
    Some((if header.shift > 0 { Field::IpTos } else { field }, has_mask))
}

/// Writes a field's header without a value.
pub(super) fn put_field(field: Field, out: &mut Writer) {
    let headers = [true, false].into_iter().filter_map(|is_old| field.header(is_old));
    // The one whose bits are numbered as the field's are.
    let plain = headers.into_iter().find(|header| header.shift == 0);
    out.u32(plain.map_or(0, |header| header.word(false)));
}
