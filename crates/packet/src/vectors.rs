//! Loops over arrays, compiled once more for the vectors that this processor has.
//!
//! The baseline that Volley ships for knows 16-byte vectors alone. A loop of plain Rust over arrays
//! of integers, given to [`vectorized`], takes twice as many at once where there is AVX2.

/// Runs `work`, compiled for AVX2 where the processor has it. `work` should be all loops: what it
/// calls must be inlined to profit.
#[inline]
pub fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { with_avx2(work) };
    }
    work()
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}
