//! The least of many numbered keys that come and go: a tournament of four at a time.
//!
//! ```text
//!                 [ · · · · ]                 node (one cache line): four keys, and whose they are
//!        ┌────────┬──┴─────┬────────┐
//!    [ · · · · ] …                            a changed key is played against its three neighbours,
//!     p0 p1 p2 p3                             and so on upwards, until a winner stays the same
//! ```
//!
//! Of equal keys that of the lowest number is least. Time O(log4 players), a cache line a level, without branches but
//! the loop's: a sorted tree or a heap would also move what it does not change. Space 22 bytes a player.

/// The key of a player that is away.
pub(crate) const NEVER: u64 = u64::MAX;
const WIDTH: usize = 4;

#[derive(Clone)]
#[repr(align(64))]
struct Node {
    keys: [u64; WIDTH],
    players: [u32; WIDTH],
}

impl Node {
    #[inline(always)]
    fn least(&self) -> (u64, u32) {
        let [a, b, c, d] = self.keys;
        let (left, at_left) = if b < a { (b, 1) } else { (a, 0) };
        let (right, at_right) = if d < c { (d, 3) } else { (c, 2) };
        let (least, at) = if right < left { (right, at_right) } else { (left, at_left) };
        (least, self.players[at])
    }
}

pub(crate) struct LeastTree {
    nodes: Vec<Node>,
    /// First node of each level, from the players' own up.
    levels: Vec<u32>,
    key: u64,
    player: u32,
}

impl LeastTree {
    /// All players are away.
    pub(crate) fn new(players: usize) -> Self {
        let mut levels = Vec::new();
        let (mut nodes, mut level) = (0, players.max(1));
        loop {
            levels.push(nodes as u32);
            level = level.div_ceil(WIDTH);
            nodes += level;
            if level == 1 {
                break;
            }
        }
        let away = Node { keys: [NEVER; WIDTH], players: [0; WIDTH] };
        Self { nodes: vec![away; nodes], levels, key: NEVER, player: 0 }
    }

    /// Gives a player this key; [`NEVER`] sends it away.
    #[inline]
    pub(crate) fn set(&mut self, player: u32, key: u64) {
        if key == NEVER && self.key == NEVER {
            return;
        }
        self.replay(player, key);
    }

    fn replay(&mut self, player: u32, key: u64) {
        let (mut key, mut player, mut at) = (key, player, player as usize);
        for &first in &self.levels {
            let node = &mut self.nodes[first as usize + at / WIDTH];
            let (had_key, had_player) = (&mut node.keys[at % WIDTH], &mut node.players[at % WIDTH]);
            if *had_key == key && (*had_player == player || key == NEVER) {
                return;
            }
            (*had_key, *had_player) = (key, player);
            (key, player) = node.least();
            at /= WIDTH;
        }
        (self.key, self.player) = (key, player);
    }

    /// The least key, or [`NEVER`].
    #[inline]
    pub(crate) fn least_key(&self) -> u64 {
        self.key
    }

    /// Whose key is least, and the key.
    #[inline]
    pub(crate) fn least(&self) -> Option<(u32, u64)> {
        (self.key != NEVER).then_some((self.player, self.key))
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
            let mut tree = LeastTree::new(players);
            let mut keys = vec![NEVER; players];
            for (player, key) in moves {
                let player = player % players;
                keys[player] = key.unwrap_or(NEVER);
                tree.set(player as u32, keys[player]);
                let first = (0..).zip(&keys).min_by_key(|&(_, key)| *key);
                let first = first.filter(|&(_, &key)| key != NEVER);
                prop_assert_eq!(tree.least(), first.map(|(player, &key)| (player, key)));
            }
        }
    }

    #[test]
    fn a_node_is_a_cache_line() {
        assert_eq!(size_of::<Node>(), 64);
    }
}
