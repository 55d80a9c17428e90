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
    pub(super) fn activate(&mut self, leaf: u32) {
        let class = &mut self.classes[leaf as usize];
        class.active = 1 << class.priority;
        self.active_leaves += 1;
        self.enter(leaf);
    }

    /// A leaf has none any more.
    pub(super) fn deactivate(&mut self, leaf: u32) {
        self.leave(leaf);
        self.classes[leaf as usize].active = 0;
        self.active_leaves -= 1;
    }

    /// Puts a class, and as far as they borrow its ancestors, into the rings that its mode allows.
    #[inline]
    fn enter(&mut self, at: u32) {
        let mut priorities = self.classes[at as usize].active;
        while priorities != 0 {
            self.enter_rings(at, priorities.trailing_zeros() as usize);
            priorities &= priorities - 1;
        }
    }

    #[inline(always)]
    fn enter_rings(&mut self, mut at: u32, priority: usize) {
        loop {
            let class = &self.classes[at as usize];
            let (parent, level) = (class.parent, usize::from(class.level));
            match class.mode {
                Mode::CanSend => {
                    self.feeds.insert(self.row(level, priority), at);
                    self.row_masks[level] |= 1 << priority;
                    return;
                }
                Mode::MayBorrow if parent != NIL => {
                    // A parent that already passes this priority on is in its ring already.
                    if !self.feeds.insert(self.feed_below(parent, priority), at) {
                        return;
                    }
                    self.classes[parent as usize].active |= 1 << priority;
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// Takes a class out of its rings, and every ancestor that then has nothing to pass on.
    #[inline]
    fn leave(&mut self, at: u32) {
        let mut priorities = self.classes[at as usize].active;
        while priorities != 0 {
            self.leave_rings(at, priorities.trailing_zeros() as usize);
            priorities &= priorities - 1;
        }
    }

    #[inline(always)]
    fn leave_rings(&mut self, mut at: u32, priority: usize) {
        loop {
            let class = &self.classes[at as usize];
            let (parent, level) = (class.parent, usize::from(class.level));
            match class.mode {
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
                    self.classes[parent as usize].active &= !(1 << priority);
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// Moves a class into another mode: out of its rings, and into those of the new mode.
    fn change_mode(&mut self, at: u32, mode: Mode) {
        let class = &mut self.classes[at as usize];
        let (ringed, old) = (class.active != 0, class.mode);
        class.overlimits += u64::from(mode == Mode::CantSend);
        if ringed && old != Mode::CantSend {
            self.leave(at);
        }
        self.classes[at as usize].mode = mode;
        if ringed && mode != Mode::CantSend {
            self.enter(at);
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
    #[inline]
    pub(super) fn run_due(&mut self, now_ns: u64) {
        while let Some(at) = self.waiting.pop_due(now_ns) {
            let class = &self.classes[at as usize];
            let (mode, debt) = class.mode_after(elapsed(class.filled_ns, now_ns));
            if mode != class.mode {
                self.change_mode(at, mode);
            }
            self.wait(at, mode, now_ns, debt);
        }
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
