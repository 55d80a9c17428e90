//! A timing wheel (Varghese and Lauck 1987): numbered players, each waiting for a time of its own.
//!
//! ```text
//!   tick of 1024 ns:  | … | 6 bits | 6 bits | 6 bits |        a player stands on the level of the highest
//!                      level 4 … 2    level 1  level 0        6 bits in which its tick differs from the hand's
//!
//!   level 1  · · ■ · ■ · …    64 slots, a bit each for those that hold someone
//!   level 0  · ■ · · · · …    the hand comes to a slot: of level 0, who is due leaves; of another, all go a level down
//! ```
//!
//! Times are kept exactly: of a slot that is only partly due, the others stay. Nobody on a level is sooner than anybody
//! on a lower one. Time O(1) to set and to leave, and once more for each level passed; a slot is only searched for its
//! soonest after that one left. Space 24 bytes a player.

const NIL: u32 = u32::MAX;
const TICK_SHIFT: u32 = 10;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// As many as the bits of a time need.
const LEVELS: usize = (u64::BITS - TICK_SHIFT).div_ceil(SLOT_BITS) as usize;
/// The place of a player that is away.
const AWAY: u32 = NIL;

#[derive(Clone, Copy)]
struct Player {
    at_ns: u64,
    /// Its slot, counted over all levels.
    slot: u32,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    first: u32,
    /// Who was soonest has left: who is now, is not known.
    stale: bool,
    /// The soonest time in the slot, unless that is not known.
    soonest_ns: u64,
}

pub(crate) struct Wheel {
    players: Vec<Player>,
    /// Level after level.
    slots: Vec<Slot>,
    /// The slots that hold someone, a bit each.
    held: [u64; LEVELS],
    /// The levels that hold someone.
    levels: u16,
    /// The hand: everybody's tick is this one or a later one.
    tick: u64,
    /// Nobody is due before.
    quiet_until_ns: u64,
}

impl Wheel {
    /// All players are away.
    pub(crate) fn new(players: usize) -> Self {
        let away = Player { at_ns: 0, slot: AWAY, before: NIL, after: NIL };
        Self {
            players: vec![away; players],
            slots: vec![Slot { first: NIL, stale: false, soonest_ns: u64::MAX }; LEVELS * SLOTS],
            held: [0; LEVELS],
            levels: 0,
            tick: 0,
            quiet_until_ns: u64::MAX,
        }
    }

    /// The player waits for this time.
    #[inline]
    pub(crate) fn set(&mut self, player: u32, at_ns: u64) {
        self.remove(player);
        self.quiet_until_ns = self.quiet_until_ns.min(at_ns);
        self.insert(player, at_ns);
    }

    /// The player waits no more.
    #[inline]
    pub(crate) fn remove(&mut self, player: u32) {
        let Player { at_ns, slot, before, after } = self.players[player as usize];
        let Some(left) = self.slots.get_mut(slot as usize) else { return };
        left.stale |= at_ns == left.soonest_ns;
        self.players[player as usize].slot = AWAY;
        if let Some(after) = self.players.get_mut(after as usize) {
            after.before = before;
        }
        match self.players.get_mut(before as usize) {
            Some(before) => before.after = after,
            None => self.set_first(slot as usize, after),
        }
    }

    /// Whether anybody's time may have come.
    #[inline(always)]
    pub(crate) fn may_be_due(&self, now_ns: u64) -> bool {
        now_ns >= self.quiet_until_ns
    }

    /// The soonest time that anybody waits for.
    #[inline]
    pub(crate) fn soonest(&mut self) -> Option<u64> {
        let (level, slot) = self.first_slot()?;
        let at = level * SLOTS + slot;
        if self.slots[at].stale {
            let soonest_ns = self.in_slot(at).map(|(_, at_ns)| at_ns).min()?;
            self.slots[at] = Slot { soonest_ns, stale: false, ..self.slots[at] };
        }
        Some(self.slots[at].soonest_ns)
    }

    /// Puts a player that is away into its slot.
    #[inline]
    fn insert(&mut self, player: u32, at_ns: u64) {
        let tick = (at_ns >> TICK_SHIFT).max(self.tick);
        let differs = (tick ^ self.tick) | 1;
        let level = differs.ilog2() / SLOT_BITS;
        let slot = (tick >> (level * SLOT_BITS)) as usize % SLOTS;
        let slot = level as usize * SLOTS + slot;
        let Slot { first: after, soonest_ns, .. } = self.slots[slot];
        if after == NIL || at_ns <= soonest_ns {
            self.slots[slot] = Slot { first: after, soonest_ns: at_ns, stale: false };
        }
        if let Some(after) = self.players.get_mut(after as usize) {
            after.before = player;
        }
        self.players[player as usize] = Player { at_ns, slot: slot as u32, before: NIL, after };
        self.set_first(slot, player);
    }

