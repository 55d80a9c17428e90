//! Every interleaving, within bounds, of what threads hand each other: gates of queues, rings of
//! packets, bells, mailboxes, and values that are replaced while they are read. The real code,
//! built upon the model checker's atomics.

#![allow(clippy::unwrap_used, clippy::panic)] // A test fails by panicking.
#![allow(dead_code, unreachable_pub, unused_imports)] // Modules are taken in whole.
#![allow(unsafe_code, missing_docs)]

#[path = "../../packet/src/handoff.rs"]
mod handoff;

#[path = "../../dpdk/src/gate.rs"]
mod gate;

#[path = "../../graph/src/doorbell.rs"]
mod doorbell;

#[path = "../../nodes/src/tables/mailbox.rs"]
mod mailbox;

#[path = "../../fib/src/quiesce.rs"]
mod quiesce;

#[path = "../../graph/src/published.rs"]
mod published;

/// What the modules are made of: the model checker's.
mod sync {
    pub(crate) use crate::quiesce::{Quiescence, Retired};
    use core::mem::MaybeUninit;
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) use loom::thread::yield_now;
    pub(crate) use std::sync::{Arc, PoisonError}; // Counting references is not what is checked.

    pub(crate) fn compiler_fence(_: Ordering) {}

    /// The checker takes one order of all threads for less than it is, but of fences it knows: a
    /// store and a load in that order are made of those.
    #[derive(Debug, Default)]
    pub(crate) struct AtomicBool(loom::sync::atomic::AtomicBool);

    impl AtomicBool {
        pub(crate) fn new(value: bool) -> Self {
            Self(loom::sync::atomic::AtomicBool::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> bool {
            match order {
                Ordering::SeqCst => {
                    fence(Ordering::SeqCst);
                    self.0.load(Ordering::Acquire)
                }
                order => self.0.load(order),
            }
        }

        pub(crate) fn store(&self, value: bool, order: Ordering) {
            match order {
                Ordering::SeqCst => {
                    self.0.store(value, Ordering::Release);
                    fence(Ordering::SeqCst);
                }
                order => self.0.store(value, order),
            }
        }

        pub(crate) fn swap(&self, value: bool, order: Ordering) -> bool {
            self.0.swap(value, order)
        }
    }

    /// A place that the checker watches: two threads at once in it are found.
    pub(crate) struct Slot<T>(loom::cell::UnsafeCell<MaybeUninit<T>>);

    impl<T: Copy> Slot<T> {
        pub(crate) fn empty() -> Self {
            Self(loom::cell::UnsafeCell::new(MaybeUninit::uninit()))
        }

        /// # Safety
        /// As of the real one.
        pub(crate) unsafe fn write(&self, item: T) {
            // SAFETY: the caller's word, which is what is checked.
            self.0.with_mut(|place| unsafe { (*place).write(item) });
        }

        /// # Safety
        /// As of the real one.
        pub(crate) unsafe fn read(&self) -> T {
            // SAFETY: the caller's word, which is what is checked.
            self.0.with(|place| unsafe { (*place).assume_init() })
        }
    }
}

/// Where the kernel has no barrier for all threads, the worker fences itself: that is checked. With
/// it the barrier stands in for that fence.
mod membarrier {
    pub(crate) fn is_there() -> bool {
        false
    }

    pub(crate) fn everywhere() {}
}

/// Stands in for a node's call.
mod context {
    pub struct Context<'a>(pub &'a ());
}

/// Stands in for `ppoll`: waits for the bell, and for nothing else.
mod watch {
    use std::os::fd::RawFd;
    use std::time::Duration;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Ended {
        Time,
        Bell,
        Readable,
    }

    #[derive(Default)]
    pub struct Watch;

    impl Watch {
        pub(crate) fn wait(&mut self, bell: Option<RawFd>, _: Duration) -> Ended {
            let mut entry = libc::pollfd { fd: bell.unwrap(), events: libc::POLLIN, revents: 0 };
            loop {
                // SAFETY: one entry, which is ours.
                if unsafe { libc::poll(&raw mut entry, 1, 0) } == 1 {
                    return Ended::Bell;
                }
                // Nobody who could ring is left: the checker finds that this goes on for ever.
                loom::thread::yield_now();
            }
        }
    }
}

use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;
use std::time::Duration;

fn every_interleaving(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(run);
}

