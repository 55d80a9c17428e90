//! The idle probe: a thread with nothing to do looks at the clock, and sees when its core was taken
//! away.
//!
//! ```text
//! lab's core     ──── probe ────┐            generator: the same look, in every trial
//! device's core  ──── probe ────┴─ probe ─ device ─ probe ─ device ─ …
//! ```
//! With as few cores as a device and the lab need there is none left to watch during a trial: a
//! probe beside the device would be the stall. So the device's core is watched while no device has
//! it: both cores at once before the campaign, the device's again before each start. What a probe
//! sees is the host's doing, never a device's.

use lab_record::{ProbeRecord, Stalled};
use lab_search::stats::summary::median;
use lab_traffic::Away;
use lab_traffic::clock::Clock;
use lab_traffic::drive::Stalls;
use lab_traffic::result::Gone;

use crate::place::output;

/// An idle thread that does not see the clock for longer was not running: interrupts and
/// hypervisors alike.
pub const LIMIT_NS: u64 = 5_000;
/// A stall that overflows the rings of a device under load.
pub const LONG_NS: u64 = 1_000_000;
/// How a host is looked at before a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Time of a look.
    pub time_ns: u64,
    /// Most looks.
    pub most: usize,
}

/// The usual.
const FIRST: Look = Look { time_ns: 1_000_000_000, most: 3 };
/// Where trials are shorter than these seconds.
const BRIEF: Look = Look { time_ns: 200_000_000, most: 1 };
const SHORT_TRIAL_S: f64 = 0.5;
/// The same, before each start of a device.
pub const AGAIN_NS: u64 = 100_000_000;

/// How the host is looked at before trials of so many seconds: what is short is rough anyway.
pub fn look_before(trial_s: f64) -> Look {
    if trial_s < SHORT_TRIAL_S { BRIEF } else { FIRST }
}

/// Watches with this thread.
pub fn watch(clock: &Clock, time_ns: u64) -> Away {
    let began_ns = clock.now_ns();
    let mut last_ns = began_ns;
    let mut stalls = Stalls::default();
    while last_ns - began_ns < time_ns {
        let now_ns = clock.now_ns();
        if now_ns - last_ns > LIMIT_NS {
            let (at_ns, length_ns) = (last_ns - began_ns, now_ns - last_ns);
            stalls.note(Gone { at_ns, length_ns, who: None });
        }
        last_ns = now_ns;
    }
    stalls.account()
}

/// Watches another core with a thread there. Where a thread may not be moved, it goes where the
/// scheduler has it.
pub fn watch_core(clock: &Clock, core: &str, time_ns: u64) -> Away {
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            move_to(core);
            watch(clock, time_ns)
        });
        watching.join().unwrap_or_default()
    })
}

/// Both cores at once: what takes them away together is the machine, not a neighbour on one of
/// them.
pub fn watch_both(
    clock: &Clock,
    lab_core: &str,
    device_core: &str,
    time_ns: u64,
) -> [ProbeRecord; 2] {
    let (ours, theirs) = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| watch_core(clock, device_core, time_ns));
        (watch(clock, time_ns), theirs.join().unwrap_or_default())
    });
    let first = |of: &str, core: &str, away| record(of, core, None, time_ns, away);
    [first("lab", lab_core, &ours), first("device", device_core, &theirs)]
}

/// Looks before a campaign, as many as tell a host that stalls from one that stalled once: where
/// the first sees nothing long, it is the only one.
pub fn looks(
    clock: &Clock,
    lab_core: &str,
    device_core: &str,
    Look { time_ns, most }: Look,
) -> Vec<[ProbeRecord; 2]> {
    let mut looks = Vec::new();
    while looks.len() < most {
        let look = watch_both(clock, lab_core, device_core, time_ns);
        let quiet = look.iter().all(|probe| probe.long == 0);
        looks.push(look);
        if quiet && looks.len() == 1 {
            break;
        }
    }
    looks
}

/// Long stalls in a second that searches should live with: of the core that has more of them, the
/// median over the looks, and the next power of two, so that nearly the same host is measured in
/// the same way.
pub fn stalls_per_s(looks: &[[ProbeRecord; 2]]) -> f64 {
    let rate = |probe: &ProbeRecord| probe.long as f64 / probe.watched_s.max(1e-9);
    let rates: Vec<f64> =
        looks.iter().map(|look| look.iter().map(rate).fold(0.0, f64::max)).collect();
    let median = if rates.is_empty() { 0.0 } else { median(&rates) };
    if median > 0.0 { median.log2().ceil().exp2() } else { 0.0 }
}

/// The first of some cores.
pub fn first(cores: &str) -> &str {
    cores.split([',', '-']).next().unwrap_or("0")
}

/// What was seen, in words of a record.
pub fn record(of: &str, core: &str, at_s: Option<f64>, time_ns: u64, away: &Away) -> ProbeRecord {
    let long = away.longest.iter().filter(|gone| gone.length_ns > LONG_NS).count();
    ProbeRecord {
        core: core.to_owned(),
        of: of.to_owned(),
        at_s,
        watched_s: time_ns as f64 / 1e9,
        stalled: Stalled {
            stalls: away.count,
            longest_us: away.longest_ns() as f64 / 1e3,
            total_us: away.total_ns as f64 / 1e3,
        },
        long: long as u64,
    }
}

/// The cores that the thread that calls may use, as `taskset` writes them.
pub(crate) fn allowed_cores() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.unwrap_or_default().trim().to_owned()
}

/// Moves the thread that calls to a core.
pub(crate) fn move_to(core: &str) {
    let own = std::fs::read_link("/proc/thread-self").ok();
    let id = own.as_ref().and_then(|path| path.file_name()).and_then(|name| name.to_str());
    if let Some(id) = id {
        let _ = output(&["taskset", "-cp", core, id]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_thread_sees_each_time_that_it_was_away() {
        assert_eq!(watch(&Clock::stepped(1_000), 1_000_000), Away::default());
        let away = watch(&Clock::stepped(2_000_000), 100_000_000);
        assert_eq!((away.count, away.total_ns), (50, 100_000_000));
        let record = record("device", "0", Some(1.5), 100_000_000, &away);
        assert_eq!((record.stalled.longest_us, record.stalled.total_us), (2e3, 1e5));
        assert_eq!((record.long, record.watched_s), (50, 0.1));
    }

    #[test]
    fn one_burst_of_stalls_does_not_make_a_host_one_that_stalls() {
        let look = |long: [u64; 2]| {
            long.map(|long| ProbeRecord { long, watched_s: 1.0, ..ProbeRecord::default() })
        };
        assert_eq!(stalls_per_s(&[look([0, 40]), look([0, 0]), look([0, 0])]), 0.0);
        assert_eq!(stalls_per_s(&[look([0, 9]), look([11, 0]), look([70, 1])]), 16.0);
        assert_eq!(stalls_per_s(&[look([0, 0])]), 0.0);
    }

    #[test]
    fn short_trials_begin_after_a_brief_look() {
        assert_eq!([0.05, 0.49].map(look_before), [BRIEF; 2]);
        assert_eq!([0.5, 30.0].map(look_before), [FIRST; 2]);
    }

    #[test]
    fn a_thread_watches_where_it_was_sent() {
        let look = || {
            move_to("0");
            allowed_cores()
        };
        assert_eq!(std::thread::spawn(look).join().unwrap(), "0");
    }

    #[test]
    fn the_first_of_several_cores_is_watched() {
        assert_eq!([first("0,2"), first("4-7"), first("3")], ["0", "4", "3"]);
    }
}
