//! When the device had no core in the course of a trial, and whose doing that was.
//!
//! ```text
//! looks    │ 5 ms │ 5 ms │ 5 ms │ 5 ms │      by the generator's thread, between two bursts
//! worker   ██████ ██░░██ ██──██ ██████        had no core: it waited for one (──), or it slept or
//!                                             was stopped (░░), which it gives its core away for
//! ```
//! Of a device that sleeps when it has nothing to do nothing can be said. A look takes a
//! microsecond a worker, and ten where it was given a core since the last.

use lab_record::{Account, Who};
use lab_traffic::result::Gone;
use lab_traffic::thread_account::{Spent, ThreadAccount, Turns};

/// Less than this of a look's time is nobody's news.
const SHORTEST_NS: u64 = 300_000;
/// Who sleeps for more than this share of the time is not one who polls.
const SLEEPS: f64 = 0.15;

/// The processor time of a device's workers.
#[derive(Default)]
pub(crate) struct DeviceTime {
    threads: Vec<Thread>,
    began_ns: u64,
    looked_ns: u64,
}

struct Thread {
    account: ThreadAccount,
    /// When the trial began, and now.
    first: Seen,
    seen: Seen,
    gone: Vec<Gone>,
    slept_ns: u64,
}

/// A thread's account at a look.
#[derive(Clone, Copy)]
struct Seen {
    turns: Turns,
    spent: Spent,
    /// Gave its core away and had none since: what it misses shows at a later look.
    away: bool,
}

impl DeviceTime {
    /// Of all threads that these processes have now.
    pub(crate) fn of(processes: &[u32]) -> Self {
        let accounts = processes.iter().flat_map(|&id| ThreadAccount::all_of(id));
        let thread = |account: ThreadAccount| {
            let (turns, spent) = account.turns().zip(account.spent())?;
            let seen = Seen { turns, spent, away: false };
            Some(Thread { account, first: seen, seen, gone: Vec::new(), slept_ns: 0 })
        };
        Self { threads: accounts.filter_map(thread).collect(), ..Self::default() }
    }

    /// A trial begins.
    pub(crate) fn begin(&mut self, at_ns: u64) {
        (self.began_ns, self.looked_ns) = (at_ns, at_ns);
        for thread in &mut self.threads {
            thread.look(at_ns, at_ns);
            thread.first = thread.seen;
            thread.gone.clear();
            thread.slept_ns = 0;
        }
    }

    /// Looks at its threads once more.
    pub(crate) fn look(&mut self, at_ns: u64) {
        for thread in &mut self.threads {
            thread.look(self.looked_ns, at_ns);
        }
        self.looked_ns = at_ns;
    }

    /// The trial is over: when a worker was away, and who. From now on only those threads are
    /// looked at that poll.
    pub(crate) fn end(&mut self, at_ns: u64) -> Vec<Gone> {
        self.look(at_ns);
        for thread in &mut self.threads {
            thread.slept_ns += thread.sleeps_since(at_ns - self.began_ns);
        }
        let most_ns = (SLEEPS * (at_ns - self.began_ns) as f64) as u64;
        // What is too short to have an opinion is asked again.
        self.threads.retain(|thread| thread.slept_ns <= most_ns.max(20 * SHORTEST_NS));
        let polls = self.threads.iter_mut().filter(|thread| thread.slept_ns <= most_ns);
        polls.flat_map(|thread| std::mem::take(&mut thread.gone)).collect()
    }
}

impl Thread {
    fn look(&mut self, from_ns: u64, at_ns: u64) {
        let Some(turns) = self.account.turns() else { return };
        // Who was given no core since had one all of the time, or has none yet.
        if turns.turns == self.seen.turns.turns {
            return;
        }
        let Some(spent) = self.account.spent() else { return };
        let now = self.seen.then(turns, spent);
        let [slept, waited] = self.seen.until(now);
        self.slept_ns += if slept.slept { slept.missing_ns } else { 0 };
        self.gone.extend([slept, waited].into_iter().filter_map(|it| gone(it, from_ns, at_ns)));
        self.seen = now;
    }

    /// How long it has been asleep where it sleeps now, which no look has told yet.
    fn sleeps_since(&self, trial_ns: u64) -> u64 {
        let told_ns = self.seen.spent.as_of_ns.saturating_sub(self.first.spent.as_of_ns);
        if self.seen.away { trial_ns.saturating_sub(told_ns) } else { 0 }
    }
}

impl Seen {
    /// The next look.
    fn then(self, turns: Turns, spent: Spent) -> Self {
        let gave_away = spent.gave_away > self.spent.gave_away;
        Self { turns, spent, away: gave_away && spent.taken_off >= turns.turns }
    }