#[test]
fn what_is_put_into_a_ring_comes_out_once_and_in_order() {
    every_interleaving(3, || {
        let (mut into, mut from) = handoff::handoff::<u32>(2);
        let producer = thread::spawn(move || {
            let mut next = 1;
            while next <= 3 {
                next += into.push(&[next]) as u32;
                thread::yield_now();
            }
        });
        let mut out = Vec::new();
        while out.len() < 3 {
            from.pop(2, &mut out);
            thread::yield_now();
        }
        producer.join().unwrap();
        assert_eq!(out, [1, 2, 3]);
    });
}

#[test]
fn no_worker_is_in_a_queue_whose_gate_was_shut() {
    every_interleaving(3, || {
        let gate = Arc::new(gate::Gate::default());
        let users = Arc::new(AtomicUsize::new(0));
        gate.open();
        let worker = {
            let (gate, users) = (Arc::clone(&gate), Arc::clone(&users));
            thread::spawn(move || {
                for _ in 0..2 {
                    if gate.enter() {
                        assert_eq!(users.fetch_add(1, Ordering::Relaxed), 0);
                        users.fetch_sub(1, Ordering::Relaxed);
                        gate.leave();
                    }
                }
            })
        };
        gate::shut([&*gate].into_iter());
        assert_eq!(users.fetch_add(1, Ordering::Relaxed), 0, "the worker is inside");
        users.fetch_sub(1, Ordering::Relaxed);
        worker.join().unwrap();
        assert!(!gate.enter());
    });
}

#[test]
fn no_ring_between_a_last_look_and_a_rest_is_lost() {
    every_interleaving(3, || {
        let bell = doorbell::Doorbell::that_wakes().unwrap();
        let given = Arc::new(AtomicU32::new(0));
        let ringer = {
            let (bell, given) = (bell.clone(), Arc::clone(&given));
            thread::spawn(move || {
                given.store(1, Ordering::Relaxed);
                bell.ring();
            })
        };
        let mut watch = watch::Watch;
        loop {
            bell.answer();
            if given.load(Ordering::Relaxed) == 1 {
                break;
            }
            bell.rest(&mut watch, Duration::from_secs(1));
        }
        ringer.join().unwrap();
    });
}

#[test]
fn letters_are_read_in_order_and_what_is_asked_back_comes_back() {
    every_interleaving(3, || {
        let mailbox = Arc::new(mailbox::Mailbox::<(u16, char)>::default());
        let worker = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                let mut held = vec![(1, 'a')];
                for _ in 0..2 {
                    mailbox.read(&mut held, |item| item.0);
                    thread::yield_now();
                }
                held
            })
        };
        mailbox.add((1, 'b'));
        mailbox.ask_back(1);
        mailbox.add((1, 'c'));
        // Read by now: what was asked back is there, and nothing that was added later.
        if mailbox.is_read() {
            assert_eq!(mailbox.take_returned(), [(1, 'a'), (1, 'b')]);
        }
        let mut held = worker.join().unwrap();
        mailbox.read(&mut held, |item| item.0);
        assert!(mailbox.is_read());
        assert_eq!(held, [(1, 'c')]);
    });
}

/// A value that says when it is gone.
struct Told(u32, Arc<AtomicUsize>);

impl Drop for Told {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_published_value_is_there_as_long_as_somebody_reads_it_and_is_freed_then() {
    every_interleaving(3, || {
        let readers = quiesce::Quiescence::new();
        let gone = Arc::new([0, 0].map(|count| Arc::new(AtomicUsize::new(count))));
        let value = |number: usize| Told(number as u32, Arc::clone(&gone[number]));
        let mut publisher = published::Publisher::new(value(0), &readers);
        let worker = {
            let (published, gone, readers) =
                (publisher.published(), Arc::clone(&gone), Arc::clone(&readers));
            thread::spawn(move || {
                let reader = readers.reader();
                for _ in 0..2 {
                    let call = context::Context(&());
                    let read = published.get(&call);
                    let number = read.0 as usize;
                    assert_eq!(gone[number].load(Ordering::Relaxed), 0, "it is read, and gone");
                    reader.pass();
                }
            })
        };
        publisher.set(value(1));
        worker.join().unwrap();
        publisher.reclaim();
        assert_eq!(gone[0].load(Ordering::Relaxed), 1, "nobody reads it, and it stays");
        drop(publisher);
    });
}
