//! Several actions, one behind the other.

use super::Action;
use crate::bytes::{Reader, Writer};
use crate::fault::Fault;
use crate::version::Version;
use std::cell::Cell;

/// What a flow does: its actions in order, instructions among them.
pub type Program = Vec<Action>;

/// Lists that may be inside each other.
const DEEPEST: u32 = 16;

thread_local! {
    /// How deep the list at hand is: a list in a list in a list is bytes of the other side's.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Reads actions to the end.
pub fn decode_list(reader: &mut Reader<'_>, version: Version) -> Result<Vec<Action>, Fault> {
    let depth = DEPTH.get();
    if depth >= DEEPEST {
        return Err(Fault::TooManyActions);
    }
    DEPTH.set(depth + 1);
    let read = decode_all(reader, version);
    DEPTH.set(depth);
    read
}

fn decode_all(reader: &mut Reader<'_>, version: Version) -> Result<Vec<Action>, Fault> {
    let mut list = Vec::new();
    while let Some(action) = Action::decode(reader, version)? {
        list.push(action);
    }
    Ok(list)
}

/// Writes actions.
pub fn encode_list(list: &[Action], version: Version, out: &mut Writer) {
    for action in list {
        action.encode(version, out);
    }
}
