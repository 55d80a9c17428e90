//! HTB's round-robin rings: which classes of one priority may be served at a row, or through a
//! parent that lends.
//!
//! ```text
//!   members:  one bit a class, brothers side by side        0 1 1 0 0 1 0 …     above 64, a word of words, and so on:
//!   turn:     the bit to look from                              ▲               the next member is found in two or three
//!             past the last member: rewind, and the             │               loads, however many classes there are
//!             turn of the feed above moves on                 turn
//! ```
//!
//! A class that leaves in its turn and comes back before the next look still has the turn, as in
//! Linux: classes pass from borrowing to sending by right and back with every packet or two.
//! Time O(log64 classes), one cache line up to 512 classes. Space 1 to 2 bits a class and 20 bytes
//! a feed.

const BITS: u32 = u64::BITS;

/// Words upon words: as many levels as 2^18 classes need.
const LEVELS: usize = 3;

#[derive(Clone, Copy)]
struct Feed {
    /// For each level the word of class 0, were it a member: what it wraps around to, as the words
    /// before the first member's are not there.
    words: [u32; LEVELS],
    /// From where on the next member is looked for.
    turn: u32,
    /// The first class that may be a member.
    first: u32,
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
        let end = first_class + span;
        for _ in 0..count {
            let (mut from, mut to) = (first_class, end);
            let words = [0; LEVELS].map(|_| {
                // A bit for the end, too: so a turn past the last member is looked up as any other.
                (from, to) = (from / BITS, to / BITS);
                let word = self.words.len() as u32;
                self.words.resize(self.words.len() + (to - from) as usize + 1, 0);
                word.wrapping_sub(from)
            });
            self.feeds.push(Feed { words, turn: first_class, first: first_class });
        }
        first as u32
    }

    /// Adds a class; tells if it is the first.
    #[inline(always)]
    pub(crate) fn insert(&mut self, feed: u32, class: u32) -> bool {
        let word = self.word_of(feed, 0, class);
        let was_empty = *word == 0;
        *word |= 1 << (class % BITS);
        was_empty && self.insert_above(feed, class)
    }

    /// A word has a first member: so do those above, up to one that had another.
    #[inline(never)]
    fn insert_above(&mut self, feed: u32, class: u32) -> bool {
        let mut bit = class;
        for level in 1..LEVELS {
            bit /= BITS;
            let word = self.word_of(feed, level, bit);
            let was_empty = *word == 0;
            *word |= 1 << (bit % BITS);
            if !was_empty {
                return false;
            }
        }
        true
    }

    /// Takes a class out; tells if none is left.
    #[inline(always)]
    pub(crate) fn remove(&mut self, feed: u32, class: u32) -> bool {
        let word = self.word_of(feed, 0, class);
        *word &= !(1 << (class % BITS));
        *word == 0 && self.remove_above(feed, class)
    }

    /// A word has no member any more: nor have those above, up to one that has another.
    #[inline(never)]
    fn remove_above(&mut self, feed: u32, class: u32) -> bool {
        let mut bit = class;
        for level in 1..LEVELS {
            bit /= BITS;
            let word = self.word_of(feed, level, bit);
            *word &= !(1 << (bit % BITS));
            if *word != 0 {
                return false;
            }
        }
        true
    }

    /// The word of a level that a bit stands in.
    #[inline(always)]
    fn word_of(&mut self, feed: u32, level: usize, bit: u32) -> &mut u64 {
        let words = self.feeds[feed as usize].words[level];
        &mut self.words[words.wrapping_add(bit / BITS) as usize]
    }

    /// The class whose turn it is; none at the end of the round.
    #[inline(always)]
    pub(crate) fn current(&mut self, feed: u32) -> Option<u32> {
        let feed = &mut self.feeds[feed as usize];
        let turn = feed.turn;
        let word = self.words[feed.words[0].wrapping_add(turn / BITS) as usize] >> (turn % BITS);
        feed.turn = match word {
            0 => in_later_word(&self.words, &feed.words, turn / BITS)?,
            _ => turn + word.trailing_zeros(),
        };
        Some(feed.turn)
    }

    /// Begins a new round.
    #[inline]
    pub(crate) fn rewind(&mut self, feed: u32) {
        let feed = &mut self.feeds[feed as usize];
        feed.turn = feed.first;
    }

    /// The turn moves on, at the last to the end of the round.
    #[inline(always)]
    pub(crate) fn advance(&mut self, feed: u32, on: bool) {
        self.feeds[feed as usize].turn += u32::from(on);
    }
}

/// The first member in a word after `word`: up until a level has one, and down again to it.
#[inline(never)]
fn in_later_word(words: &[u64], firsts: &[u32; LEVELS], word: u32) -> Option<u32> {
    let read = |level: usize, at: u32| words[firsts[level].wrapping_add(at) as usize];
    let mut at = word;
    for level in 1..LEVELS {
        // Bits of this level stand for words of the one below: those after `at`.
        let later = read(level, at / BITS) & (!1 << (at % BITS));
        if later != 0 {
            let bit = at / BITS * BITS + later.trailing_zeros();
            let down = |at: u32, level| at * BITS + read(level, at).trailing_zeros();
            return Some((0..level).rev().fold(bit, down));
        }
        at /= BITS;
    }
    None
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
            feeds.advance(feed, true);
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
        feeds.advance(feed, true);
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
                        feeds.advance(feed, true);
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
