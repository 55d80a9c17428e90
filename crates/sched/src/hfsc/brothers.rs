//! The busy children of one class: whose turn it is by virtual time, and how far the furthest clock
//! has come.
//!
//! ```text
//!   One    the child, whenever it fits: below the root of most trees stands one class
//!   Many   ready by virtual time ◀── waiting until they fit          and beside them: every clock, for the furthest
//! ```
//!
//! Time O(log brothers) a move, O(1) where there is one. Space 56 bytes a child.

use super::furthest::Furthest;
use crate::agenda::Agenda;

pub(super) enum Brothers {
    /// An only child has its turn whenever it fits, and needs no clock: from when on it fits, while
    /// it is busy.
    One(Option<u64>),
    Many(Box<Turns>),
}

pub(super) struct Turns {
    /// By virtual time, from their fit times on.
    turns: Agenda,
    /// Their clocks; 0, where clocks begin, when all are idle.
    furthest: Furthest,
}

impl Brothers {
    pub(super) fn new(count: usize) -> Self {
        if count == 1 {
            return Self::One(None);
        }
        Self::Many(Box::new(Turns { turns: Agenda::new(count), furthest: Furthest::new(count) }))
    }

    /// Whether their clocks say whose turn it is.
    #[inline(always)]
    pub(super) fn compete(&self) -> bool {
        matches!(self, Self::Many(_))
    }

    /// A clock moved, or its owner became busy; link sharing passes it over until it fits.
    #[inline(always)]
    pub(super) fn set(&mut self, place: u32, now_ns: u64, fit_ns: u64, vt: u64) {
        match self {
            Self::One(fits_ns) => *fits_ns = Some(fit_ns),
            Self::Many(all) => {
                // The top value means no key.
                let vt = vt.min(u64::MAX - 1);
                all.turns.set(place, now_ns, fit_ns, vt);
                all.furthest.set(place, vt);
            }
        }
    }

    /// One becomes idle.
    #[inline(always)]
    pub(super) fn remove(&mut self, place: u32) {
        match self {
            Self::One(fits_ns) => *fits_ns = None,
            Self::Many(all) => {
                all.turns.remove(place);
                all.furthest.set(place, 0);
            }
        }
    }

    /// The child of the least virtual time among those that fit, and that time.
    #[inline(always)]
    pub(super) fn least(&mut self, now_ns: u64) -> Option<(u32, u64)> {
        match self {
            Self::One(fits_ns) => fits_ns.filter(|&at_ns| at_ns <= now_ns).map(|_| (0, 0)),
            Self::Many(all) => {
                all.turns.advance(now_ns);
                all.turns.least()
            }
        }
    }

    /// None is busy.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::One(fits_ns) => fits_ns.is_none(),
            Self::Many(all) => all.turns.is_empty(),
        }
    }

    /// From when on one of them fits, as far as is known: 0 where one does; none where all are
    /// idle.
    #[inline]
    pub(super) fn fit_ns(&self) -> Option<u64> {
        match self {
            Self::One(fits_ns) => *fits_ns,
            Self::Many(all) => match all.turns.least() {
                Some(_) => Some(0),
                None => all.turns.soonest().map(|(_, at_ns)| at_ns),
            },
        }
    }

    /// The virtual time of the furthest; 0, where clocks begin, when all are idle.
    #[inline]
    pub(super) fn furthest(&mut self) -> u64 {
        match self {
            Self::One(_) => 0,
            Self::Many(all) => all.furthest.get(),
        }
    }
}
