//! One HFSC class: its three curves, and where it stands on each.
//!
//! ```text
//!   real time    bytes served by deadline ─▶ eligible curve ─▶ e: may go from      (leaves only)
//!                                         └▶ deadline curve ─▶ d: must have gone by
//!   link share   all bytes ─▶ virtual curve ─▶ vt: the class's own clock, equal among brothers when all get their share
//!   upper limit  all bytes ─▶ limit curve ─▶ fit time: link sharing passes over the class before
//! ```

use super::brothers::Brothers;
use crate::ClassId;
use crate::child::Child;
use crate::curve::{Curve, Running};

/// No class: none above, none below.
pub(super) const NIL: u32 = u32::MAX;

/// A class's settings, checked.
#[derive(Debug, Clone)]
pub(crate) struct ClassSettings {
    pub(crate) id: ClassId,
    pub(crate) real_time: Option<Curve>,
    pub(crate) link_share: Option<Curve>,
    pub(crate) upper_limit: Option<Curve>,
    pub(crate) text: String,
}

/// A leaf's standing by the real-time criterion.
#[repr(C)]
pub(super) struct RealTime {
    /// Bytes served because of a deadline.
    pub(super) served_bytes: u64,
    /// From when on a packet may go by its deadline: the packet at the head, or the one after it
    /// once that is eligible.
    pub(super) eligible_ns: u64,
    pub(super) deadline: Running,
}

/// An upper limit, and when it lets its class go on.
pub(super) struct Limit {
    pub(super) curve: Running,
    pub(super) fit_ns: u64,
}

/// What stands below an inner class.
pub(super) struct Inner {
    /// Its children, by virtual time.
    pub(super) brothers: Brothers,
    /// The first of them; the others follow.
    pub(super) first_child: u32,
    /// The least virtual time that was served among them in this busy period, as the brothers tell
    /// it.
    pub(super) vt_served: u64,
    /// The highest virtual time of one that became idle: where the next busy period begins.
    pub(super) vt_left: u64,
}

impl Inner {
    pub(super) fn new(first_child: u32, brothers: Brothers) -> Self {
        Self { brothers, first_child, vt_served: 0, vt_left: 0 }
    }
}

/// No packet at the head.
pub(super) const IDLE: u32 = u32::MAX;

/// Four cache lines, in the order of use: where it stands, its curves, its packets.
#[repr(C, align(64))]
pub(super) struct Class {
    pub(super) parent: u32,
    /// Its number among its brothers.
    pub(super) place: u32,
    pub(super) active_children: u32,
    /// The length at a leaf's head; [`IDLE`] if nothing waits there.
    pub(super) head_bytes: u32,
    pub(super) total_bytes: u64,
    pub(super) sent_packets: u64,
    pub(super) vt: u64,
    /// Added to the virtual curve's time for what the class missed while it did not fit.
    pub(super) vt_adjust: u64,
    pub(super) inner: Option<Box<Inner>>,
    pub(super) limit: Option<Box<Limit>>,
    pub(super) virtual_time: Option<Running>,
    /// Counts the busy periods.
    pub(super) period: u64,
    pub(super) parent_period: u64,
    /// A leaf's discipline.
    pub(super) child: Option<Child>,
    pub(super) real_time: Option<RealTime>,
}

impl Class {
    pub(super) fn new(settings: &ClassSettings) -> Self {
        let real_time = settings.real_time.map(|curve| RealTime {
            served_bytes: 0,
            eligible_ns: 0,
            deadline: Running::new(curve),
        });
        let limit = settings
            .upper_limit
            .map(|curve| Box::new(Limit { curve: Running::new(curve), fit_ns: 0 }));
        Self {
            parent: NIL,
            place: 0,
            active_children: 0,
            head_bytes: IDLE,
            total_bytes: 0,
            sent_packets: 0,
            vt: 0,
            vt_adjust: 0,
            inner: None,
            limit,
            virtual_time: settings.link_share.map(Running::new),
            period: 0,
            parent_period: 0,
            child: None,
            real_time,
        }
    }

    /// Moves its clock on to what it has been served, not behind what was served among its
    /// brothers.
    #[inline(always)]
    pub(super) fn move_clock(&mut self, time: u64, vt_served: u64) {
        self.vt = time.saturating_add(self.vt_adjust);
        if self.vt < vt_served {
            // Passed over while it did not fit: it does not get that back.
            self.vt_adjust += vt_served - self.vt;
            self.vt = vt_served;
        }
    }

    /// When link sharing may choose it: its own limit's time, and the soonest of its children's.
    #[inline]
    pub(super) fn fit_ns(&self) -> u64 {
        let below = self.inner.as_ref().and_then(|inner| inner.brothers.fit_ns());
        let own = self.limit.as_ref().map_or(0, |limit| limit.fit_ns);
        own.max(below.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_four_cache_lines() {
        assert_eq!(size_of::<Class>(), 256);
    }
}
