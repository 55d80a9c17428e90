//! The two clocks: cycles for lookups, this thread's processor time for changes.

#![allow(unsafe_code)] // Both are read by calls that the compiler cannot check.

use std::time::Duration;

/// The time-stamp counter.
pub(crate) fn time_stamp() -> u64 {
    // SAFETY: every x86-64 machine has it, and it touches nothing.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// How long this thread ran: others on the machine do not count.
pub(crate) fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the structure it is given, and nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_go_forward() {
        let (cycles, time) = (time_stamp(), processor_time());
        let mut sum = 0u64;
        while processor_time() == time {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(time_stamp() > cycles && processor_time() > time);
    }
}
