//! When routers are to be advertised on which interface (RFC 4861 section 6.2): a state machine
//! over the caller's clock.
//!
//! ```text
//!  begins ─▶ 3 advertisements, 16 s apart at most ─▶ then one each interval
//!  a host asks ─▶ one within half a second, and never two within three
//! ```
//! Times vary from one interface to the next and from one advertisement to the next, so that
//! routers do not speak in step. Owned by the control thread.

use std::collections::HashMap;

const SECOND_NS: u64 = 1_000_000_000;
/// The first ones, and how far apart they are at most (MAX_INITIAL_RTR_ADVERTISEMENTS,
/// ..._INTERVAL).
const FIRST: u32 = 3;
const FIRST_INTERVAL_NS: u64 = 16 * SECOND_NS;
/// Between two to all nodes (MIN_DELAY_BETWEEN_RAS).
const LEAST_PAUSE_NS: u64 = 3 * SECOND_NS;
/// How long a host that asked may wait (MAX_RA_DELAY_TIME).
const LONGEST_DELAY_NS: u64 = SECOND_NS / 2;

struct Timer {
    interval_ns: u64,
    sent: u32,
    last_ns: Option<u64>,
    next_ns: u64,
}

/// The timers of all interfaces that advertise.
#[derive(Default)]
pub(crate) struct Timers {
    timers: HashMap<u16, Timer>,
}

impl Timers {
    /// `interface` advertises once in `interval_ns` at least, or does not.
    pub(crate) fn set(&mut self, now_ns: u64, interface: u16, interval_ns: Option<u64>) {
        let Some(interval_ns) = interval_ns else {
            self.timers.remove(&interface);
            return;
        };
        let begin = || Timer { interval_ns, sent: 0, last_ns: None, next_ns: now_ns };
        self.timers.entry(interface).or_insert_with(begin).interval_ns = interval_ns;
    }

    /// Whether `interface` advertises.
    pub(crate) fn is_set(&self, interface: u16) -> bool {
        self.timers.contains_key(&interface)
    }

    /// A host on `interface` looks for routers.
    pub(crate) fn asked(&mut self, now_ns: u64, interface: u16) {
        let Some(timer) = self.timers.get_mut(&interface) else { return };
        let soon_ns = now_ns + vary(LONGEST_DELAY_NS, interface, timer.sent);
        let earliest_ns = timer.last_ns.map_or(0, |last_ns| last_ns + LEAST_PAUSE_NS);
        timer.next_ns = timer.next_ns.min(soon_ns.max(earliest_ns));
    }

    /// The interfaces on which one is to be sent now.
    pub(crate) fn due(&mut self, now_ns: u64) -> Vec<u16> {
        let mut due = Vec::new();
        for (&interface, timer) in &mut self.timers {
            if timer.next_ns > now_ns {
                continue;
            }
            due.push(interface);
            timer.sent = timer.sent.saturating_add(1);
            timer.last_ns = Some(now_ns);
            let longest_ns = match timer.sent < FIRST {
                true => timer.interval_ns.min(FIRST_INTERVAL_NS),
                false => timer.interval_ns,
            };
            // From three quarters of the interval to all of it.
            let varied_ns = vary(longest_ns / 4, interface, timer.sent);
            timer.next_ns = now_ns + (longest_ns - varied_ns).max(LEAST_PAUSE_NS);
        }
        due.sort_unstable();
        due
    }

    /// When [`Timers::due`] has something to do next.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.timers.values().map(|timer| timer.next_ns).min()
    }
}

/// Something from 0 to `most`, another one for each interface and count (Fibonacci hashing).
fn vary(most: u64, interface: u16, count: u32) -> u64 {
    let seed = u64::from(interface) << 32 | u64::from(count);
    let hash = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(most) * u128::from(hash)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When advertisements are sent on interface 4 up to `until_s`, in milliseconds.
    fn times(timers: &mut Timers, from_s: u64, until_s: u64) -> Vec<u64> {
        let ms = from_s * 1000..until_s * 1000;
        ms.filter(|ms| !timers.due(ms * 1_000_000).is_empty()).collect()
    }

    #[test]
    fn three_come_quickly_and_then_one_an_interval() {
        let mut timers = Timers::default();
        timers.set(0, 4, Some(100 * SECOND_NS));
        let sent = times(&mut timers, 0, 450);
        assert_eq!(sent[0], 0);
        let pauses: Vec<_> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(pauses[..2].iter().all(|pause| (12_000..=16_000).contains(pause)), "{pauses:?}");
        assert!(pauses[2..].iter().all(|pause| (75_000..=100_000).contains(pause)), "{pauses:?}");
        assert!(pauses.len() >= 5 && pauses[2..].iter().any(|pause| *pause != pauses[2]));
    }

    #[test]
    fn who_asks_is_answered_soon_and_a_crowd_once() {
        let mut timers = Timers::default();
        timers.set(0, 4, Some(1000 * SECOND_NS));
        times(&mut timers, 0, 100);
        timers.asked(100 * SECOND_NS, 4);
        timers.asked(100 * SECOND_NS + 1, 4);
        let sent = times(&mut timers, 100, 103);
        assert!(sent.len() == 1 && sent[0] <= 100_500, "{sent:?}");
        timers.asked(sent[0] * 1_000_000 + 1, 4);
        let again = times(&mut timers, 100, 110);
        assert_eq!(again, [sent[0] + 3000]);
    }

    #[test]
    fn what_does_not_advertise_is_silent() {
        let mut timers = Timers::default();
        timers.asked(0, 4);
        assert_eq!((timers.next_due_ns(), timers.due(u64::MAX)), (None, vec![]));
        timers.set(0, 4, Some(SECOND_NS));
        assert!(timers.is_set(4));
        timers.set(0, 4, None);
        assert!(!timers.is_set(4));
        assert!(timers.due(u64::MAX).is_empty());
    }
}
