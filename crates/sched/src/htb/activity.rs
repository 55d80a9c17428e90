//! Which HTB classes stand in which ring: kept up as leaves fill and empty and as buckets change
//! the classes' modes.
//!
//! ```text
//!   a class that something waits in or below   can't send ─▶ in no ring, only in the wait queue
//!                                              may borrow ─▶ in its parent's feed: the parent has something to pass on
//!                                              can send   ─▶ in its level's row, and in the feed all the same
//! ```
//!
//! That those who can send are in a feed, too, is never seen: a row of a level is only served when
//! those of all lower levels are empty. So a class that passes from borrowing to sending by right
//! and back moves one bit.

use super::class::{Mode, NIL, Rings};
use super::{Htb, ROWS_A_WORD};
use crate::prefetch::prefetch;
use crate::rate::{Ticks, ns_to_pay};

impl Htb {
    /// A leaf has packets now.
    #[inline]
    pub(super) fn activate(&mut self, leaf: u32) {
        self.active_leaves += 1;
        let class = &mut self.classes[leaf as usize];
        class.active = 1 << class.priority;
        let (priority, mode, rings) = (class.priority, class.mode, class.rings);
        self.enter(leaf, priority, mode, rings);
    }

    /// A leaf has none any more.
    #[inline]
    pub(super) fn deactivate(&mut self, leaf: u32) {
        self.active_leaves -= 1;
        let class = &mut self.classes[leaf as usize];
        class.active = 0;
        let (priority, mode, rings) = (class.priority, class.mode, class.rings);
        self.leave(leaf, priority, mode, rings);
    }

    /// An active class comes into the rings of its mode; with the first in a feed, the parent
    /// becomes active.
    #[inline(always)]
    fn enter(&mut self, at: u32, priority: u8, mode: Mode, rings: Rings) {
        if mode == Mode::CanSend {
            self.enter_row(at, priority, rings);
        }
        if mode != Mode::CantSend
            && rings.feed != NIL
            && self.feeds.insert(rings.feed + u32::from(priority), at)
        {
            self.rouse(self.classes[at as usize].parent, priority);
        }
    }

    /// A class leaves the rings of its mode; after the last in a feed, the parent has nothing to
    /// pass on.
    #[inline(always)]
    fn leave(&mut self, at: u32, priority: u8, mode: Mode, rings: Rings) {
        if mode == Mode::CanSend {
            self.leave_row(at, priority, rings);
        }
        if mode != Mode::CantSend
            && rings.feed != NIL
            && self.feeds.remove(rings.feed + u32::from(priority), at)
        {
            self.rest(self.classes[at as usize].parent, priority);
        }
    }

    #[inline(always)]
    fn enter_row(&mut self, at: u32, priority: u8, rings: Rings) {
        let row = rings.row + u32::from(priority);
        if self.feeds.insert(row, at) {
            self.rows_held[row as usize / ROWS_A_WORD] |= 1 << (row as usize % ROWS_A_WORD);
        }
    }

    #[inline(always)]
    fn leave_row(&mut self, at: u32, priority: u8, rings: Rings) {
        let row = rings.row + u32::from(priority);
        if self.feeds.remove(row, at) {
            self.rows_held[row as usize / ROWS_A_WORD] &= !(1 << (row as usize % ROWS_A_WORD));
        }
    }

    /// Something waits below a class of which nothing did.
    #[inline(never)]
    fn rouse(&mut self, lender: u32, priority: u8) {
        let class = &mut self.classes[lender as usize];
        class.active |= 1 << priority;
        let (mode, rings) = (class.mode, class.rings);
        self.enter(lender, priority, mode, rings);
    }

    /// Nothing waits below a class any more.
    #[inline(never)]
    fn rest(&mut self, lender: u32, priority: u8) {
        let class = &mut self.classes[lender as usize];
        class.active &= !(1 << priority);
        let (mode, rings) = (class.mode, class.rings);
        self.leave(lender, priority, mode, rings);
    }

