//! One HFSC class: its three curves, and where it stands on each.
//!
//! ```text
//!   real time    bytes served by deadline ─▶ eligible curve ─▶ e: may go from      (leaves only)
//!                                         └▶ deadline curve ─▶ d: must have gone by
//!   link share   all bytes ─▶ virtual curve ─▶ vt: the class's own clock, equal among brothers when all get their share
//!   upper limit  all bytes ─▶ limit curve ─▶ fit time: link sharing passes over the class before
//! ```

use super::NIL;
use super::brothers::Brothers;
use super::curve::{Curve, Running};
use crate::ClassId;
use crate::discipline::Child;

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
    pub(super) deadline: Running,
}

/// In the order of use: where it stands, its packets, its curves.
#[repr(C, align(64))]
pub(super) struct Class {
    pub(super) parent: u32,
    /// Its number among its brothers.
    pub(super) place: u32,
    /// Its first child; the others follow.
    pub(super) first_child: u32,
    pub(super) active_children: u32,
    pub(super) total_bytes: u64,
    pub(super) sent_packets: u64,
    pub(super) vt: u64,
    /// Added to the virtual curve's time for what the class missed while it did not fit.
    pub(super) vt_adjust: u64,
    /// An inner class's children, by virtual time.
    pub(super) children: Option<Box<Brothers>>,
    /// When its own upper limit lets it go on.
    pub(super) own_fit_ns: u64,
    /// A leaf's discipline.
    pub(super) child: Option<Child>,
    pub(super) upper_limit: Option<Box<Running>>,
    pub(super) virtual_time: Option<Running>,
    pub(super) real_time: Option<RealTime>,
    /// The least virtual time that was served among the children in this busy period.
    pub(super) child_vt_served: u64,
    /// The highest virtual time of a child that became idle: where the next busy period begins.
    pub(super) child_vt_left: u64,
    /// Counts the busy periods.
    pub(super) period: u64,
    pub(super) parent_period: u64,
}

impl Class {
    pub(super) fn new(settings: &ClassSettings) -> Self {
        let real_time = settings
            .real_time
            .map(|curve| RealTime { deadline: Running::new(curve), served_bytes: 0 });
        Self {
            parent: NIL,
            place: 0,
            first_child: NIL,
            children: None,
            child: None,
            real_time,
            virtual_time: settings.link_share.map(Running::new),
            upper_limit: settings.upper_limit.map(|curve| Box::new(Running::new(curve))),
            total_bytes: 0,
            vt: 0,
            vt_adjust: 0,
            child_vt_served: 0,
            child_vt_left: 0,
            period: 0,
            parent_period: 0,
            active_children: 0,
            own_fit_ns: 0,
            sent_packets: 0,
        }
    }

    /// When link sharing may choose it: its own limit's time, and the soonest of its children's.
    #[inline]
    pub(super) fn fit_ns(&self) -> u64 {
        let below = self.children.as_ref().map_or(0, |children| match children.turns.least() {
            Some(_) => 0,
            None => children.turns.soonest().map_or(0, |(_, at_ns)| at_ns),
        });
        self.own_fit_ns.max(below)
    }

    /// When anything below may go by link sharing; none if nothing is queued there.
    pub(super) fn children_fit_ns(&self) -> Option<u64> {
        let children = self.children.as_ref()?;
        match children.turns.least() {
            Some(_) => Some(0),
            None => children.turns.soonest().map(|(_, at_ns)| at_ns),
        }
    }
}
