//! The kernel's part of a range of addresses: reserved, opened step by step, given back.

#![allow(unsafe_code)] // mmap and its kin are unsafe to call.

use super::{PageSize, STEP_BYTES};
use std::io;
use std::ptr::NonNull;

/// So many bytes of addresses, whole steps on a step's boundary, no memory behind them yet.
pub(super) fn reserve(bytes: usize) -> io::Result<NonNull<u8>> {
    // One step more than needed, so that the base can sit on a huge page's boundary.
    let Some(mapped) = bytes.checked_add(STEP_BYTES) else {
        return Err(io::ErrorKind::OutOfMemory.into());
    };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice overlaps nothing.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let slack = start.addr().next_multiple_of(STEP_BYTES) - start.addr();
    // SAFETY: the slack is less than the one step that was mapped on top; both ends lie inside this
    // mapping, and nothing has a reference into them.
    unsafe {
        let base = start.byte_add(slack).cast::<u8>();
        if slack > 0 {
            libc::munmap(start, slack);
        }
        libc::munmap(base.byte_add(bytes).cast(), STEP_BYTES - slack);
        Ok(NonNull::new_unchecked(base))
    }
}

/// Makes a part readable and writable: zeros, until they are written.
///
/// # Safety
/// It is a part of what [`reserve`] gave, not opened yet.
pub(super) unsafe fn open(start: NonNull<u8>, bytes: usize, page_size: PageSize) -> io::Result<()> {
    let advice = match page_size {
        PageSize::Huge => libc::MADV_HUGEPAGE,
        PageSize::Small => libc::MADV_NOHUGEPAGE,
    };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller's word. To open what was closed invalidates no reference.
    unsafe {
        if libc::mprotect(start.as_ptr().cast(), bytes, access) != 0 {
            return Err(io::Error::last_os_error());
        }
        // Advice only: a kernel without huge pages serves ordinary ones.
        libc::madvise(start.as_ptr().cast(), bytes, advice);
    }
    Ok(())
}

/// How many of these bytes the kernel has given memory to.
///
/// # Safety
/// They lie in what [`reserve`] gave, from its beginning on.
pub(super) unsafe fn resident(base: NonNull<u8>, usable: usize) -> usize {
    const PAGE_BYTES: usize = 4096;
    let mut flags = [0u8; 4096];
    let mut resident = 0;
    for start in (0..usable).step_by(flags.len() * PAGE_BYTES) {
        let bytes = (usable - start).min(flags.len() * PAGE_BYTES);
        // SAFETY: the range lies inside the mapping, and `flags` has a byte for each page.
        let asked = unsafe {
            libc::mincore(base.byte_add(start).as_ptr().cast(), bytes, flags.as_mut_ptr().cast())
        };
        let pages = &flags[..bytes.div_ceil(PAGE_BYTES)];
        // A kernel that does not tell is taken to have given all.
        resident += match asked {
            0 => pages.iter().filter(|flags| **flags & 1 == 1).count() * PAGE_BYTES,
            _ => bytes,
        };
    }
    resident
}

/// Gives the addresses back.
///
/// # Safety
/// They are all that [`reserve`] gave, and nobody has a reference into them.
pub(super) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's word.
    unsafe {
        libc::munmap(base.as_ptr().cast(), bytes);
    }
}
