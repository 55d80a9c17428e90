//! Who was it, when the generator's thread was held up? Its own processor time says so.
//!
//! ```text
//! look ──── turns ──── turns ─── away ──┤ explain: since the look it ran so long, waited so long;
//!                                       │ what is left it slept, was stopped, or a hypervisor took
//! ```
//! Looks in between keep what little is lost between stalls from adding up. One takes 2 µs.

use lab_record::{Account, Who};

use rustix::time::{ClockId, clock_gettime};

use crate::thread_account::ThreadAccount;

/// Shorter stalls are not worth the look.
const SHORTEST_NS: u64 = 200_000;

/// The processor time of the thread that made it.
pub(crate) struct OwnTime {
    account: Option<ThreadAccount>,
    seen: Seen,
}

/// Times until a look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    wall_ns: u64,
    ran_ns: u64,
    waited_ns: u64,
    /// How often it gave its core away.
    gave: u64,
}

impl OwnTime {
    pub(crate) fn new(now_ns: u64) -> Self {
        let mut own = Self { account: ThreadAccount::own(), seen: Seen::default() };
        own.seen = own.times(now_ns).unwrap_or_default();
        own.seen.gave = own.gave();
        own
    }

    fn times(&self, wall_ns: u64) -> Option<Seen> {
        // Of another thread the kernel would tell it as of the last tick; of our own it is exact.
        let ran = clock_gettime(ClockId::ThreadCPUTime);
        let ran_ns = ran.tv_sec as u64 * 1_000_000_000 + ran.tv_nsec as u64;
        let waited_ns = self.account.as_ref()?.turns()?.waited_ns;
        Some(Seen { wall_ns, ran_ns, waited_ns, gave: self.seen.gave })
    }

    fn gave(&self) -> u64 {
        self.account.as_ref().and_then(ThreadAccount::gave_away).unwrap_or_default()
    }

    /// Takes note of the time that it had until now.
    pub(crate) fn look(&mut self, now_ns: u64) {
        self.seen = self.times(now_ns).unwrap_or(self.seen);
    }

    /// Who held it up, that long until now; none where it ran, or the kernel does not tell.
    pub(crate) fn explain(&mut self, now_ns: u64, away_ns: u64) -> Option<Who> {
        if away_ns < SHORTEST_NS {
            return None;
        }
        let (before, now) = (self.seen, self.times(now_ns)?);
        let gave = self.gave();
        self.seen = Seen { gave, ..now };
        Who::of(Who::Generator, away_ns, before.until(Seen { gave, ..now }, away_ns))
    }
}

impl Seen {
    /// What became of the time since, of which so much is asked after.
    fn until(self, now: Self, away_ns: u64) -> Account {
        let waited_ns = now.waited_ns.saturating_sub(self.waited_ns);
        let had_ns = now.ran_ns.saturating_sub(self.ran_ns) + waited_ns;
        let missing_ns = now.wall_ns.saturating_sub(self.wall_ns).saturating_sub(had_ns);
        Account {
            missing_ns: missing_ns.min(away_ns),
            waited_ns: waited_ns.min(away_ns),
            slept: now.gave > self.gave,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use std::time::Duration;

    #[test]
    fn a_thread_that_sleeps_held_itself_up() {
        let clock = Clock::real();
        let mut own = OwnTime::new(clock.now_ns());
        // On a machine that others keep busy it may wait for longer than it slept: not each time.
        let slept = (0..20).any(|_| {
            own.look(clock.now_ns());
            let began_ns = clock.now_ns();
            std::thread::sleep(Duration::from_millis(20));
            let now_ns = clock.now_ns();
            own.explain(now_ns, now_ns - began_ns) == Some(Who::Generator)
        });
        assert!(slept);
        assert_eq!(own.explain(clock.now_ns(), 100_000), None, "too short to be asked after");
    }

    #[test]
    fn time_is_told_apart_by_where_it_went() {
        let before = Seen { wall_ns: 1_000, ran_ns: 100, waited_ns: 10, gave: 3 };
        let now = Seen { wall_ns: 6_000, ran_ns: 2_100, waited_ns: 510, gave: 4 };
        let account = Account { missing_ns: 2_500, waited_ns: 500, slept: true };
        assert_eq!(before.until(now, 4_000), account);
        assert_eq!(before.until(now, 2_000).missing_ns, 2_000, "of this stall no more");
    }
}
