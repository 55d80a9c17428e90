//! One HTB class: its two buckets and the mode that they put it in.
//!
//! ```text
//!   the ceil's bucket owes     can't send:  above its ceil
//!   the rate's bucket owes     may borrow:  above its rate, its ancestors may lend
//!   neither owes               can send:    within its rate
//! ```

use super::bucket::Bucket;
use super::deficits::NEAR;
use crate::ClassId;
use crate::child::Child;
use crate::discipline::Discipline;
use crate::rate::{Price, Prices, Ticks};
use crate::report::Counters;

/// No class: none above, none below.
pub(super) const NIL: u32 = u32::MAX;

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

/// By lines of the cache: the buckets and what a packet costs; where the class stands and what it
/// sent; the packets. With a FIFO a packet that comes touches the last, one that goes all three.
#[repr(C, align(64))]
pub(crate) struct Class {
    rate: Bucket,
    ceil: Bucket,
    prices: Prices,
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
    /// What a leaf may send in a turn.
    pub(crate) quantum_bytes: i32,
    /// Packets sent, by whose tokens: an ancestor's, its own, a descendant's.
    pub(crate) sent_by: [u64; 3],
    sent_bytes: u64,
    /// What a leaf may still send in its turns at the lowest levels.
    pub(super) deficits: [i32; NEAR],
    /// A leaf's discipline.
    pub(crate) child: Option<Child>,
}

impl Class {
    pub(crate) fn new(settings: &ClassSettings, parent: u32) -> Self {
        Self {
            child: None,
            rate: Bucket::full(settings.rate.of_depth(settings.burst_bytes)),
            ceil: Bucket::full(settings.ceil.of_depth(settings.cburst_bytes)),
            prices: Prices::new(settings.rate, settings.ceil),
            quantum_bytes: settings.quantum_bytes as i32,
            rings: Rings { row: 0, feed: NIL },
            parent,
            below: 0,
            level: 0,
            priority: settings.priority,
            active: 0,
            mode: Mode::CanSend,
            sent_by: [0; 3],
            sent_bytes: 0,
            deficits: [0; NEAR],
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        let sent_packets = self.sent_by.iter().sum();
        Counters { sent_packets, sent_bytes: self.sent_bytes, ..Counters::default() }
    }

    /// What the rate's bucket and the ceil's hold.
    pub(crate) fn tokens(&self, now: Ticks) -> (Ticks, Ticks) {
        (self.rate.tokens(now), self.ceil.tokens(now))
    }

    /// Empties the buckets, and those of what waits in it.
    pub(crate) fn spend(&mut self, now: Ticks, now_ns: u64) {
        self.rate.empty(now);
        self.ceil.empty(now);
        if let Some(child) = &mut self.child {
            child.spend(now_ns);
        }
    }

    /// Times are told from another moment on, so much later.
    pub(super) fn rebase(&mut self, by: Ticks) {
        self.rate.rebase(by);
        self.ceil.rebase(by);
    }

    /// The mode that the buckets put it in.
    #[inline(always)]
    pub(super) fn mode_at(&self, now: Ticks) -> Mode {
        if !self.ceil.is_open(now) {
            Mode::CantSend
        } else if !self.rate.is_open(now) {
            Mode::MayBorrow
        } else {
            Mode::CanSend
        }
    }

    /// From when on the rate's bucket, and the ceil's, owes nothing.
    #[inline(always)]
    pub(super) fn dues(&self) -> [Ticks; 2] {
        [self.rate.due(), self.ceil.due()]
    }

    /// Gives back what was charged for so many bytes that were not sent.
    pub(crate) fn refund(&mut self, served_level: u8, bytes: u32) {
        let pays = self.level >= served_level;
        let [cost, ceil_cost] = self.prices.of(bytes);
        self.rate.refund(cost & -Ticks::from(pays));
        self.ceil.refund(ceil_cost);
    }

    /// Counts packets that were served at a level, so many of so many bytes together, and pays for
    /// them: out of the ceil's bucket and, unless an ancestor of that level lends, out of the
    /// rate's.
    #[inline(always)]
    pub(crate) fn charge(&mut self, served_level: u8, bytes: u32, packets: u32, now: Ticks) {
        let pays = self.level >= served_level;
        let by = usize::from(pays) + usize::from(self.level > served_level);
        self.sent_by[by] += u64::from(packets);
        self.sent_bytes += u64::from(bytes);
        let [cost, ceil_cost] = self.prices.of(bytes);
        self.rate.pay(cost & -Ticks::from(pays), now);
        self.ceil.pay(ceil_cost, now);
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
