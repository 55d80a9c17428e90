//! The atomics that gates are made of, in one place: the interleavings in the crate `faults` put
//! the model checker's in their stead.

pub(crate) use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};
pub(crate) use std::thread::yield_now;
