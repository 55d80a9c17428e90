//! Asking for a cache line before it is needed.

#![allow(unsafe_code)] // The prefetch instruction takes a raw address; it never faults.

/// Starts fetching the line of item `index` of the array at `base` into the nearest cache. The
/// item need not exist.
#[inline(always)]
pub fn prefetch<T>(base: *const T, index: usize) {
    let address = base.wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint; an address that is not mapped is ignored.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
