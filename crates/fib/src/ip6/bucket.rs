//! Up to four routes on one cache line, of any lengths.
//!
//! ```text
//!   0                             32                  52      56     60     64
//!  +------+------+------+------+---+---+---+---+-------+------+------+------+
//!  | key0 | key1 | key2 | key3 |w0 |w1 |w2 |w3 |default|shifts|owned | none |
//!  +------+------+------+------+---+---+---+---+-------+------+------+------+
//! ```
//!
//! Entry `i` matches when `(half ^ key[i]) >> shift[i]` is zero, `half` being one half of the
//! address; entries lie longest first, so the first match is the longest. Unused entries repeat
//! the last one and are never the first match. Keys, shifts and their order never change once a
//! reader can find the bucket: a change of those is a new bucket. Words and the default do change.

#![allow(unsafe_code)] // Says that a bucket may start as zeroed memory.

use super::word::Word;
use crate::pages::Zeroed;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Routes that a bucket holds.
pub(super) const WAYS: usize = 4;

/// A bucket as readers see it.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(super) struct Bucket {
    pub(super) keys: [AtomicU64; WAYS],
    /// One word an entry, then the default: what an address that matches none of them gets.
    pub(super) words: [AtomicU32; WAYS + 1],
    /// One byte an entry.
    pub(super) shifts: AtomicU32,
    /// The writer's own: bits 0..4 say which entries are routes (others only lead on), bits 4..8
    /// how many entries there are.
    owned: AtomicU32,
    _none: AtomicU32,
}

/// One entry of a bucket, as the writer handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The half of the prefix that the bucket compares.
    pub(super) key: u64,
    /// Bits of that half that are not compared.
    pub(super) shift: u8,
    /// Whether the entry is a route; one that is not leads to longer routes only.
    pub(super) owned: bool,
    pub(super) word: Word,
}

impl Entry {
    pub(super) fn matches(&self, half: u64) -> bool {
        (half ^ self.key) >> self.shift == 0
    }

    /// Whether all that `other` matches, `self` matches too, and more.
    pub(super) fn covers(&self, other: &Entry) -> bool {
        self.shift > other.shift && self.matches(other.key)
    }
}

// SAFETY: a structure of atomic integers, valid when zero.
unsafe impl Zeroed for Bucket {}

impl Bucket {
    /// What an address whose half is `half` finds here.
    #[inline(always)]
    pub(super) fn find(&self, half: u64) -> Word {
        let shifts = self.shifts.load(Ordering::Relaxed);
        let mut found = WAYS;
        for way in (0..WAYS).rev() {
            let key = self.keys[way].load(Ordering::Relaxed);
            let shift = shifts >> (8 * way) & 63;
            found = if (half ^ key) >> shift == 0 { way } else { found };
        }
        Word(self.words[found].load(Ordering::Acquire))
    }

    /// The entries, longest first.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let owned = self.owned.load(Ordering::Relaxed);
        let shifts = self.shifts.load(Ordering::Relaxed);
        (0..(owned >> 4) as usize).map(move |way| Entry {
            key: self.keys[way].load(Ordering::Relaxed),
            shift: (shifts >> (8 * way)) as u8,
            owned: owned >> way & 1 == 1,
            word: Word(self.words[way].load(Ordering::Relaxed)),
        })
    }

    pub(super) fn default_word(&self) -> &AtomicU32 {
        &self.words[WAYS]
    }

    /// Marks entry `way` as a route, or as none.
    pub(super) fn set_owned(&self, way: usize, owned: bool) {
        let bits = self.owned.load(Ordering::Relaxed) & !(1 << way);
        self.owned.store(bits | u32::from(owned) << way, Ordering::Relaxed);
    }

    /// Fills a bucket that no reader can find yet; `entries` are 1 to [`WAYS`], in any order.
    pub(super) fn fill(&self, entries: &mut [Entry], default: u32) {
        entries.sort_unstable_by_key(|entry| entry.shift);
        let (mut shifts, mut owned) = (0, (entries.len() as u32) << 4);
        for way in 0..WAYS {
            let entry = entries[way.min(entries.len() - 1)];
            self.keys[way].store(entry.key, Ordering::Relaxed);
            self.words[way].store(entry.word.0, Ordering::Relaxed);
            shifts |= u32::from(entry.shift) << (8 * way);
            owned |= u32::from(entry.owned && way < entries.len()) << way;
        }
        self.words[WAYS].store(default, Ordering::Relaxed);
        self.shifts.store(shifts, Ordering::Relaxed);
        self.owned.store(owned, Ordering::Relaxed);
    }
}
