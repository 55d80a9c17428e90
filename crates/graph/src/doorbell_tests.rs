//! Rings and rests. Their interleavings are tried one by one in the crate `faults`.

use crate::doorbell::Doorbell;
use crate::watch::{Ended, Watch};
use std::sync::atomic::Ordering;
use std::time::Duration;

use std::sync::atomic::AtomicU64;
use std::thread;

const LONG: Duration = Duration::from_secs(600);

#[test]
fn a_ring_is_answered_once_and_keeps_the_worker_from_resting() {
    let bell = Doorbell::default();
    assert!(!bell.answer());
    bell.ring();
    assert_eq!(bell.rest(&mut Watch::default(), LONG), Ended::Bell);
    assert!(bell.answer());
    assert!(!bell.answer());
}

/// Each thing handed over is waited for before the next: a ring that were lost would keep both
/// sides for ten minutes.
#[test]
#[cfg_attr(miri, ignore)] // Miri knows no `ppoll`.
fn of_a_hundred_thousand_rings_between_a_last_look_and_a_rest_none_is_lost() {
    const ALL: u64 = 100_000;
    let (bell, given) = (Doorbell::that_wakes().unwrap(), AtomicU64::new(0));
    let taken = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut watch = Watch::default();
            while taken.load(Ordering::Relaxed) < ALL {
                bell.answer();
                let now = given.load(Ordering::Relaxed);
                if taken.swap(now, Ordering::Release) == now && now < ALL {
                    bell.rest(&mut watch, LONG);
                }
            }
        });
        for number in 1..=ALL {
            given.store(number, Ordering::Relaxed);
            bell.ring();
            while taken.load(Ordering::Acquire) < number {
                // One core may be all there is.
                thread::yield_now();
            }
        }
    });
}
