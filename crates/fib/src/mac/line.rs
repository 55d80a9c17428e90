//! Five slots on one cache line, and the order in which lines are tried.
//!
//! ```text
//!   0                                     40                  60       64
//!  +------+------+------+------+------+----+----+----+----+----+---------+
//!  | key0 | key1 | key2 | key3 | key4 | d0 | d1 | d2 | d3 | d4 | spilled |
//!  +------+------+------+------+------+----+----+----+----+----+---------+
//!
//!  tried: line a, its neighbour a^1, line b, b^1, line c, c^1 …  each only if the one before spilled
//! ```
//!
//! Slots are a little more than half full when the table is full, so that one entry in fifteen
//! lies on its second line, and hardly any further.

#![allow(unsafe_code)] // Says that a line may start as zeroed memory.

use super::entry::{Data, MacKey};
use crate::pages::Zeroed;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Slots of a line.
pub(super) const SLOTS: usize = 5;
/// The most lines that a key may lie on.
pub(super) const LINES_TRIED: usize = 12;
/// Lines for each entry of capacity: four for eleven.
pub(super) const LINES_FOR: (usize, usize) = (4, 11);

/// See the module's drawing.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) keys: [AtomicU64; SLOTS],
    /// The data of each slot, and behind it whether a key that belonged here went on to the next
    /// line: then 1.
    pub(super) data: [AtomicU32; SLOTS + 1],
}

/// Where a line says whether it has spilled.
const SPILLED: usize = SLOTS;

// SAFETY: a structure of atomic integers, valid when zero.
unsafe impl Zeroed for Line {}

impl Line {
    /// What it has of `key`: its data, or else whether the line has spilled.
    #[inline(always)]
    pub(super) fn word(&self, key: MacKey) -> u32 {
        let has_key = |slot: &usize| self.keys[*slot].load(Ordering::Relaxed) == key.bits();
        let place = (0..SLOTS).find(has_key).unwrap_or(SPILLED);
        self.data[place].load(Ordering::Acquire)
    }

    /// The data of slot `slot`.
    pub(super) fn data_of(&self, slot: usize) -> Data {
        Data(self.data[slot].load(Ordering::Acquire))
    }

    #[inline(always)]
    pub(super) fn has_spilled(&self) -> bool {
        self.data[SPILLED].load(Ordering::Acquire) != 0
    }

    pub(super) fn spill(&self) {
        if !self.has_spilled() {
            self.data[SPILLED].store(1, Ordering::Release);
        }
    }
}

/// Which lines a key lies on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash {
    seed: u64,
    pairs: u64,
}

impl Hash {
    /// For a table of `lines`, an even number.
    pub(super) fn new(seed: u64, lines: usize) -> Hash {
        Hash { seed, pairs: lines as u64 / 2 }
    }

    /// The line that `key` is looked for first.
    #[inline(always)]
    pub(super) fn first(&self, key: MacKey) -> usize {
        self.line(key, 0)
    }

    /// The line that `key` is looked for after `attempt` others.
    #[inline(always)]
    pub(super) fn line(&self, key: MacKey, attempt: usize) -> usize {
        let salt = (attempt as u64 / 2).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = (key.bits() ^ self.seed ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xe703_7ed1_a0b4_28db);
        // There are fewer than 2^32 pairs, so that eight keys fit registers of the processor's.
        let pair = (((mixed >> 32) * self.pairs) >> 32) as usize;
        2 * pair + ((mixed as usize ^ attempt) & 1)
    }

    /// The lines of `key` in the order they are tried.
    pub(super) fn lines(self, key: MacKey) -> impl Iterator<Item = usize> {
        (0..LINES_TRIED).map(move |attempt| self.line(key, attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_neighbouring_lines_in_pairs() {
        let hash = Hash::new(7, 1000);
        let lines: Vec<usize> = hash.lines(MacKey::new(1, [2, 3, 4, 5, 6, 7])).collect();
        assert_eq!(lines.len(), LINES_TRIED);
        assert!(lines.chunks(2).all(|pair| pair[0] ^ 1 == pair[1] && pair[0] < 1000));
        assert_eq!(lines[0], hash.first(MacKey::new(1, [2, 3, 4, 5, 6, 7])));
    }

    #[test]
    fn consecutive_addresses_spread_evenly() {
        let hash = Hash::new(7, 256);
        let mut counts = [0u32; 256];
        for n in 0..25_600u32 {
            let [a, b, c, d] = n.to_be_bytes();
            counts[hash.first(MacKey::new(1, [2, 0, a, b, c, d]))] += 1;
        }
        assert!(counts.iter().all(|count| (40..180).contains(count)), "{counts:?}");
    }
}
