//! What the versions of a list stand on together, and whose of it is what.
//!
//! ```text
//!  version 7 ──edits──▶ version 8       blocks that 7 has and 8 has not are free when 7 is gone,
//!                                       and those before it: nobody asks them any more
//! ```

use crate::arena::{Arena, Block, Space};
use crate::tree::Entry;
use std::collections::VecDeque;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, Weak};

/// Entries and records of the versions of a list.
pub(crate) struct Ground<S: Copy> {
    pub(crate) entries: Arena<Entry>,
    pub(crate) records: Arena<S>,
    pub(crate) growth: Mutex<Growth>,
}

/// Is there as long as a version is.
pub(crate) type Alive = Arc<()>;

/// What a version is made with.
#[derive(Debug)]
pub(crate) struct Growth {
    pub(crate) entries: Space,
    pub(crate) records: Space,
    /// The version that may be edited: the last one that was made. None when that failed.
    pub(crate) newest: Option<u64>,
    left: VecDeque<(Weak<()>, Blocks)>,
}

/// Blocks of both arenas.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) entries: Vec<Block>,
    pub(crate) records: Vec<Block>,
}

impl<S: Copy> Ground<S> {
    /// Of version 0, with room for so much more.
    pub(crate) fn new(
        (entries, more_entries): (Vec<Entry>, usize),
        (records, more_records): (Vec<S>, usize),
    ) -> Self {
        let used = (entries.len(), records.len());
        let entries = Arena::new(entries, more_entries);
        let records = Arena::new(records, more_records);
        let growth = Growth {
            entries: Space::new(&entries, used.0),
            records: Space::new(&records, used.1),
            newest: Some(0),
            left: VecDeque::new(),
        };
        Self { entries, records, growth: Mutex::new(growth) }
    }
}

impl<S: Copy> Ground<S> {
    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.bytes() + self.records.bytes()
    }
}

impl Growth {
    /// Gives back what no version has that is still there.
    pub(crate) fn tidy(&mut self) {
        while self.left.front().is_some_and(|(alive, _)| alive.strong_count() == 0) {
            // What a reader did came before it let the version go.
            fence(Ordering::Acquire);
            let Some((_, blocks)) = self.left.pop_front() else { return };
            blocks.entries.into_iter().for_each(|block| self.entries.give_back(block));
            blocks.records.into_iter().for_each(|block| self.records.give_back(block));
        }
    }

    /// These are what a version has, and the one behind it has not.
    pub(crate) fn leave(&mut self, version: &Alive, blocks: Blocks) {
        self.left.push_back((Arc::downgrade(version), blocks));
    }
}

impl<S: Copy> std::fmt::Debug for Ground<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground").field("growth", &self.growth).finish_non_exhaustive()
    }
}
