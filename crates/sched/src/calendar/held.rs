//! Which of 4096 slots hold someone: the next one that does, around the ring.
//!
//! ```text
//!   words:  [ 0…63 ] [ 64…127 ] … 64 of them          summary: a bit for each word that is not zero
//! ```

pub(super) const SLOTS: usize = 4096;
const BITS: usize = u64::BITS as usize;

pub(super) struct Held {
    words: [u64; SLOTS / BITS],
    summary: u64,
}

impl Held {
    pub(super) const NONE: Self = Self { words: [0; SLOTS / BITS], summary: 0 };

    #[inline]
    pub(super) fn set(&mut self, slot: usize) {
        let at = slot % SLOTS;
        self.words[at / BITS] |= 1 << (at % BITS);
        self.summary |= 1 << (at / BITS);
    }

    #[inline]
    pub(super) fn clear(&mut self, slot: usize) {
        let at = slot % SLOTS;
        let word = &mut self.words[at / BITS];
        *word &= !(1 << (at % BITS));
        self.summary &= !(u64::from(*word == 0) << (at / BITS));
    }

    /// How many slots on from `hand` the next one stands that holds someone: 0 for that one itself.
    #[inline]
    pub(super) fn distance(&self, hand: u64) -> Option<u64> {
        let from = hand as usize % SLOTS;
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
        Some(((slot + SLOTS - from) % SLOTS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_is_what_a_walk_around_finds(
            moves in prop::collection::vec((prop::bool::weighted(0.6), 0..SLOTS), 0..60),
            hand in 0..2 * SLOTS as u64,
        ) {
            let mut held = Held::NONE;
            let mut list = [false; SLOTS];
            for (is_held, slot) in moves {
                list[slot] = is_held;
                if is_held { held.set(slot) } else { held.clear(slot) }
            }
            let walked = (0..SLOTS as u64).find(|on| list[(hand + on) as usize % SLOTS]);
            prop_assert_eq!(held.distance(hand), walked);
        }
    }
}
