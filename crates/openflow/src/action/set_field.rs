//! Sets bits of a field: `set_field` of 1.2 and later, the fixed ones of 1.0, and Open vSwitch's
//! `load`.

use super::output_reg::{bare_sub, meant_field, offset_and_bits, put_field};
use super::{Code, Kind, nicira, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::{Field, Sub, ones};
use crate::machine::Machine;
use crate::matching::{decode_field, encode_field};
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetField {
    /// The field.
    pub field: Field,
    /// The bits, where they are in the field.
    pub value: u128,
    /// Which bits.
    pub mask: u128,
    /// It was said as a load, and is said so again.
    pub is_load: bool,
}

impl SetField {
    /// All bits of a field.
    pub fn whole(field: Field, value: u128) -> Self {
        Self { field, value, mask: field.ones(), is_load: false }
    }

    /// Whether all bits of the field are set, and not by a load.
    pub fn is_whole(&self) -> bool {
        !self.is_load && self.mask == self.field.ones()
    }

    /// Whether 1.0 has an action of its own for it.
    pub fn is_of_1_0(&self) -> bool {
        self.is_whole() && self.old_number().is_some()
    }

    fn old_number(&self) -> Option<u16> {
        let field = self.field.padded().map_or(self.field, |(it, _)| it);
        OLD.iter().find(|it| it.1 == field).map(|it| it.0)
    }

    /// The bits as one run, if they are one.
    fn run_of_bits(&self) -> Option<Sub> {
        let offset = self.mask.trailing_zeros();
        let run = self.mask >> offset.min(127);
        let bits = run.trailing_ones();
        (self.mask != 0 && (bits == 128 || run >> bits == 0)).then_some(Sub {
            field: self.field,
            offset: offset as u16,
            bits: bits as u16,
        })
    }
}

/// What 1.0 sets by an action of its own.
const OLD: &[(u16, Field)] = &[
    (4, Field::EthSrc),
    (5, Field::EthDst),
    (6, Field::IpSrc),
    (7, Field::IpDst),
    (8, Field::IpDscp),
];

impl Kind for SetField {
    const CODES: &'static [Code] = &[
        Code::Old(4),
        Code::Old(5),
        Code::Old(6),
        Code::Old(7),
        Code::Old(8),
        // The TTL of IP has an action of its own.
        Code::New(23),
        Code::New(25),
        Code::Nicira(7),
        Code::Nicira(33),
    ];

    fn decode(code: Code, body: &mut Reader<'_>, version: Version) -> Result<Self, Fault> {
        match code {
            Code::Old(number) => {
                let field = OLD.iter().find(|it| it.0 == number).ok_or(Fault::BadActionType)?.1;
                let bytes = field.bits().div_ceil(8) as usize;
                let value = body.number(bytes)?;
                let value = if field == Field::IpDscp { value >> 2 } else { value };
                Ok(Self::whole(field, value))
            }
            Code::New(23) => Ok(Self::whole(Field::IpTtl, body.u8()?.into())),
            Code::Nicira(7) => {
                let (offset, bits) = offset_and_bits(body.u16()?);
                let to = bare_sub(body.u32()?, offset, bits)?;
                let value = u128::from(body.u64()?);
                if !to.is_there() {
                    return Err(Fault::BadSetLength);
                }
                if value > ones(bits.into()) {
                    return Err(Fault::BadSetArgument);
                }
                let (field, mask) = (to.field, to.mask());
                Ok(Self { field, value: value << offset, mask, is_load: true })
            }
            _ => {
                let word = body.u32()?;
                let unknown = |fault| match fault {
                    Fault::BadField => Fault::BadSetType,
                    Fault::BadMask | Fault::BadWildcards | Fault::BadValue => Fault::BadSetArgument,
                    other => other,
                };
                let (field, value, mask) = set_value(word, body).map_err(unknown)?;
                // 1.5, 7.2.3.7: the bit that says that there is a tag is set, and in the mask.
                if field == Field::VlanVid && value & mask & 0x1000 == 0 {
                    return Err(Fault::BadSetArgument);
                }
                let (field, value, mask) = as_meant(word, (field, value, mask));
                let is_masked = mask != field.ones();
                if is_masked && version < Version::V15 && matches!(code, Code::New(_)) {
                    return Err(Fault::BadSetArgument);
                }
                Ok(Self { field, value, mask, is_load: false })
            }
        }
    }

    fn check(&self) -> Result<(), Fault> {
        if self.field.is_fixed() { Err(Fault::BadSetArgument) } else { Ok(()) }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        let Self { field, value, mask, is_load } = *self;
        let is_whole = mask == field.ones();
        let is_old = version == Version::V10 && self.is_whole();
        if let Some(number) = self.old_number().filter(|_| is_old) {
            let value = if field == Field::IpDscp { value << 2 } else { value };
            let bytes = field.bits().div_ceil(8) as usize;
            standard(number, out, |out| out.number(value, bytes));
            return;
        }
        if is_whole && !is_load && version == Version::V10 && field == Field::VlanVid {
            super::SetVlan::Vid(value as u16 & 0xfff).encode(version, out);
            return;
        }
        let has_ttl = version > Version::V10 && (!is_load || version >= Version::V15);
        if field == Field::IpTtl && is_whole && has_ttl {
            standard(23, out, |out| out.u8(value as u8));
            return;
        }
        let (value, mask) = match field {
            Field::VlanVid => (value | 0x1000, mask | 0x1000),
            _ => (value, mask),
        };
        let is_plain = !is_load && version > Version::V10 && is_whole;
        if is_plain || version >= Version::V15 {
            standard(25, out, |out| encode_field(field, value, mask, false, out));
            return;
        }
        match self
            .run_of_bits()
            .filter(|run| run.bits <= 64 && (is_load || version == Version::V10))
        {
            Some(run) => nicira(7, out, |out| {
                out.u16(run.offset << 6 | (run.bits - 1));
                put_field(field, out);
                out.u64((self.value >> run.offset) as u64);
            }),
            None => nicira(33, out, |out| encode_field(field, value, mask, false, out)),
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.write(self.field, self.value, self.mask);
    }
}

/// The class where it was said as the octet that it is in: whole if no mask came with it.
fn as_meant(word: u32, (field, value, mask): (Field, u128, u128)) -> (Field, u128, u128) {
    let (meant, has_mask) = meant_field(word).unwrap_or((field, true));
    match meant.padded() {
        Some((_, padding)) if has_mask => (meant, value << padding, mask << padding),
        Some((_, padding)) => (meant, value << padding, meant.ones()),
        None => (field, value, mask),
    }
}

/// A header with what is to be set: any field may be set in part.
fn set_value(word: u32, body: &mut Reader<'_>) -> Result<(Field, u128, u128), Fault> {
    match Field::of_word(word) {
        Some((field, header, true)) if !field.is_maskable() => {
            let bytes = usize::from(header.bytes);
            let value = body.number(bytes)? >> header.shift;
            let mask = body.number(bytes)? >> header.shift & field.ones();
            if value & !mask != 0 || mask == 0 {
                return Err(Fault::BadSetArgument);
            }
            Ok((field, value, mask))
        }
        _ => decode_field(word, body),
    }
}
