//! Keeps a memif's shared memory in place while a worker is in it.
//!
//! ```text
//!  worker            ├─ burst: reads rings in shared memory ─┤
//!  interrupt thread     peer died: link down ▸ munmap … waits ▸ unmapped
//! ```
//! When a memif's peer dies, the driver (22.11 to 24.11, both roles) unmaps the shared memory from
//! DPDK's interrupt thread without waiting for a burst in progress, which then touches nothing and
//! ends the process. The driver marks the link down first, and later bursts look at that mark; so
//! it is enough that its `munmap` waits for bursts that already began. As the program's own
//! `munmap` comes before the C library's, this one is what the driver calls.

use crate::ffi;
use crate::gate;
use crate::queue::Queue;
use core::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

static GUARDED: Mutex<Vec<Weak<Queue>>> = Mutex::new(Vec::new());

fn guarded() -> MutexGuard<'static, Vec<Weak<Queue>>> {
    GUARDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on bursts on these queues are waited for.
pub(crate) fn guard<'q>(queues: impl Iterator<Item = &'q Arc<Queue>>) {
    let mut list = guarded();
    list.retain(|queue| queue.strong_count() > 0);
    list.extend(queues.map(Arc::downgrade));
}

/// The C library's call, for all of the program.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    // SAFETY: a look at the thread's identity.
    if unsafe { ffi::rte_thread_is_intr() } != 0 {
        let queues: Vec<_> = guarded().iter().filter_map(Weak::upgrade).collect();
        gate::wait_for_bursts(queues.iter().map(|queue| &queue.gate));
    }
    // SAFETY: the caller's word. The system call sets errno as the C library's function does.
    unsafe { libc::syscall(libc::SYS_munmap, address, length) as c_int }
}
