//! The time stamp counter.

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
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// TSC cycles a second: measured once against the system's monotonic clock, over 20 ms.
pub fn tsc_hz() -> u64 {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};
    static HZ: OnceLock<u64> = OnceLock::new();
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
