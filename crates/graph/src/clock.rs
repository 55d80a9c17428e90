//! The time stamp counter.

use std::sync::OnceLock;

/// TSC cycles. Constant rate on every processor DPDK supports; about 25 cycles a read.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code)]
#[inline(always)]
pub fn tsc() -> u64 {
    // SAFETY: RDTSC reads a counter and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Nanoseconds, where there is no TSC, or nobody who knows it.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub fn tsc() -> u64 {
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

static HZ: OnceLock<u64> = OnceLock::new();

/// Has this process take the TSC for one of so many cycles a second: where a simulation says what
/// time it is ([`crate::Worker::turn_at`]). False if it was measured by then.
pub fn assume_tsc_hz(hz: u64) -> bool {
    *HZ.get_or_init(|| hz) == hz
}

/// TSC cycles a second: measured once against the system's monotonic clock, over 20 ms.
pub fn tsc_hz() -> u64 {
    use std::time::{Duration, Instant};
    *HZ.get_or_init(|| {
        let (start, start_tsc) = (Instant::now(), tsc());
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        // Both clocks are read at the end, so a stall in the loop above does no harm.
        let (cycles, elapsed) = (tsc() - start_tsc, start.elapsed());
        (cycles as f64 / elapsed.as_secs_f64()) as u64
    })
}
