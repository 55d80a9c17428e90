//! Connections that flows know: one table for all bridges, made when the first flow asks for it,
//! and gone with the last bridge that has one.
//!
//! ```text
//!  [connections] ─▶ limits ┐
//!  a bridge whose flows ask ┴▶ Tracking ◀─ workers, by the bridge's value
//! ```

use conntrack::{Table, Timeouts};
use nodes::tables::Tracking;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// In so many slices all of it is looked at.
const SLICES: usize = 50;
/// Between two slices.
const SLICE_NS: u64 = 100_000_000;

/// See the module.
pub(crate) struct FlowConnections(Mutex<Known>);

struct Known {
    room: usize,
    timeouts: Timeouts,
    /// What nobody outside knows.
    seed: u64,
    made: Weak<Tracking>,
    /// One that was made ahead, until a bridge has it.
    ahead: Option<Arc<Tracking>>,
    swept: usize,
    next_ns: u64,
}

impl FlowConnections {
    pub(crate) fn new(room: usize, timeouts: Timeouts, seed: u64) -> Self {
        let (made, ahead) = (Weak::new(), None);
        Self(Mutex::new(Known { room, timeouts, seed, made, ahead, swept: 0, next_ns: 0 }))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a table of these limits ahead, where there is one of others: a large one takes a
    /// second, for which nobody is to wait.
    pub(crate) fn prepare(&self, room: usize, timeouts: Timeouts) {
        let (is_other, seed) = {
            let known = self.known();
            let is_other = (known.room, known.timeouts) != (room, timeouts);
            (is_other && known.made.strong_count() > 0, known.seed)
        };
        if is_other {
            let made = Arc::new(Tracking { table: Table::new(room, seed), timeouts });
            self.known().ahead = Some(made);
        }
    }

    /// Other limits: bridges get another table at their next turn.
    pub(crate) fn set(&self, room: usize, timeouts: Timeouts) {
        let mut known = self.known();
        if (known.room, known.timeouts) != (room, timeouts) {
            (known.room, known.timeouts) = (room, timeouts);
            let is_it = |it: &Arc<Tracking>| it.table.room() == room && it.timeouts == timeouts;
            let ahead = known.ahead.take().filter(is_it);
            known.made = ahead.as_ref().map_or_else(Weak::new, Arc::downgrade);
            known.ahead = ahead;
        }
    }

    /// The table: made, if there is none.
    pub(crate) fn wanted(&self) -> Arc<Tracking> {
        let (room, timeouts, seed) = {
            let mut known = self.known();
            if let Some(made) = known.made.upgrade() {
                known.ahead = None;
                return made;
            }
            (known.room, known.timeouts, known.seed)
        };
        // Nobody waits for it behind the lock.
        let made = Arc::new(Tracking { table: Table::new(room, seed), timeouts });
        let mut known = self.known();
        match known.made.upgrade() {
            Some(others) => others,
            None => {
                if (known.room, known.timeouts) == (room, timeouts) {
                    known.made = Arc::downgrade(&made);
                }
                made
            }
        }
    }

    /// The table, if there is one.
    pub(crate) fn made(&self) -> Option<Arc<Tracking>> {
        self.known().made.upgrade()
    }

    /// What is over goes, some of it at a time.
    pub(crate) fn sweep(&self, now_ns: u64, now_s: u32) {
        let mut known = self.known();
        if now_ns < known.next_ns {
            return;
        }
        known.next_ns = now_ns + SLICE_NS;
        if let Some(made) = known.made.upgrade() {
            let many = made.table.room().div_ceil(SLICES);
            known.swept = made.table.sweep(known.swept, many, now_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_is_made_for_all_who_ask_and_another_where_limits_differ() {
        let known = FlowConnections::new(64, Timeouts::default(), 1);
        assert!(known.made().is_none());
        let (one, other) = (known.wanted(), known.wanted());
        assert!(Arc::ptr_eq(&one, &other) && one.table.room() == 64);
        known.set(64, Timeouts::default());
        assert!(Arc::ptr_eq(&one, &known.wanted()));
        known.set(128, Timeouts::default());
        let anew = known.wanted();
        assert_eq!((anew.table.room(), one.table.room()), (128, 64));
        drop(anew);
        assert!(known.made().is_none());
        // One that was made ahead is the one that is had then; where none is had, none is made.
        known.prepare(256, Timeouts::default());
        assert!(known.known().ahead.is_none());
        let one = known.wanted();
        known.prepare(256, Timeouts::default());
        let ahead = known.known().ahead.clone().map(|it| Arc::as_ptr(&it));
        known.set(256, Timeouts::default());
        let other = known.wanted();
        assert_eq!((ahead, other.table.room()), (Some(Arc::as_ptr(&other)), 256));
        assert!(!Arc::ptr_eq(&one, &other) && known.known().ahead.is_none());
    }
}
