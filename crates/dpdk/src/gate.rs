//! Lets the control thread keep a worker out of a queue: to stop, change or close its port.
//!
//! ```text
//!  worker    inside = true ▸ open? ─ yes ▸ burst ▸ inside = false
//!                               └─ no ▸ inside = false, nothing received or sent
//!  control   open = false ▸ barrier in all threads ▸ wait while inside
//! ```
//! The barrier is the membarrier system call, so that a worker pays two plain stores and a load for
//! a burst. Where the kernel refuses that call the worker fences itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};
use std::thread;

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
        if has_membarrier() {
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
            thread::yield_now();
        }
    }
}

/// Every thread of this process passes a full barrier before this returns.
fn barrier_everywhere() {
    fence(Ordering::SeqCst);
    if has_membarrier() {
        membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    }
}

#[inline]
fn has_membarrier() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_shut_gate_keeps_workers_out_for_good() {
        let (gate, stop) = (Gate::default(), AtomicBool::new(false));
        // Even while control works on the queue, which must never overlap with a worker's burst.
        let users = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    if gate.enter() {
                        assert_eq!(users.fetch_add(1, Ordering::Relaxed), 0);
                        users.fetch_sub(1, Ordering::Relaxed);
                        gate.leave();
                    }
                }
            });
            for _ in 0..200 {
                gate.open();
                thread::yield_now();
                shut([&gate].into_iter());
                assert_eq!(users.fetch_add(1, Ordering::Relaxed), 0);
                users.fetch_sub(1, Ordering::Relaxed);
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert!(!gate.enter());
    }
}
