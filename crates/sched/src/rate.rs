//! What a packet costs a token bucket: bytes turned into time at a rate, in fixed point.
//!
//! ```text
//!   cost = (bytes + overhead) * multiplier >> shift          one tick is 1/256 ns: 64 bytes at 100 Gbit/s are 1311 ticks
//! ```
//!
//! In whole nanoseconds those 64 bytes would be 5 and not 5.12: 2.4 % too fast.

use crate::units::Rate;

/// A time or a debt in 1/256 ns.
pub(crate) type Ticks = i64;

pub(crate) const TICKS_PER_NS: i64 = 256;
/// The longest time, and the deepest debt, that a bucket remembers.
pub(crate) const HORIZON: Ticks = 60_000_000_000 * TICKS_PER_NS;

/// The time from `from_ns` to `to_ns`, no more than the horizon.
#[inline]
pub(crate) fn elapsed(from_ns: u64, to_ns: u64) -> Ticks {
    let ns = to_ns.saturating_sub(from_ns).min((HORIZON / TICKS_PER_NS) as u64);
    ns as i64 * TICKS_PER_NS
}

/// Whole nanoseconds until a debt is paid, rounded up.
#[inline]
pub(crate) fn ns_to_pay(debt: Ticks) -> u64 {
    (debt.max(0) as u64).div_ceil(TICKS_PER_NS as u64)
}

/// What a link makes of a packet's length.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Link {
    /// Bytes that it adds to every packet.
    pub(crate) overhead_bytes: u16,
    /// The least that it carries.
    pub(crate) least_bytes: u16,
}

impl Link {
    #[inline(always)]
    fn bytes(self, length_bytes: u32) -> u64 {
        let with_overhead = u64::from(length_bytes) + u64::from(self.overhead_bytes);
        with_overhead.max(u64::from(self.least_bytes))
    }
}

/// The price of bytes at one rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Price {
    multiplier: u64,
    shift: u32,
    link: Link,
}

impl Price {
    pub(crate) fn new(rate: Rate, link: Link) -> Self {
        let ticks_per_byte = |shift: u32| {
            ((8 * 1_000_000_000 * TICKS_PER_NS as u128) << shift) / u128::from(rate.0.max(1))
        };
        // A multiplier under 2^40 leaves 24 bits for the length.
        let shift = (0..=40).rev().find(|&shift| ticks_per_byte(shift) < 1 << 40).unwrap_or(0);
        Self { multiplier: ticks_per_byte(shift) as u64, shift, link }
    }

    #[inline]
    pub(crate) fn of(&self, length_bytes: u32) -> Ticks {
        (self.link.bytes(length_bytes).wrapping_mul(self.multiplier) >> self.shift) as Ticks
    }

    /// The price of a bucket's depth, which may be more bytes than any packet.
    pub(crate) fn of_depth(&self, bytes: u64) -> Ticks {
        let ticks = (u128::from(bytes) * u128::from(self.multiplier)) >> self.shift;
        ticks.min(HORIZON as u128) as Ticks
    }
}

/// The prices of bytes at two rates, side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prices {
    multipliers: [u64; 2],
    link: Link,
    shifts: [u8; 2],
}

impl Prices {
    /// Of a packet on a link that is the same at both.
    pub(crate) fn new(first: Price, second: Price) -> Self {
        Self {
            multipliers: [first.multiplier, second.multiplier],
            link: first.link,
            shifts: [first.shift as u8, second.shift as u8],
        }
    }

    #[inline(always)]
    pub(crate) fn of(&self, length_bytes: u32) -> [Ticks; 2] {
        let bytes = self.link.bytes(length_bytes);
        let [first, second] = self.multipliers.map(|multiplier| bytes.wrapping_mul(multiplier));
        [(first >> self.shifts[0]) as Ticks, (second >> self.shifts[1]) as Ticks]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_price_is_within_a_millionth_and_a_tick(
            bits in 8_000u64..400_000_000_000, length in 1u32..65_536
        ) {
            let exact = f64::from(length) * 8e9 * 256.0 / bits as f64;
            let priced = Price::new(Rate(bits), Link::default()).of(length) as f64;
            prop_assert!((priced - exact).abs() <= exact * 1e-6 + 1.0);
        }
    }

    #[test]
    fn a_short_packet_costs_what_the_link_carries_at_least() {
        let price = Price::new(Rate(8_000_000), Link { overhead_bytes: 4, least_bytes: 64 });
        let us = |length| price.of(length) / TICKS_PER_NS / 1000;
        assert_eq!([20, 60, 61, 996].map(us), [64, 64, 65, 1000]);
    }

    #[test]
    fn a_debt_is_paid_in_whole_nanoseconds_rounded_up() {
        assert_eq!([-5, 0, 1, 256, 257].map(ns_to_pay), [0, 0, 1, 1, 2]);
    }
}
