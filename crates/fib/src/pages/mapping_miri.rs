//! The same of Rust's own memory, for Miri: it maps nothing that could not be read, and knows of
//! its own allocator's memory what is used after its end.

#![allow(unsafe_code)] // Memory of a layout.

use super::{PageSize, STEP_BYTES};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;

pub(super) fn reserve(bytes: usize) -> io::Result<NonNull<u8>> {
    let layout = Layout::from_size_align(bytes, STEP_BYTES).map_err(io::Error::other)?;
    // SAFETY: a layout of some size: arrays have at least one item.
    NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory.into())
}

/// # Safety
/// As for pages.
pub(super) unsafe fn open(_: NonNull<u8>, _: usize, _: PageSize) -> io::Result<()> {
    Ok(())
}

/// # Safety
/// As for pages.
pub(super) unsafe fn resident(_: NonNull<u8>, usable: usize) -> usize {
    usable
}

/// # Safety
/// As for pages.
pub(super) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    if let Ok(layout) = Layout::from_size_align(bytes, STEP_BYTES) {
        // SAFETY: the layout that it was allocated with; the caller's word.
        unsafe { dealloc(base.as_ptr(), layout) };
    }
}
