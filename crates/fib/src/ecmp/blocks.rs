//! Runs of buckets, each a power of two long, cut from one array.
//!
//! ```text
//!   | 16 | 16 |    64    | 16 |   32   | never used ...
//!   a run given back serves the next group of its size
//! ```

use std::ops::Range;

use super::share::MAX_BUCKETS;
use crate::FibError;

/// Sizes of runs: 2^0 to [`MAX_BUCKETS`].
const SIZES: usize = MAX_BUCKETS.ilog2() as usize + 1;

/// A run of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    first: u32,
    bits: u8,
}

impl Block {
    /// As a group's word; never 0.
    pub(super) fn word(self) -> u64 {
        u64::from(self.bits + 1) << 56 | u64::from(self.first)
    }

    /// From a group's word; none if the group has no buckets.
    #[inline]
    pub(super) fn from_word(word: u64) -> Option<Block> {
        let bits = ((word >> 56) as u8).checked_sub(1)?;
        Some(Block { first: word as u32, bits })
    }

    /// The bucket of a flow.
    #[inline]
    pub(super) fn bucket_of(self, hash: u32) -> usize {
        self.first as usize + (u64::from(hash) << self.bits >> 32) as usize
    }

    pub(super) fn len(self) -> usize {
        1 << self.bits
    }

    pub(super) fn range(self) -> Range<usize> {
        self.first as usize..self.first as usize + self.len()
    }
}

/// Which buckets are free.
#[derive(Debug)]
pub(super) struct Blocks {
    free: [Vec<u32>; SIZES],
    fresh: usize,
    capacity: usize,
}

impl Blocks {
    pub(super) fn new(capacity: usize) -> Blocks {
        Blocks { free: std::array::from_fn(|_| Vec::new()), fresh: 0, capacity }
    }

    /// A run of `len` buckets, a power of two.
    pub(super) fn take(&mut self, len: usize) -> Result<Block, FibError> {
        let bits = len.ilog2() as u8;
        if let Some(first) = self.free[usize::from(bits)].pop() {
            return Ok(Block { first, bits });
        }
        if self.capacity - self.fresh < len {
            let (table, capacity) = ("the ECMP buckets", self.capacity);
            return Err(FibError::Full { table, unit: "buckets", capacity });
        }
        let block = Block { first: self.fresh as u32, bits };
        self.fresh += len;
        Ok(block)
    }

    pub(super) fn give_back(&mut self, block: Block) {
        self.free[usize::from(block.bits)].push(block.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_its_run_and_a_hash_its_bucket() {
        let mut blocks = Blocks::new(100);
        blocks.take(16).unwrap();
        let block = blocks.take(64).unwrap();
        assert_eq!(Block::from_word(block.word()), Some(block));
        assert_eq!((block.bucket_of(0), block.bucket_of(u32::MAX)), (16, 79));
        assert_eq!(Block::from_word(0), None);
        let one = blocks.take(1).unwrap();
        assert_eq!((one.bucket_of(u32::MAX), one.len()), (80, 1));
    }

    #[test]
    fn a_run_given_back_serves_again_and_a_full_array_refuses() {
        let mut blocks = Blocks::new(48);
        let first = blocks.take(32).unwrap();
        blocks.take(16).unwrap();
        assert!(matches!(blocks.take(1), Err(FibError::Full { capacity: 48, .. })));
        blocks.give_back(first);
        assert_eq!(blocks.take(32).unwrap(), first);
    }
}
