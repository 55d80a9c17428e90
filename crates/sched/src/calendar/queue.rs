//! A calendar queue (Brown 1988): numbered players with keys, which their owner keeps, and one
//! whose key is least to within a day.
//!
//! ```text
//!   keys:  the hand's day ▼
//!          ─┬────┬────┬────┬────┬────┬─▶        each day is as long as 2^shift: keys within one are as good as equal
//!            ·    ·   3, 9   7    ·    4         the first day that somebody stands on: 3 or 9 is least
//! ```
//!
//! The hand goes with the least, and only on: a key that is less stands on the hand's day. Time
//! O(1); who comes from beyond 128 days is moved once more. Space 12 bytes a player, and 1.1 KiB.

use super::days::Days;

pub(crate) struct CalendarQueue {
    days: Days<2>,
    shift: u32,
    /// Those of a span, while they are moved to their days.
    moved: Vec<u32>,
}

impl CalendarQueue {
    /// All players are away. Keys that differ by less than `width` may be taken for equal.
    pub(crate) fn new(players: usize, width: u64) -> Self {
        let moved = Vec::with_capacity(players);
        Self { days: Days::new(players), shift: width.max(1).ilog2(), moved }
    }

    /// The player competes with this key.
    #[inline(always)]
    pub(crate) fn set(&mut self, player: u32, key: u64) {
        self.remove(player);
        self.days.insert(player, key >> self.shift);
    }

    /// The player is away.
    #[inline(always)]
    pub(crate) fn remove(&mut self, player: u32) {
        if self.days.has(player) {
            self.days.remove(player);
        }
    }

    /// All are away.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.days.is_empty()
    }

    /// A player of the least key, by the keys that the owner keeps, and the first key of its day.
    #[inline(always)]
    pub(crate) fn least(&mut self, key_of: impl Fn(u32) -> u64) -> Option<(u32, u64)> {
        loop {
            let (near, far) = (self.days.first_near(), self.days.first_far());
            match (near, far) {
                (Some(day), far) if far.is_none_or(|span| day < span) => {
                    self.days.move_hand(day);
                    return Some((self.days.one_of_near(day)?, day << self.shift));
                }
                (_, Some(span)) => self.open(span, &key_of),
                (_, None) => return None,
            }
        }
    }

    /// Who has its turn after a player that competes, if that one's day has others.
    #[inline(always)]
    pub(crate) fn after(&self, player: u32) -> Option<u32> {
        self.days.after(player)
    }

    /// Puts those of the first span, before which nobody stands, on their days.
    #[inline(never)]
    fn open(&mut self, span: u64, key_of: impl Fn(u32) -> u64) {
        let shift = self.shift;
        let day_of = |&player: &u32| key_of(player) >> shift;
        self.days.empty_far(span, &mut self.moved);
        // If there are no others, all may stand far beyond the span.
        let next = if self.days.is_empty() { self.moved.iter().map(day_of).min() } else { None };
        self.days.move_hand(self.days.hand().max(span).max(next.unwrap_or(0)));
        while let Some(player) = self.moved.pop() {
            self.days.insert(player, day_of(&player));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A queue, and beside it a list that is searched from end to end.
    struct Pair {
        queue: CalendarQueue,
        keys: Vec<Option<u64>>,
        width: u64,
    }

    impl Pair {
        fn new(players: usize, width: u64) -> Self {
            Self { queue: CalendarQueue::new(players, width), keys: vec![None; players], width }
        }

        fn set(&mut self, player: u32, key: Option<u64>) {
            self.keys[player as usize] = key;
            match key {
                Some(key) => self.queue.set(player, key),
                None => self.queue.remove(player),
            }
        }

        fn least(&mut self) -> Option<(u32, u64)> {
            let keys = &self.keys;
            let least = self.queue.least(|player| keys[player as usize].unwrap());
            let all_keys = || keys.iter().flatten().copied();
            assert_eq!(least.is_some(), all_keys().next().is_some());
            assert_eq!(self.queue.is_empty(), least.is_none());
            least
        }
    }

    /// Near and far keys alike.
    fn any_step() -> impl Strategy<Value = u64> {
        (0u32..40).prop_flat_map(|bits| 0..1u64 << bits)
    }

    proptest! {
        /// Keys go forward from the least, as clocks do.
        #[test]
        fn it_is_the_least_to_within_a_day(
            players in 1usize..20,
            width_bits in 0u32..20,
            moves in prop::collection::vec((0u32..20, 0u8..8, any_step()), 1..200),
        ) {
            let mut pair = Pair::new(players, 1 << width_bits);
            let mut served = 0;
            for (player, what, step) in moves {
                match what {
                    0 => pair.set(player % players as u32, None),
                    1..5 => pair.set(player % players as u32, Some(served + step)),
                    _ => {
                        let Some((player, floor)) = pair.least() else { continue };
                        let key = pair.keys[player as usize].unwrap();
                        let least = pair.keys.iter().flatten().copied().min().unwrap();
                        prop_assert!(key < least.saturating_add(pair.width) && floor <= least);
                        served = served.max(floor);
                        pair.set(player, Some(key + step));
                    }
                }
            }
        }

        /// Keys that go back stand with the least: nobody is lost.
        #[test]
        fn all_are_found_whatever_their_keys(
            keys in prop::collection::vec((0u32..20, any::<u64>()), 1..60),
            width_bits in 0u32..64,
        ) {
            let mut pair = Pair::new(20, 1 << width_bits);
            for (turn, (player, key)) in keys.into_iter().enumerate() {
                pair.set(player, Some(key));
                if turn % 3 == 0 {
                    prop_assert!(pair.least().is_some());
                }
            }
            let busy = pair.keys.iter().flatten().count();
            for _ in 0..busy {
                let (player, _) = pair.least().unwrap();
                prop_assert!(pair.keys[player as usize].is_some());
                pair.set(player, None);
            }
            prop_assert_eq!(pair.least(), None);
        }
    }

    #[test]
    fn a_key_beyond_all_days_is_found() {
        let mut pair = Pair::new(2, 1);
        pair.set(0, Some(0));
        pair.set(1, Some(u64::MAX - 1));
        assert_eq!(pair.least(), Some((0, 0)));
        pair.set(0, None);
        assert_eq!(pair.least(), Some((1, u64::MAX - 1)));
    }
}
