//! What time it is for a scheduler.
//!
//! ```text
//!  due ├──────── worker is away ────────┤ now
//!      ▲ here the scheduler goes on, step by step, until it is level with now
//! ```
//! A worker that comes late would lose what the link could have carried meanwhile: a bucket holds
//! no more than its burst. So while packets wait, a scheduler's time stands still at the moment for
//! which it asked to be called, and what it owed since leaves at once, but not for longer than
//! [`MOST_LATE_NS`]. Idle time, in which nothing waited, is worth no more than the burst.

use graph::tsc_hz;

/// What a late worker makes up for at most. A longer gap would come back as a queue of that length
/// in whatever stands behind the shaper.
pub(super) const MOST_LATE_NS: u64 = 20_000_000;

/// What is no lateness: half of what buckets hold by default. So a worker that is in time pays for
/// one look at a scheduler, and one that was away for as few as cover the gap.
pub(super) const STEP_NS: u64 = 50_000;

/// When a scheduler in which packets wait asked to be called.
#[derive(Clone, Copy, Default)]
pub(super) struct Due(Option<u64>);

impl Due {
    /// Packets wait until then.
    pub(super) fn at(ns: u64) -> Self {
        Self(Some(ns))
    }

    /// The time that the scheduler goes on with. It never goes back.
    #[inline]
    pub(super) fn resume(self, now_ns: u64) -> u64 {
        match self.0 {
            Some(due_ns) if due_ns.saturating_add(STEP_NS) < now_ns => {
                due_ns.max(now_ns.saturating_sub(MOST_LATE_NS))
            }
            Some(_) | None => now_ns,
        }
    }
}

/// From TSC cycles to nanoseconds and back, in fixed point. It says the same on all workers, since
/// several may serve one tree.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    ns_per_cycle: u64,
}

const SHIFT: u32 = 32;

impl Clock {
    pub(super) fn new() -> Self {
        let hz = u128::from(tsc_hz().max(1));
        let ns_per_cycle = ((1_000_000_000u128 << SHIFT) / hz).max(1) as u64;
        Self { ns_per_cycle }
    }

    #[inline]
    pub(super) fn ns(self, tsc: u64) -> u64 {
        ((u128::from(tsc) * u128::from(self.ns_per_cycle)) >> SHIFT) as u64
    }

    /// The first moment at which [`Clock::ns`] says so much.
    pub(super) fn tsc(self, ns: u64) -> u64 {
        let cycles = (u128::from(ns) << SHIFT).div_ceil(u128::from(self.ns_per_cycle));
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_cycles_is_never_early() {
        let clock = Clock::new();
        for ns in [0, 1, 999, 1_000_000, 86_400_000_000_000] {
            assert!(clock.ns(clock.tsc(ns)) >= ns);
            assert!(ns == 0 || clock.ns(clock.tsc(ns) - 1) < ns);
        }
    }

    #[test]
    fn time_goes_on_where_packets_were_due_but_not_too_far_back() {
        let now = 1_000_000_000;
        assert_eq!(Due::default().resume(now), now, "nothing waits");
        assert_eq!(Due::at(now + 5).resume(now), now, "called before it is due");
        assert_eq!(Due::at(now - 5_000_000).resume(now), now - 5_000_000);
        assert_eq!(Due::at(7).resume(now), now - MOST_LATE_NS);
        assert_eq!(Due::at(now - STEP_NS).resume(now), now, "in time");
        assert_eq!(Due::at(7).resume(STEP_NS + 8), 7);
    }
}
