//! Threads as DPDK knows them: a registered one has its own cache in front of every pool.
//!
//! A thread registers itself when it first touches a pool and leaves when it ends. DPDK knows at
//! most 127 such threads; the next ones work without a cache.

use crate::ffi;

struct Registration {
    registered: bool,
}

impl Registration {
    fn new() -> Self {
        // SAFETY: DPDK runs: a pool or a queue is at hand. The main thread and threads registered
        // before are left as they are.
        Self { registered: unsafe { ffi::rte_thread_register() } == 0 }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if self.registered {
            // SAFETY: this thread registered itself.
            unsafe { ffi::rte_thread_unregister() };
        }
    }
}

thread_local! {
    static REGISTRATION: Registration = Registration::new();
}

/// Registers the calling thread, if it is not yet. Cheap when it is.
#[inline]
pub(crate) fn register() -> bool {
    REGISTRATION.try_with(|registration| registration.registered).unwrap_or(false)
}
