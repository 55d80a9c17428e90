//! A bounded queue from one thread to one other, without locks.
//!
//! ```text
//!            head (the consumer's)        tail (the producer's)
//!              ▼                            ▼
//!  slots  │ · │ ▪ │ ▪ │ ▪ │ ▪ │ ▪ │ ▪ │ ▪ │ · │ · │      a power of two of them
//! ```
//! Each end has its own cache line and remembers what it last saw of the other's, so a burst costs
//! one line each way. What is still inside when both ends are gone is forgotten: drain it first.
#![allow(unsafe_code)]

use crate::sync::{Arc, AtomicUsize, Ordering, Slot};

#[repr(align(64))]
struct End(AtomicUsize);

struct Ring<T> {
    slots: Box<[Slot<T>]>,
    head: End,
    tail: End,
}

// SAFETY: a slot is written by the one producer before it publishes the tail past it, and read by
// the one consumer after it saw that tail and before it publishes the head past it.
unsafe impl<T: Send> Sync for Ring<T> {}

/// The end that puts in.
pub(crate) struct Producer<T> {
    ring: Arc<Ring<T>>,
    tail: usize,
    head_seen: usize,
}

/// The end that takes out.
pub(crate) struct Consumer<T> {
    ring: Arc<Ring<T>>,
    head: usize,
    tail_seen: usize,
}

/// A queue of at least `capacity` places.
pub(crate) fn handoff<T: Copy + Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let places = capacity.max(2).next_power_of_two();
    let slots = (0..places).map(|_| Slot::empty()).collect();
    let end = || End(AtomicUsize::new(0));
    let ring = Arc::new(Ring { slots, head: end(), tail: end() });
    let consumer = Consumer { ring: Arc::clone(&ring), head: 0, tail_seen: 0 };
    (Producer { ring, tail: 0, head_seen: 0 }, consumer)
}

impl<T: Copy + Send> Producer<T> {
    /// Puts in what fits, from the first on; says how many did.
    #[inline]
    pub(crate) fn push(&mut self, items: &[T]) -> usize {
        let places = self.ring.slots.len();
        if places - self.tail.wrapping_sub(self.head_seen) < items.len() {
            self.head_seen = self.ring.head.0.load(Ordering::Acquire);
        }
        let count = items.len().min(places - self.tail.wrapping_sub(self.head_seen));
        for &item in &items[..count] {
            let slot = &self.ring.slots[self.tail & (places - 1)];
            // SAFETY: between the head and the tail past it, the slot is the producer's alone.
            unsafe { slot.write(item) };
            self.tail = self.tail.wrapping_add(1);
        }
        self.ring.tail.0.store(self.tail, Ordering::Release);
        count
    }

    /// Whether the consumer has taken all.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.head_seen = self.ring.head.0.load(Ordering::Acquire);
        self.head_seen == self.tail
    }
}

impl<T: Copy + Send> Consumer<T> {
    /// Appends up to `most` items to `out`, in the order they were put in.
    #[inline]
    pub(crate) fn pop(&mut self, most: usize, out: &mut Vec<T>) {
        if self.head == self.tail_seen {
            self.tail_seen = self.ring.tail.0.load(Ordering::Acquire);
        }
        let count = most.min(self.tail_seen.wrapping_sub(self.head));
        for _ in 0..count {
            let slot = &self.ring.slots[self.head & (self.ring.slots.len() - 1)];
            // SAFETY: the producer published the tail past this slot, so it is written and ours.
            out.push(unsafe { slot.read() });
            self.head = self.head.wrapping_add(1);
        }
        self.ring.head.0.store(self.head, Ordering::Release);
    }
}
