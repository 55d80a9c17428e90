//! When a worker without packets rests, and for how long.
//!
//! ```text
//!  since the last packet   < 0.2 ms    < 20 ms     < 1 s        < 10 s     longer
//!  the worker              spins       naps 20 us  naps 200 us  naps 1 ms  naps 4 ms
//! ```
//! So a busy router polls without a break, and an idle worker costs about a hundredth of a core:
//! 0.9 to 1.3 % on a virtual machine with other work, 240 ends of naps a second of 45 us each.

use crate::clock::tsc_hz;
use std::time::Duration;

/// How late the system ends a rest, where timers have their usual slack of 50 us.
const LATE_US: u64 = 70;

/// What a worker does while there are no packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Idle {
    /// Rests a little longer the longer it is idle.
    #[default]
    Adaptive,
    /// Polls without a break.
    Poll,
}

/// Remembers when packets last came.
#[derive(Debug)]
pub struct IdlePolicy {
    idle: Idle,
    last_packet_tsc: u64,
    cycles_per_us: u64,
}

impl IdlePolicy {
    /// As if a packet had come just now.
    pub fn new(idle: Idle, now_tsc: u64) -> Self {
        Self { idle, last_packet_tsc: now_tsc, cycles_per_us: (tsc_hz() / 1_000_000).max(1) }
    }

    /// The same, where somebody is to be called at `due_tsc`: a rest ends before, and none is begun
    /// that could outlast it.
    #[inline]
    pub fn until(&mut self, due_tsc: u64, received: usize, now_tsc: u64) -> Option<Duration> {
        let rest = self.rest(received, now_tsc)?;
        let left_us = due_tsc.saturating_sub(now_tsc) / self.cycles_per_us;
        match left_us.checked_sub(LATE_US) {
            None | Some(0) => None,
            Some(us) => Some(rest.min(Duration::from_micros(us))),
        }
    }

    /// How long to rest after a pass that received so many packets.
    #[inline]
    pub fn rest(&mut self, received: usize, now_tsc: u64) -> Option<Duration> {
        if received != 0 || self.idle == Idle::Poll {
            self.last_packet_tsc = now_tsc;
            return None;
        }
        match now_tsc.saturating_sub(self.last_packet_tsc) / self.cycles_per_us {
            0..200 => None,
            200..20_000 => Some(Duration::from_micros(20)),
            20_000..1_000_000 => Some(Duration::from_micros(200)),
            1_000_000..10_000_000 => Some(Duration::from_millis(1)),
            _ => Some(Duration::from_millis(4)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_grows_with_quiet_and_ends_with_a_packet() {
        let us = (tsc_hz() / 1_000_000).max(1);
        let mut policy = IdlePolicy::new(Idle::Adaptive, 0);
        assert_eq!(policy.rest(0, 100 * us), None);
        assert_eq!(policy.rest(0, 300 * us), Some(Duration::from_micros(20)));
        assert_eq!(policy.rest(0, 100_000 * us), Some(Duration::from_micros(200)));
        assert_eq!(policy.rest(0, 3_000_000 * us), Some(Duration::from_millis(1)));
        assert_eq!(policy.rest(0, 30_000_000 * us), Some(Duration::from_millis(4)));
        assert_eq!(policy.rest(1, 30_000_001 * us), None);
        assert_eq!(policy.rest(0, 30_000_100 * us), None);
    }

    #[test]
    fn a_rest_ends_before_what_is_due() {
        let us = (tsc_hz() / 1_000_000).max(1);
        let mut policy = IdlePolicy::new(Idle::Adaptive, 0);
        let now = 3_000_000 * us;
        assert_eq!(policy.until(u64::MAX, 0, now), Some(Duration::from_millis(1)));
        assert_eq!(policy.until(now + 570 * us, 0, now), Some(Duration::from_micros(500)));
        assert_eq!(policy.until(now + 60 * us, 0, now), None);
        assert_eq!(policy.until(now - 1, 0, now), None);
    }

    #[test]
    fn a_polling_worker_never_rests() {
        let mut policy = IdlePolicy::new(Idle::Poll, 0);
        assert_eq!(policy.rest(0, u64::MAX), None);
    }
}
