//! Packets of a run some tens at a time: the connections of all are on their way from memory while
//! others are looked at.
//!
//! ```text
//!  each packet: read, its place in the table asked for ─▶ each: its connection asked for ─▶ each: done
//! ```

use crate::nat::nat44::Nat44;
use conntrack::Asked;
use packet::prefetch_read;
use std::ops::Range;

/// Packets that are looked up together.
const TOGETHER: usize = 32;

/// Parts of a run.
pub(super) fn parts(slots: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = slots.end;
    slots.step_by(TOGETHER).map(move |start| start..end.min(start + TOGETHER))
}

/// A packet that is to be looked at.
pub(super) struct Coming {
    pub(super) slot: usize,
    /// Where in the frame its IPv4 header is.
    pub(super) at: usize,
    /// None where it is of no usual form, or is not looked for.
    pub(super) asked: Option<Asked>,
}

/// See the module.
pub(super) struct Together(Vec<Coming>);

impl Together {
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(TOGETHER))
    }

    /// A packet more; `bytes`: from its IPv4 header on, if its connection is to be looked for.
    #[inline(always)]
    pub(super) fn add(&mut self, nat: &Nat44, slot: usize, at: usize, bytes: Option<&[u8]>) {
        let asked = bytes.and_then(|bytes| nat.ask(bytes)).map(|(asked, line)| {
            prefetch_read(line);
            asked
        });
        self.0.push(Coming { slot, at, asked });
    }

    /// All of them, and none is left.
    #[inline(always)]
    pub(super) fn take(&mut self, nat: &Nat44) -> impl Iterator<Item = Coming> {
        for asked in self.0.iter_mut().filter_map(|it| it.asked.as_mut()) {
            prefetch_read(nat.table.ask_on(asked));
        }
        self.0.drain(..)
    }
}
