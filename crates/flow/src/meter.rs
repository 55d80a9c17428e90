//! Meters: what is beyond a rate ends there. Shared by all workers, without a lock.
//!
//! A band is one number: until when what passed has been paid for, at its rate. A packet passes
//! while that is not further ahead than the burst.

use crate::flow::Counters;
use openflow::message::{Band, MeterMod};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// See the module.
#[derive(Debug)]
pub struct Meter {
    /// What its rates are in, see [`MeterMod`].
    pub flags: u16,
    /// Its bands.
    pub bands: Vec<Band>,
    /// When it came.
    pub created_ns: u64,
    /// What came to it.
    pub counters: Arc<Counters>,
    /// What each band dropped.
    pub dropped: Vec<Counters>,
    paid_until_ns: Vec<AtomicU64>,
}

impl Meter {
    /// A meter that nothing came to yet.
    pub fn new(flags: u16, bands: Vec<Band>, created_ns: u64) -> Self {
        let dropped = bands.iter().map(|_| Counters::default()).collect();
        let paid_until_ns = bands.iter().map(|_| AtomicU64::new(0)).collect();
        Self { flags, bands, created_ns, counters: Arc::default(), dropped, paid_until_ns }
    }

    /// Whether a packet passes.
    pub fn passes(&self, bytes: usize, now_ns: u64) -> bool {
        self.counters.add(1, bytes as u64, now_ns);
        let by_packets = self.flags & MeterMod::PPS != 0;
        for ((band, paid), dropped) in self.bands.iter().zip(&self.paid_until_ns).zip(&self.dropped)
        {
            let rate = u64::from(band.rate.max(1));
            // Kilobits a second: a bit takes a million nanoseconds by so many.
            let cost = if by_packets { 1_000_000_000 } else { bytes as u64 * 8 * 1_000_000 } / rate;
            let has_burst = self.flags & MeterMod::BURST != 0 && band.burst > 0;
            let burst = if has_burst {
                u64::from(band.burst) * 1_000_000_000 / rate
            } else {
                1_000_000_000
            };
            let pay = |until: u64| {
                let until = until.max(now_ns) + cost;
                (until - now_ns <= burst.max(cost)).then_some(until)
            };
            if paid.fetch_update(Relaxed, Relaxed, pay).is_err() {
                dropped.add(1, bytes as u64, now_ns);
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_passes_than_rate_and_burst_allow() {
        let band = Band { rate: 100, burst: 10 };
        let meter = Meter::new(MeterMod::PPS | MeterMod::BURST, vec![band], 0);
        let second = 1_000_000_000;
        let passed = |from: u64, to: u64| {
            (from..to).step_by(1_000_000).filter(|now| meter.passes(100, *now)).count()
        };
        assert_eq!(passed(second, second + 1_000_000), 1);
        let count = passed(second, 3 * second);
        assert!((205..=212).contains(&count), "{count}");
        assert_eq!(meter.counters.get().0, 2001);
        assert_eq!(meter.dropped[0].get().0, 2001 - 1 - count as u64);
    }

    #[test]
    fn kilobits_are_counted_by_length() {
        // 1 Mbit/s: 125,000 bytes a second, and as much at once.
        let meter = Meter::new(MeterMod::KBPS, vec![Band { rate: 1000, burst: 0 }], 0);
        let passed = (0..1000).filter(|_| meter.passes(1250, 5)).count();
        assert_eq!(passed, 100);
    }
}
