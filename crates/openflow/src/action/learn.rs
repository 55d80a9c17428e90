//! Adds a flow that is made of the packet.
//!
//! ```text
//!  idle 2 │ hard 2 │ priority 2 │ cookie 8 │ flags 2 │ table 1 │ pad 1 │ fin idle 2 │ fin hard 2 │
//!  ⟨ limit 4 │ bit of the result 2 │ pad 2 │ ⟨ its field 4 ⟩ ⟩ in the longer form │
//!  { bits with what they are for 2 │ source │ where to } … │ 0
//! ```

use super::output_reg::{bare_sub, put_field};
use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Sub;
use crate::field::ones;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Learn {
    /// Seconds without packets after which it goes; 0: it stays.
    pub idle: u16,
    /// Seconds after which it goes; 0: it stays.
    pub hard: u16,
    /// Its priority.
    pub priority: u16,
    /// Its cookie.
    pub cookie: u64,
    /// 1: tell controllers when it goes; 2: it goes with the flow that learned it.
    pub flags: u16,
    /// Its table.
    pub table: u8,
    /// Its idle timeout once a connection ends.
    pub fin_idle: u16,
    /// Its hard timeout then.
    pub fin_hard: u16,
    /// Flows of its cookie in its table, at most; 0: however many.
    pub limit: u32,
    /// The bit that says whether it is learned, or was.
    pub result: Option<Sub>,
    /// What it matches and does.
    pub specs: Vec<Spec>,
}

/// A part of the flow.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    /// Where the value is from.
    pub from: From,
    /// What it is for.
    pub to: To,
    /// How many bits.
    pub bits: u16,
}

/// Where a value is from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum From {
    /// The packet.
    Packet(Sub),
    /// Said here.
    Value(u128),
}

/// What a value is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum To {
    /// Packets must have it here.
    Match(Sub),
    /// It is loaded here.
    Load(Sub),
    /// It is a port to send to.
    Output,
}

/// The flag that there is a bit for the result.
const RESULT: u16 = 4;
const IMMEDIATE: u16 = 1 << 13;
const LOAD: u16 = 1 << 11;
const OUTPUT: u16 = 2 << 11;
const BITS: u16 = 0x7ff;

impl Kind for Learn {
    const CODES: &'static [Code] = &[Code::Nicira(16), Code::Nicira(45)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let timeouts = (body.u16()?, body.u16()?);
        let priority = body.u16()?;
        let (cookie, flags, table) = (body.u64()?, body.u16()?, body.u8()?);
        body.skip(1)?;
        let (fin_idle, fin_hard) = (body.u16()?, body.u16()?);
        let (mut limit, mut result) = (0, None);
        if code == Code::Nicira(45) {
            limit = body.u32()?;
            let (offset, pad) = (body.u16()?, body.u16()?);
            if pad != 0 {
                return Err(Fault::BadArgument);
            }
            if flags & RESULT != 0 {
                result = Some(bare_sub(body.u32()?, offset, 1)?);
            }
        } else if flags & RESULT != 0 {
            return Err(Fault::BadArgument);
        }
        let mut specs = Vec::new();
        while body.len() >= 2 {
            let head = body.u16()?;
            if head == 0 {
                break;
            }
            specs.push(decode_spec(head, body)?);
        }
        let (idle, hard) = timeouts;
        Ok(Self {
            idle,
            hard,
            priority,
            cookie,
            flags: flags & !RESULT,
            table,
            fin_idle,
            fin_hard,
            limit,
            result,
            specs,
        })
    }

    fn check(&self) -> Result<(), Fault> {
        let is_there = |sub: &Sub| if sub.is_there() { Ok(()) } else { Err(Fault::BadSetLength) };
        if self.flags & !3 != 0 || self.table == u8::MAX {
            return Err(Fault::BadArgument);
        }
        if let Some(sub) = &self.result {
            if sub.field.is_fixed() {
                return Err(Fault::BadSetArgument);
            }
            is_there(sub)?;
        }
        for Spec { from, to, .. } in &self.specs {
            if let From::Packet(sub) = from {
                is_there(sub)?;
            }
            match to {
                To::Match(sub) => is_there(sub)?,
                To::Load(sub) if sub.field.is_fixed() => return Err(Fault::BadSetArgument),
                To::Load(sub) => is_there(sub)?,
                To::Output => {}
            }
        }
        Ok(())
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        let is_long = self.limit != 0 || self.result.is_some();
        nicira(if is_long { 45 } else { 16 }, out, |out| {
            out.u16s(&[self.idle, self.hard, self.priority]);
            out.u64(self.cookie);
            out.u16(self.flags | if self.result.is_some() { RESULT } else { 0 });
            out.u8(self.table);
            out.u8(0);
            out.u16(self.fin_idle);
            out.u16(self.fin_hard);
            if is_long {
                out.u32(self.limit);
                out.u16(self.result.map_or(0, |sub| sub.offset));
                out.u16(0);
                if let Some(sub) = self.result {
                    put_field(sub.field, out);
                }
            }
            self.specs.iter().for_each(|spec| encode_spec(spec, out));
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.learn(self);
    }
}

fn decode_spec(head: u16, body: &mut Reader<'_>) -> Result<Spec, Fault> {
    let bits = head & BITS;
    let mut sub = || {
        let word = body.u32()?;
        bare_sub(word, body.u16()?, bits)
    };
    if bits == 0 || bits > 128 || head >> 14 != 0 {
        return Err(Fault::BadArgument);
    }
    let from = if head & IMMEDIATE != 0 {
        let value = body.number(usize::from(bits.div_ceil(16)) * 2)?;
        if value & !ones(bits.into()) != 0 {
            return Err(Fault::BadArgument);
        }
        From::Value(value)
    } else {
        From::Packet(sub()?)
    };
    let mut sub = || {
        let word = body.u32()?;
        bare_sub(word, body.u16()?, bits)
    };
    let to = match head & (LOAD | OUTPUT) {
        0 => To::Match(sub()?),
        LOAD => To::Load(sub()?),
        OUTPUT => To::Output,
        _ => return Err(Fault::BadArgument),
    };
    Ok(Spec { from, to, bits })
}

fn encode_spec(spec: &Spec, out: &mut Writer) {
    let kind = match spec.to {
        To::Match(_) => 0,
        To::Load(_) => LOAD,
        To::Output => OUTPUT,
    };
    let put_sub = |sub: Sub, out: &mut Writer| {
        put_field(sub.field, out);
        out.u16(sub.offset);
    };
    match spec.from {
        From::Packet(sub) => {
            out.u16(kind | spec.bits);
            put_sub(sub, out);
        }
        From::Value(value) => {
            out.u16(kind | IMMEDIATE | spec.bits);
            out.number(value, usize::from(spec.bits.div_ceil(16)) * 2);
        }
    }
    if let To::Match(sub) | To::Load(sub) = spec.to {
        put_sub(sub, out);
    }
}
