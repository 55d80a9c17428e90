//! The atomics that the publication code uses, in one place so that the model checker's test can
//! put its own in their stead.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Arc, Mutex};
