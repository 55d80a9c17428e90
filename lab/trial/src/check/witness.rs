//! Keeps a copy of every frame that an end receives, for whoever looks at them afterwards.
//!
//! ```text
//! port ─▶ witness ─▶ receiver: counts, as in every trial
//!            └─ copies ─▶ judge
//! ```
//! It stands in the queue's place only while a function is checked: trials that are timed know
//! nothing of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lab_traffic::End;
use packet::{PacketBuf, PacketCache, RxQueue};

/// Most frames that are kept of one end: a device that floods for ever must not fill the memory.
const MOST: usize = 1 << 20;

/// What the queue and who watches it share.
struct Watched {
    queue: Box<dyn RxQueue>,
    seen: Vec<Vec<u8>>,
}

/// The queue that stands in its place.
struct Witness(Arc<Mutex<Watched>>);

/// What is left of a queue that was taken away.
struct Nothing;

impl RxQueue for Nothing {
    fn receive(&mut self, _: &mut dyn PacketCache, _: usize, _: &mut Vec<PacketBuf>) {}
}

impl RxQueue for Witness {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let mut watched = lock(&self.0);
        let first = into.len();
        watched.queue.receive(cache, most, into);
        let room = MOST.saturating_sub(watched.seen.len());
        let packets = into[first..].iter().take(room);
        watched.seen.extend(packets.map(|packet| packet.bytes().to_vec()));
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An end that is watched.
pub(super) struct Watch(Arc<Mutex<Watched>>);

impl Watch {
    /// Watches an end from now on.
    pub(super) fn begin(end: &mut End) -> Self {
        let queue = std::mem::replace(&mut end.rx, Box::new(Nothing));
        let watched = Arc::new(Mutex::new(Watched { queue, seen: Vec::new() }));
        end.rx = Box::new(Witness(watched.clone()));
        Self(watched)
    }

    /// Gives the end its queue back. All that it received meanwhile.
    pub(super) fn over(self, end: &mut End) -> Vec<Vec<u8>> {
        let mut watched = lock(&self.0);
        end.rx = std::mem::replace(&mut watched.queue, Box::new(Nothing));
        std::mem::take(&mut watched.seen)
    }
}
