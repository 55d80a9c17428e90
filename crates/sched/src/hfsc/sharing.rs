//! HFSC's link sharing: virtual times from a leaf up to the root, and the choice from the root
//! down.
//!
//! ```text
//!   a class becomes busy: its clock starts midway between the brother served last and the furthest brother
//!   a packet leaves:      every class above it moves its clock on, and its fit time
//!   choose:               at each level the least clock among those that fit
//! ```

use super::{Departure, Hfsc, ROOT};

impl Hfsc {
    /// A leaf, and every ancestor that was idle, joins its brothers.
    pub(super) fn join_sharing(&mut self, leaf_class: u32, now_ns: u64) {
        if self.classes[leaf_class as usize].virtual_time.is_none() {
            return;
        }
        let mut at = leaf_class;
        let (mut joins, mut one_fitted) = (true, false);
        while at != ROOT {
            let parent = self.classes[at as usize].parent;
            if joins {
                let class = &mut self.classes[at as usize];
                class.active_children += 1;
                joins = class.active_children == 1;
            }
            if joins {
                self.start_period(at, parent, now_ns);
            } else if one_fitted {
                return;
            }
            one_fitted = self.place_among_brothers(at, parent, now_ns);
            at = parent;
        }
    }

    /// Sets a class's clock for a new busy period.
    fn start_period(&mut self, at: u32, parent: u32, now_ns: u64) {
        let above = &mut self.classes[parent as usize];
        let (period, above_idle) = (above.period, above.active_children == 0 && parent != ROOT);
        let Some(inner) = &mut above.inner else { return };
        let (served, left) = (inner.vt_served, inner.vt_left);
        let (brothers, furthest) = (!inner.brothers.is_idle(), inner.brothers.furthest());
        if !brothers {
            inner.vt_served = 0;
        }
        let class = &mut self.classes[at as usize];
        if brothers {
            let midway = if served != 0 { served.midpoint(furthest) } else { furthest };
            if class.parent_period != period || midway > class.vt {
                class.vt = midway;
            }
        } else {
            class.vt = left;
        }
        if let Some(virtual_time) = &mut class.virtual_time {
            virtual_time.restart(class.vt, class.total_bytes);
        }
        class.vt_adjust = 0;
        class.period += 1;
        class.parent_period = period + u64::from(above_idle);
        if let Some(limit) = &mut class.limit {
            limit.curve.restart(now_ns, class.total_bytes);
            limit.fit_ns = limit.curve.y_to_x(class.total_bytes);
        }
    }

    /// Tells whether one of them fitted already, so that nothing changes for those above.
    #[inline(always)]
    fn place_among_brothers(&mut self, at: u32, parent: u32, now_ns: u64) -> bool {
        let class = &self.classes[at as usize];
        let (place, vt, fit_ns) = (class.place, class.vt, class.fit_ns());
        let Some(inner) = &mut self.classes[parent as usize].inner else { return true };
        let one_fits = inner.brothers.fit_ns() == Some(0);
        inner.brothers.set(place, now_ns, fit_ns, vt);
        one_fits
    }

    /// Charges packets to their leaf and every class above; a leaf that `empties`, and all that
    /// then are idle, leave.
    #[inline(always)]
    pub(super) fn share_out(&mut self, leaf_class: u32, sent: Departure, empties: bool) {
        let mut at = leaf_class as usize;
        let mut leaves = empties;
        // Parents stand before their children.
        while let Some((before, [class, ..])) = self.classes.split_at_mut_checked(at)
            && let Some(above) = before.get_mut(class.parent as usize)
        {
            at = class.parent as usize;
            class.total_bytes += u64::from(sent.bytes);
            class.sent_packets += u64::from(sent.packets);
            let (Some(inner), Some(virtual_time)) = (&mut above.inner, &class.virtual_time) else {
                leaves = false;
                continue;
            };
            if class.active_children == 0 {
                leaves = false;
                continue;
            }
            if inner.brothers.compete() {
                let time = virtual_time.y_to_x(class.total_bytes);
                class.move_clock(time, inner.vt_served);
            }
            if leaves {
                class.active_children -= 1;
                leaves = class.active_children == 0;
            }
            if leaves {
                inner.vt_left = inner.vt_left.max(class.vt);
                inner.brothers.remove(class.place);
            } else {
                if let Some(limit) = &mut class.limit {
                    limit.fit_ns = limit.curve.y_to_x(class.total_bytes);
                }
                inner.brothers.set(class.place, sent.now_ns, class.fit_ns(), class.vt);
            }
        }
    }

    /// The leaf found by going down from the root by least virtual time.
    #[inline(always)]
    pub(super) fn least_virtual_time(&mut self, now_ns: u64) -> Option<u32> {
        let mut at = ROOT;
        loop {
            let class = &mut self.classes[at as usize];
            let Some(inner) = &mut class.inner else {
                return class.child.is_some().then_some(at);
            };
            let (place, vt) = inner.brothers.least(now_ns)?;
            inner.vt_served = inner.vt_served.max(vt);
            at = inner.first_child + place;
        }
    }
}
