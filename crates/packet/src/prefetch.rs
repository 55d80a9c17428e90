//! Asking the cache for a line before it is needed. The memory behind L2 costs hundreds of cycles.

/// Prefetches the line of `address` for reading, into every cache level.
#[inline(always)]
pub fn prefetch_read<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch is a hint; it faults on no address.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = address;
}

/// Prefetches the line of `address` for writing.
#[inline(always)]
pub fn prefetch_write<T>(address: *mut T) {
    prefetch_read(address.cast_const());
}
