//! The least of many numbered keys that come and go: a heap of four below one, that knows where
//! each stands.
//!
//! ```text
//!   places:    [ - - - 3 ]  [ 4 5 6 7 ]  [ 8 9 10 11 ]  [ 12 … ]        a four is one cache line: keys, and whose
//!                     │      │ │           ▲      ▲
//!                     └──────┼─┼─ 4..8     │      │                     below place p stand the places
//!                            └─┼─ 8..12 ───┘      │                     4(p-2) to 4(p-2)+3
//!                              └─ 12..16          …
//! ```
//!
//! A key that becomes greater sinks, one that becomes less rises: most stand near the bottom, and a
//! key greater than most comes in at no more than a comparison. Which of equal keys is least is not
//! said. Time O(log4 players), a cache line a level. Space 20 bytes a player.

use std::hint::select_unpredictable as select;

/// The key of a player that is away.
pub(crate) const NEVER: u64 = u64::MAX;
const WIDTH: usize = 4;
/// The place of the least: the last of the first four, so that those below any place share a line.
const TOP: usize = WIDTH - 1;
/// The place of a player that is away.
const AWAY: u32 = 0;

#[derive(Clone)]
#[repr(align(64))]
struct Four {
    keys: [u64; WIDTH],
    players: [u32; WIDTH],
}

impl Four {
    /// The least key and where it stands.
    #[inline(always)]
    fn least(&self) -> (u64, usize) {
        let [a, b, c, d] = self.keys;
        let left = (select(b < a, b, a), usize::from(b < a));
        let right = (select(d < c, d, c), 2 + usize::from(d < c));
        let is_right = right.0 < left.0;
        (select(is_right, right.0, left.0), select(is_right, right.1, left.1))
    }
}

pub(crate) struct LeastHeap {
    fours: Vec<Four>,
    places: Vec<u32>,
    /// The first free place.
    end: usize,
}

impl LeastHeap {
    /// All players are away.
    pub(crate) fn new(players: usize) -> Self {
        let empty = Four { keys: [NEVER; WIDTH], players: [0; WIDTH] };
        Self {
            fours: vec![empty; (TOP + players.max(1)).div_ceil(WIDTH)],
            places: vec![AWAY; players],
            end: TOP,
        }
    }

    /// Gives a player this key, less than [`NEVER`].
    #[inline]
    pub(crate) fn set(&mut self, player: u32, key: u64) {
        let at = self.places[player as usize] as usize;
        if at == AWAY as usize {
            self.end += 1;
            self.rise(self.end - 1, key, player);
        } else {
            self.settle(at, key, player);
        }
    }

    /// Gives the player of the least key another.
    #[inline]
    pub(crate) fn replace_least(&mut self, key: u64) {
        let player = self.fours[0].players[TOP];
        self.sink(TOP, key, player);
    }

    /// Sends the player of the least key away.
    #[inline]
    pub(crate) fn remove_least(&mut self) {
        self.take_out(TOP);
    }

    /// Sends a player away.
    #[inline]
    pub(crate) fn remove(&mut self, player: u32) {
        if self.end != TOP && self.has(player) {
            self.take_out(self.places[player as usize] as usize);
        }
    }

    /// Whether a player is not away.
    #[inline]
    pub(crate) fn has(&self, player: u32) -> bool {
        self.places[player as usize] != AWAY
    }

    /// The least key, or [`NEVER`].
    #[inline]
    pub(crate) fn least_key(&self) -> u64 {
        self.fours[0].keys[TOP]
    }

    /// Whose key is least, and the key.
    #[inline]
    pub(crate) fn least(&self) -> Option<(u32, u64)> {
        let key = self.least_key();
        (key != NEVER).then_some((self.fours[0].players[TOP], key))
    }

    /// The last of all comes to the place of the one that leaves.
    fn take_out(&mut self, at: usize) {
        self.end -= 1;
        let last = &mut self.fours[self.end / WIDTH];
        let (key, player) = (last.keys[self.end % WIDTH], last.players[self.end % WIDTH]);
        last.keys[self.end % WIDTH] = NEVER;
        self.places[self.fours[at / WIDTH].players[at % WIDTH] as usize] = AWAY;
        if at != self.end {
            self.settle(at, key, player);
        }
    }

    /// Brings a key to where it belongs, from a place whose own may go.
    #[inline]
    fn settle(&mut self, at: usize, key: u64, player: u32) {
        if key > self.fours[at / WIDTH].keys[at % WIDTH] {
            self.sink(at, key, player);
        } else {
            self.rise(at, key, player);
        }
    }

    #[inline]
    fn sink(&mut self, mut at: usize, key: u64, player: u32) {
        let mut board = self.board();
        while let Some(below) = board.fours.get(at - 2) {
            let (least, turn) = below.least();
            if least >= key {
                break;
            }
            let theirs = below.players[turn % WIDTH];
            board.put(at, least, theirs);
            at = (at - 2) * WIDTH + turn;
        }
        board.put(at, key, player);
    }

    #[inline]
    fn rise(&mut self, mut at: usize, key: u64, player: u32) {
        let mut board = self.board();
        while at != TOP {
            let above = at / WIDTH + 2;
            let four = &board.fours[above / WIDTH];
            let (greater, theirs) = (four.keys[above % WIDTH], four.players[above % WIDTH]);
            if greater <= key {
                break;
            }
            board.put(at, greater, theirs);
            at = above;
        }
        board.put(at, key, player);
    }

    #[inline(always)]
    fn board(&mut self) -> Board<'_> {
        Board { fours: &mut self.fours, places: &mut self.places }
    }
}

/// The keys where they stand: slices, so that a loop need not look up their ends after each key
/// that it moves.
struct Board<'a> {
    fours: &'a mut [Four],
    places: &'a mut [u32],
}

impl Board<'_> {
    #[inline(always)]
    fn put(&mut self, at: usize, key: u64, player: u32) {
        let four = &mut self.fours[at / WIDTH];
        (four.keys[at % WIDTH], four.players[at % WIDTH]) = (key, player);
        self.places[player as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_is_what_a_search_from_end_to_end_finds(
            players in 1usize..90,
            moves in prop::collection::vec((0usize..90, prop::option::of(0u64..50)), 1..200),
        ) {
            let mut heap = LeastHeap::new(players);
            let mut keys = vec![NEVER; players];
            for (player, key) in moves {
                let player = player % players;
                keys[player] = key.unwrap_or(NEVER);
                match key {
                    Some(key) => heap.set(player as u32, key),
                    None => heap.remove(player as u32),
                }
                let least = keys.iter().copied().min().filter(|&key| key != NEVER);
                prop_assert_eq!(heap.least().map(|(_, key)| key), least);
                prop_assert!(heap.least().is_none_or(|(player, key)| keys[player as usize] == key));
            }
        }
    }

    #[test]
    fn a_four_is_a_cache_line() {
        assert_eq!(size_of::<Four>(), 64);
    }
}
