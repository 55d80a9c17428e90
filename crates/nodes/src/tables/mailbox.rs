//! How a worker gets the queues of ports that come, and gives back those of ports that go.

use crate::sync::{AtomicBool, Mutex, Ordering, PoisonError};
use packet::{RxQueue, TxQueue};

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
    /// In the order in which they were written: what comes and goes before it is read comes back.
    unread: Vec<Letter<T>>,
    returned: Vec<T>,
}

enum Letter<T> {
    Add(T),
    AskBack(u16),
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        let letters = Mutex::new(Letters { unread: Vec::new(), returned: Vec::new() });
        Self { full: AtomicBool::new(false), letters }
    }
}

impl<T> Mailbox<T> {
    /// Gives the worker something.
    pub fn add(&self, item: T) {
        self.write(Letter::Add(item));
    }

    /// Asks for all that belongs to `number` (an interface, a port) back.
    pub fn ask_back(&self, number: u16) {
        self.write(Letter::AskBack(number));
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

    fn write(&self, letter: Letter<T>) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters.unread.push(letter);
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
        for letter in std::mem::take(&mut letters.unread) {
            match letter {
                Letter::Add(item) => held.push(item),
                Letter::AskBack(asked) => {
                    letters.returned.extend(held.extract_if(.., |item| number(item) == asked));
                }
            }
        }
        self.full.store(false, Ordering::Release);
    }
}
