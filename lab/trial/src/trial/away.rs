//! When the generator's thread and the device's workers were away during a trial, one by one, in
//! the time of the trial, and whose doing it was.
//!
//! ```text
//! device, by the system's clock     ▏  ▏▏     ▏    ─▶ those that touch the trial, since it began
//! its processes' time, each 5 ms    ░░    ░░       ─▶ who; and those that the device does not tell
//! generator, since it began             ▏  ▏
//! ```

use std::cmp::Reverse;
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use lab_record::{AwayAt, Stall, Who};
use lab_traffic::TrafficResult;
use lab_traffic::clock::Clock;
use lab_traffic::result::{Away, Gone};

/// As many of each, and of each who, are written down: the longest.
const MOST: usize = 50;
/// A look at the device's processes is so long: of what it saw nobody knows when in it.
const LOOK_NS: u64 = 5_000_000;
/// Readings of both clocks, of which the quickest counts.
const READINGS: usize = 9;

/// A time of this clock in nanoseconds since 1970.
pub(crate) fn unix_ns(clock: &Clock, at_ns: u64) -> u64 {
    let reading = || {
        let before_ns = clock.now_ns();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let after_ns = clock.now_ns();
        (after_ns - before_ns, unix.as_nanos() as u64, after_ns)
    };
    let quickest = (0..READINGS).map(|_| reading()).min_by_key(|&(took_ns, ..)| took_ns);
    let (_, unix_ns, now_ns) = quickest.unwrap_or_else(reading);
    unix_ns.saturating_sub(now_ns - at_ns)
}

/// The generator's.
pub(crate) fn generator(away: &Away) -> Vec<Stall> {
    longest(&away.longest, "generator")
}

/// Of the device's, those while packets were sent, in the time of the trial. A device may sleep
/// when nothing comes: what it does while the generator is away is no news.
pub(crate) fn while_sending(gone: &[Gone], traffic: &TrafficResult) -> Vec<Gone> {
    let sending = traffic.start_ns..traffic.start_ns + traffic.duration_ns;
    let own = gone.iter().filter(|it| sending.contains(&it.at_ns));
    let since_start = own.map(|it| Gone { at_ns: it.at_ns - traffic.start_ns, ..*it });
    let starved = |it: &Gone| {
        let from_ns = it.at_ns.saturating_sub(LOOK_NS);
        let to_ns = it.at_ns + it.length_ns + LOOK_NS;
        let touches = |away: &Gone| away.at_ns < to_ns && from_ns < away.at_ns + away.length_ns;
        let all = traffic.away.longest.iter().filter(|away| touches(away));
        2 * all.map(|away| away.length_ns).sum::<u64>() > it.length_ns
    };
    since_start.filter(|it| it.who != Some(Who::Device) || !starved(it)).collect()
}

/// Those of the device that touch the trial: as it tells them, with who, and what it does not tell.
pub(crate) fn device(told: &[AwayAt], gone: &[Gone], trial_unix_ns: Range<u64>) -> Vec<Stall> {
    let since_start = |it: &AwayAt| {
        let from = it.until_unix_ns.saturating_sub(it.length_ns).max(trial_unix_ns.start);
        let touches = from < it.until_unix_ns && from < trial_unix_ns.end;
        let at_ns = from - trial_unix_ns.start;
        let length_ns = it.until_unix_ns.saturating_sub(from);
        touches.then_some(Gone { at_ns, length_ns, who: None })
    };
    let mut told: Vec<Gone> = told.iter().filter_map(since_start).collect();
    let mut untold = Vec::new();
    for &it in gone {
        let near = |own: &&mut Gone| {
            own.at_ns < it.at_ns + it.length_ns + LOOK_NS
                && it.at_ns < own.at_ns + own.length_ns + LOOK_NS
        };
        // Of several in one look the longest is the one that it explains.
        match told.iter_mut().filter(near).max_by_key(|own| own.length_ns) {
            Some(own) => own.who = own.who.or(it.who),
            None => untold.push(it),
        }
    }
    let mut stalls = longest(&told, Stall::DEVICE);
    stalls.extend(longest(&untold, Stall::KERNEL));
    stalls
}

/// The longest, of each who.
fn longest(gone: &[Gone], seen_by: &str) -> Vec<Stall> {
    let mut gone = gone.to_vec();
    gone.sort_unstable_by_key(|it| Reverse(it.length_ns));
    let whose = [None].into_iter().chain(Who::ALL.map(Some));
    let of = |who| gone.iter().filter(move |it| it.who == who).take(MOST);
    let stall = |it: &Gone| {
        let told = Stall::new(it.at_ns as f64 / 1e9, it.length_ns as f64 / 1e3, seen_by);
        Stall { who: it.who, ..told }
    };
    whose.flat_map(of).map(stall).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(until_unix_ns: u64, length_ns: u64) -> AwayAt {
        AwayAt { until_unix_ns, length_ns }
    }

    #[test]
    fn of_a_device_s_stalls_those_that_touch_the_trial_are_told_in_its_time() {
        let all = [
            away(900, 300),
            away(1_200, 500),
            away(2_500, 200),
            away(3_100, 300),
            away(3_900, 800),
        ];
        let told = device(&all, &[], 1_000..3_000);
        let times = |stall: &Stall| {
            assert!(stall.is_of_the_device());
            ((stall.at_s * 1e9).round() as u64, (stall.length_us * 1e3).round() as u64)
        };
        let times: Vec<(u64, u64)> = told.iter().map(times).collect();
        assert_eq!(times, [(1_800, 300), (0, 200), (1_300, 200)]);
    }

    #[test]
    fn what_the_device_tells_has_its_who_and_what_it_does_not_tell_is_told_beside() {
        const MS: u64 = 1_000_000;
        let seen = |at_ms, who| Gone { at_ns: at_ms * MS, length_ns: MS, who };
        let gone = [seen(101, Some(Who::Device)), seen(200, Some(Who::Host)), seen(300, None)];
        let told = [away(1_000 * MS + 103 * MS, 2 * MS), away(1_000 * MS + 103 * MS, 300_000)];
        let stalls = device(&told, &gone, 1_000 * MS..2_000 * MS);
        let found =
            |stall: &Stall| ((1e3 * stall.at_s).round() as u64, stall.seen_by.clone(), stall.who);
        let expected = [
            (103, Stall::DEVICE.to_owned(), None),
            (101, Stall::DEVICE.to_owned(), Some(Who::Device)),
            (300, Stall::KERNEL.to_owned(), None),
            (200, Stall::KERNEL.to_owned(), Some(Who::Host)),
        ];
        assert_eq!(stalls.iter().map(found).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn of_each_who_the_longest_are_kept() {
        let gone = |at: u64| Gone {
            at_ns: at,
            length_ns: 1_000 + at,
            who: Some(if at < 3 { Who::Device } else { Who::Host }),
        };
        let kept = longest(&(0..200).map(gone).collect::<Vec<_>>(), Stall::KERNEL);
        let of = |who| kept.iter().filter(|it| it.who == Some(who)).count();
        assert_eq!((of(Who::Device), of(Who::Host)), (3, MOST));
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
