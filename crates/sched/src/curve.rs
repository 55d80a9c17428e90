//! Service curves: how many bytes a class is due by when, in two straight pieces.
//!
//! ```text
//!   bytes │            ╱ m2              setting:  slope m1 for the time d, then slope m2
//!         │        ╱──                   at run:   the same from a point (x, y): the class's own clock and bytes
//!     dy  │    ╱ ·                                 when it last became busy
//!         │ m1·  ·                       concave (m1 > m2): a burst at once, less delay than the rate would give
//!         └────┴──────── time            convex  (m1 < m2): a slow start
//!              dx = d
//! ```
//!
//! Slopes are fixed-point: bytes a ns times 2^40, and its inverse ns a byte times 2^24.

use crate::units::{Rate, Time};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

const SLOPE_SHIFT: u32 = 40;
const INVERSE_SHIFT: u32 = 24;

/// A two-piece service curve: `m1` for the first `d` of a busy period, `m2` after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Rate of the first piece.
    #[serde(default)]
    pub m1: Rate,
    /// Length of the first piece.
    #[serde(default)]
    pub d: Time,
    /// Rate of the second piece.
    pub m2: Rate,
}

impl Curve {
    /// A straight curve.
    pub fn straight(rate: Rate) -> Self {
        Self { m1: Rate(0), d: Time(0), m2: rate }
    }

    /// The rate of the faster piece.
    pub(crate) fn fastest(self) -> Rate {
        if self.d.0 == 0 { self.m2 } else { self.m2.max(self.m1) }
    }

    /// Bits due after `ns`, for comparing curves.
    pub(crate) fn bits_at(&self, ns: u64) -> u128 {
        let first = u128::from(ns.min(self.d.0)) * u128::from(self.m1.0);
        let second = u128::from(ns.saturating_sub(self.d.0)) * u128::from(self.m2.0);
        (first + second) / 1_000_000_000
    }
}

impl std::fmt::Display for Curve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.d.0 == 0 {
            write!(f, "{}", self.m2)
        } else {
            write!(f, "(m1 {} d {} m2 {})", self.m1, self.d, self.m2)
        }
    }
}

fn slope(rate: Rate) -> u64 {
    // Rounded up: a source of just its rate would lose the first piece a byte at a time.
    (u128::from(rate.0) << SLOPE_SHIFT).div_ceil(8_000_000_000) as u64
}

fn inverse(rate: Rate) -> NonZeroU64 {
    match rate.0 {
        0 => NonZeroU64::MAX,
        bits => {
            let inverse = (8_000_000_000u128 << INVERSE_SHIFT).div_ceil(u128::from(bits)) as u64;
            NonZeroU64::new(inverse).unwrap_or(NonZeroU64::MIN)
        }
    }
}

#[inline]
fn bytes_over(x: u64, slope: u64) -> u64 {
    ((u128::from(x) * u128::from(slope)) >> SLOPE_SHIFT) as u64
}

#[inline]
fn time_for(y: u64, inverse: NonZeroU64) -> u64 {
    if inverse == NonZeroU64::MAX {
        return if y == 0 { 0 } else { u64::MAX };
    }
    let ns = (u128::from(y) * u128::from(inverse.get())) >> INVERSE_SHIFT;
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// A curve in fixed point, from the point where it begins now: a straight one in 40 bytes.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Running {
    x: u64,
    y: u64,
    /// It is never 0: the compiler has that for telling that there is no curve.
    inverse: NonZeroU64,
    slope: u64,
    /// What comes before the straight line, if anything does.
    bend: Option<Box<Bend>>,
}

/// A first piece.
#[derive(Debug, Clone)]
struct Bend {
    /// As it is now.
    dx: u64,
    dy: u64,
    slope: u64,
    inverse: NonZeroU64,
    /// As it is set.
    set_dx: u64,
    set_dy: u64,
}

impl Running {
    pub(crate) fn new(curve: Curve) -> Self {
        let bend = Bend::new(curve);
        let is_straight = curve.d.0 == 0 && curve.m1 <= curve.m2;
        Self {
            x: 0,
            y: 0,
            inverse: inverse(curve.m2),
            slope: slope(curve.m2),
            bend: (!is_straight).then(|| Box::new(bend)),
        }
    }

    /// When `y` bytes are due.
    #[inline(always)]
    pub(crate) fn y_to_x(&self, y: u64) -> u64 {
        match &self.bend {
            None => self.straight_to(y),
            Some(bend) => self.bent_to(bend, y),
        }
    }

    #[inline(always)]
    fn straight_to(&self, y: u64) -> u64 {
        self.x.saturating_add(time_for(y.saturating_sub(self.y), self.inverse))
    }

    #[inline(never)]
    fn bent_to(&self, bend: &Bend, y: u64) -> u64 {
        if y < self.y {
            return self.x;
        }
        let bytes = y - self.y;
        let after = if bytes > bend.dy {
            bend.dx.saturating_add(time_for(bytes - bend.dy, self.inverse))
        } else if bend.dy == 0 {
            // A flat first piece gives its bytes only at its end.
            bend.dx
        } else {
            time_for(bytes, bend.inverse)
        };
        self.x.saturating_add(after)
    }

