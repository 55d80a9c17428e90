//! A port's clock by the generator's: what the one said when the other did, followed through a
//! trial.
//!
//! ```text
//!  generator ns  ───┬────────────┬────────────┬───────▶       a reading: the port's clock between two looks at ours
//!                   │╲           │            │ ?             at a packet's time: from the last reading on,
//!  port ticks    ───┴────────────┴────────────┴───────▶       at the rate between the first and the last of some seconds
//! ```
//! Each reading says how wrong the map had become since the one before. The largest such error, and
//! half the time that the reading took, is the uncertainty. A clock that was set (not just slewed)
//! is a step: the map starts anew there, and as packets of a moment before were mapped wrongly, its
//! size is part of the uncertainty.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Readings between which the rate is measured.
const KEPT: usize = 100;
/// No clock is slewed faster than that; what is further off was set.
const FASTEST_SLEW: f64 = 1e-3;

/// The port's clock, read between two looks at the generator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The port's, in its ticks.
    pub ticks: u64,
    /// The generator's before.
    pub before_ns: u64,
    /// The generator's afterwards.
    pub after_ns: u64,
}

impl Reading {
    fn middle_ns(&self) -> f64 {
        self.before_ns as f64 + self.half_ns()
    }

    fn half_ns(&self) -> f64 {
        (self.after_ns.saturating_sub(self.before_ns)) as f64 / 2.0
    }
}

/// How well the clocks are known to each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// A mapped time is right within so much.
    pub uncertainty_ns: f64,
    /// The port's ticks in a second of the generator's clock.
    pub ticks_per_s: f64,
    /// Readings made.
    pub readings: u64,
    /// Times at which the port's clock was set.
    pub steps: u64,
}

/// The map.
#[derive(Debug, Clone)]
pub struct ClockMap {
    readings: VecDeque<Reading>,
    last: Reading,
    ns_per_tick: f64,
    fit: Fit,
}

impl ClockMap {
    /// From two readings, best some 10 ms apart; none if the port's clock stood still between them.
    pub fn new(first: Reading, second: Reading) -> Option<Self> {
        let ns_per_tick = rate(&first, &second)?;
        let uncertainty_ns = first.half_ns().max(second.half_ns());
        let fit = Fit { uncertainty_ns, ticks_per_s: 1e9 / ns_per_tick, readings: 2, steps: 0 };
        Some(Self { readings: [first, second].into(), last: second, ns_per_tick, fit })
    }

    /// A time of the port's in nanoseconds of the generator's.
    #[inline]
    pub fn ns(&self, ticks: u64) -> u64 {
        // The difference is small; the times themselves are more than a float holds.
        let since = ticks.wrapping_sub(self.last.ticks) as i64 as f64 * self.ns_per_tick;
        (self.last.middle_ns() + since).max(0.0) as u64
    }

    /// Takes a reading in, and what it says of the map so far.
    pub fn follow(&mut self, reading: Reading) {
        let wrong_ns = (self.ns(reading.ticks) as f64 - reading.middle_ns()).abs();
        let half_ns = reading.half_ns();
        let since_ns = reading.middle_ns() - self.last.middle_ns();
        let possible_ns = self.last.half_ns() + half_ns + FASTEST_SLEW * since_ns.abs();
        self.fit.uncertainty_ns = self.fit.uncertainty_ns.max(wrong_ns + half_ns);
        self.fit.readings += 1;
        if wrong_ns > possible_ns {
            self.fit.steps += 1;
            self.readings.clear();
        } else if self.readings.len() == KEPT {
            self.readings.pop_front();
        }
        self.readings.push_back(reading);
        self.last = reading;
        // After a step the rate is still the best there is.
        let first = self.readings.front();
        if let Some(ns_per_tick) = first.and_then(|first| rate(first, &reading)) {
            self.ns_per_tick = ns_per_tick;
            self.fit.ticks_per_s = 1e9 / ns_per_tick;
        }
    }

