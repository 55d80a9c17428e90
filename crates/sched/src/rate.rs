//! What a packet costs a token bucket: bytes turned into time at a rate, in fixed point.
//!
//! ```text
//!   cost = (bytes + overhead) * multiplier >> shift          one tick is 1/256 ns: 64 bytes at 100 Gbit/s are 1311 ticks
//! ```
//!
//! In whole nanoseconds those 64 bytes would be 5 and not 5.12: 2.4 % too fast.

use crate::LinkLayer;
use crate::pool::Backlog;
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// The least that it carries, of which longer packets need not know more; `CELLS` says that
    /// there is more to know of every packet.
    least_bytes: u32,
    /// Bytes that it adds to every packet.
    overhead_bytes: u16,
}

/// The link's packets go in cells.
const CELLS: u32 = 1 << 31;
/// Bytes of a cell, and those of a packet in it.
const CELL_BYTES: (u64, u64) = (53, 48);

impl Link {
    /// Bytes added, the least, and how they are carried.
    pub(crate) fn new(overhead_bytes: u32, least_bytes: u32, layer: LinkLayer) -> Self {
        let cells = if layer == LinkLayer::Atm { CELLS } else { 0 };
        Self {
            overhead_bytes: overhead_bytes.min(u32::from(u16::MAX)) as u16,
            least_bytes: least_bytes.min(u32::from(u16::MAX)) | cells,
        }
    }

    /// In line is what most links make of most packets.
    #[inline(always)]
    pub(crate) fn bytes(self, length_bytes: u32) -> u64 {
        let with_overhead = u64::from(length_bytes) + u64::from(self.overhead_bytes);
        if with_overhead >= u64::from(self.least_bytes) {
            return with_overhead;
        }
        self.more_bytes(with_overhead)
    }

    /// The same of a length that may be more than any packet's.
    pub(crate) fn longest(self, bytes: u64) -> u64 {
        self.bytes(u32::try_from(bytes).unwrap_or(u32::MAX)).max(bytes)
    }

    /// What waits, with what the link adds: no more than it makes of it.
    pub(crate) fn of_backlog(self, Backlog { packets, bytes }: Backlog) -> i64 {
        (bytes + u64::from(packets) * u64::from(self.overhead_bytes)) as i64
    }

    #[cold]
    fn more_bytes(self, with_overhead: u64) -> u64 {
        let bytes = with_overhead.max(u64::from(self.least_bytes & !CELLS));
        let (cell, carried) = CELL_BYTES;
        if self.least_bytes & CELLS == 0 { bytes } else { bytes.div_ceil(carried) * cell }
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

    /// The same of bytes as a link has made them already.
    pub(crate) fn of_link_bytes(self) -> Self {
        Self { link: Link::default(), ..self }
    }

    /// The price of a bucket's depth, which may be more bytes than any packet.
    pub(crate) fn of_depth(&self, bytes: u64) -> Ticks {
        let ticks = (u128::from(bytes) * u128::from(self.multiplier)) >> self.shift;
        ticks.min(HORIZON as u128) as Ticks
    }

    /// The price of the longest packet that a bucket is to hold: with what the link makes of it.
    pub(crate) fn of_longest(&self, bytes: u64) -> Ticks {
        self.of_depth(self.link.longest(bytes))
    }
}

/// The prices of bytes at two rates, side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prices {
    multipliers: [u64; 2],
    // The link's parts, so that nothing is lost between them.
    least_bytes: u32,
    overhead_bytes: u16,
    shifts: [u8; 2],
}

impl Prices {
    /// Of a packet on a link that is the same at both.
    pub(crate) fn new(first: Price, second: Price) -> Self {
        let Link { least_bytes, overhead_bytes } = first.link;
        Self {
            multipliers: [first.multiplier, second.multiplier],
            least_bytes,
            overhead_bytes,
            shifts: [first.shift as u8, second.shift as u8],
        }
    }

    #[inline(always)]
    pub(crate) fn of(&self, length_bytes: u32) -> [Ticks; 2] {
        let Self { least_bytes, overhead_bytes, .. } = *self;
        let bytes = Link { least_bytes, overhead_bytes }.bytes(length_bytes);
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
        let price = Price::new(Rate(8_000_000), Link::new(4, 64, LinkLayer::Ethernet));
        let us = |length| price.of(length) / TICKS_PER_NS / 1000;
        assert_eq!([20, 60, 61, 996].map(us), [64, 64, 65, 1000]);
    }

    #[test]
    fn cells_are_paid_for_whole_and_with_their_headers() {
        let price = Price::new(Rate(8_000_000), Link::new(8, 64, LinkLayer::Atm));
        let us = |length| price.of(length) / TICKS_PER_NS / 1000;
        // 20 and 56 bytes are 64 with the overhead or by the least: two cells. 88 are 96, two full
        // ones, 89 begin a third. 1500 are 1508: 32 cells.
        assert_eq!([20, 56, 88, 89, 1500].map(us), [106, 106, 106, 159, 1696]);
        let both = Prices::new(price, price);
        assert_eq!(both.of(1500).map(|ticks| ticks / TICKS_PER_NS / 1000), [1696, 1696]);
        assert_eq!(price.of_longest(1500), price.of(1500));
    }

    #[test]
    fn a_debt_is_paid_in_whole_nanoseconds_rounded_up() {
        assert_eq!([-5, 0, 1, 256, 257].map(ns_to_pay), [0, 0, 1, 1, 2]);
    }
}
