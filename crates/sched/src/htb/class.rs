//! One HTB class: its two buckets and the mode that they put it in.
//!
//! ```text
//!   ctokens < 0            can't send:  above its ceil
//!   tokens < 0 <= ctokens  may borrow:  above its rate, its ancestors may lend
//!   0 <= tokens            can send:    within its rate
//! ```

use std::hint::select_unpredictable as select;

use crate::ClassId;
use crate::discipline::Child;
use crate::rate::{HORIZON, Price, Ticks};
use crate::report::Counters;

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
    pub(crate) text: String,
}

/// By lines of the cache: what a mode depends on and the buckets; what a packet costs and is counted in; the packets. With
/// a FIFO a packet that comes touches two of them, one that goes three.
#[repr(C, align(64))]
pub(crate) struct Class {
    pub(crate) tokens: Ticks,
    pub(crate) ctokens: Ticks,
    /// When the buckets were last filled.
    pub(crate) filled_ns: u64,
    depth: Ticks,
    cdepth: Ticks,
    pub(crate) parent: u32,
    /// First of an inner class's feeds.
    pub(crate) below: u32,
    pub(crate) quantum_bytes: i32,
    /// 0 for a leaf, else one more than the highest child's.
    pub(crate) level: u8,
    pub(crate) priority: u8,
    /// The priorities in which packets wait here or below and may be sent.
    pub(crate) active: u8,
    pub(crate) mode: Mode,
    rate: Price,
    ceil: Price,
    /// Packets sent, by whose tokens: an ancestor's, its own, a descendant's.
    pub(crate) sent_by: [u64; 3],
    pub(crate) sent_bytes: u64,
    pub(crate) overlimits: u64,
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
            rate: settings.rate,
            ceil: settings.ceil,
            depth,
            cdepth,
            parent,
            below: 0,
            quantum_bytes: settings.quantum_bytes as i32,
            level: 0,
            priority: settings.priority,
            active: 0,
            mode: Mode::CanSend,
            sent_by: [0; 3],
            sent_bytes: 0,
            overlimits: 0,
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        let Self { sent_by, sent_bytes, overlimits, .. } = *self;
        let sent_packets = sent_by.iter().sum();
        Counters { sent_packets, sent_bytes, overlimits, ..Counters::default() }
    }

    /// The mode after `time` has passed, and the debt that keeps the class from a better one.
    #[inline]
    pub(crate) fn mode_after(&self, time: Ticks) -> (Mode, Ticks) {
        let ctokens = self.ctokens + time;
        if ctokens < 0 {
            return (Mode::CantSend, -ctokens);
        }
        let tokens = self.tokens + time;
        if tokens >= 0 { (Mode::CanSend, 0) } else { (Mode::MayBorrow, -tokens) }
    }

    /// Pays for a packet out of the ceil's bucket, and out of the rate's unless an ancestor lends. (Whoever borrows has less
    /// than nothing: the depth does not bound it. So there is no branch, which no processor could foresee.)
    #[inline(always)]
    pub(crate) fn pay(&mut self, time: Ticks, length_bytes: u32, own_rate: bool) {
        let cost = self.rate.of(length_bytes) & -Ticks::from(own_rate);
        self.tokens = after(self.tokens + time, self.depth, cost);
        self.ctokens = after(self.ctokens + time, self.cdepth, self.ceil.of(length_bytes));
    }
}

/// What is left in a bucket of this depth, filled so far, once the cost is paid; no debt is deeper than the horizon.
#[inline(always)]
fn after(filled: Ticks, depth: Ticks, cost: Ticks) -> Ticks {
    let left = select(filled < depth, filled, depth) - cost;
    left.max(1 - HORIZON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_s_packets_begin_a_cache_line() {
        assert_eq!(std::mem::offset_of!(Class, child) % 64, 0);
    }
}
