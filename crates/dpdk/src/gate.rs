//! Lets the control thread keep a worker out of a queue: to stop, change or close its port.
//!
//! ```text
//!  worker    inside = true ▸ open? ─ yes ▸ burst ▸ inside = false
//!                               └─ no ▸ inside = false, nothing received or sent
//!  control   open = false ▸ barrier in all threads ▸ wait while inside
//! ```
//! The barrier is the membarrier system call, so that a worker pays two plain stores and a load for
//! a burst. Where the kernel refuses that call the worker fences itself.

use crate::membarrier;
use crate::sync::{AtomicBool, Ordering, compiler_fence, fence, yield_now};

/// One queue's gate, shut at first.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Gate {
    open: AtomicBool,
    inside: AtomicBool,
}

impl Gate {
    /// True: the worker may touch the queue until it calls [`Gate::leave`].
    #[inline]
    pub(crate) fn enter(&self) -> bool {
        self.inside.store(true, Ordering::Relaxed);
        if membarrier::is_there() {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
        let open = self.open.load(Ordering::Acquire);
        if !open {
            self.leave();
        }
        open
    }

    /// The worker is done with the queue.
    #[inline]
    pub(crate) fn leave(&self) {
        self.inside.store(false, Ordering::Release);
    }

    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::Release);
    }
}

/// Shuts all of `gates`; when it returns no worker is in one of the queues, nor will be.
pub(crate) fn shut<'g>(gates: impl Iterator<Item = &'g Gate> + Clone) {
    for gate in gates.clone() {
        gate.open.store(false, Ordering::Relaxed);
    }
    wait_for_bursts(gates);
}

/// Waits until each burst that is in progress on a gate's queue is over.
pub(crate) fn wait_for_bursts<'g>(gates: impl Iterator<Item = &'g Gate>) {
    barrier_everywhere();
    for gate in gates {
        while gate.inside.load(Ordering::Acquire) {
            yield_now();
        }
    }
}

/// Every thread of this process passes a full barrier before this returns.
fn barrier_everywhere() {
    fence(Ordering::SeqCst);
    membarrier::everywhere();
}
