//! Knowing when no reader can still see what the writer took away.
//!
//! ```text
//!  writer   unlink A   epoch 4 -> 5      frees A: every reader has seen 5
//!  ------------|-----------|---------------------------|----------> time
//!  reader 1  ..pass(4)........pass(5)..............................
//!  reader 2  ......pass(4).................pass(5).................
//!  reader 3  away (idle, holds nothing: never waited for)
//! ```
//!
//! A reader *passes* where it holds no word it read from a table: once a loop, between vectors.
//! It costs a load and a compare, and a store when the epoch moved. Nobody ever waits: what is not
//! yet free stays in the writer's [`Retired`] queue.

use std::collections::VecDeque;

use crate::sync::{Arc, AtomicU64, Mutex, Ordering, fence};

/// What an away reader shows: later than every epoch.
const AWAY: u64 = u64::MAX;

/// The epoch, and what each reader last saw of it.
#[derive(Debug)]
pub struct Quiescence {
    epoch: AtomicU64,
    readers: Mutex<Vec<Arc<Seen>>>,
}

/// One reader's last epoch, alone on its cache lines: its owner writes it, the writer polls it.
#[derive(Debug)]
#[repr(align(128))]
struct Seen(AtomicU64);

impl Quiescence {
    /// No readers yet.
    pub fn new() -> Arc<Quiescence> {
        Arc::new(Quiescence { epoch: AtomicU64::new(1), readers: Mutex::new(Vec::new()) })
    }

    /// A reader, for one thread to hold for as long as it reads the tables.
    pub fn reader(self: &Arc<Self>) -> Reader {
        let seen = Arc::new(Seen(AtomicU64::new(AWAY)));
        self.locked(|readers| readers.push(Arc::clone(&seen)));
        let reader = Reader { shared: Arc::clone(self), seen };
        reader.back();
        reader
    }

    /// Begins an epoch after what the caller unlinked; see [`Quiescence::passed`].
    pub fn advance(&self) -> u64 {
        let epoch = self.epoch.fetch_add(1, Ordering::AcqRel) + 1;
        // Pairs with the fence in `back`: either the reader's table loads see the unlinking, or
        // the poll that follows this fence sees the reader.
        fence(Ordering::SeqCst);
        epoch
    }

    /// The epoch that every reader has reached: what was unlinked before it began is free.
    pub fn passed(&self) -> u64 {
        let newest = self.epoch.load(Ordering::Acquire);
        self.locked(|readers| {
            readers.iter().map(|seen| seen.0.load(Ordering::Acquire)).fold(newest, u64::min)
        })
    }

    fn locked<R>(&self, act: impl FnOnce(&mut Vec<Arc<Seen>>) -> R) -> R {
        // The list is whole at every step, so a panic elsewhere leaves nothing to mistrust.
        act(&mut self.readers.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

/// A thread that reads the tables.
#[derive(Debug)]
pub struct Reader {
    shared: Arc<Quiescence>,
    seen: Arc<Seen>,
}

impl Reader {
    /// Says that the thread holds nothing it read before this call.
    #[inline]
    pub fn pass(&self) {
        let epoch = self.shared.epoch.load(Ordering::Acquire);
        if self.seen.0.load(Ordering::Relaxed) != epoch {
            self.seen.0.store(epoch, Ordering::Release);
        }
    }

    /// Says that the thread holds nothing and reads nothing until [`Reader::back`]: the writer
    /// does not wait for it. For workers that sleep.
    pub fn away(&self) {
        self.seen.0.store(AWAY, Ordering::Release);
    }

    /// Ends [`Reader::away`].
    pub fn back(&self) {
        self.seen.0.store(self.shared.epoch.load(Ordering::Acquire), Ordering::Relaxed);
        // The store must be seen before this thread's first table load is made; see `advance`.
        fence(Ordering::SeqCst);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.away();
        self.shared.locked(|readers| readers.retain(|seen| !Arc::ptr_eq(seen, &self.seen)));
    }
}

/// Things unlinked, in the order of their epochs, until every reader has passed.
#[derive(Debug)]
pub struct Retired<T> {
    queue: VecDeque<(u64, T)>,
    shared: Arc<Quiescence>,
}

impl<T> Retired<T> {
    /// An empty queue.
    pub fn new(shared: Arc<Quiescence>) -> Retired<T> {
        Retired { queue: VecDeque::new(), shared }
    }

    /// Takes `item`, which no reader can find any more, though one may still hold it.
    pub fn retire(&mut self, item: T) {
        self.queue.push_back((self.shared.advance(), item));
    }

    /// Hands back each item that every reader has let go of.
    pub fn reclaim(&mut self, mut free: impl FnMut(T)) {
        if self.queue.is_empty() {
            return;
        }
        let passed = self.shared.passed();
        while self.queue.front().is_some_and(|(epoch, _)| *epoch <= passed) {
            if let Some((_, item)) = self.queue.pop_front() {
                free(item);
            }
        }
    }

    /// How many items wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }
}
