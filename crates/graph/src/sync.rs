//! The atomics that bells and published values are made of, in one place: the interleavings in the
//! crate `faults` put the model checker's in their stead.

pub(crate) use fib::quiesce::{Quiescence, Retired};
pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
