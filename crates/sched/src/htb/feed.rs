//! HTB's round-robin rings: which classes of one priority may be served at a row, or through a parent that lends.
//!
//! ```text
//!   members:  one bit a class, brothers side by side        0 1 1 0 0 1 0 …     above 64, a word of words, and so on:
//!   turn:     the bit to look from                              ▲               the next member is found in two or three
//!             past the last member: rewind, and the             │               loads, however many classes there are
//!             turn of the feed above moves on                 turn
//! ```
//!
//! A class that leaves in its turn and comes back before the next look still has the turn, as in Linux: classes pass
//! from borrowing to sending by right and back with every packet or two.
//! Time O(log64 classes), one cache line up to 512 classes. Space 1 to 2 bits a class and 20 bytes a feed.

const BITS: u32 = u64::BITS;

#[derive(Clone, Copy)]
struct Feed {
    /// First word: those of the members, then those of the words that are not zero, and so on up to one word.
    words: u32,
    /// The last of them: zero when there is no member.
    top: u32,
    /// The class of the first bit.
    first_class: u32,
    /// Bits in all.
    span: u32,
    turn: u32,
}

#[derive(Default)]
pub(crate) struct Feeds {
    words: Vec<u64>,
    feeds: Vec<Feed>,
}

impl Feeds {
    /// Makes `count` feeds for the classes from `first_class` on, and tells the first.
    pub(crate) fn add(&mut self, count: usize, first_class: u32, span: u32) -> u32 {
        let first = self.feeds.len();
        for _ in 0..count {
            let words = self.words.len() as u32;
            let mut level = span.max(1);
            while level > 1 || self.words.len() as u32 == words {
                level = level.div_ceil(BITS);
                self.words.resize(self.words.len() + level as usize, 0);
            }
            let top = self.words.len() as u32 - 1;
            self.feeds.push(Feed { words, top, first_class, span, turn: 0 });
        }
        first as u32
    }

    /// Adds a class; tells if it is the first.
    #[inline]
    pub(crate) fn insert(&mut self, feed: u32, class: u32) -> bool {
        let Feed { words, top, first_class, span, .. } = self.feeds[feed as usize];
        let (mut bit, mut words, mut level) = (class - first_class, words, span);
        loop {
            let word = &mut self.words[(words + bit / BITS) as usize];
            let was_empty = *word == 0;
            *word |= 1 << (bit % BITS);
            if !was_empty || words == top {
                return was_empty;
            }
            level = level.div_ceil(BITS);
            words += level;
            bit /= BITS;
        }
    }

    /// Takes a class out; tells if none is left.
    #[inline]
    pub(crate) fn remove(&mut self, feed: u32, class: u32) -> bool {
        let Feed { words, top, first_class, span, .. } = self.feeds[feed as usize];
        let (mut bit, mut words, mut level) = (class - first_class, words, span);
        loop {
            let word = &mut self.words[(words + bit / BITS) as usize];
            *word &= !(1 << (bit % BITS));
            let is_empty = *word == 0;
            if !is_empty || words == top {
                return is_empty;
            }
            level = level.div_ceil(BITS);
            words += level;
            bit /= BITS;
        }
    }

    /// The class whose turn it is; none at the end of the round.
    #[inline(always)]
    pub(crate) fn current(&mut self, feed: u32) -> Option<u32> {
        let Feed { words, first_class, span, turn, .. } = self.feeds[feed as usize];
        if turn >= span {
            return None;
        }
        let word = self.words[(words + turn / BITS) as usize] & (!0 << (turn % BITS));
        let bit = if word != 0 {
            turn / BITS * BITS + word.trailing_zeros()
        } else {
            self.next_word(words, span, turn / BITS)?
        };
        self.feeds[feed as usize].turn = bit;
        Some(first_class + bit)
    }

    /// The first member in a word after `word`: up until a level has one, and down again to it.
    fn next_word(&self, words: u32, span: u32, word: u32) -> Option<u32> {
        let mut starts = [words; 6];
        let (mut at, mut level, mut height) = (word, span.div_ceil(BITS), 0);
        loop {
            if level <= 1 {
                return None;
            }
            starts[height + 1] = starts[height] + level;
            level = level.div_ceil(BITS);
            height += 1;
            // Bits of this level stand for words of the one below: those after `at`.
            let word = self.words[(starts[height] + at / BITS) as usize];
            let after = word & (!0u64 << (at % BITS)) & !(1 << (at % BITS));
            at /= BITS;
            if after == 0 {
                continue;
            }
            let mut bit = at * BITS + after.trailing_zeros();
            while height > 0 {
                height -= 1;
                let word = self.words[(starts[height] + bit) as usize];
                bit = bit * BITS + word.trailing_zeros();
            }
            return Some(bit);
        }
    }

    /// Begins a new round.
    #[inline]
    pub(crate) fn rewind(&mut self, feed: u32) {
        self.feeds[feed as usize].turn = 0;
    }

    /// The turn moves on, at the last to the end of the round.
    #[inline]
    pub(crate) fn advance(&mut self, feed: u32) {
        self.feeds[feed as usize].turn += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_round_goes_over_every_member_and_ends() {
        let mut feeds = Feeds::default();
        let feed = feeds.add(1, 7, 3);
        (7..10).for_each(|class| assert_eq!(feeds.insert(feed, class), class == 7));
        let mut seen = Vec::new();
        while let Some(class) = feeds.current(feed) {
            seen.push(class);
            feeds.advance(feed);
        }
        assert_eq!(seen, [7, 8, 9]);
        feeds.rewind(feed);
        assert_eq!(feeds.current(feed), Some(7));
    }

    #[test]
    fn who_leaves_in_turn_and_comes_back_has_it_still() {
        let mut feeds = Feeds::default();
        let feed = feeds.add(1, 0, 3);
        (0..3).for_each(|class| assert_eq!(feeds.insert(feed, class), class == 0));
        feeds.advance(feed);
        assert_eq!(feeds.current(feed), Some(1));
        feeds.remove(feed, 1);
        feeds.insert(feed, 1);
        assert_eq!(feeds.current(feed), Some(1));
        feeds.remove(feed, 1);
        assert_eq!(feeds.current(feed), Some(2));
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_sorted_set(
            span in prop_oneof![1u32..70, 4000u32..4200, 60_000u32..66_000],
            moves in prop::collection::vec((any::<u32>(), 0u8..4), 1..100),
        ) {
            let mut feeds = Feeds::default();
            feeds.add(2, 0, 1);
            let feed = feeds.add(1, 100, span);
            let mut set = BTreeSet::new();
            let mut turn = 0;
            for (bit, step) in moves {
                let bit = bit % span;
                match step {
                    0 | 1 => {
                        prop_assert_eq!(feeds.insert(feed, 100 + bit), set.is_empty());
                        set.insert(bit);
                    }
                    2 => {
                        set.remove(&bit);
                        prop_assert_eq!(feeds.remove(feed, 100 + bit), set.is_empty());
                    }
                    _ => {
                        feeds.advance(feed);
                        turn += 1;
                    }
                }
                let next = set.range(turn..).next().copied();
                prop_assert_eq!(feeds.current(feed), next.map(|bit| 100 + bit));
                match next {
                    Some(bit) => turn = bit,
                    None => {
                        feeds.rewind(feed);
                        turn = 0;
                    }
                }
            }
        }
    }
}
