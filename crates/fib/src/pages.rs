//! Memory that tables are made of: a fixed range of addresses that fills in steps.
//!
//! ```text
//!  base                    len                          capacity
//!   |======= readable =======|------- reserved, no memory ------|
//!           grows in 2 MiB steps -->
//! ```
//!
//! The range is reserved whole at start, so it never moves: readers keep plain pointers while the
//! writer grows it, and growing touches nothing that exists. Fresh memory reads as zeros. Pages
//! are given by the kernel as they are first written; on request it is asked to make them huge,
//! which saves a lookup most of its TLB misses.

#![allow(unsafe_code)] // Mapped bytes must be seen as a slice.

#[cfg_attr(miri, path = "pages/mapping_miri.rs")]
mod mapping;

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::FibError;

/// How much is added at a time: one huge page.
const STEP_BYTES: usize = 2 << 20;

/// Which pages to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// Huge pages where the kernel has them.
    Huge,
    /// Ordinary pages: less memory for a sparse table.
    Small,
}

impl PageSize {
    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        match self {
            PageSize::Huge => STEP_BYTES,
            PageSize::Small => 4096,
        }
    }
}

/// A type that is valid when all its bytes are zero, and that threads may share.
///
/// # Safety
/// All-zero bytes are a valid value, it needs no drop, and it is changed through atomics only.
pub unsafe trait Zeroed: Sync + Send {}

// SAFETY: an atomic integer of value 0 is all zeros.
unsafe impl Zeroed for AtomicU8 {}
// SAFETY: as above.
unsafe impl Zeroed for AtomicU16 {}
// SAFETY: as above.
unsafe impl Zeroed for AtomicU32 {}
// SAFETY: as above.
unsafe impl Zeroed for AtomicU64 {}
// SAFETY: an array of valid values is valid.
unsafe impl<T: Zeroed, const N: usize> Zeroed for [T; N] {}

/// An array of at most `capacity` items, that grows without moving.
#[derive(Debug)]
pub struct PagedArray<T> {
    name: &'static str,
    base: NonNull<T>,
    capacity: usize,
    mapped_bytes: usize,
    usable_bytes: AtomicUsize,
    page_size: PageSize,
}

// SAFETY: the array owns its mapping, and hands out shared references to `Zeroed` (Sync) items
// only.
unsafe impl<T: Zeroed> Send for PagedArray<T> {}
// SAFETY: as above.
unsafe impl<T: Zeroed> Sync for PagedArray<T> {}

impl<T: Zeroed> PagedArray<T> {
    /// Reserves addresses for `capacity` items; no item is there yet. `name` is for errors.
    pub fn reserve(
        name: &'static str,
        capacity: usize,
        page_size: PageSize,
    ) -> Result<PagedArray<T>, FibError> {
        let full = FibError::Full { table: name, unit: "items", capacity };
        let Some(bytes) = capacity.max(1).checked_mul(size_of::<T>().max(1)) else {
            return Err(full);
        };
        let Some(bytes) = bytes.checked_next_multiple_of(STEP_BYTES) else { return Err(full) };
        let base = mapping::reserve(bytes)
            .map_err(|source| FibError::NoMemory { table: name, bytes, source })?
            .cast::<T>();
        let usable_bytes = AtomicUsize::new(0);
        Ok(PagedArray { name, base, capacity, mapped_bytes: bytes, usable_bytes, page_size })
    }

    /// Reserves `capacity` items and makes all of them usable.
    pub fn filled(
        name: &'static str,
        capacity: usize,
        page_size: PageSize,
    ) -> Result<PagedArray<T>, FibError> {
        let array = PagedArray::reserve(name, capacity, page_size)?;
        array.grow(capacity)?;
        Ok(array)
    }

