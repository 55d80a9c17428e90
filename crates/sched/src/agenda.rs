//! Numbered players with keys, which their owner keeps: of those that are ready the least key, to
//! within a day of a calendar queue, and of those that wait the soonest time.
//!
//! ```text
//!   ready:    least key first          a player is away, ready with a key, or waiting for a time with a key
//!   waiting:  soonest time first ──▶ ready when its time has come
//! ```
//!
//! It serves where a sorted tree would, that of HFSC's virtual times, and unlike one it finds the
//! first that is *due* without walking past those that are not. Time O(1) for those that are ready,
//! O(log n) for those that wait. Space 32 bytes a player and 1.1 KiB; nothing is allocated.

use crate::calendar::CalendarQueue;
use crate::least_heap::LeastHeap;

pub(crate) struct Agenda {
    ready: CalendarQueue,
    waiting: LeastHeap,
}

impl Agenda {
    /// All players are away. Keys that differ by less than `width` may be taken for equal.
    pub(crate) fn new(players: usize, width: u64) -> Self {
        Self { ready: CalendarQueue::new(players, width), waiting: LeastHeap::new(players) }
    }

    /// The player competes with `key` from the time `at` on, which may have come.
    #[inline]
    pub(crate) fn set(&mut self, player: u32, now: u64, at: u64, key: u64) {
        if at <= now {
            self.waiting.remove(player);
            self.ready.set(player, key);
        } else {
            self.waiting.set(player, at);
            self.ready.remove(player);
        }
    }

    /// The player leaves.
    #[inline]
    pub(crate) fn remove(&mut self, player: u32) {
        self.waiting.remove(player);
        self.ready.remove(player);
    }

    /// Makes ready every player whose time has come.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64, key_of: impl Fn(u32) -> u64) {
        while self.waiting.least_key() <= now
            && let Some((player, _)) = self.waiting.least()
        {
            self.waiting.remove(player);
            self.ready.set(player, key_of(player));
        }
    }

    /// A ready player of the least key, and the first key that is taken for equal to it.
    #[inline]
    pub(crate) fn least(&mut self, key_of: impl Fn(u32) -> u64) -> Option<(u32, u64)> {
        self.ready.least(key_of)
    }

    /// Who is likely to be least after a player that is ready, if that is known.
    #[inline(always)]
    pub(crate) fn after(&self, player: u32) -> Option<u32> {
        self.ready.after(player)
    }

    /// A player is ready.
    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// All players are away.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.waiting.least().is_none()
    }

    /// The player that waits for the soonest time, and that time.
    #[inline]
    pub(crate) fn soonest(&self) -> Option<(u32, u64)> {
        self.waiting.least()
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
            // All keys differ. One that is less than the least was counts as that.
            let mut agenda = Agenda::new(players, 1);
            let mut list: Vec<Option<(u64, u64)>> = vec![None; players];
            let (mut now, mut hand) = (0, 0);
            for (player, step, time) in moves {
                let player = player % players as u32;
                now += time;
                match step {
                    Move::Ready(key) => agenda.set(player, now, 0, key),
                    Move::Waiting(at, key) => agenda.set(player, now, at, key),
                    Move::Leave => agenda.remove(player),
                }
                list[player as usize] = match step {
                    Move::Ready(key) => Some((0, key)),
                    Move::Waiting(at, key) => Some((at, key)),
                    Move::Leave => None,
                };
                let key_of = |player: u32| list[player as usize].unwrap().1;
                agenda.advance(now, key_of);
                let numbered = || (0u32..).zip(&list).filter_map(|(p, l)| l.map(|l| (p, l.0, l.1)));
                let of = |player: u32| list[player as usize].unwrap();
                let least = numbered().filter(|l| l.1 <= now).map(|l| l.2.max(hand)).min();
                prop_assert_eq!(agenda.has_ready(), least.is_some());
                prop_assert_eq!(agenda.is_empty(), numbered().next().is_none());
                let found = agenda.least(key_of);
                prop_assert_eq!(found.map(|(_, key)| key), least);
                prop_assert!(found.is_none_or(|(player, key)| of(player).0 <= now && of(player).1.max(hand) == key));
                hand = least.unwrap_or(hand);
                let soonest = numbered().filter(|l| l.1 > now).map(|l| l.1).min();
                prop_assert_eq!(agenda.soonest().map(|(_, at)| at), soonest);
                prop_assert!(agenda.soonest().is_none_or(|(player, at)| of(player).0 == at));
            }
        }
    }
}
