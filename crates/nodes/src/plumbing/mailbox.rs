//! How a worker gets the queues of ports that come, and gives back those of ports that go.

use packet::{RxQueue, TxQueue};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A receive queue with the interface it belongs to.
pub struct RxAttachment {
    /// Id of the interface.
    pub interface: u16,
    /// The queue.
    pub queue: Box<dyn RxQueue>,
}

/// A transmit queue with the port it belongs to.
pub struct TxAttachment {
    /// Number of the port.
    pub port: u16,
    /// The queue.
    pub queue: Box<dyn TxQueue>,
}

/// Letters for one node of one worker: what to add, and which to hand back. Checking an empty box
/// costs one load.
pub struct Mailbox<T> {
    full: AtomicBool,
    letters: Mutex<Letters<T>>,
}

struct Letters<T> {
    added: Vec<T>,
    removals: Vec<u16>,
    returned: Vec<T>,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        let (added, removals, returned) = (Vec::new(), Vec::new(), Vec::new());
        let letters = Mutex::new(Letters { added, removals, returned });
        Self { full: AtomicBool::new(false), letters }
    }
}

impl<T> Mailbox<T> {
    /// Gives the worker something.
    pub fn add(&self, item: T) {
        self.change(|letters| letters.added.push(item));
    }

    /// Asks for all that belongs to `number` (an interface, a port) back.
    pub fn ask_back(&self, number: u16) {
        self.change(|letters| letters.removals.push(number));
    }

    /// What came back so far.
    pub fn take_returned(&self) -> Vec<T> {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut letters.returned)
    }

    /// True once the worker has read everything.
    pub fn is_read(&self) -> bool {
        !self.full.load(Ordering::Acquire)
    }

    fn change(&self, change: impl FnOnce(&mut Letters<T>)) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut letters);
        self.full.store(true, Ordering::Release);
    }

    /// For the worker: brings `held` up to date. `number` tells what an item belongs to.
    #[inline]
    pub fn read(&self, held: &mut Vec<T>, number: impl Fn(&T) -> u16) {
        if self.full.load(Ordering::Relaxed) {
            self.read_letters(held, number);
        }
    }

    #[cold]
    fn read_letters(&self, held: &mut Vec<T>, number: impl Fn(&T) -> u16) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        let removals = std::mem::take(&mut letters.removals);
        let (gone, kept) =
            std::mem::take(held).into_iter().partition(|item| removals.contains(&number(item)));
        *held = kept;
        letters.returned.extend::<Vec<T>>(gone);
        held.append(&mut letters.added);
        self.full.store(false, Ordering::Release);
    }
}
