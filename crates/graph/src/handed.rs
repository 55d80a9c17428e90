//! A value that nodes of one worker hand to each other: who is called takes it, and puts it back
//! when it is done.
//!
//! ```text
//!  node A   take ── changes it ── put back
//!  node B                                    take ── reads it ── put back
//! ```
//! Nodes of a worker are called one after the other, so nobody ever waits, and nothing locks: each
//! taking is one exchange of a pointer. Where somebody else has it, there is none to be had.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// See the module.
pub struct Handed<T>(Arc<Place<T>>);

struct Place<T>(AtomicPtr<T>);

impl<T> Clone for Handed<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Send + Default> Default for Handed<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Send> Handed<T> {
    /// A value that nobody has yet.
    pub fn new(value: T) -> Self {
        Self(Arc::new(Place(AtomicPtr::new(Box::into_raw(Box::new(value))))))
    }

    /// The value, until the guard goes; none while another has it.
    #[inline]
    pub fn take(&self) -> Option<Taken<'_, T>> {
        let value = NonNull::new(self.0.0.swap(null_mut(), Ordering::Acquire))?;
        Some(Taken { value, place: &self.0 })
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        let value = *self.0.get_mut();
        if !value.is_null() {
            // SAFETY: made by Box::into_raw, and whoever took it has put it back: guards borrow
            // what holds the place.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

/// The value, taken.
pub struct Taken<'a, T> {
    value: NonNull<T>,
    place: &'a Place<T>,
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the exchange gave the pointer to this guard alone; the value lives in a box that
        // is freed with the place, which the guard borrows.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed mutably.
        unsafe { self.value.as_mut() }
    }
}

impl<T> Drop for Taken<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.place.0.store(self.value.as_ptr(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time_and_finds_what_the_last_left() {
        let handed = Handed::new(vec![1]);
        let other = handed.clone();
        {
            let mut taken = handed.take().unwrap();
            assert!(other.take().is_none());
            taken.push(2);
        }
        assert_eq!(*other.take().unwrap(), [1, 2]);
        drop(handed);
        assert_eq!(other.take().unwrap().len(), 2);
    }
}
