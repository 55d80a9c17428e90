//! HFSC's link sharing: virtual times from a leaf up to the root, and the choice from the root down.
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
        let mut joins = true;
        while at != ROOT {
            let parent = self.classes[at as usize].parent;
            if joins {
                let class = &mut self.classes[at as usize];
                class.active_children += 1;
                joins = class.active_children == 1;
            }
            if joins {
                self.start_period(at, parent, now_ns);
            }
            self.place_among_brothers(at, parent, now_ns);
            at = parent;
        }
    }

    /// Sets a class's clock for a new busy period.
    fn start_period(&mut self, at: u32, parent: u32, now_ns: u64) {
        let above = &mut self.classes[parent as usize];
        let Some(children) = &mut above.children else { return };
        let (brothers, furthest) = (!children.turns.is_empty(), children.furthest.get());
        let (period, served, left) = (above.period, above.child_vt_served, above.child_vt_left);
        let above_idle = above.active_children == 0 && parent != ROOT;
        if !brothers {
            above.child_vt_served = 0;
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
        if let Some(limit) = &mut class.upper_limit {
            limit.restart(now_ns, class.total_bytes);
            class.own_fit_ns = limit.y_to_x(class.total_bytes);
        }
    }

    #[inline(always)]
    fn place_among_brothers(&mut self, at: u32, parent: u32, now_ns: u64) {
        let class = &self.classes[at as usize];
        // The top value means no key.
        let (place, vt, fit_ns) = (class.place, class.vt.min(u64::MAX - 1), class.fit_ns());
        if let Some(brothers) = &mut self.classes[parent as usize].children {
            brothers.set(place, now_ns, fit_ns, vt);
        }
    }

    /// Charges a packet to its leaf and every class above; a leaf that `empties`, and all that then are idle, leave.
    #[inline(always)]
    pub(super) fn share_out(&mut self, leaf_class: u32, sent: Departure, empties: bool) {
        let mut at = leaf_class;
        let mut leaves = empties;
        while at != ROOT {
            let parent = self.classes[at as usize].parent;
            let served = self.classes[parent as usize].child_vt_served;
            let class = &mut self.classes[at as usize];
            class.total_bytes += u64::from(sent.length_bytes);
            if sent.length_bytes > 0 {
                class.sent_packets += 1;
            }
            let Some(virtual_time) =
                class.virtual_time.as_ref().filter(|_| class.active_children > 0)
            else {
                leaves = false;
                at = parent;
                continue;
            };
            let time = virtual_time.y_to_x(class.total_bytes);
            class.vt = time.saturating_add(class.vt_adjust);
            if class.vt < served {
                // Passed over while it did not fit: it does not get that back.
                class.vt_adjust += served - class.vt;
                class.vt = served;
            }
            if leaves {
                class.active_children -= 1;
                leaves = class.active_children == 0;
            }
            if leaves {
                let (place, vt) = (class.place, class.vt);
                let above = &mut self.classes[parent as usize];
                above.child_vt_left = above.child_vt_left.max(vt);
                if let Some(brothers) = &mut above.children {
                    brothers.remove(place);
                }
            } else {
                if let Some(limit) = &class.upper_limit {
                    class.own_fit_ns = limit.y_to_x(class.total_bytes);
                }
                self.place_among_brothers(at, parent, sent.now_ns);
            }
            at = parent;
        }
    }

    /// The leaf found by going down from the root by least virtual time.
    #[inline(always)]
    pub(super) fn least_virtual_time(&mut self, now_ns: u64) -> Option<u32> {
        let mut at = ROOT;
        loop {
            let class = &mut self.classes[at as usize];
            let Some(children) = &mut class.children else {
                return class.child.is_some().then_some(at);
            };
            children.turns.advance(now_ns);
            let place = children.turns.least()?;
            let vt = children.turns.least_key();
            class.child_vt_served = class.child_vt_served.max(vt);
            at = class.first_child + place;
        }
    }
}
