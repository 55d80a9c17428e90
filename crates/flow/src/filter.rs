//! Whether there may be something under a hash: one bit of few cache lines, for what is mostly not
//! there.
//!
//! ```text
//!  hash ─▶ a bit: 0, nothing is there │ 1, look: of the bits that are set some are others'
//! ```
//! Eight bits each, so that of those looked for in vain one in eight is looked for elsewhere at
//! most. What goes leaves its bit behind: from time to time all is put in anew.

/// Bits for each that is there, at least.
const EACH: usize = 8;
/// Words of an empty one.
const FIRST: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Filter {
    words: Vec<u64>,
    /// How many were put in since it was made anew.
    many: usize,
}

impl Filter {
    pub(crate) fn new() -> Self {
        Self { words: vec![0; FIRST], many: 0 }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// The word of a hash: by bits that lines of the index are not told apart by.
    #[inline(always)]
    fn place(&self, hash: u64) -> usize {
        (hash >> 26) as usize & (self.words.len() - 1)
    }

    /// Whether there may be something under a hash.
    #[inline(always)]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        self.words[self.place(hash)] >> (hash >> 20 & 63) & 1 != 0
    }

    /// Whether one more wants it made anew first, of what there is.
    pub(crate) fn is_full(&self) -> bool {
        self.many * EACH >= self.words.len() * 64
    }

    /// Makes it anew, of these.
    pub(crate) fn renew(&mut self, many: usize, hashes: impl Iterator<Item = u64>) {
        // Half of the room is for those to come.
        let words = (many * 2 * EACH).div_ceil(64).next_power_of_two().max(FIRST);
        (self.words, self.many) = (vec![0; words], 0);
        hashes.for_each(|hash| self.add(hash));
    }

    /// From now on there is something under a hash.
    pub(crate) fn add(&mut self, hash: u64) {
        let place = self.place(hash);
        self.words[place] |= 1 << (hash >> 20 & 63);
        self.many += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::fold;

    fn hash(number: u64) -> u64 {
        fold(number ^ 0x9e37_79b9_7f4a_7c15, 0xa076_1d64_78bd_642f)
    }

    #[test]
    fn what_was_put_in_may_be_there_and_of_others_one_in_eight() {
        let mut filter = Filter::new();
        for number in 0..10_000 {
            if filter.is_full() {
                filter.renew(number as usize, (0..number).map(hash));
            }
            filter.add(hash(number));
            assert!(number % 997 != 0 || (0..=number).all(|it| filter.may_have(hash(it))));
        }
        let wrong = (10_000..20_000).filter(|it| filter.may_have(hash(*it))).count();
        assert!(wrong < 10_000 / 7, "{wrong}");
        // What is gone is, when it is made anew.
        filter.renew(10, (0..10).map(hash));
        assert!((0..10).all(|it| filter.may_have(hash(it))));
        assert!((10..10_000).filter(|it| filter.may_have(hash(*it))).count() < 600);
        filter.clear();
        assert!(!filter.may_have(hash(1)));
    }
}
