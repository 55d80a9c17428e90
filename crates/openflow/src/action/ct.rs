//! Through connection tracking, and on in a table where one is named.

use super::output_reg::{bare_sub, offset_and_bits, put_field};
use super::{Action, Code, Kind, decode_list, encode_list, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Sub;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ct {
    /// 1: the connection is remembered; 2: against its direction, too.
    pub flags: u16,
    /// The zone.
    pub zone: Zone,
    /// Where the packet goes on; none: nowhere.
    pub table: Option<u8>,
    /// Port of a protocol whose connections bring others; 0: none.
    pub helper: u16,
    /// What is done with the connection: translation, mark and label.
    pub actions: Vec<Action>,
}

/// Where the zone is said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Zone {
    /// Here.
    Number(u16),
    /// In a field.
    Field(Sub),
}

impl Kind for Ct {
    const CODES: &'static [Code] = &[Code::Nicira(35)];

    fn decode(_: Code, body: &mut Reader<'_>, version: Version) -> Result<Self, Fault> {
        let flags = body.u16()?;
        let mut source = *body;
        let zone = if source.u32()? == 0 {
            body.skip(4)?;
            Zone::Number(body.u16()?)
        } else {
            let word = body.u32()?;
            let (offset, bits) = offset_and_bits(body.u16()?);
            Zone::Field(bare_sub(word, offset, bits)?)
        };
        let table = body.u8()?;
        body.skip(3)?;
        let helper = body.u16()?;
        let actions = decode_list(body, version)?;
        Ok(Self { flags, zone, table: (table != u8::MAX).then_some(table), helper, actions })
    }

    fn check(&self) -> Result<(), Fault> {
        match self.zone {
            Zone::Field(sub) if !sub.is_there() => Err(Fault::BadSetLength),
            Zone::Field(sub) if sub.bits != 16 => Err(Fault::BadSetLength),
            _ => Ok(()),
        }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        nicira(35, out, |out| {
            out.u16(self.flags);
            match self.zone {
                Zone::Number(number) => {
                    out.u32(0);
                    out.u16(number);
                }
                Zone::Field(sub) => {
                    put_field(sub.field, out);
                    out.u16(sub.offset << 6 | (sub.bits - 1));
                }
            }
            out.u8(self.table.unwrap_or(u8::MAX));
            out.zeros(3);
            out.u16(self.helper);
            encode_list(&self.actions, version, out);
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.track(self);
    }
}
