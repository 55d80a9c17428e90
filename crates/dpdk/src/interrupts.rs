//! Waits until DPDK's interrupt thread has done what there was for it to do.
//!
//! ```text
//!  control thread     close one end ──▶ settle ····························▶ close the other
//!  interrupt thread                     the other end's "peer gone" ▸ alarm ▸ alarm
//! ```
//! The memif driver (22.11) takes no lock: where both ends are in one process, or a peer leaves
//! just as we do, its interrupt handler would free what the control thread frees; and a socket that
//! is opened before the thread has let go of the last one of that number is taken for it. An alarm
//! is called by the same thread, so that when one set afterwards has been called, what came before
//! is done; a second one, as both may have been seen in one look.

use crate::ffi;
use core::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A thread that is stuck in a driver is not waited for.
const PATIENCE: Duration = Duration::from_secs(1);

static ALARMS: AtomicU32 = AtomicU32::new(0);

extern "C" fn alarm(_: *mut c_void) {
    ALARMS.fetch_add(1, Ordering::Release);
}

/// See the module. Not to be called by the interrupt thread itself.
pub(crate) fn settle() {
    for _ in 0..2 {
        let before = ALARMS.load(Ordering::Acquire);
        // SAFETY: the function does not look at its argument and lives as long as the program.
        if unsafe { ffi::rte_eal_alarm_set(1, alarm, core::ptr::null_mut()) } != 0 {
            return;
        }
        let began = Instant::now();
        while ALARMS.load(Ordering::Acquire) == before && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}
