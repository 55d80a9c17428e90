//! A timing wheel (Varghese and Lauck 1987): numbered players, each waiting for a time of its own.
//!
//! ```text
//!                                  the hand ▼
//!   near:  4096 slots of 1024 ns    · · · · · · · ■ · · ■ ■ · ■ · · · ·     a bit for each slot that holds someone
//!   far:   4096 slots of 4096 ticks         times beyond what near spans: they come near with the hand
//! ```
//!
//! Times are kept exactly: near, an entry notes the nanosecond of its tick; a far one has its time
//! beside. Time O(1) to set and to leave, and once more for a time that was far. Space 12 bytes a
//! player, a cache line for every slot that holds someone, and 33 KiB.

mod held;
mod slots;

use held::{Held, SLOTS};
use slots::{NOTE_BITS, Slots};

/// What is left of a time within its tick is noted.
const TICK_SHIFT: u32 = NOTE_BITS;
const TICK_NS: u64 = 1 << TICK_SHIFT;
/// A far slot spans all the near ones.
const SPAN_SHIFT: u32 = SLOTS.ilog2();
const SPAN: u64 = 1 << SPAN_SHIFT;

pub(crate) struct Wheel {
    /// Near slots, then far ones.
    slots: Slots,
    near: Held,
    far: Held,
    /// The times of those who stand far.
    far_ns: Vec<u64>,
    /// The hand: nobody's tick is before this one.
    tick: u64,
    /// Nobody is due before.
    quiet_until_ns: u64,
}

impl Wheel {
    /// All players are away.
    pub(crate) fn new(players: usize) -> Self {
        Self {
            slots: Slots::new(players, 2 * SLOTS),
            near: Held::NONE,
            far: Held::NONE,
            far_ns: vec![0; players],
            tick: 0,
            quiet_until_ns: u64::MAX,
        }
    }

    /// The player waits for this time. Nobody else's has come by now: whoever is due was taken out.
    #[inline]
    pub(crate) fn set(&mut self, player: u32, now_ns: u64, at_ns: u64) {
        self.remove(player);
        self.tick = self.tick.max(now_ns >> TICK_SHIFT);
        self.quiet_until_ns = self.quiet_until_ns.min(at_ns);
        self.insert(player, at_ns);
    }

    /// The player waits no more.
    #[inline]
    pub(crate) fn remove(&mut self, player: u32) {
        if self.slots.has(player)
            && let Some(emptied) = self.slots.remove(player)
        {
            let held = if emptied < SLOTS { &mut self.near } else { &mut self.far };
            held.clear(emptied);
        }
    }

    /// Whether anybody's time may have come.
    #[inline(always)]
    pub(crate) fn may_be_due(&self, now_ns: u64) -> bool {
        now_ns >= self.quiet_until_ns
    }

    /// Puts a player that is away into its slot.
    #[inline(always)]
    fn insert(&mut self, player: u32, at_ns: u64) {
        let tick = at_ns >> TICK_SHIFT;
        if tick.wrapping_sub(self.tick) < SPAN {
            let slot = tick as usize % SLOTS;
            if self.slots.put(slot, player, (at_ns % TICK_NS) as u32) {
                self.near.set(slot);
            }
        } else {
            self.insert_far(player, at_ns);
        }
    }

    /// A time past, which is due with the hand's tick, or one beyond what near spans.
    #[cold]
    fn insert_far(&mut self, player: u32, at_ns: u64) {
        let hand = self.tick >> SPAN_SHIFT;
        match (at_ns >> TICK_SHIFT).checked_sub(self.tick) {
            None => self.insert(player, self.tick << TICK_SHIFT),
            // Past the last far slot it stands there, and is looked at again when the hand comes
            // by.
            Some(_) => {
                let span = at_ns >> TICK_SHIFT >> SPAN_SHIFT;
                let span = span.min(hand + SPAN - 1);
                let slot = span as usize % SLOTS;
                let comes_near_ns = span << SPAN_SHIFT << TICK_SHIFT;
                self.quiet_until_ns = self.quiet_until_ns.min(comes_near_ns);
                self.far_ns[player as usize] = at_ns;
                self.far.set(slot);
                self.slots.put(SLOTS + slot, player, 0);
            }
        }
    }

    /// The first near slot that holds someone, and its tick.
    #[inline]
    fn first_near(&self) -> Option<(usize, u64)> {
        let tick = self.tick + self.near.distance(self.tick)?;
        Some((tick as usize % SLOTS, tick))
    }

    /// The first far slot from a tick on that holds someone, and its span.
    #[inline]
    fn first_far(&self, from_tick: u64) -> Option<(usize, u64)> {
        let hand = from_tick >> SPAN_SHIFT;
        let span = hand + self.far.distance(hand)?;
        Some((SLOTS + span as usize % SLOTS, span))
    }

    /// The soonest time that anybody waits for; of one beyond all the slots, when to look again.
    pub(crate) fn soonest(&self) -> Option<u64> {
        let near = self.first_near().and_then(|(slot, tick)| {
            self.slots.of(slot).map(|entry| (tick << TICK_SHIFT) + entry.note()).min()
        });
        let far = self.first_far(self.tick).and_then(|(slot, span)| {
            let at_ns =
                self.slots.of(slot).map(|entry| self.far_ns[entry.player() as usize]).min()?;
            let end = (span + 1).saturating_mul(SPAN * TICK_NS);
            Some(at_ns.min(end))
        });
        near.into_iter().chain(far).min()
    }

    /// Moves the hand to now: takes out the players whose time has come, in no order, and adds them
    /// to `due`.
    pub(crate) fn take_due(&mut self, now_ns: u64, due: &mut Vec<u32>) {
        let now = now_ns >> TICK_SHIFT;
        let mut soonest_ns = u64::MAX;
        while let Some((slot, tick)) = self.first_near()
            && tick <= now
        {
            let emptied = self.slots.sift(slot, |entry| {
                let at_ns = (tick << TICK_SHIFT) + entry.note();
                let stays = at_ns > now_ns;
                if stays {
                    soonest_ns = soonest_ns.min(at_ns);
                } else {
                    due.push(entry.player());
                }
                stays
            });
            if !emptied {
                break;
            }
            self.near.clear(slot);
        }
        let from = self.tick;
        self.tick = from.max(now);
        let far_from = due.len();
        while let Some((slot, span)) = self.first_far(from)
            && span <= self.tick >> SPAN_SHIFT
        {
            self.far.clear(slot);
            self.slots.sift(slot, |entry| {
                due.push(entry.player());
                false
            });
        }
        self.quiet_until_ns = soonest_ns.min(self.next_slot_ns());
        self.come_near(far_from, now_ns, due);
    }

    /// Those in `due` from `at` on stood far: who is not due after all stands near from now on.
    #[inline]
    fn come_near(&mut self, mut at: usize, now_ns: u64, due: &mut Vec<u32>) {
        while let Some(&player) = due.get(at) {
            let at_ns = self.far_ns[player as usize];
            if at_ns <= now_ns {
                at += 1;
            } else {
                due.swap_remove(at);
                self.set(player, now_ns, at_ns);
            }
        }
    }

    /// When the next slot after the hand's begins that holds someone.
    fn next_slot_ns(&self) -> u64 {
        let near = self.near.distance(self.tick + 1).map(|on| self.tick + 1 + on);
        let far = self.first_far(self.tick).map(|(_, span)| span << SPAN_SHIFT);
        near.into_iter().chain(far).min().map_or(u64::MAX, |tick| tick << TICK_SHIFT)
    }
}

#[cfg(test)]
mod tests;
