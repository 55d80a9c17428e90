//! When a worker without packets rests, and for how long.
//!
//! ```text
//!  since the last packet     < 0.2 ms   longer
//!  the worker                polls      rests until a descriptor, its bell or a timer wakes it
//!  … where nobody tells      polls      naps: < 20 ms 20 us, < 1 s 200 us, < 10 s 1 ms, then 4 ms
//! ```
//! So a busy router polls without a break, and an idle worker sleeps. What the worker reads may
//! have it rest at once, or not at all: see [`Patience`]. Between polls that find nothing, others
//! on its core come first, unless something is due: most often one of them is the sender.

use crate::clock::tsc_hz;
use std::time::Duration;

/// How late the system ends a rest, where timers have their usual slack of 50 us.
const LATE_US: u64 = 70;

/// A worker that passes not even so often is taken for stuck.
const LONGEST: Duration = Duration::from_secs(1);

/// What a worker does while there are no packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Idle {
    /// Rests once it has been idle for a moment.
    #[default]
    Adaptive,
    /// Polls without a break.
    Poll,
}

/// For how long a worker polls without packets before it rests, as what it reads has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Patience {
    /// Not at all.
    None,
    /// For a moment: the next packet is most often not far.
    #[default]
    Moment,
    /// For ever.
    Endless,
}

/// A moment.
const MOMENT_US: u64 = 200;

/// Passes without packets after which others on the core come first.
const PASSES: u32 = 32;

/// For as long another may have the core, once it has it: longer than a slice of Linux's.
const AWAY_US: u64 = 5_000;

/// Remembers when packets last came.
#[derive(Debug)]
pub struct IdlePolicy {
    idle: Idle,
    patience: Patience,
    last_packet_tsc: u64,
    /// Passes since.
    passes: u32,
    cycles_per_us: u64,
}

impl IdlePolicy {
    /// As if a packet had come just now.
    pub fn new(idle: Idle, now_tsc: u64) -> Self {
        let cycles_per_us = (tsc_hz() / 1_000_000).max(1);
        Self {
            idle,
            patience: Patience::Moment,
            last_packet_tsc: now_tsc,
            passes: 0,
            cycles_per_us,
        }
    }

    /// Whether it is so long since packets came that a rest pays, after a pass that received so
    /// many.
    #[inline]
    pub fn is_quiet(&mut self, received: usize, now_tsc: u64) -> bool {
        if received != 0 || self.idle == Idle::Poll {
            self.last_packet_tsc = now_tsc;
            self.passes = 0;
            return false;
        }
        self.passes = self.passes.saturating_add(1);
        self.patience == Patience::None || self.quiet_us(now_tsc) >= MOMENT_US
    }

    /// Whether whoever else waits for the core may have it before the next pass, where nobody is to
    /// be called before they give it back. One of endless patience has its core to itself.
    #[inline]
    pub fn gives_way(&self, due_tsc: u64, now_tsc: u64) -> bool {
        self.passes >= PASSES
            && self.patience != Patience::Endless
            && due_tsc.saturating_sub(now_tsc) >= AWAY_US * self.cycles_per_us
    }

    /// Goes by `patience` from now on. False where there is to be no rest: the question comes again
    /// after a moment.
    pub fn waits(&mut self, patience: Patience, now_tsc: u64) -> bool {
        self.patience = patience;
        if patience == Patience::Endless {
            self.last_packet_tsc = now_tsc;
        }
        patience != Patience::Endless
    }

    fn quiet_us(&self, now_tsc: u64) -> u64 {
        now_tsc.saturating_sub(self.last_packet_tsc) / self.cycles_per_us
    }

    /// How long a rest may be where somebody is to be called at `due_tsc`: it ends before, and none
    /// is begun that could outlast it. It is a nap where nobody tells that packets came.
    pub fn rest(&self, must_look: bool, due_tsc: u64, now_tsc: u64) -> Option<Duration> {
        let longest = if must_look { self.nap(now_tsc) } else { LONGEST };
        let left_us = due_tsc.saturating_sub(now_tsc) / self.cycles_per_us;
        match left_us.checked_sub(LATE_US) {
            None | Some(0) => None,
            Some(us) => Some(longest.min(Duration::from_micros(us))),
        }
    }

