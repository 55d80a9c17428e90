//! Wakes one worker's timed nodes from another thread, at the price of a locked instruction a ring.
//!
//! ```text
//!  who rings:   hand something over ─▶ rung = true ─▶ resting? unpark
//!  the worker:  resting = true ─▶ rung? do not rest after all
//! ```
//! Both sides write, then read what the other writes, in one order that all threads agree on: one
//! of them sees the other, so nothing handed over waits for the end of a rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};

/// A worker's bell. Clone it to whoever may ring.
#[derive(Clone, Debug, Default)]
pub struct Doorbell(Arc<Bell>);

#[derive(Debug, Default)]
struct Bell {
    rung: AtomicBool,
    resting: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Doorbell {
    /// Has the worker call its timed nodes in its next pass, and that pass begin now.
    pub fn ring(&self) {
        self.0.rung.store(true, Ordering::SeqCst);
        if self.0.resting.load(Ordering::SeqCst)
            && let Some(thread) = self.0.thread.get()
        {
            thread.unpark();
        }
    }

    /// The calling thread is the one to be woken.
    pub(crate) fn belongs_to_this_thread(&self) {
        // A second call would come from the same thread.
        let _first = self.0.thread.set(thread::current());
    }

    /// Whether it rang since it was answered last.
    #[inline]
    pub(crate) fn answer(&self) -> bool {
        self.0.rung.load(Ordering::Relaxed) && self.0.rung.swap(false, Ordering::AcqRel)
    }

    /// Waits, unless it rang meanwhile.
    pub(crate) fn rest(&self, wait: impl FnOnce()) {
        self.0.resting.store(true, Ordering::SeqCst);
        if !self.0.rung.load(Ordering::SeqCst) {
            wait();
        }
        self.0.resting.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_ring_is_answered_once_and_keeps_the_worker_from_resting() {
        let bell = Doorbell::default();
        assert!(!bell.answer());
        bell.ring();
        bell.rest(|| panic!("it rang"));
        assert!(bell.answer());
        assert!(!bell.answer());
    }

    #[test]
    fn a_resting_worker_is_woken() {
        let bell = Doorbell::default();
        let (resting, begins) = mpsc::channel();
        let worker = thread::spawn({
            let bell = bell.clone();
            move || {
                bell.belongs_to_this_thread();
                bell.rest(|| {
                    resting.send(()).unwrap();
                    while !bell.0.rung.load(Ordering::SeqCst) {
                        thread::park_timeout(Duration::from_secs(600));
                    }
                });
            }
        });
        begins.recv().unwrap();
        bell.ring();
        worker.join().unwrap();
    }
}
