//! Gates. Their interleavings are tried one by one in the crate `faults`.

use crate::gate::{Gate, shut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

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
