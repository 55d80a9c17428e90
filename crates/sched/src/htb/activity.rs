//! Which HTB classes stand in which ring: kept up as leaves fill and empty and as buckets change the classes' modes.
//!
//! ```text
//!   leaf becomes busy ─▶ may borrow? into the parent's feed ─▶ parent may borrow? into the grandparent's ─▶ …
//!                     └▶ can send?   into its level's row
//!   can't send: in no ring, only in the wait queue
//! ```

use super::class::Mode;
use super::{Htb, NIL, PRIORITIES};
use crate::rate::{Ticks, elapsed, ns_to_pay};

impl Htb {
    #[inline]
    pub(super) fn row(&self, level: usize, priority: usize) -> u32 {
        self.rows + (level * PRIORITIES + priority) as u32
    }

    /// The feed of an inner class.
    #[inline]
    pub(super) fn feed_below(&self, class: u32, priority: usize) -> u32 {
        self.classes[class as usize].below + priority as u32
    }

    /// A leaf has packets now.
    #[inline]
    pub(super) fn activate(&mut self, leaf: u32) {
        let class = &mut self.classes[leaf as usize];
        class.active = 1 << class.priority;
        let (mode, priority) = (class.mode, usize::from(class.priority));
        self.active_leaves += 1;
        self.enter(leaf, mode, priority);
    }

    /// A leaf has none any more.
    #[inline]
    pub(super) fn deactivate(&mut self, leaf: u32) {
        let class = &mut self.classes[leaf as usize];
        class.active = 0;
        let (mode, priority) = (class.mode, usize::from(class.priority));
        self.active_leaves -= 1;
        self.leave(leaf, mode, priority);
    }

    /// Puts a class, and as far as they borrow its ancestors, into the rings of a priority that its mode allows.
    #[inline(always)]
    fn enter(&mut self, mut at: u32, mut mode: Mode, priority: usize) {
        loop {
            let class = &self.classes[at as usize];
            let (parent, level) = (class.parent, usize::from(class.level));
            match mode {
                Mode::CanSend => {
                    self.feeds.insert(self.row(level, priority), at);
                    self.row_masks[level] |= 1 << priority;
                    return;
                }
                Mode::MayBorrow if parent != NIL => {
                    let lender = &mut self.classes[parent as usize];
                    lender.active |= 1 << priority;
                    mode = lender.mode;
                    // A parent that already passes this priority on is in its ring already.
                    let feed = lender.below + priority as u32;
                    if !self.feeds.insert(feed, at) {
                        return;
                    }
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// Takes a class out of its rings of a priority, and every ancestor that then has nothing to pass on.
    #[inline(always)]
    fn leave(&mut self, mut at: u32, mut mode: Mode, priority: usize) {
        loop {
            let class = &self.classes[at as usize];
            let (parent, level) = (class.parent, usize::from(class.level));
            match mode {
                Mode::CanSend => {
                    if self.feeds.remove(self.row(level, priority), at) {
                        self.row_masks[level] &= !(1 << priority);
                    }
                    return;
                }
                Mode::MayBorrow if parent != NIL => {
                    if !self.feeds.remove(self.feed_below(parent, priority), at) {
                        return;
                    }
                    let lender = &mut self.classes[parent as usize];
                    lender.active &= !(1 << priority);
                    mode = lender.mode;
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// Moves a class into another mode: out of its rings, and into those of the new mode.
    #[inline(never)]
    fn change_mode(&mut self, at: u32, mode: Mode) {
        let class = &mut self.classes[at as usize];
        let (mut priorities, old) = (class.active, class.mode);
        class.overlimits += u64::from(mode == Mode::CantSend);
        class.mode = mode;
        while priorities != 0 {
            let priority = priorities.trailing_zeros() as usize;
            priorities &= priorities - 1;
            self.leave(at, old, priority);
            self.enter(at, mode, priority);
        }
    }

    /// Puts a class into the wait queue until its debt is paid, or takes it out once it can send.
    #[inline]
    fn wait(&mut self, at: u32, mode: Mode, now_ns: u64, debt: Ticks) {
        if mode == Mode::CanSend {
            self.waiting.remove(at);
        } else {
            // At least a nanosecond on, or the same event would come again at once.
            self.waiting.set(at, now_ns + ns_to_pay(debt).max(1));
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
        for at in due.drain(..) {
            let class = &self.classes[at as usize];
            let (mode, debt) = class.mode_after(elapsed(class.filled_ns, now_ns));
            if mode != class.mode {
                self.change_mode(at, mode);
            }
            self.wait(at, mode, now_ns, debt);
        }
        self.due = due;
    }

    /// Charges a packet served at `level` to the leaf and all its ancestors: those below the level borrowed.
    #[inline(always)]
    pub(super) fn charge(&mut self, leaf: u32, level: usize, length_bytes: u32, now_ns: u64) {
        let mut at = leaf;
        while at != NIL {
            let class = &mut self.classes[at as usize];
            let time = elapsed(class.filled_ns, now_ns);
            let class_level = usize::from(class.level);
            let own_rate = class_level >= level;
            class.sent_by[usize::from(own_rate) + usize::from(class_level > level)] += 1;
            class.pay(time, length_bytes, own_rate);
            class.filled_ns = now_ns;
            class.sent_bytes += u64::from(length_bytes);
            let (mode, debt) = class.mode_after(0);
            let (parent, old) = (class.parent, class.mode);
            if mode != old {
                self.change_mode(at, mode);
                self.wait(at, mode, now_ns, debt);
            }
            at = parent;
        }
    }
}