    /// Writes who stands first in a slot, and whether anybody does.
    #[inline]
    fn set_first(&mut self, slot: usize, player: u32) {
        self.slots[slot].first = player;
        let (level, bit) = (slot / SLOTS, 1 << (slot % SLOTS));
        if player == NIL {
            self.held[level] &= !bit;
            self.levels &= !(u16::from(self.held[level] == 0) << level);
        } else {
            self.held[level] |= bit;
            self.levels |= 1 << level;
        }
    }

    /// The level and slot of whoever is soonest.
    #[inline]
    fn first_slot(&self) -> Option<(usize, usize)> {
        let level = self.levels.trailing_zeros() as usize;
        let held = self.held.get(level)?;
        Some((level, held.trailing_zeros() as usize))
    }

    /// Who stands in a slot, and their times.
    fn in_slot(&self, slot: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut at = self.slots[slot].first;
        std::iter::from_fn(move || {
            let player = self.players.get(at as usize)?;
            let found = (at, player.at_ns);
            at = player.after;
            Some(found)
        })
    }

    /// Moves the hand to now: takes out the players whose time has come, in no order, and adds them to `due`.
    pub(crate) fn take_due(&mut self, now_ns: u64, due: &mut Vec<u32>) {
        while let Some((level, slot)) = self.first_slot() {
            let at = level * SLOTS + slot;
            if level == 0 {
                if self.part(at, now_ns, due) {
                    continue;
                }
                break;
            }
            // The first tick of the slot: the hand's above the level, the slot's number, and nothing below.
            let shift = level as u32 * SLOT_BITS;
            let above = self.tick >> shift >> SLOT_BITS << SLOT_BITS;
            let first_tick = (above | slot as u64) << shift;
            if first_tick > now_ns >> TICK_SHIFT {
                break;
            }
            self.tick = first_tick;
            let mut player = self.slots[at].first;
            self.set_first(at, NIL);
            while let Some(&Player { at_ns, after, .. }) = self.players.get(player as usize) {
                self.insert(player, at_ns);
                player = after;
            }
        }
        // Whoever is left stands in a later slot, or later in this one.
        self.tick = self.tick.max(now_ns >> TICK_SHIFT);
        self.quiet_until_ns = self.soonest().unwrap_or(u64::MAX);
    }

    /// Takes out of a slot those who are due; tells if nobody is left.
    #[inline]
    fn part(&mut self, slot: usize, now_ns: u64, due: &mut Vec<u32>) -> bool {
        let (mut player, mut first, mut soonest_ns) = (self.slots[slot].first, NIL, u64::MAX);
        while let Some(it) = self.players.get_mut(player as usize) {
            let Player { at_ns, after, .. } = *it;
            if at_ns <= now_ns {
                it.slot = AWAY;
                due.push(player);
            } else {
                (it.before, it.after) = (NIL, first);
                if let Some(second) = self.players.get_mut(first as usize) {
                    second.before = player;
                }
                (first, soonest_ns) = (player, soonest_ns.min(at_ns));
            }
            player = after;
        }
        self.set_first(slot, first);
        (self.slots[slot].soonest_ns, self.slots[slot].stale) = (soonest_ns, false);
        first == NIL
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn due(wheel: &mut Wheel, now_ns: u64) -> Vec<u32> {
        let mut due = Vec::new();
        wheel.take_due(now_ns, &mut due);
        due
    }

    /// Near and far times alike.
    fn any_step() -> impl Strategy<Value = u64> {
        (0u32..40).prop_flat_map(|bits| 0..1u64 << bits)
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_list_searched_from_end_to_end(
            players in 1usize..20,
            moves in prop::collection::vec((0u32..20, 0u8..4, any_step()), 1..200),
        ) {
            let mut wheel = Wheel::new(players);
            let mut list: Vec<Option<u64>> = vec![None; players];
            let mut now_ns = 0u64;
            for (player, what, step_ns) in moves {
                let player = player % players as u32;
                match what {
                    0 => {
                        wheel.remove(player);
                        list[player as usize] = None;
                    }
                    1 | 2 => {
                        wheel.set(player, now_ns + step_ns);
                        list[player as usize] = Some(now_ns + step_ns);
                    }
                    _ => {
                        now_ns += step_ns;
                        for player in due(&mut wheel, now_ns) {
                            let at_ns = list[player as usize].take();
                            prop_assert!(at_ns.is_some_and(|at_ns| at_ns <= now_ns));
                        }
                        prop_assert!(list.iter().flatten().all(|&at_ns| at_ns > now_ns));
                    }
                }
                prop_assert_eq!(wheel.soonest(), list.iter().flatten().min().copied());
            }
        }
    }

    #[test]
    fn the_last_time_there_is_can_be_waited_for() {
        let mut wheel = Wheel::new(2);
        wheel.set(0, u64::MAX);
        wheel.set(1, 5);
        assert_eq!((due(&mut wheel, 4), due(&mut wheel, 5)), (vec![], vec![1]));
        assert_eq!((due(&mut wheel, u64::MAX - 1), wheel.soonest()), (vec![], Some(u64::MAX)));
        assert_eq!(due(&mut wheel, u64::MAX), [0]);
    }
}