    /// What became of the time until another look: what was missing, and what it waited.
    fn until(self, now: Self) -> [Account; 2] {
        let waited_ns = now.turns.waited_ns.saturating_sub(self.turns.waited_ns);
        let passed_ns = now.spent.as_of_ns.saturating_sub(self.spent.as_of_ns);
        let ran_ns = now.spent.ran_ns.saturating_sub(self.spent.ran_ns);
        let missing_ns = passed_ns.saturating_sub(ran_ns + waited_ns);
        let slept = self.away || now.spent.gave_away > self.spent.gave_away;
        [Account { missing_ns, waited_ns: 0, slept }, Account { missing_ns: 0, waited_ns, slept }]
    }
}

/// Somewhere between two looks: in the middle it is wrong by the least.
fn gone(account: Account, from_ns: u64, to_ns: u64) -> Option<Gone> {
    let length_ns = account.missing_ns + account.waited_ns;
    let between_ns = to_ns.saturating_sub(from_ns);
    // It may have gone before the last look: when it came back is known.
    let at_ns =
        (from_ns + between_ns.saturating_sub(length_ns) / 2).min(to_ns.saturating_sub(length_ns));
    let who = Who::of(Who::Device, length_ns, account);
    (length_ns >= SHORTEST_NS).then_some(Gone { at_ns, length_ns, who })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    fn seen(as_of_ms: u64, ran_ms: u64, waited_ms: u64, gave_away: u64) -> Seen {
        let turns = Turns { waited_ns: waited_ms * MS, turns: as_of_ms };
        let (as_of_ns, ran_ns) = (as_of_ms * MS, ran_ms * MS);
        let spent = Spent { as_of_ns, ran_ns, gave_away, taken_off: as_of_ms - 1 };
        Seen { turns, spent, away: false }
    }

    #[test]
    fn who_has_no_core_waits_for_one_or_has_given_it_away() {
        let of = |now| {
            let accounts = seen(100, 50, 10, 3).until(now);
            accounts.map(|it| gone(it, 200 * MS, 205 * MS).map(|it| (it.who, it.length_ns / MS)))
        };
        let (device, host) = (Some(Who::Device), Some(Who::Host));
        assert_eq!(of(seen(105, 54, 10, 4)), [Some((device, 1)), None], "stopped for 1 ms");
        assert_eq!(of(seen(105, 53, 12, 3)), [None, Some((host, 2))], "others had it for 2 ms");
        assert_eq!(of(seen(105, 52, 11, 4)), [Some((device, 2)), Some((host, 1))]);
        assert_eq!(of(seen(105, 53, 10, 3)), [Some((host, 2)), None], "nobody knows who");
        assert_eq!(of(seen(105, 55, 10, 9)), [None, None]);
    }

    #[test]
    fn of_who_is_stopped_at_a_look_the_next_look_tells() {
        let (before, mut stopped) = (seen(100, 50, 10, 3), seen(103, 53, 10, 4));
        // Has a core again, and had none for 3 of 4 ms; gave it away before the last look.
        let back = seen(107, 54, 10, 4);
        let told = |last: Seen| {
            let last = before.then(last.turns, last.spent);
            assert!(before.until(last).into_iter().all(|it| gone(it, 0, 5 * MS).is_none()));
            gone(last.until(back)[0], 5 * MS, 10 * MS).map(|it| (it.who, it.length_ns / MS))
        };
        assert_eq!(told(stopped), Some((Some(Who::Host), 3)), "had one at the look");
        stopped.spent.taken_off = stopped.turns.turns;
        assert_eq!(told(stopped), Some((Some(Who::Device), 3)));
    }

    #[test]
    fn what_began_before_the_last_look_ended_after_it() {
        let found =
            gone(Account { missing_ns: 30 * MS, waited_ns: 0, slept: true }, 100 * MS, 105 * MS);
        assert_eq!(found.map(|it| it.at_ns), Some(75 * MS));
    }

    #[test]
    fn of_threads_that_sleep_nothing_is_said_nor_of_processes_that_are_not_there() {
        // This process: its threads wait for each other.
        let mut own = DeviceTime::of(&[std::process::id()]);
        assert!(!own.threads.is_empty());
        own.begin(0);
        std::thread::sleep(Duration::from_millis(50));
        let gone = own.end(50 * MS);
        assert!(gone.iter().all(|it| it.who != Some(Who::Device)), "{gone:?}");
        let mut nobody = DeviceTime::of(&[u32::MAX]);
        nobody.begin(0);
        assert!(nobody.end(5 * MS).is_empty());
    }
}
