//! The furthest of many numbered clocks, found out only where somebody asks and it is not known.
//!
//! ```text
//!   clocks:    [ 70 65  0 … 90 | 12 40 … | … ]       64 to a group; stopped ones stand at 0
//!   greatest:  [ 90 | - | … ]                        looked for again in groups of which a clock has moved since
//!   furthest:  90, of clock 63                       known until that very clock goes back or stops
//! ```
//!
//! Clocks go forward, and mostly past all others: then one comparison is all. Time O(1) to set; to
//! get, O(1) unless the furthest has stopped: then 64 for each group that has moved, and one for
//! each group. Space 8 bytes a clock.

const GROUP: usize = 64;
/// The clock that is furthest is not known.
const UNKNOWN: u32 = u32::MAX;
/// The greatest of a group of which a clock has moved.
const MOVED: u64 = u64::MAX;

pub(super) struct Furthest {
    clocks: Vec<u64>,
    greatest: Vec<u64>,
    furthest: u64,
    clock: u32,
}

impl Furthest {
    /// All clocks are stopped.
    pub(super) fn new(clocks: usize) -> Self {
        Self {
            clocks: vec![0; clocks],
            greatest: vec![0; clocks.div_ceil(GROUP)],
            furthest: 0,
            clock: UNKNOWN,
        }
    }

    /// Where a clock stands.
    #[inline]
    pub(super) fn clock(&self, clock: u32) -> u64 {
        self.clocks[clock as usize]
    }

    /// A clock comes to stand here; 0 stops it.
    #[inline]
    pub(super) fn set(&mut self, clock: u32, to: u64) {
        self.clocks[clock as usize] = to;
        self.greatest[clock as usize / GROUP] = MOVED;
        if to >= self.furthest {
            (self.furthest, self.clock) = (to, clock);
        } else if clock == self.clock {
            self.clock = UNKNOWN;
        }
    }

    /// The furthest; 0, where clocks begin, when all are stopped.
    #[inline]
    pub(super) fn get(&mut self) -> u64 {
        if self.clock == UNKNOWN {
            self.search();
        }
        self.furthest
    }

    #[cold]
    fn search(&mut self) {
        for (clocks, greatest) in self.clocks.chunks(GROUP).zip(&mut self.greatest) {
            if *greatest == MOVED {
                *greatest = clocks.iter().copied().max().unwrap_or(0);
            }
        }
        self.furthest = self.greatest.iter().copied().max().unwrap_or(0);
        let group = self.greatest.iter().position(|&greatest| greatest == self.furthest);
        let first = group.unwrap_or(0) * GROUP;
        let clocks = self.clocks[first..].iter();
        let clock = clocks.zip(first as u32..).find(|(to, _)| **to == self.furthest);
        self.clock = clock.map_or(UNKNOWN, |(_, clock)| clock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_furthest_is_what_a_search_from_end_to_end_finds(
            clocks in prop_oneof![1usize..70, 4000usize..4200],
            moves in prop::collection::vec((any::<prop::sample::Index>(), 0u64..50), 1..300),
        ) {
            let mut furthest = Furthest::new(clocks);
            let mut list = vec![0; clocks];
            for (clock, to) in moves {
                let clock = clock.index(clocks);
                list[clock] = to;
                furthest.set(clock as u32, to);
                if to % 3 != 0 {
                    prop_assert_eq!(Some(furthest.get()), list.iter().copied().max());
                }
            }
        }
    }
}
