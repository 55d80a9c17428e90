//! The busy children of one class: whose turn it is by virtual time, and how far the furthest clock has come.

use super::furthest::Furthest;
use crate::agenda::Agenda;

pub(super) struct Brothers {
    /// By virtual time, from their fit times on.
    pub(super) turns: Agenda,
    /// Their clocks; 0, where clocks begin, when all are idle.
    pub(super) furthest: Furthest,
}

impl Brothers {
    pub(super) fn new(count: usize) -> Self {
        Self { turns: Agenda::new(count), furthest: Furthest::new(count) }
    }

    /// A clock moved, or its owner became busy; link sharing passes it over until it fits.
    #[inline]
    pub(super) fn set(&mut self, place: u32, now_ns: u64, fit_ns: u64, vt: u64) {
        self.turns.set(place, now_ns, fit_ns, vt);
        self.furthest.set(place, vt);
    }

    /// One becomes idle.
    #[inline]
    pub(super) fn remove(&mut self, place: u32) {
        self.turns.remove(place);
        self.furthest.set(place, 0);
    }
}
