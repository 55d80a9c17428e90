//! Memory that the versions of a list share: what one version has of another is not copied.
//!
//! ```text
//!  version 1 ─▶ │ blocks of both │ its own │                 │ spare │
//!  version 2 ─▶ │ blocks of both │         │ what is new     │       │
//! ```
//! A block is written before the version that has it is handed to anybody, and is not written again
//! before all versions that have it are gone. So versions are read without a lock, while another is
//! made.

#![allow(unsafe_code)] // What is read, and what is written beside it, lie in one allocation.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Items side by side, which stay where they are.
pub(crate) struct Arena<T: Copy> {
    start: NonNull<T>,
    capacity: usize,
}

// SAFETY: it owns its items, as a `Vec` does; who reads and who writes what is in `write`.
unsafe impl<T: Copy + Send> Send for Arena<T> {}
// SAFETY: the same.
unsafe impl<T: Copy + Send + Sync> Sync for Arena<T> {}

impl<T: Copy> Arena<T> {
    /// These items, and room for so many more.
    pub(crate) fn new(mut items: Vec<T>, spare: usize) -> Self {
        items.shrink_to(items.len() + spare);
        items.reserve_exact(spare);
        let mut items = ManuallyDrop::new(items);
        let capacity = items.capacity();
        Self { start: NonNull::new(items.as_mut_ptr()).unwrap_or(NonNull::dangling()), capacity }
    }

    /// Where it begins, to have lines of it fetched.
    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const T {
        self.start.as_ptr()
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.capacity * size_of::<T>()
    }

    /// An item.
    ///
    /// # Safety
    /// A version that is there has it.
    #[inline(always)]
    pub(crate) unsafe fn at(&self, index: usize) -> &T {
        debug_assert!(index < self.capacity);
        // SAFETY: it was written before the version was handed out, and stays.
        unsafe { &*self.start.as_ptr().add(index) }
    }

    /// Writes an item.
    ///
    /// # Safety
    /// It is of a block that `Space` of this arena gave to the caller alone, and no version has it.
    pub(crate) unsafe fn write(&self, index: usize, item: T) {
        assert!(index < self.capacity);
        // SAFETY: nobody reads it, and the caller alone writes it.
        unsafe { self.start.as_ptr().add(index).write(item) }
    }
}

impl<T: Copy> Drop for Arena<T> {
    fn drop(&mut self) {
        // SAFETY: it came from such a vector; its items have nothing to drop.
        drop(unsafe { Vec::from_raw_parts(self.start.as_ptr(), 0, self.capacity) });
    }
}

/// Some items of an arena: the first, and how many.
pub(crate) type Block = (u32, u32);

/// Which items of an arena are nobody's.
#[derive(Debug)]
pub(crate) struct Space {
    used: usize,
    capacity: usize,
    /// First items of blocks that are free again, by their length.
    free: BTreeMap<u32, Vec<u32>>,
}

impl Space {
    /// Of an arena whose first items are in use.
    pub(crate) fn new<T: Copy>(arena: &Arena<T>, used: usize) -> Self {
        Self { used, capacity: arena.capacity, free: BTreeMap::new() }
    }

    /// A block of so many items, if there is room.
    pub(crate) fn take(&mut self, count: usize) -> Option<Block> {
        let length = u32::try_from(count).ok()?;
        if let Some(first) = self.free.get_mut(&length).and_then(Vec::pop) {
            return Some((first, length));
        }
        let end = self.used.checked_add(count).filter(|end| *end <= self.capacity)?;
        let first = u32::try_from(std::mem::replace(&mut self.used, end)).ok()?;
        Some((first, length))
    }

    /// Nobody has this block any more.
    pub(crate) fn give_back(&mut self, (first, length): Block) {
        if length > 0 {
            self.free.entry(length).or_default().push(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_given_again_when_they_came_back_and_no_more_than_there_are() {
        let arena = Arena::new(vec![1u64, 2], 5);
        let mut space = Space::new(&arena, 2);
        let (two, three) = (space.take(2).unwrap(), space.take(3).unwrap());
        assert_eq!((two, three), ((2, 2), (4, 3)));
        assert_eq!(space.take(1), None);
        space.give_back(two);
        assert_eq!(space.take(3), None);
        assert_eq!(space.take(2), Some(two));
        // SAFETY: the block is ours, and then read as of a version.
        unsafe {
            arena.write(2, 9);
            assert_eq!((*arena.at(1), *arena.at(2)), (2, 9));
        }
        assert_eq!(arena.bytes(), 56);
    }

    #[test]
    fn an_arena_of_nothing_has_no_room() {
        let arena = Arena::<u64>::new(Vec::new(), 0);
        assert_eq!((Space::new(&arena, 0).take(1), arena.bytes()), (None, 0));
    }
}
