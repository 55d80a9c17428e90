//! One policer: what was agreed, and the buckets that hold packets to it.
//!
//! ```text
//!  one rate, two colours     C ─▶ green     else red
//!  one rate, three           C ─▶ green     E ─▶ yellow    else red       RFC 2697: E gets what C is too full for
//!  two rates                 P, C ─▶ green  P ─▶ yellow    else red       RFC 2698
//! ```

use crate::bucket::{Bucket, Excess};
use crate::{Colour, PoliceError, Rate};

/// What was agreed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agreement {
    /// A rate, a burst, and perhaps another burst after times of silence (RFC 2697).
    SingleRate {
        /// The committed rate.
        rate: Rate,
        /// The committed burst.
        burst_bytes: u64,
        /// What more may come in yellow packets; `None`: there are none.
        excess_bytes: Option<u64>,
    },
    /// A committed rate and a peak rate, each with a burst (RFC 2698).
    TwoRate {
        /// The committed rate.
        rate: Rate,
        /// The committed burst.
        burst_bytes: u64,
        /// The peak rate.
        peak: Rate,
        /// The peak burst.
        peak_bytes: u64,
    },
}

/// An agreement, and how much of it is used up.
#[derive(Debug)]
pub struct Policer {
    rate: Rate,
    committed: Bucket,
    beyond: Beyond,
    /// Packets are no better than they say.
    colour_aware: bool,
}

/// What packets that exceed the committed rate and burst may have.
#[derive(Debug)]
enum Beyond {
    Nothing,
    Excess(Excess),
    Peak { rate: Rate, bucket: Bucket },
}

/// A time, as a policer's rates see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    committed_bytes: u64,
    peak_bytes: u64,
}

/// What is in the buckets of a policer, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Held {
    /// Of the committed rate.
    pub committed: u64,
    /// Of what packets beyond it may have: the excess burst, or the peak rate.
    pub beyond: u64,
}

impl Policer {
    /// All buckets full.
    pub fn new(agreement: Agreement, colour_aware: bool) -> Result<Self, PoliceError> {
        let (rate, burst_bytes, beyond) = match agreement {
            Agreement::SingleRate { rate, burst_bytes, excess_bytes: None } => {
                (rate, burst_bytes, Beyond::Nothing)
            }
            Agreement::SingleRate { rate, burst_bytes, excess_bytes: Some(excess) } => {
                (rate, burst_bytes, Beyond::Excess(Excess::new(excess)?))
            }
            Agreement::TwoRate { rate, burst_bytes, peak, peak_bytes } => {
                let (committed, peak_bits) = (rate.bits_per_second(), peak.bits_per_second());
                if peak_bits < committed {
                    return Err(PoliceError::Peak { peak: peak_bits, committed });
                }
                let bucket = Bucket::new(peak_bytes)?;
                (rate, burst_bytes, Beyond::Peak { rate: peak, bucket })
            }
        };
        Ok(Self { rate, committed: Bucket::new(burst_bytes)?, beyond, colour_aware })
    }

    /// Whether it wants to know what packets say of themselves.
    #[inline]
    pub fn is_colour_aware(&self) -> bool {
        self.colour_aware
    }

    /// The tick `now` of its clock. Two divisions at most: once for a vector of packets.
    #[inline]
    pub fn at(&self, now: u64) -> Moment {
        let peak_bytes = match &self.beyond {
            Beyond::Peak { rate, .. } => rate.earned_bytes(now),
            _ => 0,
        };
        Moment { committed_bytes: self.rate.earned_bytes(now), peak_bytes }
    }

    /// The colour of a packet of `bytes` that was `before` already, which counts only if this
    /// policer is aware of colours.
    #[inline(always)]
    pub fn colour(&self, moment: Moment, bytes: u32, before: Colour) -> Colour {
        let before = if self.colour_aware { before } else { Colour::Green };
        let bytes = u64::from(bytes);
        match &self.beyond {
            _ if before == Colour::Red => Colour::Red,
            Beyond::Nothing => match self.is_committed(moment, bytes, before) {
                true => Colour::Green,
                false => Colour::Red,
            },
            Beyond::Excess(excess) => {
                // A yellow packet takes nothing from C, and E still gets what C lost.
                let wanted = if before == Colour::Green { bytes } else { u64::MAX };
                let taken = self.committed.take(moment.committed_bytes, wanted);
                excess.fill(taken.lost_bytes);
                match () {
                    () if taken.fits => Colour::Green,
                    () if excess.take(bytes) => Colour::Yellow,
                    () => Colour::Red,
                }
            }
            Beyond::Peak { bucket, .. } => match bucket.take(moment.peak_bytes, bytes).fits {
                true if self.is_committed(moment, bytes, before) => Colour::Green,
                true => Colour::Yellow,
                false => Colour::Red,
            },
        }
    }

    /// The colour that a packet would have now, as [`Policer::colour`] gives it; nothing is taken
    /// from the buckets.
    pub fn would_be(&self, moment: Moment, bytes: u32, before: Colour) -> Colour {
        let before = if self.colour_aware { before } else { Colour::Green };
        let bytes = u64::from(bytes);
        let committed = self.committed.would_take(moment.committed_bytes, bytes);
        let is_committed = before == Colour::Green && committed.fits;
        match &self.beyond {
            _ if before == Colour::Red => Colour::Red,
            _ if matches!(&self.beyond, Beyond::Peak { bucket, .. }
                if !bucket.would_take(moment.peak_bytes, bytes).fits) =>
            {
                Colour::Red
            }
            _ if is_committed => Colour::Green,
            Beyond::Nothing => Colour::Red,
            Beyond::Excess(excess) if !excess.would_take(bytes, committed.lost_bytes) => {
                Colour::Red
            }
            Beyond::Excess(_) | Beyond::Peak { .. } => Colour::Yellow,
        }
    }

    /// What is in its buckets.
    pub fn held(&self, moment: Moment) -> Held {
        let (committed, lost) = self.committed.held(moment.committed_bytes);
        let beyond = match &self.beyond {
            Beyond::Nothing => 0,
            Beyond::Excess(excess) => excess.held(lost),
            Beyond::Peak { bucket, .. } => bucket.held(moment.peak_bytes).0,
        };
        Held { committed, beyond }
    }

    /// So much was in its buckets at a moment, or all that they hold: it goes on from there. For
    /// whoever makes it, before packets come.
    pub fn go_on(&self, moment: Moment, held: Held) {
        self.committed.hold(moment.committed_bytes, held.committed);
        match &self.beyond {
            Beyond::Nothing => {}
            Beyond::Excess(excess) => excess.hold(held.beyond),
            Beyond::Peak { bucket, .. } => bucket.hold(moment.peak_bytes, held.beyond),
        }
    }

    #[inline]
    fn is_committed(&self, moment: Moment, bytes: u64, before: Colour) -> bool {
        before == Colour::Green && self.committed.take(moment.committed_bytes, bytes).fits
    }
}