    /// Makes at least `items` usable. Only the table's writer calls it.
    pub fn grow(&self, items: usize) -> Result<(), FibError> {
        if items > self.capacity {
            let capacity = self.capacity;
            return Err(FibError::Full { table: self.name, unit: "items", capacity });
        }
        let have = self.usable_bytes.load(Ordering::Relaxed);
        let want = (items * size_of::<T>()).next_multiple_of(STEP_BYTES).min(self.mapped_bytes);
        if want <= have {
            return Ok(());
        }
        let bytes = want - have;
        // SAFETY: `have..want` lies inside the mapping, and nobody has a reference into it yet.
        unsafe { mapping::open(self.base.cast().byte_add(have), bytes, self.page_size) }
            .map_err(|source| FibError::NoMemory { table: self.name, bytes, source })?;
        self.usable_bytes.store(want, Ordering::Release);
        Ok(())
    }

    /// The item at `index`, if the array has grown that far.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items().get(index)
    }

    /// All usable items.
    #[inline]
    pub fn items(&self) -> &[T] {
        let usable = self.usable_bytes.load(Ordering::Acquire) / size_of::<T>().max(1);
        // SAFETY: the first `usable_bytes` are mapped for as long as `self` lives, zeroed or
        // written as `T`, which is `Zeroed`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), usable.min(self.capacity)) }
    }

    /// Where the items begin: fixed for the life of the array. For kernels that prefetch.
    #[inline]
    pub fn base(&self) -> *const T {
        self.base.as_ptr()
    }

    /// How many items it may ever hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many bytes the kernel has given memory to.
    pub fn resident_bytes(&self) -> usize {
        // SAFETY: so many lie inside the mapping.
        unsafe { mapping::resident(self.base.cast(), self.usable_bytes()) }
    }

    /// How many bytes are usable now; the kernel gives memory to those that were written.
    pub fn usable_bytes(&self) -> usize {
        self.usable_bytes.load(Ordering::Relaxed)
    }
}

impl<T> Drop for PagedArray<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is this array's own, and no reference outlives it.
        unsafe { mapping::unmap(self.base.cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_read_zero_then_what_was_stored() {
        let array = PagedArray::<AtomicU32>::filled("test", 1000, PageSize::Small).unwrap();
        assert!(array.items().iter().all(|item| item.load(Ordering::Relaxed) == 0));
        array.items()[999].store(7, Ordering::Relaxed);
        assert_eq!(array.get(999).unwrap().load(Ordering::Relaxed), 7);
        assert!(array.get(1000).is_none());
    }

    #[test]
    fn growing_keeps_what_is_there_and_where_it_is() {
        let array = PagedArray::<AtomicU64>::reserve("test", 1 << 20, PageSize::Huge).unwrap();
        assert!(array.get(0).is_none());
        array.grow(1).unwrap();
        let base = array.base();
        array.items()[0].store(7, Ordering::Relaxed);
        array.grow(1 << 20).unwrap();
        assert_eq!(array.base(), base);
        assert_eq!(array.base().addr() % STEP_BYTES, 0);
        assert_eq!(array.items()[0].load(Ordering::Relaxed), 7);
        array.items()[(1 << 20) - 1].store(1, Ordering::Relaxed);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no pages")]
    fn memory_is_taken_where_it_is_written() {
        let array = PagedArray::<[AtomicU64; 512]>::filled("test", 6000, PageSize::Small).unwrap();
        assert_eq!(array.resident_bytes(), 0);
        for index in [0, 100, 5999] {
            array.items()[index][0].store(1, Ordering::Relaxed);
        }
        assert_eq!(array.resident_bytes(), 3 * 4096);
        assert!(array.usable_bytes() >= 6000 * 4096);
    }

    #[test]
    fn growing_past_the_capacity_is_refused() {
        let array = PagedArray::<AtomicU32>::reserve("test table", 10, PageSize::Small).unwrap();
        let error = array.grow(11).unwrap_err().to_string();
        assert!(error.contains("test table") && error.contains("10"), "{error}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri gives up where memory ends")]
    fn more_addresses_than_there_are_is_an_error() {
        let error = PagedArray::<AtomicU64>::reserve("huge", 1 << 50, PageSize::Small).unwrap_err();
        assert!(matches!(error, FibError::NoMemory { table: "huge", .. }));
    }
}
