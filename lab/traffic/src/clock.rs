//! The one clock of a trial: nanoseconds, by the processor's time stamp counter or by hand.
//!
//! ```text
//! real      now = (TSC - origin) · ns a cycle       32 cycles a look
//! stepped   now = looks · step                      a test's: the same on a machine that stalls
//! ```
//! Reading the counter is `unsafe` for the compiler alone: it touches no memory.
#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A clock; clones tell the same time.
#[derive(Debug, Clone)]
pub struct Clock(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// Counter at time 0, and nanoseconds a cycle in units of 2^-32.
    Real {
        origin: u64,
        ns_per_cycle_q32: u64,
    },
    Stepped {
        now_ns: Arc<AtomicU64>,
        step_ns: u64,
    },
}

/// Where a stepped clock begins, so that "before the trial" exists.
const STEPPED_START_NS: u64 = 1_000_000_000;

impl Clock {
    /// The machine's; takes 30 ms to measure the counter's rate against the system's clock.
    pub fn real() -> Self {
        let (began, began_tsc) = simultaneously();
        std::thread::sleep(Duration::from_millis(30));
        let (ended, ended_tsc) = simultaneously();
        let ns = (ended - began).as_nanos();
        let cycles = u128::from(ended_tsc - began_tsc).max(1);
        Self(Kind::Real { origin: began_tsc, ns_per_cycle_q32: ((ns << 32) / cycles) as u64 })
    }

    /// One that moves on by `step_ns` at each look.
    pub fn stepped(step_ns: u64) -> Self {
        Self(Kind::Stepped { now_ns: Arc::new(AtomicU64::new(STEPPED_START_NS)), step_ns })
    }

    /// The time.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match &self.0 {
            Kind::Real { origin, ns_per_cycle_q32 } => {
                let cycles = u128::from(tsc().wrapping_sub(*origin));
                ((cycles * u128::from(*ns_per_cycle_q32)) >> 32) as u64
            }
            Kind::Stepped { now_ns, step_ns } => now_ns.fetch_add(*step_ns, Ordering::Relaxed),
        }
    }

    /// Makes a stepped clock jump; a real one cannot be moved.
    pub fn jump(&self, by_ns: u64) {
        if let Kind::Stepped { now_ns, .. } = &self.0 {
            now_ns.fetch_add(by_ns, Ordering::Relaxed);
        }
    }
}

/// Both clocks at one moment: of several pairs the one read fastest, as a stall between the two
/// readings would tear them apart.
fn simultaneously() -> (Instant, u64) {
    let pair = || {
        let before = tsc();
        let now = Instant::now();
        let after = tsc();
        (after.wrapping_sub(before), now, before + after.wrapping_sub(before) / 2)
    };
    let fastest = (0..31).map(|_| pair()).min_by_key(|&(took, ..)| took);
    let (_, now, counter) = fastest.unwrap_or_else(pair);
    (now, counter)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn tsc() -> u64 {
    // SAFETY: RDTSC reads a counter and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Nanoseconds, where there is no such counter.
#[cfg(not(target_arch = "x86_64"))]
fn tsc() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clock_keeps_the_systems_time() {
        let clock = Clock::real();
        let (began, start) = (clock.now_ns(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let least = start.elapsed().as_nanos() as f64;
        let passed = (clock.now_ns() - began) as f64;
        let most = start.elapsed().as_nanos() as f64;
        // Between the two looks at the system's clock, but for the first look at ours.
        assert!(passed > 0.999 * least, "{passed} of {least}");
        assert!(passed < 1.001 * most + 1e9, "{passed} of {most}");
    }

    #[test]
    fn a_stepped_clock_moves_when_it_is_looked_at_or_pushed() {
        let clock = Clock::stepped(5);
        let other = clock.clone();
        let first = clock.now_ns();
        assert_eq!(other.now_ns(), first + 5);
        clock.jump(100);
        assert_eq!(clock.now_ns(), first + 110);
    }
}