    /// When service of the bytes after `y` may begin. A slow first piece does not count: what is
    /// due at the second's rate must begin early enough for it.
    #[inline(always)]
    pub(crate) fn eligible_at(&self, y: u64) -> u64 {
        match &self.bend {
            Some(bend) if bend.slope > self.slope => self.bent_to(bend, y),
            _ => self.straight_to(y),
        }
    }

    /// When the bytes up to `y` are due, and when service of those after them may begin: of most
    /// curves, the same.
    #[inline(always)]
    pub(crate) fn due_and_eligible_at(&self, y: u64) -> (u64, u64) {
        match &self.bend {
            None => {
                let at = self.straight_to(y);
                (at, at)
            }
            Some(bend) => (self.bent_to(bend, y), self.eligible_at(y)),
        }
    }

    /// How many bytes are due at `x`.
    #[inline]
    pub(crate) fn x_to_y(&self, x: u64) -> u64 {
        let ns = x.saturating_sub(self.x);
        self.y
            + match &self.bend {
                None => bytes_over(ns, self.slope),
                Some(bend) if ns <= bend.dx => bytes_over(ns, bend.slope),
                Some(bend) => bend.dy + bytes_over(ns - bend.dx, self.slope),
            }
    }

    /// A busy period begins at (x, y): the curve becomes the lesser of itself and its setting begun
    /// there.
    pub(crate) fn restart(&mut self, x: u64, y: u64) {
        let due = self.x_to_y(x);
        let later = match &self.bend {
            Some(bend) if bend.slope > self.slope => self.x_to_y(x + bend.set_dx),
            _ => 0,
        };
        match &mut self.bend {
            Some(bend) if bend.slope > self.slope => {
                if due <= y {
                    return;
                }
                if later >= y + bend.set_dy {
                    (bend.dx, bend.dy) = (bend.set_dx, bend.set_dy);
                } else {
                    let end = self.x + bend.dx;
                    bend.lengthen(due - y, self.slope, end.saturating_sub(x));
                }
            }
            _ if due < y => return,
            _ => {}
        }
        (self.x, self.y) = (x, y);
    }
}

impl Bend {
    fn new(curve: Curve) -> Self {
        let slope = slope(curve.m1);
        let (dx, dy) = (curve.d.0, bytes_over(curve.d.0, slope));
        Self { dx, dy, slope, inverse: inverse(curve.m1), set_dx: dx, set_dy: dy }
    }

    /// The old curve and the new cross while the new is still in this, its first piece: it is made
    /// longer, up to the crossing. `apart` is what lies between them where the new begins,
    /// `left_ns` what is left of the old's.
    fn lengthen(&mut self, apart_bytes: u64, second_slope: u64, left_ns: u64) {
        let apart = u128::from(apart_bytes) << SLOPE_SHIFT;
        let crossing = (apart / u128::from((self.slope - second_slope).max(1))) as u64;
        self.dx = crossing + left_ns;
        self.dy = bytes_over(self.dx, self.slope);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn running(m1: u64, d_ms: u64, m2: u64) -> Running {
        Running::new(Curve { m1: Rate(m1), d: Time(d_ms * 1_000_000), m2: Rate(m2) })
    }

    #[test]
    fn two_pieces_give_two_rates() {
        let curve = running(8_000_000, 10, 800_000);
        assert_eq!(curve.x_to_y(10_000_000), 10_000);
        assert!(curve.x_to_y(20_000_000).abs_diff(11_000) <= 2);
        assert!(curve.y_to_x(5_000).abs_diff(5_000_000) <= 200);
        assert!(curve.y_to_x(11_000).abs_diff(20_000_000) <= 20_000);
    }

    #[test]
    fn a_flat_first_piece_is_a_pure_delay() {
        let mut curve = running(0, 10, 8_000_000);
        curve.restart(100, 0);
        assert_eq!(curve.y_to_x(0), 10_000_100);
        assert!(curve.y_to_x(1_000).abs_diff(11_000_100) <= 1_000);
    }

    proptest! {
        #[test]
        fn lowering_never_raises_a_curve_and_stays_above_neither(
            m1 in 1u64..100, d in 1u64..50, m2 in 1u64..100,
            x in 0u64..40_000_000, y in 0u64..20_000, at in 0u64..200_000_000,
        ) {
            let old = running(m1 * 100_000, d, m2 * 100_000);
            let mut low = old.clone();
            low.restart(x, y);
            let at = x + at;
            let least = old.x_to_y(at).min(y + old.x_to_y(at - x));
            if m1 <= m2 {
                // A convex curve is not cut where the two cross, but replaced whole: it stays under
                // the old or the new.
                prop_assert!(low.x_to_y(at) <= old.x_to_y(at).max(least) + 2);
            } else {
                prop_assert!(low.x_to_y(at).abs_diff(least) <= 16, "{} {}", low.x_to_y(at), least);
            }
        }
    }
}
