//! Where HTB classes stand: kept up as leaves fill and empty and as buckets change the classes'
//! modes.
//!
//! ```text
//!   something waits in or below a class, and it   can't send ─▶ nowhere but in the calendar
//!                                                 may borrow ─▶ in its parent's feed: the parent has something to pass on
//!                                                 can send   ─▶ in the feed all the same, and a leaf among the rights,
//!                                                               another class in its level's row
//! ```
//!
//! That those who can send are in a feed, too, is never seen: a row of a level is only served when
//! all lower levels have nothing to send. So a leaf that passes from borrowing to sending by right
//! and back moves in and out of one queue.

use super::class::{Class, Mode, NIL, Rings};
use super::{Htb, ROWS_A_WORD};
use crate::prefetch::prefetch;

impl Htb {
    /// A leaf has packets now.
    #[inline]
    pub(super) fn activate(&mut self, leaf: u32) {
        self.active_leaves += 1;
        let class = &mut self.classes[leaf as usize];
        class.active = 1 << class.priority;
        let Class { priority, mode, rings, .. } = *class;
        self.rights.join(priority, leaf, mode == Mode::CanSend);
        if mode != Mode::CantSend {
            self.enter_feed(leaf, priority, rings);
        }
    }

    /// A leaf is drained, and stands no more among the rights.
    pub(super) fn deactivate(&mut self, leaf: u32) {
        self.active_leaves -= 1;
        let class = &mut self.classes[leaf as usize];
        class.active = 0;
        let Class { priority, mode, rings, .. } = *class;
        if mode != Mode::CantSend {
            self.leave_feed(leaf, priority, rings);
        }
    }

    /// A class stands in its parent's feed; with the first there, the parent becomes active.
    #[inline(always)]
    fn enter_feed(&mut self, at: u32, priority: u8, rings: Rings) {
        if rings.feed != NIL && self.feeds.insert(rings.feed + u32::from(priority), at) {
            self.rouse(self.classes[at as usize].parent, priority);
        }
    }