    /// The longer nothing came, the longer.
    fn nap(&self, now_tsc: u64) -> Duration {
        match self.quiet_us(now_tsc) {
            0..20_000 => Duration::from_micros(20),
            20_000..1_000_000 => Duration::from_micros(200),
            1_000_000..10_000_000 => Duration::from_millis(1),
            _ => Duration::from_millis(4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: u64 = u64::MAX;

    fn cycles_per_us() -> u64 {
        (tsc_hz() / 1_000_000).max(1)
    }

    #[test]
    fn it_is_quiet_a_moment_after_the_last_packet() {
        let us = cycles_per_us();
        let mut policy = IdlePolicy::new(Idle::Adaptive, 0);
        assert!(!policy.is_quiet(0, 100 * us));
        assert!(policy.is_quiet(0, 300 * us));
        assert!(!policy.is_quiet(1, 30_000_001 * us));
        assert!(!policy.is_quiet(0, 30_000_100 * us));
    }

    #[test]
    fn patience_is_none_a_moment_or_endless() {
        let us = cycles_per_us();
        let mut policy = IdlePolicy::new(Idle::Adaptive, 0);
        assert!(policy.waits(Patience::None, 0));
        assert!(
            policy.is_quiet(0, us) && !policy.is_quiet(1, 2 * us) && policy.is_quiet(0, 3 * us)
        );
        assert!(!policy.waits(Patience::Endless, 10 * us));
        assert!(!policy.is_quiet(0, 200 * us), "asked again after a moment, and not before");
        assert!(policy.is_quiet(0, 211 * us));
        assert!(policy.waits(Patience::Moment, 300 * us));
        assert!(!policy.is_quiet(1, 400 * us) && !policy.is_quiet(0, 500 * us));
    }

    #[test]
    fn naps_grow_with_quiet_where_nobody_tells() {
        let (us, policy) = (cycles_per_us(), IdlePolicy::new(Idle::Adaptive, 0));
        let nap = |quiet_us: u64| policy.rest(true, NEVER, quiet_us * us);
        assert_eq!(nap(300), Some(Duration::from_micros(20)));
        assert_eq!(nap(100_000), Some(Duration::from_micros(200)));
        assert_eq!(nap(3_000_000), Some(Duration::from_millis(1)));
        assert_eq!(nap(30_000_000), Some(Duration::from_millis(4)));
    }

    #[test]
    fn a_rest_ends_before_what_is_due() {
        let (us, policy) = (cycles_per_us(), IdlePolicy::new(Idle::Adaptive, 0));
        let now = 3_000_000 * us;
        let rest = |due_tsc| policy.rest(false, due_tsc, now);
        assert_eq!(rest(NEVER), Some(LONGEST));
        assert_eq!(rest(now + 570 * us), Some(Duration::from_micros(500)));
        assert_eq!(rest(now + 60 * us), None);
        assert_eq!(rest(now - 1), None);
    }

    #[test]
    fn others_come_first_after_passes_without_packets_unless_something_is_due() {
        let us = cycles_per_us();
        let mut policy = IdlePolicy::new(Idle::Adaptive, 0);
        for _ in 1..PASSES {
            assert!(!policy.is_quiet(0, us) && !policy.gives_way(NEVER, us));
        }
        assert!(!policy.is_quiet(0, us) && policy.gives_way(NEVER, us));
        assert!(policy.gives_way(5_001 * us, us));
        assert!(!policy.gives_way(5_000 * us, us));
        assert!(!policy.gives_way(0, us), "overdue");
        policy.waits(Patience::Endless, us);
        assert!(!policy.is_quiet(0, us) && !policy.gives_way(NEVER, us));
        policy.waits(Patience::Moment, us);
        assert!(!policy.is_quiet(0, us) && policy.gives_way(NEVER, us));
        assert!(!policy.is_quiet(1, 2 * us) && !policy.gives_way(NEVER, 2 * us));
    }

    #[test]
    fn a_polling_worker_never_rests_nor_gives_way() {
        let mut policy = IdlePolicy::new(Idle::Poll, 0);
        for _ in 0..2 * PASSES {
            assert!(!policy.is_quiet(0, u64::MAX) && !policy.gives_way(NEVER, 0));
        }
    }
}
