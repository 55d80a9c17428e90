//! The busy children of one class: whose turn it is by virtual time, and how far the furthest clock
//! has come.
//!
//! ```text
//!   One    the child, whenever it fits: below the root of most trees stands one class
//!   Many   ready by virtual time ◀── waiting until they fit          and beside them: every clock, for the furthest
//! ```
//!
//! Among many, virtual times that are less than an eighth of a packet of the fastest apart are as
//! good as equal. Time O(1) a move, O(log brothers) for one that does not fit. Space 40 bytes a
//! child, and 1.1 KiB where there are many.

use super::furthest::Furthest;
use crate::agenda::Agenda;
use crate::units::Rate;

/// The bits of a packet of 1500 bytes, and the nanoseconds of a second.
const PACKET_BIT_NS: u64 = 1500 * 8 * 1_000_000_000;

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
    /// All are idle.
    pub(super) fn new(count: usize, fastest: Rate) -> Self {
        if count == 1 {
            return Self::One(None);
        }
        let turns = Agenda::new(count, PACKET_BIT_NS / 8 / fastest.0.max(1));
        Self::Many(Box::new(Turns { turns, furthest: Furthest::new(count) }))
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

    /// A child of the least virtual time among those that fit, and a time that none of those is
    /// behind, unless it was passed over.
    #[inline(always)]
    pub(super) fn least(&mut self, now_ns: u64) -> Option<(u32, u64)> {
        match self {
            Self::One(fits_ns) => fits_ns.filter(|&at_ns| at_ns <= now_ns).map(|_| (0, 0)),
            Self::Many(all) => {
                let Turns { turns, furthest } = &mut **all;
                turns.advance(now_ns, |place| furthest.clock(place));
                turns.least(|place| furthest.clock(place))
            }
        }
    }

    /// Whose turn is likely to come after that of a child that fits, if that is known.
    #[inline(always)]
    pub(super) fn after(&self, place: u32) -> Option<u32> {
        match self {
            Self::One(_) => None,
            Self::Many(all) => all.turns.after(place),
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
            Self::Many(all) if all.turns.has_ready() => Some(0),
            Self::Many(all) => all.turns.soonest().map(|(_, at_ns)| at_ns),
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
