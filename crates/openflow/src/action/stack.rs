//! Puts bits of a field aside, and takes back what was put aside last.

use super::output_reg::{bare_sub, put_field};
use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Sub;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stack {
    /// Puts aside.
    Push(Sub),
    /// Takes back.
    Pop(Sub),
}

impl Kind for Stack {
    const CODES: &'static [Code] = &[Code::Nicira(27), Code::Nicira(28)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let offset = body.u16()?;
        let word = body.u32()?;
        let sub = bare_sub(word, offset, body.u16()?)?;
        Ok(if code == Code::Nicira(27) { Self::Push(sub) } else { Self::Pop(sub) })
    }

    fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Push(sub) | Self::Pop(sub) if !sub.is_there() => Err(Fault::BadSetLength),
            Self::Pop(sub) if sub.field.is_fixed() => Err(Fault::BadSetArgument),
            _ => Ok(()),
        }
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        let (number, sub) = match self {
            Self::Push(sub) => (27, sub),
            Self::Pop(sub) => (28, sub),
        };
        nicira(number, out, |out| {
            out.u16(sub.offset);
            put_field(sub.field, out);
            out.u16(sub.bits);
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        match *self {
            Self::Push(sub) => machine.push(sub),
            Self::Pop(sub) => machine.pop(sub),
        }
    }
}