    /// Moves a class into another mode, which its buckets put it in: into that mode's rings, and
    /// into the wait queue until its debt is paid.
    #[inline(always)]
    pub(super) fn change_mode(&mut self, at: u32, mode: Mode, now_ns: u64) {
        let class = &mut self.classes[at as usize];
        let (active, debt, rings) = (class.active, class.debt(), class.rings);
        let old = std::mem::replace(&mut class.mode, mode);
        if active.is_power_of_two() {
            self.change_rings(at, active.trailing_zeros() as u8, old, mode, rings);
        } else if active != 0 {
            self.change_many_rings(at, active, old, mode, rings);
        }
        if mode == Mode::CantSend {
            self.labels[at as usize].overlimits += 1;
        }
        self.wait(at, now_ns, debt);
    }

    /// Moves an active class into another mode's rings. In line is what comes with every packet or
    /// two: a bit in a row.
    #[inline(always)]
    fn change_rings(&mut self, at: u32, priority: u8, old: Mode, new: Mode, rings: Rings) {
        match (old, new) {
            (Mode::CanSend, Mode::MayBorrow) => self.leave_row(at, priority, rings),
            (Mode::MayBorrow, Mode::CanSend) => self.enter_row(at, priority, rings),
            _ => self.leave_and_enter(at, priority, old, new),
        }
    }

    #[inline(never)]
    fn change_many_rings(&mut self, at: u32, mut active: u8, old: Mode, new: Mode, rings: Rings) {
        while active != 0 {
            let priority = active.trailing_zeros() as u8;
            active &= active - 1;
            self.change_rings(at, priority, old, new, rings);
        }
    }

    #[inline(never)]
    fn leave_and_enter(&mut self, at: u32, priority: u8, old: Mode, new: Mode) {
        let rings = self.classes[at as usize].rings;
        self.leave(at, priority, old, rings);
        self.enter(at, priority, new, rings);
    }

    /// Puts a class into the wait queue until its debt is paid, or takes it out if it has none.
    #[inline(always)]
    pub(super) fn wait(&mut self, at: u32, now_ns: u64, debt: Ticks) {
        if debt > 0 {
            self.waiting.set(at, now_ns, now_ns + ns_to_pay(debt));
        } else {
            self.waiting.remove(at);
        }
    }

    /// Moves every class whose time has come into its better mode.
    #[inline(always)]
    pub(super) fn run_due(&mut self, now_ns: u64) {
        if self.waiting.may_be_due(now_ns) {
            self.run(now_ns);
        }
    }

    #[inline(never)]
    fn run(&mut self, now_ns: u64) {
        let mut due = std::mem::take(&mut self.due);
        self.waiting.take_due(now_ns, &mut due);
        due.iter().for_each(|&at| prefetch(&self.classes, at as usize));
        for at in due.drain(..) {
            let class = &mut self.classes[at as usize];
            class.fill(now_ns);
            let mode = class.mode_by_buckets();
            if mode == class.mode {
                let debt = class.debt();
                self.wait(at, now_ns, debt);
            } else {
                self.change_mode(at, mode, now_ns);
            }
        }
        self.due = due;
    }

    /// Charges packets that were served at `level`, their bytes and how many they are, to this
    /// class and all its ancestors: those below the level borrowed.
    #[inline(always)]
    pub(super) fn charge(
        &mut self,
        mut at: u32,
        level: u8,
        (bytes, packets): (u32, u32),
        now_ns: u64,
    ) {
        while let Some(class) = self.classes.get_mut(at as usize) {
            // All packets of a burst go at one time.
            if class.filled_ns != now_ns {
                class.fill(now_ns);
            }
            class.charge(level, bytes, packets);
            let (parent, mode) = (class.parent, class.mode_by_buckets());
            if mode != class.mode {
                self.change_mode(at, mode, now_ns);
            }
            at = parent;
        }
    }
}
