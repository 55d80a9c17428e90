//! One value that the control thread replaces while workers read it, without a lock or a wait.
//!
//! ```text
//!  publisher   set(B)          drop(A): every worker has passed a loop boundary since
//!  pointer  A ───▶ B ─────────────────────────────▶
//!  worker   │ get A │ pass │ get B │ pass │
//! ```
//! A worker's reference lives as long as the node call it was got in; workers pass between calls.
#![allow(unsafe_code)]

use crate::context::Context;
use crate::sync::{Arc, AtomicPtr, Ordering, Quiescence, Retired};
use std::ops::Deref;

/// The readers' side. Clone it into every node that reads the value.
pub struct Published<T> {
    pointer: Arc<Pointer<T>>,
}

struct Pointer<T>(AtomicPtr<T>);

impl<T> Clone for Published<T> {
    fn clone(&self) -> Self {
        Self { pointer: Arc::clone(&self.pointer) }
    }
}

impl<T: Send + Sync> Published<T> {
    /// The value as of now, for the rest of this node call.
    #[inline]
    pub fn get<'a>(&self, _call: &Context<'a>) -> &'a T {
        // SAFETY: a Context exists only inside a worker's pass over its graph, between two passings
        // of its quiescence reader; the publisher frees a value only after every reader has passed.
        unsafe { &*self.pointer.0.load(Ordering::Acquire) }
    }
}

impl<T> Drop for Pointer<T> {
    fn drop(&mut self) {
        // SAFETY: made by Box::into_raw, and this is the last holder of the pointer.
        drop(unsafe { Box::from_raw(self.0.load(Ordering::Acquire)) });
    }
}

/// The writer's side.
pub struct Publisher<T> {
    pointer: Arc<Pointer<T>>,
    retired: Retired<Box<T>>,
}

impl<T: Send + Sync> Publisher<T> {
    /// Publishes a first value.
    pub fn new(value: T, shared: &Arc<Quiescence>) -> Self {
        let pointer = AtomicPtr::new(Box::into_raw(Box::new(value)));
        Self { pointer: Arc::new(Pointer(pointer)), retired: Retired::new(Arc::clone(shared)) }
    }

    /// A readers' side.
    pub fn published(&self) -> Published<T> {
        Published { pointer: Arc::clone(&self.pointer) }
    }

    /// Replaces the value. The old one is freed by a later call, once no worker can see it.
    pub fn set(&mut self, value: T) {
        let old = self.pointer.0.swap(Box::into_raw(Box::new(value)), Ordering::AcqRel);
        // SAFETY: made by Box::into_raw, and the swap gave it to this thread alone.
        self.retired.retire(unsafe { Box::from_raw(old) });
        self.reclaim();
    }

    /// Frees what every worker has let go of.
    pub fn reclaim(&mut self) {
        self.retired.reclaim(drop);
    }
}

impl<T> Deref for Publisher<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: only `set` replaces the value, and it borrows this publisher mutably.
        unsafe { &*self.pointer.0.load(Ordering::Acquire) }
    }
}
