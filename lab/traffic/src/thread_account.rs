//! What the kernel says of a thread's time: when it had no core, and whether it wanted one.
//!
//! ```text
//! /proc/PID/task/TID/schedstat   ran  waited  turns                          a microsecond to read
//! /proc/PID/task/TID/sched       exec_start  sum_exec_runtime  switches      ten
//! ```
//! What a thread ran is brought up to date at each tick alone, 4 ms late; but `exec_start` says as
//! of when, so that from one look to the next its steps, less those of the sum, are the time
//! without a core, to the nanosecond. Both go by a clock that stands still while a hypervisor has
//! the core.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A thread's account in `/proc`, opened once: a look is one call.
#[derive(Debug)]
pub struct ThreadAccount {
    schedstat: File,
    sched: File,
}

/// How often a thread had a core, and how long it waited for one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turns {
    /// Waited for a core.
    pub waited_ns: u64,
    /// Times that it was given one.
    pub turns: u64,
}

/// What a thread's time was spent on, as of one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The moment.
    pub as_of_ns: u64,
    /// Ran until then.
    pub ran_ns: u64,
    /// Times that it gave its core away itself: to sleep, or because it was stopped.
    pub gave_away: u64,
    /// Times that it was taken off its core, those among them: as many as it was given one, where
    /// it has none now.
    pub taken_off: u64,
}

impl ThreadAccount {
    /// Of the thread that asks.
    pub fn own() -> Option<Self> {
        Self::of(Path::new("/proc/thread-self"))
    }

    /// Of a thread's folder.
    pub fn of(folder: &Path) -> Option<Self> {
        let open = |name: &str| File::open(folder.join(name)).ok();
        Some(Self { schedstat: open("schedstat")?, sched: open("sched")? })
    }

    /// Of all threads of a process.
    pub fn all_of(process: u32) -> Vec<Self> {
        let folder = format!("/proc/{process}/task");
        let threads = std::fs::read_dir(folder).into_iter().flatten().flatten();
        threads.filter_map(|thread| Self::of(&thread.path())).collect()
    }

    /// Its turns until now.
    pub fn turns(&self) -> Option<Turns> {
        let mut octets = [0; 96];
        let text = read(&self.schedstat, &mut octets)?;
        let mut numbers = text.split_ascii_whitespace().skip(1).map_while(|it| it.parse().ok());
        Some(Turns { waited_ns: numbers.next()?, turns: numbers.next()? })
    }

    /// What its time was spent on.
    pub fn spent(&self) -> Option<Spent> {
        let mut octets = [0; 4_096];
        spent(read(&self.sched, &mut octets)?)
    }

    /// How often it gave its core away itself.
    pub fn gave_away(&self) -> Option<u64> {
        Some(self.spent()?.gave_away)
    }
}

fn read<'a>(file: &File, octets: &'a mut [u8]) -> Option<&'a str> {
    let length = file.read_at(octets, 0).ok()?;
    std::str::from_utf8(octets.get(..length)?).ok()
}

/// Out of the text of `sched`: `se.exec_start   :   1893774.333081`, in milliseconds.
fn spent(text: &str) -> Option<Spent> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
        line.map(|(_, value)| value.trim())
    };
    let ns = |name: &str| {
        let (ms, rest) = field(name)?.split_once('.')?;
        let rest: u64 = format!("{rest:0<6}").get(..6)?.parse().ok()?;
        ms.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(rest)
    };
    Some(Spent {
        as_of_ns: ns("se.exec_start")?,
        ran_ns: ns("se.sum_exec_runtime")?,
        gave_away: field("nr_voluntary_switches")?.parse().ok()?,
        taken_off: field("nr_switches")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_thread_that_slept_gave_its_core_away_and_had_none() {
        let own = ThreadAccount::own().unwrap();
        // Cores' clocks differ: of a thread that is moved while it sleeps less may be told.
        let told = (0..20).any(|_| {
            let (before, turns) = (own.spent().unwrap(), own.turns().unwrap());
            std::thread::sleep(Duration::from_millis(20));
            let after = own.spent().unwrap();
            assert!(after.gave_away > before.gave_away && own.turns().unwrap().turns > turns.turns);
            let passed_ns = after.as_of_ns.saturating_sub(before.as_of_ns);
            passed_ns.saturating_sub(after.ran_ns - before.ran_ns) > 19_000_000
        });
        assert!(told, "a sleep of 20 ms was told of in none of 20");
        assert!(!ThreadAccount::all_of(std::process::id()).is_empty());
        assert!(ThreadAccount::all_of(u32::MAX).is_empty());
    }

    #[test]
    fn what_the_kernel_does_not_say_is_not_known() {
        let text = "x (7, #threads: 1)\n----\nse.exec_start              :   1893774.333081\n\
                    se.vruntime : 1.0\nse.sum_exec_runtime     :   12.5\nnr_switches : 9\n\
                    nr_voluntary_switches       :      7\n";
        let told =
            Spent { as_of_ns: 1_893_774_333_081, ran_ns: 12_500_000, gave_away: 7, taken_off: 9 };
        assert_eq!(spent(text), Some(told));
        let names =
            ["se.exec_start", "se.sum_exec_runtime", "nr_switches", "nr_voluntary_switches"];
        for name in names {
            assert_eq!(spent(&text.replace(&format!("\n{name}"), "\nother")), None, "{name}");
        }
        assert_eq!(spent(&text.replace("12.5", "99999999999999999999.0")), None);
    }
}
