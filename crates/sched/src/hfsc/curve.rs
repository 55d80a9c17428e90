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

fn inverse(rate: Rate) -> u64 {
    match rate.0 {
        0 => u64::MAX,
        bits => (8_000_000_000u128 << INVERSE_SHIFT).div_ceil(u128::from(bits)) as u64,
    }
}

#[inline]
fn bytes_over(x: u64, slope: u64) -> u64 {
    ((u128::from(x) * u128::from(slope)) >> SLOPE_SHIFT) as u64
}

#[inline]
fn time_for(y: u64, inverse: u64) -> u64 {
    if inverse == u64::MAX {
        return if y == 0 { 0 } else { u64::MAX };
    }
    let ns = (u128::from(y) * u128::from(inverse)) >> INVERSE_SHIFT;
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// A curve in fixed point, from the point where it begins now. In the order of use: all but the last two is one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Running {
    x: u64,
    y: u64,
    /// The first piece as it is now.
    dx: u64,
    dy: u64,
    inverse2: u64,
    slope2: u64,
    slope1: u64,
    inverse1: u64,
    /// The first piece as it is set.
    set_dx: u64,
    set_dy: u64,
}

impl Running {
    pub(crate) fn new(curve: Curve) -> Self {
        let (slope1, slope2) = (slope(curve.m1), slope(curve.m2));
        let (dx, dy) = (curve.d.0, bytes_over(curve.d.0, slope1));
        Self {
            slope1,
            inverse1: inverse(curve.m1),
            slope2,
            inverse2: inverse(curve.m2),
            set_dx: dx,
            set_dy: dy,
            x: 0,
            y: 0,
            dx,
            dy,
        }
    }

    /// Whether the first piece is the slower.
    fn is_convex(&self) -> bool {
        self.slope1 <= self.slope2
    }

    /// When `y` bytes are due.
    #[inline]
    pub(crate) fn y_to_x(&self, y: u64) -> u64 {
        if y < self.y {
            return self.x;
        }
        let bytes = y - self.y;
        if bytes > self.dy {
            let after = time_for(bytes - self.dy, self.inverse2);
            self.x.saturating_add(self.dx).saturating_add(after)
        } else if self.dy == 0 {
            // A flat first piece gives its bytes only at its end.
            self.x.saturating_add(self.dx)
        } else {
            self.x.saturating_add(time_for(bytes, self.inverse1))
        }
    }

    /// When service of the bytes after `y` may begin. A slow first piece does not count: what is due at the second's
    /// rate must begin early enough for it.
    #[inline]
    pub(crate) fn eligible_at(&self, y: u64) -> u64 {
        if self.is_convex() {
            self.x.saturating_add(time_for(y.saturating_sub(self.y), self.inverse2))
        } else {
            self.y_to_x(y)
        }
    }

    /// How many bytes are due at `x`.
    #[inline]
    pub(crate) fn x_to_y(&self, x: u64) -> u64 {
        if x <= self.x {
            self.y
        } else if x - self.x <= self.dx {
            self.y + bytes_over(x - self.x, self.slope1)
        } else {
            self.y + self.dy + bytes_over(x - self.x - self.dx, self.slope2)
        }
    }

    /// A busy period begins at (x, y): the curve becomes the lesser of itself and its setting begun there.
    pub(crate) fn restart(&mut self, x: u64, y: u64) {
        let due = self.x_to_y(x);
        if self.is_convex() {
            if due >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if due <= y {
            return;
        }
        if self.x_to_y(x + self.set_dx) >= y + self.set_dy {
            (self.x, self.y, self.dx, self.dy) = (x, y, self.set_dx, self.set_dy);
            return;
        }
        // They cross while the new curve is still in its first piece: that piece is made longer, up to the crossing.
        let apart = u128::from(due - y) << SLOPE_SHIFT;
        let mut dx = (apart / u128::from((self.slope1 - self.slope2).max(1))) as u64;
        dx += (self.x + self.dx).saturating_sub(x);
        (self.x, self.y, self.dx) = (x, y, dx);
        self.dy = bytes_over(dx, self.slope1);
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
            let mut low = old;
            low.restart(x, y);
            let at = x + at;
            let least = old.x_to_y(at).min(y + old.x_to_y(at - x));
            if old.is_convex() {
                // A convex curve is not cut where the two cross, but replaced whole: it stays under the old or the new.
                prop_assert!(low.x_to_y(at) <= old.x_to_y(at).max(least) + 2);
            } else {
                prop_assert!(low.x_to_y(at).abs_diff(least) <= 16, "{} {}", low.x_to_y(at), least);
            }
        }
    }
}
