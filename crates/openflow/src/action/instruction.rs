//! Instructions of 1.1 and later: what a flow does with its actions.
//!
//! ```text
//!  1 goto-table │ 2 write-metadata │ 3 write-actions │ 4 apply-actions │ 5 clear-actions │ 6 meter
//! ```

use super::{
    Action, ClearActions, GotoTable, Meter, Program, WriteActions, WriteMetadata, decode_list,
    encode_list,
};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::version::Version;

/// Reads what a flow does to the end of the message.
pub fn decode_program(reader: &mut Reader<'_>, version: Version) -> Result<Program, Fault> {
    if version == Version::V10 {
        return decode_list(reader, version);
    }
    let mut parts: [Option<Vec<Action>>; 6] = Default::default();
    while !reader.is_empty() {
        let mut head = reader.or(Fault::BadInstructionLength);
        let (kind, length) = (head.u16()?, usize::from(head.u16()?));
        if length < 8 || length % 8 != 0 {
            return Err(Fault::BadInstructionLength);
        }
        let mut body = reader.or(Fault::BadInstructionLength).part(length)?;
        reader.skip(length)?;
        body.skip(4)?;
        let (place, actions) = match kind {
            1 => (5, vec![GotoTable { table: body.u8()? }.into()]),
            2 => {
                body.skip(4)?;
                let (value, mask) = (body.u64()?, body.u64()?);
                (4, vec![WriteMetadata { value: value & mask, mask }.into()])
            }
            3 => {
                body.skip(4)?;
                let actions = decode_list(&mut body, version)?;
                (3, vec![WriteActions { actions }.into()])
            }
            4 => {
                body.skip(4)?;
                (1, decode_list(&mut body, version)?)
            }
            5 => (2, vec![ClearActions.into()]),
            6 if version < Version::V15 => (0, vec![Meter { meter: body.u32()? }.into()]),
            u16::MAX => return Err(Fault::UnsupportedInstruction),
            _ => return Err(Fault::UnknownInstruction),
        };
        if parts[place].replace(actions).is_some() {
            return Err(Fault::DuplicateInstruction);
        }
    }
    // The standard's order: meter, apply, clear, write, metadata, goto.
    Ok(parts.into_iter().flatten().flatten().collect())
}

/// Writes what a flow does.
pub fn encode_program(program: &[Action], version: Version, out: &mut Writer) {
    if version == Version::V10 {
        encode_list(program, version, out);
        return;
    }
    let place = |action: &Action| match action {
        Action::Meter(_) if version < Version::V15 => 0,
        Action::ClearActions(_) => 2,
        Action::WriteActions(_) => 3,
        Action::WriteMetadata(_) => 4,
        Action::GotoTable(_) => 5,
        _ => 1,
    };
    for wanted in 0..6 {
        let mut of_place = program.iter().filter(|action| place(action) == wanted).peekable();
        if of_place.peek().is_none() {
            continue;
        }
        if wanted == 1 {
            instruction(4, out, |out| {
                out.u32(0);
                of_place.for_each(|action| action.encode(version, out));
            });
            continue;
        }
        for action in of_place {
            match action {
                Action::Meter(it) => instruction(6, out, |out| out.u32(it.meter)),
                Action::ClearActions(_) => instruction(5, out, |out| out.u32(0)),
                Action::WriteActions(it) => instruction(3, out, |out| {
                    out.u32(0);
                    encode_list(&it.actions, version, out);
                }),
                Action::WriteMetadata(it) => instruction(2, out, |out| {
                    out.u32(0);
                    out.u64(it.value);
                    out.u64(it.mask);
                }),
                Action::GotoTable(it) => instruction(1, out, |out| {
                    out.u8(it.table);
                    out.zeros(3);
                }),
                _ => {}
            }
        }
    }
}

fn instruction(kind: u16, out: &mut Writer, body: impl FnOnce(&mut Writer)) {
    super::standard(kind, out, body);
}
