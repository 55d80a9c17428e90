//! Where tuples lie: buckets of one cache line each, two for a tuple.
//!
//! ```text
//!  hash ─▶ bucket ─▶ 8 words:  tag 31 │ direction 1 │ entry + 1, 32
//!       └▶ the other bucket, looked at where the first has it not
//! ```
//! A word is one store: whoever reads finds an entry's number or none. What the entry says decides.

use crate::status::Direction;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a bucket.
pub(crate) const WORDS: usize = 8;

/// One cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Bucket([AtomicU64; WORDS]);

/// See the module.
#[derive(Debug)]
pub(crate) struct Index {
    buckets: Box<[Bucket]>,
    mask: usize,
}

/// Which entry, in which direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) slot: u32,
    pub(crate) direction: Direction,
}

fn tag(hash: u64) -> u64 {
    (hash >> 33) << 33
}

impl Place {
    fn word(self, hash: u64) -> u64 {
        tag(hash) | (self.direction as u64) << 32 | (u64::from(self.slot) + 1)
    }

    /// What a word says; none of an empty one.
    fn of(word: u64) -> Option<Self> {
        let slot = (word as u32).checked_sub(1)?;
        let direction = if word >> 32 & 1 == 0 { Direction::Original } else { Direction::Reply };
        Some(Self { slot, direction })
    }
}

impl Index {
    /// Room for so many entries, each in two places: half the words stay empty, so that few buckets
    /// ever fill.
    pub(crate) fn new(entries: usize) -> Self {
        let buckets = (entries * 2 * 2).div_ceil(WORDS).next_power_of_two().max(8);
        let empty = || Bucket(std::array::from_fn(|_| AtomicU64::new(0)));
        Self { buckets: (0..buckets).map(|_| empty()).collect(), mask: buckets - 1 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
    }

    #[inline]
    fn pair(&self, hash: u64) -> [usize; 2] {
        let one = hash as usize & self.mask;
        // Odd, so that it is another bucket.
        [one, (one ^ ((hash >> 33) as usize | 1)) & self.mask]
    }

    /// The line that is looked at first.
    #[inline(always)]
    pub(crate) fn address(&self, hash: u64) -> *const u8 {
        (&raw const self.buckets[self.pair(hash)[0]]).cast()
    }

    /// The one behind it.
    #[inline(always)]
    pub(crate) fn other_address(&self, hash: u64) -> *const u8 {
        (&raw const self.buckets[self.pair(hash)[1]]).cast()
    }

    /// The first place of a hash's tag in the line that is looked at first.
    #[inline(always)]
    pub(crate) fn first(&self, hash: u64) -> Option<Place> {
        let words = self.buckets[self.pair(hash)[0]].0.iter();
        let mut words = words.map(|word| word.load(Ordering::Acquire));
        words.find(|word| (word ^ hash) >> 33 == 0).and_then(Place::of)
    }

    /// Shows each place of a hash's tag until one is it.
    #[inline]
    pub(crate) fn find<T>(
        &self,
        hash: u64,
        mut is_it: impl FnMut(Place) -> Option<T>,
    ) -> Option<T> {
        let tag = tag(hash);
        for bucket in self.pair(hash) {
            for word in &self.buckets[bucket].0 {
                let word = word.load(Ordering::Acquire);
                if (word ^ tag) >> 33 == 0
                    && let Some(place) = Place::of(word)
                    && let Some(found) = is_it(place)
                {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Puts a place there; false: both buckets are full.
    pub(crate) fn insert(&self, hash: u64, place: Place) -> bool {
        let word = place.word(hash);
        let free = |cell: &AtomicU64| {
            cell.load(Ordering::Relaxed) == 0
                && cell.compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        self.pair(hash).into_iter().any(|bucket| self.buckets[bucket].0.iter().any(free))
    }

    /// Takes it away.
    pub(crate) fn remove(&self, hash: u64, place: Place) {
        let word = place.word(hash);
        let gone = |cell: &AtomicU64| {
            cell.load(Ordering::Relaxed) == word
                && cell.compare_exchange(word, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let _ = self.pair(hash).into_iter().any(|bucket| self.buckets[bucket].0.iter().any(gone));
    }

    /// The places of a hash's buckets and of `more` behind each.
    pub(crate) fn around(&self, hash: u64, more: usize) -> impl Iterator<Item = Place> {
        let near = self.pair(hash).into_iter().flat_map(move |one| one..=one + more);
        near.flat_map(|bucket| &self.buckets[bucket & self.mask].0)
            .filter_map(|word| Place::of(word.load(Ordering::Acquire)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_buckets_hold_sixteen_of_one_hash_and_no_more() {
        let index = Index::new(64);
        let place = |slot| Place { slot, direction: Direction::Reply };
        let hash = 0x1234_5678_9abc_def0;
        let taken = (0..20).filter(|slot| index.insert(hash, place(*slot))).count();
        assert_eq!(taken, 2 * WORDS);
        let mut seen = Vec::new();
        assert_eq!(
            index.find(hash, |place| {
                seen.push(place.slot);
                None::<()>
            }),
            None
        );
        seen.sort_unstable();
        assert_eq!(seen, (0..16).collect::<Vec<_>>());
        index.remove(hash, place(3));
        assert!(index.insert(hash, place(77)));
        assert_eq!(index.find(hash, |at| (at == place(77)).then_some(())), Some(()));
        assert_eq!(index.find(!hash, |_| Some(())), None);
    }
}