    /// How good it is.
    pub fn fit(&self) -> Fit {
        self.fit
    }
}

/// Nanoseconds a tick between two readings.
fn rate(first: &Reading, second: &Reading) -> Option<f64> {
    let ticks = second.ticks.wrapping_sub(first.ticks) as i64;
    let ns = second.middle_ns() - first.middle_ns();
    (ticks > 0 && ns > 0.0).then(|| ns / ticks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CLOCK_REALTIME of some day.
    const DAY: u64 = 1_795_000_000_000_000_000;
    const EVERY_NS: u64 = 20_000_000;

    fn reading(ticks: u64, middle_ns: u64) -> Reading {
        Reading { ticks, before_ns: middle_ns - 30, after_ns: middle_ns + 30 }
    }

    /// A map that followed a clock for so many readings; the clock by the generator's time.
    fn followed(clock: impl Fn(u64) -> u64, readings: u64) -> ClockMap {
        let at = |number: u64| 1_000_000 + number * EVERY_NS;
        let read = |number| reading(clock(at(number)), at(number));
        let mut map = ClockMap::new(read(0), read(1)).unwrap();
        (2..readings).for_each(|number| map.follow(read(number)));
        map
    }

    #[test]
    fn a_clock_of_another_day_and_rate_is_mapped_within_what_is_said() {
        // 50 ppm fast; and a card's counter of 125 MHz.
        for clock in [|ns: u64| DAY + ns + ns / 20_000, |ns: u64| ns / 8] {
            let map = followed(clock, 500);
            assert_eq!(map.fit().steps, 0);
            assert!(map.fit().uncertainty_ns < 50.0, "{:?}", map.fit());
            for after in [1, 5_000_000, EVERY_NS] {
                let ns = 1_000_000 + 499 * EVERY_NS + after;
                let off = map.ns(clock(ns)).abs_diff(ns) as f64;
                assert!(off <= map.fit().uncertainty_ns, "{off} of {:?}", map.fit());
            }
        }
    }

    #[test]
    fn a_packet_from_before_the_last_reading_is_mapped_as_well() {
        let map = followed(|ns| DAY + ns, 10);
        let ns = 1_000_000 + 8 * EVERY_NS;
        assert!(map.ns(DAY + ns).abs_diff(ns) <= 30);
    }

    #[test]
    fn drift_is_followed_and_its_error_told() {
        // The rate goes from 0 to 200 ppm within 10 s.
        let clock = |ns: u64| DAY + ns + (ns as f64 * ns as f64 * 1e-14) as u64;
        let map = followed(clock, 500);
        assert_eq!(map.fit().steps, 0);
        let told = map.fit().uncertainty_ns;
        // Some 2 s behind, that is 20 ppm of 20 ms: 400 ns.
        assert!((200.0..1_000.0).contains(&told), "{told}");
        let ns = 1_000_000 + 500 * EVERY_NS;
        assert!(map.ns(clock(ns)).abs_diff(ns) as f64 <= 1.1 * told);
    }

    #[test]
    fn a_clock_that_was_set_is_a_step_and_the_map_starts_anew() {
        let set_at = 1_000_000 + 100 * EVERY_NS;
        for by in [5_000_000i64, -5_000_000] {
            let clock = |ns: u64| (DAY + ns).wrapping_add_signed(if ns < set_at { 0 } else { by });
            let map = followed(clock, 200);
            assert_eq!(map.fit().steps, 1);
            assert!((5e6..5.1e6).contains(&map.fit().uncertainty_ns), "{:?}", map.fit());
            let ns = 1_000_000 + 200 * EVERY_NS;
            assert!(map.ns(clock(ns)).abs_diff(ns) <= 60);
        }
    }

    #[test]
    fn a_clock_that_stands_still_is_no_clock() {
        assert!(ClockMap::new(reading(5, 1_000), reading(5, 2_000)).is_none());
    }
}
