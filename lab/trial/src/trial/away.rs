//! When the generator's thread and the device's workers were away during a trial, one by one, in
//! the time of the trial.
//!
//! ```text
//! device, by the system's clock     ▏  ▏▏     ▏    ─▶ those that touch the trial, since it began
//! generator, since it began             ▏  ▏
//! ```

use std::cmp::Reverse;
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use lab_record::{AwayAt, Stall};
use lab_traffic::clock::Clock;
use lab_traffic::result::Away;

/// As many of each are written down: the longest.
const MOST: usize = 20;

/// A time of this clock in nanoseconds since 1970.
pub(crate) fn unix_ns(clock: &Clock, at_ns: u64) -> u64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (unix.as_nanos() as u64).saturating_sub(clock.now_ns() - at_ns)
}

/// The generator's.
pub(crate) fn generator(away: &Away) -> Vec<Stall> {
    longest(away.longest.clone(), "generator")
}

/// Those of the device that touch the trial.
pub(crate) fn device(away: &[AwayAt], trial_unix_ns: Range<u64>) -> Vec<Stall> {
    let since_start = |it: &AwayAt| {
        let from = it.until_unix_ns.saturating_sub(it.length_ns).max(trial_unix_ns.start);
        let touches = from < it.until_unix_ns && from < trial_unix_ns.end;
        touches.then(|| (from - trial_unix_ns.start, it.until_unix_ns - from))
    };
    longest(away.iter().filter_map(since_start).collect(), Stall::DEVICE)
}

/// When since the start, and how long, in nanoseconds.
fn longest(mut stalls: Vec<(u64, u64)>, seen_by: &str) -> Vec<Stall> {
    stalls.sort_unstable_by_key(|&(_, length_ns)| Reverse(length_ns));
    stalls.truncate(MOST);
    let stall = |&(at_ns, length_ns): &(u64, u64)| Stall {
        at_s: at_ns as f64 / 1e9,
        length_us: length_ns as f64 / 1e3,
        seen_by: seen_by.into(),
    };
    stalls.iter().map(stall).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_device_s_stalls_those_that_touch_the_trial_are_told_in_its_time() {
        let away = |until_unix_ns, length_ns| AwayAt { until_unix_ns, length_ns };
        let all = [
            away(900, 300),
            away(1_200, 500),
            away(2_500, 200),
            away(3_100, 300),
            away(3_900, 800),
        ];
        let told = device(&all, 1_000..3_000);
        let times = |stall: &Stall| {
            assert!(stall.is_of_the_device());
            ((stall.at_s * 1e9).round() as u64, (stall.length_us * 1e3).round() as u64)
        };
        let times: Vec<(u64, u64)> = told.iter().map(times).collect();
        assert_eq!(times, [(1_800, 300), (0, 200), (1_300, 200)]);
    }

    #[test]
    fn a_clock_s_time_is_told_in_the_system_s() {
        let clock = Clock::real();
        let before = SystemTime::now();
        let told = unix_ns(&clock, clock.now_ns());
        let after = SystemTime::now();
        let ns = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        // The two clocks are read one after the other, so what is told may be early, never late.
        assert!(told <= ns(after), "{told} {}", ns(after));
        assert!(told + 10_000_000_000 > ns(before), "{told} {}", ns(before));
    }
}
