//! One HTB class: its two buckets and the mode that they put it in.
//!
//! ```text
//!   ctokens < 0            can't send:  above its ceil
//!   tokens < 0 <= ctokens  may borrow:  above its rate, its ancestors may lend
//!   0 <= tokens            can send:    within its rate
//! ```

use crate::ClassId;
use crate::child::Child;
use crate::discipline::Discipline;
use crate::rate::{HORIZON, Price, Prices, Ticks, elapsed};
use crate::report::Counters;

/// No class: none above, none below.
pub(super) const NIL: u32 = u32::MAX;

/// No debt is deeper than the horizon.
const DEEPEST: Ticks = 1 - HORIZON;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    CantSend,
    MayBorrow,
    CanSend,
}

/// A class's settings, checked.
#[derive(Debug, Clone)]
pub(crate) struct ClassSettings {
    pub(crate) id: ClassId,
    pub(crate) rate: Price,
    pub(crate) ceil: Price,
    pub(crate) burst_bytes: u64,
    pub(crate) cburst_bytes: u64,
    pub(crate) priority: u8,
    pub(crate) quantum_bytes: u32,
    /// What a worker is lent of it at a time, where several serve the tree.
    pub(crate) piece_bytes: u32,
    pub(crate) text: String,
}

/// The rings that a class may stand in, by the first of one a priority: its level's rows, and its
/// parent's feeds if it has one.
#[derive(Clone, Copy)]
pub(crate) struct Rings {
    pub(crate) row: u32,
    pub(crate) feed: u32,
}

/// By lines of the cache: the buckets and where the class stands; what a packet costs and is
/// counted in; the packets. With a FIFO a packet that comes touches the last, one that goes all
/// three.
#[repr(C, align(64))]
pub(crate) struct Class {
    tokens: Ticks,
    ctokens: Ticks,
    /// When the buckets were last filled.
    pub(crate) filled_ns: u64,
    depth: Ticks,
    cdepth: Ticks,
    pub(crate) rings: Rings,
    pub(crate) parent: u32,
    /// First of an inner class's feeds.
    pub(crate) below: u32,
    /// 0 for a leaf, else one more than the highest child's.
    pub(crate) level: u8,
    pub(crate) priority: u8,
    /// The priorities in which packets wait here or below and may be sent.
    pub(crate) active: u8,
    pub(crate) mode: Mode,
    prices: Prices,
    /// What a leaf may send in a turn.
    pub(crate) quantum_bytes: i32,
    /// Packets sent, by whose tokens: an ancestor's, its own, a descendant's.
    pub(crate) sent_by: [u64; 3],
    sent_bytes: u64,
    /// A leaf's discipline.
    pub(crate) child: Option<Child>,
}

impl Class {
    pub(crate) fn new(settings: &ClassSettings, parent: u32) -> Self {
        let depth = settings.rate.of_depth(settings.burst_bytes);
        let cdepth = settings.ceil.of_depth(settings.cburst_bytes);
        Self {
            child: None,
            tokens: depth,
            ctokens: cdepth,
            filled_ns: 0,
            prices: Prices::new(settings.rate, settings.ceil),
            quantum_bytes: settings.quantum_bytes as i32,
            depth,
            cdepth,
            rings: Rings { row: 0, feed: NIL },
            parent,
            below: 0,
            level: 0,
            priority: settings.priority,
            active: 0,
            mode: Mode::CanSend,
            sent_by: [0; 3],
            sent_bytes: 0,
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        let sent_packets = self.sent_by.iter().sum();
        Counters { sent_packets, sent_bytes: self.sent_bytes, ..Counters::default() }
    }

    /// What the rate's bucket and the ceil's hold.
    pub(crate) fn tokens(&self) -> (Ticks, Ticks) {
        (self.tokens, self.ctokens)
    }

    /// Empties the buckets: at 0 it may send one packet, and pays for it before the next.
    pub(crate) fn spend(&mut self, now_ns: u64) {
        (self.tokens, self.ctokens, self.filled_ns) = (0, 0, now_ns);
        if let Some(child) = &mut self.child {
            child.spend(now_ns);
        }
    }

    /// Lets time fill the buckets.
    #[inline(always)]
    pub(crate) fn fill(&mut self, now_ns: u64) {
        let time = elapsed(self.filled_ns, now_ns);
        self.tokens = (self.tokens + time).min(self.depth);
        self.ctokens = (self.ctokens + time).min(self.cdepth);
        self.filled_ns = now_ns;
    }

    /// The mode that the buckets put it in, as they were last filled.
    #[inline(always)]
    pub(crate) fn mode_by_buckets(&self) -> Mode {
        if self.ctokens < 0 {
            Mode::CantSend
        } else if self.tokens < 0 {
            Mode::MayBorrow
        } else {
            Mode::CanSend
        }
    }

    /// The debt that keeps it from a better mode.
    #[inline]
    pub(crate) fn debt(&self) -> Ticks {
        if self.ctokens < 0 { -self.ctokens } else { -self.tokens }
    }

    /// Gives back what was charged for so many bytes that were not sent, as far as the buckets have
    /// room. Both are filled.
    pub(crate) fn refund(&mut self, served_level: u8, bytes: u32) {
        let pays = self.level >= served_level;
        let [cost, ceil_cost] = self.prices.of(bytes);
        self.tokens = (self.tokens + (cost & -Ticks::from(pays))).min(self.depth);
        self.ctokens = (self.ctokens + ceil_cost).min(self.cdepth);
    }

    /// Counts packets that were served at a level, so many of so many bytes together, and pays for
    /// them: out of the ceil's bucket and, unless an ancestor of that level lends, out of the
    /// rate's. Both are filled.
    #[inline(always)]
    pub(crate) fn charge(&mut self, served_level: u8, bytes: u32, packets: u32) {
        let pays = self.level >= served_level;
        let by = usize::from(pays) + usize::from(self.level > served_level);
        self.sent_by[by] += u64::from(packets);
        self.sent_bytes += u64::from(bytes);
        let [cost, ceil_cost] = self.prices.of(bytes);
        self.tokens = (self.tokens - (cost & -Ticks::from(pays))).max(DEEPEST);
        self.ctokens = (self.ctokens - ceil_cost).max(DEEPEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_three_cache_lines_and_its_packets_are_the_last() {
        assert_eq!((size_of::<Class>(), std::mem::offset_of!(Class, child)), (192, 128));
    }
}
