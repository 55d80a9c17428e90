//! A ring of near days and one of far days: which players stand on which, and who comes first.
//!
//! ```text
//!            the hand ▼
//!   near:  · · · · · · ■ · · ■ ■ · ■ · · ·     64 * WORDS days, and a bit for each that somebody stands on
//!   far:   · · ■ · · · ·                       as many spans: one is as long as all the near days together
//! ```
//!
//! Beyond the last span they stand there too: whoever opens it puts them where they belong by then.
//! Time O(1). Space 8 bytes a player, and 528 for a word.

use super::held::Held;
use super::lists::Lists;

pub(super) struct Days<const WORDS: usize> {
    /// Of the near days, then of the spans.
    lists: Lists,
    near: Held<WORDS>,
    far: Held<WORDS>,
    /// Nobody stands on a day before this one.
    hand: u64,
}

impl<const WORDS: usize> Days<WORDS> {
    const SLOTS: usize = Held::<WORDS>::SLOTS;
    const SPAN_SHIFT: u32 = Self::SLOTS.ilog2();

    /// All players are away, and the hand is at 0.
    pub(super) fn new(players: usize) -> Self {
        let (near, far) = (Held::NONE, Held::NONE);
        Self { lists: Lists::new(players, 2 * Self::SLOTS), near, far, hand: 0 }
    }

    #[inline]
    pub(super) fn hand(&self) -> u64 {
        self.hand
    }

    /// Nobody stands on a day before this one, and nobody did when any of those here came.
    #[inline]
    pub(super) fn move_hand(&mut self, to: u64) {
        self.hand = to;
    }

    #[inline(always)]
    pub(super) fn has(&self, player: u32) -> bool {
        self.lists.has(player)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.near.is_empty() && self.far.is_empty()
    }

    /// Puts a player that is away on a day, the hand's if that one is past; tells from which day on
    /// to look for it.
    #[inline(always)]
    pub(super) fn insert(&mut self, player: u32, day: u64) -> u64 {
        let day = day.max(self.hand);
        if day - self.hand >= Self::SLOTS as u64 {
            return self.insert_far(player, day);
        }
        let slot = day as usize % Self::SLOTS;
        if self.lists.put(slot, player) {
            self.near.set(slot);
        }
        day
    }

    #[inline(never)]
    fn insert_far(&mut self, player: u32, day: u64) -> u64 {
        let last = (self.hand >> Self::SPAN_SHIFT) + Self::SLOTS as u64 - 1;
        let span = (day >> Self::SPAN_SHIFT).min(last);
        let slot = span as usize % Self::SLOTS;
        self.lists.put(Self::SLOTS + slot, player);
        self.far.set(slot);
        span << Self::SPAN_SHIFT
    }

    /// Takes a player off its day.
    #[inline(always)]
    pub(super) fn remove(&mut self, player: u32) {
        if let Some(emptied) = self.lists.remove(player) {
            let held = if emptied < Self::SLOTS { &mut self.near } else { &mut self.far };
            held.clear(emptied);
        }
    }

    /// The first near day that somebody stands on.
    #[inline(always)]
    pub(super) fn first_near(&self) -> Option<u64> {
        Some(self.hand + self.near.distance(self.hand)?)
    }

    /// The first day of the first span that somebody stands in.
    #[inline(always)]
    pub(super) fn first_far(&self) -> Option<u64> {
        if self.far.is_empty() {
            return None;
        }
        let span = self.hand >> Self::SPAN_SHIFT;
        Some((span + self.far.distance(span)?) << Self::SPAN_SHIFT)
    }

    /// The first day after a span's.
    pub(super) fn end_of(first_of_span: u64) -> u64 {
        first_of_span.saturating_add(Self::SLOTS as u64)
    }

    /// One of those on a near day.
    #[inline(always)]
    pub(super) fn one_of_near(&self, day: u64) -> Option<u32> {
        self.lists.first(day as usize % Self::SLOTS)
    }

    /// Another one of a player's day.
    #[inline(always)]
    pub(super) fn after(&self, player: u32) -> Option<u32> {
        self.lists.after(player)
    }

    /// All those on a near day.
    pub(super) fn near(&self, day: u64) -> impl Iterator<Item = u32> + '_ {
        self.lists.of(day as usize % Self::SLOTS)
    }

    /// All those of a span.
    pub(super) fn far(&self, first_of_span: u64) -> impl Iterator<Item = u32> + '_ {
        self.lists.of(Self::far_list(first_of_span))
    }

    /// Takes all off a near day, into `out`.
    #[inline]
    pub(super) fn empty_near(&mut self, day: u64, out: &mut Vec<u32>) {
        let slot = day as usize % Self::SLOTS;
        self.lists.empty(slot, out);
        self.near.clear(slot);
    }

    /// Takes all out of a span, into `out`.
    pub(super) fn empty_far(&mut self, first_of_span: u64, out: &mut Vec<u32>) {
        let list = Self::far_list(first_of_span);
        self.lists.empty(list, out);
        self.far.clear(list);
    }

    fn far_list(first_of_span: u64) -> usize {
        Self::SLOTS + (first_of_span >> Self::SPAN_SHIFT) as usize % Self::SLOTS
    }
}