    /// A class leaves its parent's feed; after the last there, the parent has nothing to pass on.
    #[inline(always)]
    fn leave_feed(&mut self, at: u32, priority: u8, rings: Rings) {
        if rings.feed != NIL && self.feeds.remove(rings.feed + u32::from(priority), at) {
            self.rest(self.classes[at as usize].parent, priority);
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

    /// An active inner class comes to where its mode puts it.
    fn enter(&mut self, at: u32, priority: u8, mode: Mode, rings: Rings) {
        if mode == Mode::CanSend {
            let row = rings.row + u32::from(priority);
            if self.feeds.insert(row, at) {
                self.rows_held[row as usize / ROWS_A_WORD] |= 1 << (row as usize % ROWS_A_WORD);
            }
        }
        if mode != Mode::CantSend {
            self.enter_feed(at, priority, rings);
        }
    }

    /// An inner class leaves where its mode put it.
    fn leave(&mut self, at: u32, priority: u8, mode: Mode, rings: Rings) {
        if mode == Mode::CanSend {
            let row = rings.row + u32::from(priority);
            if self.feeds.remove(row, at) {
                self.rows_held[row as usize / ROWS_A_WORD] &= !(1 << (row as usize % ROWS_A_WORD));
            }
        }
        if mode != Mode::CantSend {
            self.leave_feed(at, priority, rings);
        }
    }

    /// The buckets of a leaf that is not sending put it in another mode: a better one, as time does
    /// nothing else.
    #[inline(always)]
    fn improve_leaf(&mut self, leaf: u32, mode: Mode) {
        let class = &mut self.classes[leaf as usize];
        let Class { priority, active, rings, .. } = *class;
        let old = std::mem::replace(&mut class.mode, mode);
        self.rights.join(priority, leaf, mode == Mode::CanSend && active != 0);
        if old == Mode::CantSend && active != 0 {
            self.enter_feed(leaf, priority, rings);
        }
    }

    /// A leaf has sent, and is paid for: to where its buckets and its packets put it.
    #[inline(always)]
    pub(super) fn settle(&mut self, leaf: u32, by_right: bool, is_over: bool, emptied: bool) {
        let class = &mut self.classes[leaf as usize];
        let mode = class.mode_at(self.clock.now);
        let old = std::mem::replace(&mut class.mode, mode);
        let Class { priority, rings, .. } = *class;
        let goes_on = mode == Mode::CanSend && !emptied;
        if by_right {
            self.rights.sent(priority, leaf, goes_on, is_over);
        } else {
            self.rights.join(priority, leaf, goes_on);
        }
        if emptied {
            class.active = 0;
            self.active_leaves -= 1;
        }
        if emptied || mode == Mode::CantSend {
            self.leave_feed(leaf, priority, rings);
        }
        if mode != old {
            self.come_to(leaf, mode);
        }
    }

    /// Moves an inner class into another mode, which its buckets put it in.
    #[inline(never)]
    fn change_mode(&mut self, at: u32, mode: Mode) {
        let class = &mut self.classes[at as usize];
        let (mut active, rings) = (class.active, class.rings);
        let old = std::mem::replace(&mut class.mode, mode);
        while active != 0 {
            let priority = active.trailing_zeros() as u8;
            active &= active - 1;
            self.leave(at, priority, old, rings);
            self.enter(at, priority, mode, rings);
        }
        self.come_to(at, mode);
    }

    /// A class is in another mode now.
    #[inline(always)]
    fn come_to(&mut self, at: u32, mode: Mode) {
        if mode == Mode::CantSend {
            self.labels[at as usize].overlimits += 1;
        }
        self.wait(at, mode);
    }

    /// A class waits for a better mode, if there is one. It may wait for its buckets already: by
    /// times that have come or moved on since.
    #[inline(always)]
    fn wait(&mut self, at: u32, mode: Mode) {
        let [rate_due, ceil_due] = self.classes[at as usize].dues();
        match mode {
            Mode::CanSend => {}
            Mode::MayBorrow => self.waiting.wait(rate_of(at), self.clock.ns_of(rate_due)),
            Mode::CantSend => self.waiting.wait(ceil_of(at), self.clock.ns_of(ceil_due)),
        }
    }

    /// A class's buckets were given something back.
    pub(super) fn hasten(&mut self, at: u32) {
        let [rate_due, ceil_due] = self.classes[at as usize].dues();
        self.waiting.hasten(rate_of(at), self.clock.ns_of(rate_due));
        self.waiting.hasten(ceil_of(at), self.clock.ns_of(ceil_due));
        self.judge(at);
    }

    /// When to look again: by then the buckets of one of those that wait may be paid.
    pub(super) fn soonest(&self) -> Option<u64> {
        self.waiting.soonest(|player| {
            let dues = self.classes[class_of(player) as usize].dues();
            self.clock.ns_of(dues[player as usize % dues.len()])
        })
    }

    /// It is so late, and every class whose time has come is in its better mode; one on a busy link
    /// perhaps a day of the calendar later.
    #[inline(always)]
    pub(super) fn run_due(&mut self, now_ns: u64) {
        if let Some(by) = self.clock.set(now_ns) {
            self.classes.iter_mut().for_each(|class| class.rebase(by));
        }
        if self.waiting.may_be_due(now_ns) {
            let mut due = std::mem::take(&mut self.due);
            self.waiting.take_due(now_ns, &mut due);
            self.judge_all(due);
        }
    }

    /// The same to the nanosecond; whether anybody may send now.
    #[inline(never)]
    pub(super) fn run_today(&mut self) -> bool {
        let mut due = std::mem::take(&mut self.due);
        self.waiting.take_today(self.clock.now_ns, &mut due);
        self.judge_all(due);
        self.rights.first().is_some() || self.rows_held.iter().any(|&rows| rows != 0)
    }

    #[inline(never)]
    fn judge_all(&mut self, mut due: Vec<u32>) {
        due.iter().for_each(|&player| prefetch(&self.classes, class_of(player) as usize));
        due.drain(..).for_each(|player| self.judge(class_of(player)));
        self.due = due;
    }

    /// Puts a class into the mode that its buckets say, and lets it wait for a better one.
    #[inline(always)]
    fn judge(&mut self, at: u32) {
        let class = &self.classes[at as usize];
        let mode = class.mode_at(self.clock.now);
        if mode != class.mode {
            if class.level == 0 {
                self.improve_leaf(at, mode);
            } else {
                return self.change_mode(at, mode);
            }
        }
        self.wait(at, mode);
    }

    /// Charges packets that were served at `level`, their bytes and how many they are, to this
    /// class and all its ancestors: those below the level borrowed.
    #[inline(always)]
    pub(super) fn charge(&mut self, mut at: u32, level: u8, (bytes, packets): (u32, u32)) {
        let now = self.clock.now;
        while let Some(class) = self.classes.get_mut(at as usize) {
            class.charge(level, bytes, packets, now);
            let (parent, mode) = (class.parent, class.mode_at(now));
            if mode != class.mode {
                self.change_mode(at, mode);
            }
            at = parent;
        }
    }
}

/// In the calendar each bucket of a class waits for itself.
fn rate_of(class: u32) -> u32 {
    2 * class
}

fn ceil_of(class: u32) -> u32 {
    2 * class + 1
}

fn class_of(player: u32) -> u32 {
    player / 2
}
