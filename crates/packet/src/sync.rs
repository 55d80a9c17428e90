//! What the ring between two threads is made of, in one place: the interleavings in the crate
//! `faults` put the model checker's in its stead.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
pub(crate) use core::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use std::sync::Arc;

/// A place for an item that one thread at a time has.
pub(crate) struct Slot<T>(UnsafeCell<MaybeUninit<T>>);

impl<T: Copy> Slot<T> {
    pub(crate) fn empty() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// # Safety
    /// Nobody else has the place now.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, item: T) {
        // SAFETY: the caller's word.
        unsafe { (*self.0.get()).write(item) };
    }

    /// # Safety
    /// Nobody else has the place now, and something was written into it.
    #[inline(always)]
    pub(crate) unsafe fn read(&self) -> T {
        // SAFETY: the caller's word.
        unsafe { (*self.0.get()).assume_init() }
    }
}
