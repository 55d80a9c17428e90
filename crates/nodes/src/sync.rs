//! What mailboxes are made of, in one place: the interleavings in the crate `faults` put the model
//! checker's in its stead.

pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::sync::{Mutex, PoisonError};
