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
use lab_traffic::Away;
use lab_traffic::clock::Clock;
use lab_traffic::drive::Stalls;

use crate::place::output;

/// An idle thread that does not see the clock for longer was not running: interrupts and
/// hypervisors alike.
pub const LIMIT_NS: u64 = 5_000;
/// A stall that overflows the rings of a device under load.
pub const LONG_NS: u64 = 1_000_000;
/// Time of the look before a campaign.
pub const FIRST_NS: u64 = 1_000_000_000;
/// The same, before each start of a device.
pub const AGAIN_NS: u64 = 100_000_000;

/// Watches with this thread.
pub fn watch(clock: &Clock, time_ns: u64) -> Away {
    let began_ns = clock.now_ns();
    let mut last_ns = began_ns;
    let mut stalls = Stalls::default();
    while last_ns - began_ns < time_ns {
        let now_ns = clock.now_ns();
        if now_ns - last_ns > LIMIT_NS {
            stalls.note(last_ns - began_ns, now_ns - last_ns);
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
pub fn watch_both(clock: &Clock, lab_core: &str, device_core: &str) -> [ProbeRecord; 2] {
    let (ours, theirs) = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| watch_core(clock, device_core, FIRST_NS));
        (watch(clock, FIRST_NS), theirs.join().unwrap_or_default())
    });
    let first = |of: &str, core: &str, away| record(of, core, None, FIRST_NS, away);
    [first("lab", lab_core, &ours), first("device", device_core, &theirs)]
}

/// The first of some cores.
pub fn first(cores: &str) -> &str {
    cores.split([',', '-']).next().unwrap_or("0")
}

/// What was seen, in words of a record.
pub fn record(of: &str, core: &str, at_s: Option<f64>, time_ns: u64, away: &Away) -> ProbeRecord {
    let longest_ns = away.longest.iter().map(|&(_, length_ns)| length_ns).max().unwrap_or(0);
    let long = away.longest.iter().filter(|&&(_, length_ns)| length_ns > LONG_NS).count();
    ProbeRecord {
        core: core.to_owned(),
        of: of.to_owned(),
        at_s,
        watched_s: time_ns as f64 / 1e9,
        stalled: Stalled {
            stalls: away.count,
            longest_us: longest_ns as f64 / 1e3,
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
