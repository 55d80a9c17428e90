//! A tournament of numbered players: the least key among those that are ready, the soonest time among those that wait.
//!
//! ```text
//!   node (32 bytes, two brothers to a cache line): least ready key and whose, soonest time and whose, highest key
//!
//!                     [1]                  a player is away, ready with a key, or waiting for a time with a key;
//!              [2]           [3]           one change replays log2(players) matches on the way up,
//!           [4]   [5]     [6]   [7]        and stops where nothing changes
//!            p0    p1      p2    p3
//! ```
//!
//! It serves where a sorted tree would, in HFSC's eligible and virtual-time trees, and unlike one it finds
//! the first that is *due* without walking past those that are not. A tie goes to the player who came last.
//! Time O(log n), one cache line a level; space 64 bytes a player (rounded up to a power of two); nothing is allocated.

const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    ready: u64,
    soonest: u64,
    highest: u64,
    ready_player: u32,
    soonest_player: u32,
}

impl Node {
    const AWAY: Node =
        Node { ready: NEVER, soonest: NEVER, highest: 0, ready_player: 0, soonest_player: 0 };

    /// The match of two brothers, played without a branch. In a tie `self` wins.
    #[inline]
    fn against(&self, other: &Node) -> Node {
        let (mine, theirs) = ((self.ready, self.ready_player), (other.ready, other.ready_player));
        let (ready, ready_player) = if theirs.0 < mine.0 { theirs } else { mine };
        let (mine, theirs) =
            ((self.soonest, self.soonest_player), (other.soonest, other.soonest_player));
        let (soonest, soonest_player) = if theirs.0 < mine.0 { theirs } else { mine };
        let highest = self.highest.max(other.highest);
        Node { ready, soonest, highest, ready_player, soonest_player }
    }
}

pub(crate) struct Tournament {
    /// Heap order from 1; players stand at `players..2 * players`.
    nodes: Vec<Node>,
    players: usize,
}

impl Tournament {
    pub(crate) fn new(players: usize) -> Self {
        let players = players.max(1).next_power_of_two();
        Self { nodes: vec![Node::AWAY; 2 * players], players }
    }

    #[inline]
    fn replace(&mut self, player: u32, mut node: Node) {
        let mut at = self.players + player as usize;
        self.nodes[at] = node;
        while at > 1 {
            // The winner so far stays in registers; only its next opponent is loaded.
            node = node.against(&self.nodes[at ^ 1]);
            at /= 2;
            if self.nodes[at] == node {
                return;
            }
            self.nodes[at] = node;
        }
    }

    /// The player competes with `key`.
    #[inline]
    pub(crate) fn set_ready(&mut self, player: u32, key: u64) {
        let node = Node { ready: key, highest: key, ready_player: player, ..Node::AWAY };
        self.replace(player, node);
    }

    /// The player competes with `key` from the time `at` on.
    #[inline]
    pub(crate) fn set_waiting(&mut self, player: u32, at: u64, key: u64) {
        let node = Node { soonest: at, highest: key, soonest_player: player, ..Node::AWAY };
        self.replace(player, node);
    }

    /// The player competes with `key` from the time `at` on, which may have come.
    #[inline]
    pub(crate) fn set(&mut self, player: u32, now: u64, at: u64, key: u64) {
        if at <= now {
            self.set_ready(player, key);
        } else {
            self.set_waiting(player, at, key);
        }
    }

    /// The player leaves.
    #[inline]
    pub(crate) fn remove(&mut self, player: u32) {
        self.replace(player, Node::AWAY);
    }

    /// Makes ready every player whose time has come.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64) {
        while self.nodes[1].soonest <= now {
            let player = self.nodes[1].soonest_player;
            let key = self.nodes[self.players + player as usize].highest;
            self.set_ready(player, key);
        }
    }

    /// The ready player of the least key.
    #[inline]
    pub(crate) fn least(&self) -> Option<u32> {
        (self.nodes[1].ready != NEVER).then_some(self.nodes[1].ready_player)
    }

    /// The least ready key.
    #[inline]
    pub(crate) fn least_key(&self) -> u64 {
        self.nodes[1].ready
    }

    /// All players are away.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes[1].ready == NEVER && self.nodes[1].soonest == NEVER
    }

    /// The player that waits for the soonest time, and that time.
    #[inline]
    pub(crate) fn soonest(&self) -> Option<(u32, u64)> {
        let Node { soonest, soonest_player, .. } = self.nodes[1];
        (soonest != NEVER).then_some((soonest_player, soonest))
    }

    /// The highest key, ready or waiting; 0 when all are away.
    #[inline]
    pub(crate) fn highest(&self) -> u64 {
        self.nodes[1].highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone, Copy)]
    enum Move {
        Ready(u64),
        Waiting(u64, u64),
        Leave,
    }

    fn any_move() -> impl Strategy<Value = Move> {
        prop_oneof![
            (0u64..50).prop_map(Move::Ready),
            (0u64..100, 0u64..50).prop_map(|(at, key)| Move::Waiting(at, key)),
            Just(Move::Leave),
        ]
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_list_searched_from_end_to_end(
            players in 1usize..20,
            moves in prop::collection::vec((0u32..20, any_move(), 0u64..3), 1..200),
        ) {
            let mut tournament = Tournament::new(players);
            let mut list: Vec<Option<(u64, u64)>> = vec![None; players];
            let mut now = 0;
            for (player, step, time) in moves {
                let player = player % players as u32;
                now += time;
                match step {
                    Move::Ready(key) => tournament.set_ready(player, key),
                    Move::Waiting(at, key) => tournament.set_waiting(player, at, key),
                    Move::Leave => tournament.remove(player),
                }
                list[player as usize] = match step {
                    Move::Ready(key) => Some((0, key)),
                    Move::Waiting(at, key) => Some((at, key)),
                    Move::Leave => None,
                };
                tournament.advance(now);
                let numbered = || (0u32..).zip(&list).filter_map(|(p, l)| l.map(|l| (p, l.0, l.1)));
                let of = |player: u32| list[player as usize].unwrap();
                let least = numbered().filter(|l| l.1 <= now).map(|l| l.2).min();
                prop_assert_eq!(tournament.least().map(|player| of(player).1), least);
                prop_assert!(tournament.least().is_none_or(|player| of(player).0 <= now));
                let soonest = numbered().filter(|l| l.1 > now).map(|l| l.1).min();
                prop_assert_eq!(tournament.soonest().map(|(_, at)| at), soonest);
                prop_assert!(tournament.soonest().is_none_or(|(player, at)| of(player).0 == at));
                let highest = numbered().map(|l| l.2).max().unwrap_or(0);
                prop_assert_eq!(tournament.highest(), highest);
            }
        }
    }
}
