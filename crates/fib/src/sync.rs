//! The atomics that publication is made of, in one place: `tests/publication.rs` puts the model
//! checker's in their stead.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};
