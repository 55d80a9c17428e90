//! Which slots of a ring hold someone, and the next one that does.
//!
//! ```text
//!   words:  [ 0…63 ] [ 64…127 ] … 64 at most          summary: a bit for each word that is not zero
//! ```

const BITS: usize = u64::BITS as usize;

pub(super) struct Held<const WORDS: usize> {
    words: [u64; WORDS],
    summary: u64,
}

impl<const WORDS: usize> Held<WORDS> {
    pub(super) const NONE: Self = Self { words: [0; WORDS], summary: 0 };
    /// How many there are: a power of two.
    pub(super) const SLOTS: usize = {
        assert!(WORDS.is_power_of_two() && WORDS <= BITS);
        WORDS * BITS
    };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.summary == 0
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize) {
        let at = slot % Self::SLOTS;
        self.words[at / BITS] |= 1 << (at % BITS);
        self.summary |= 1 << (at / BITS);
    }

    #[inline]
    pub(super) fn clear(&mut self, slot: usize) {
        let at = slot % Self::SLOTS;
        let word = &mut self.words[at / BITS];
        *word &= !(1 << (at % BITS));
        self.summary &= !(u64::from(*word == 0) << (at / BITS));
    }

    /// How many slots on from `hand` the next one stands that holds someone: 0 for that one itself.
    #[inline]
    pub(super) fn distance(&self, hand: u64) -> Option<u64> {
        let from = hand as usize % Self::SLOTS;
        let here = self.words[from / BITS] >> (from % BITS);
        if here != 0 {
            return Some(u64::from(here.trailing_zeros()));
        }
        if self.summary == 0 {
            return None;
        }
        // Words from the next one on, around to those that come before `hand` in its own.
        let next = from / BITS + 1;
        let turned = self.summary.rotate_right(next as u32).trailing_zeros() as usize;
        let word = (next + turned) % BITS;
        let slot = word * BITS + self.words[word].trailing_zeros() as usize;
        Some(((slot + Self::SLOTS - from) % Self::SLOTS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const WORDS: usize>(moves: &[(bool, usize)], hand: u64) {
        let mut held = Held::<WORDS>::NONE;
        let mut list = vec![false; WORDS * BITS];
        for &(is_held, slot) in moves {
            let slot = slot % list.len();
            list[slot] = is_held;
            if is_held { held.set(slot) } else { held.clear(slot) }
        }
        let slots = list.len() as u64;
        let walked = (0..slots).find(|on| list[((hand + on) % slots) as usize]);
        assert_eq!(held.distance(hand), walked);
        assert_eq!(held.is_empty(), walked.is_none());
    }

    proptest! {
        #[test]
        fn the_next_is_what_a_walk_around_finds(
            moves in prop::collection::vec((prop::bool::weighted(0.6), 0usize..4096), 0..60),
            hand in 0u64..8192,
        ) {
            check::<1>(&moves, hand);
            check::<8>(&moves, hand);
            check::<64>(&moves, hand);
        }
    }
}
