//! What a rate has earned since its clock began: exact, because it is counted from there each time.
//!
//! ```text
//!  bytes = ⌊ ticks × bits a second ÷ (8 × ticks a second) ⌋        in 128 bits: never over, never adrift
//! ```

use crate::PoliceError;

/// A rate over a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    bits_per_second: u64,
    clock_hz: u64,
}

impl Rate {
    /// So many bits a second of a clock that ticks `clock_hz` times in it.
    pub fn new(bits_per_second: u64, clock_hz: u64) -> Result<Self, PoliceError> {
        if bits_per_second == 0 || clock_hz == 0 {
            return Err(PoliceError::NoRate { bits: bits_per_second, clock_hz });
        }
        Ok(Self { bits_per_second, clock_hz })
    }

    /// So many packets a second, each as long as a byte.
    pub fn of_packets(packets_per_second: u64, clock_hz: u64) -> Result<Self, PoliceError> {
        Self::new(packets_per_second.saturating_mul(8), clock_hz)
    }

    /// Bits a second.
    pub fn bits_per_second(self) -> u64 {
        self.bits_per_second
    }

    /// Bytes earned from tick 0 to tick `now`. Those of 100 Gbit/s last for 46 years.
    #[inline]
    pub fn earned_bytes(self, now: u64) -> u64 {
        let bits = u128::from(now) * u128::from(self.bits_per_second);
        let bytes = bits / (u128::from(self.clock_hz) * 8);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_earned_is_exact_after_a_tick_and_after_years() {
        let rate = Rate::new(10_000_000, 3_000_000_000).unwrap();
        assert_eq!((rate.earned_bytes(2399), rate.earned_bytes(2400)), (0, 1));
        let ten_years = 10 * 365 * 86_400;
        assert_eq!(rate.earned_bytes(ten_years * 3_000_000_000), ten_years * 1_250_000);
        assert_eq!(Rate::new(u64::MAX, 1).unwrap().earned_bytes(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_rate_of_nothing_is_none() {
        assert!(Rate::new(0, 1).is_err() && Rate::new(1, 0).is_err());
    }
}
