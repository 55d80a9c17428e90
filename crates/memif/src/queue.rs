//! What a worker holds of an interface: it stays the same while connections come and go.
//!
//! ```text
//!  service   connected ▸ the line has a new end, its generation is one more
//!            ended     ▸ the line has none,        its generation is one more
//!  worker    each burst: another generation? ▸ takes what the line has now
//! ```
//! Who receives and rests is woken by its ring's bell, or by the line's, when that has another end.
//!
//! Memory is unmapped when the last who uses it lets go: nothing is taken from under a burst. An
//! end has a lock, as there may be fewer rings than queues, which then share; it is taken once a
//! burst and nearly always free.

use crate::bell::Bell;
use crate::counts::Counts;
use crate::ring::Lie;
use crate::signal::Signal;
use packet::{Burst, PacketBuf, PacketCache, RxQueue, TxQueue, Wakes};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The end of a ring at which packets come out: `receive`, or `zero_copy`.
pub(crate) trait Incoming: Send {
    /// Appends packets to `into`, at most so many.
    fn receive(
        &mut self,
        cache: &mut dyn PacketCache,
        most: usize,
        into: &mut Vec<PacketBuf>,
        counts: &Counts,
    ) -> Result<(), Lie>;

    /// From here on packets ring what this says; none where they may come without.
    fn before_rest(&self) -> Option<RawFd>;

    /// And no longer.
    fn after_rest(&self);
}

/// The end of a ring at which packets go in: `transmit`, or `zero_copy`.
pub(crate) trait Outgoing: Send {
    /// Takes packets from the front, as many as there is room for; says whether somebody waits to
    /// be told.
    fn transmit(
        &mut self,
        cache: &mut dyn PacketCache,
        packets: &mut Burst<'_>,
        counts: &Counts,
    ) -> Result<bool, Lie>;
}

/// A queue's end of a ring, either way.
pub(crate) type InEnd = Box<dyn Incoming>;
pub(crate) type OutEnd = Box<dyn Outgoing>;

/// What a connection has beside its rings.
pub(crate) struct Link {
    /// A ring said what cannot be.
    pub(crate) lied: AtomicBool,
    /// Wakes the service.
    pub(crate) wake: Arc<Bell>,
}

/// One end of a ring, shared by the queues that use it.
pub(crate) struct End<T> {
    pub(crate) ring: Mutex<T>,
    /// Sent after packets went in, if that is wanted.
    pub(crate) signal: Option<Signal>,
    pub(crate) link: Arc<Link>,
}

/// A queue of the interface's, with or without a ring at its other end.
pub(crate) struct Line<T> {
    generation: AtomicU32,
    end: Mutex<Option<Arc<End<T>>>>,
    taken: AtomicBool,
    /// Rung when it has another end; none for who never rests on it.
    changed: Option<Bell>,
    pub(crate) counts: Counts,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self {
            generation: AtomicU32::new(0),
            end: Mutex::default(),
            taken: AtomicBool::new(false),
            changed: None,
            counts: Counts::default(),
        }
    }
}

impl Line<InEnd> {
    /// One that wakes who rests on it. Where there is no descriptor left for that, it must be
    /// looked at.
    pub(crate) fn waking() -> Self {
        Self { changed: Bell::new().ok(), ..Self::default() }
    }
}

impl<T> Line<T> {
    /// Another ring from now on, or none.
    pub(crate) fn set(&self, end: Option<Arc<End<T>>>) {
        let before = core::mem::replace(&mut *lock(&self.end), end);
        self.generation.fetch_add(1, Ordering::Release);
        self.changed.iter().for_each(Bell::ring);
        drop(before);
    }
}

/// A line in a worker's hands.
struct Holder<T> {
    line: Arc<Line<T>>,
    seen: u32,
    end: Option<Arc<End<T>>>,
}

impl<T> Holder<T> {
    fn take(line: &Arc<Line<T>>) -> Option<Self> {
        let free = !line.taken.swap(true, Ordering::AcqRel);
        // What the line has is taken at the first burst.
        let seen = line.generation.load(Ordering::Acquire).wrapping_sub(1);
        free.then(|| Self { line: Arc::clone(line), seen, end: None })
    }

    #[inline]
    fn follow(&mut self) {
        let now = self.line.generation.load(Ordering::Acquire);
        if now != self.seen {
            self.seen = now;
            self.end = lock(&self.line.end).clone();
        }
    }

    /// The peer is not dealt with any more.
    #[cold]
    fn give_up(&mut self) {
        if let Some(end) = self.end.take() {
            end.link.lied.store(true, Ordering::Release);
            end.link.wake.ring();
        }
    }
}

impl<T> Drop for Holder<T> {
    fn drop(&mut self) {
        self.line.taken.store(false, Ordering::Release);
    }
}

/// One receive queue of an interface.
pub struct Receiver(Holder<InEnd>);

/// One transmit queue of an interface.
pub struct Sender(Holder<OutEnd>);

impl Receiver {
    pub(crate) fn take(line: &Arc<Line<InEnd>>) -> Option<Self> {
        Holder::take(line).map(Self)
    }
}

impl Sender {
    pub(crate) fn take(line: &Arc<Line<OutEnd>>) -> Option<Self> {
        Holder::take(line).map(Self)
    }
}

impl RxQueue for Receiver {
    #[inline]
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        self.0.follow();
        let Some(end) = &self.0.end else { return };
        let outcome = lock(&end.ring).receive(cache, most, into, &self.0.line.counts);
        if let Err(Lie) = outcome {
            self.0.give_up();
        }
    }

    fn before_rest(&mut self) -> Wakes {
        self.0.follow();
        let Some(changed) = &self.0.line.changed else { return Wakes::Unseen };
        let changed = changed.fd().as_raw_fd();
        match &self.0.end {
            Some(end) => match lock(&end.ring).before_rest() {
                Some(bell) => Wakes::Either(changed, bell),
                None => Wakes::Unseen,
            },
            None => Wakes::Readable(changed),
        }
    }

    fn after_rest(&mut self) {
        if let Some(changed) = &self.0.line.changed {
            changed.take();
        }
        if let Some(end) = &self.0.end {
            lock(&end.ring).after_rest();
        }
    }
}

impl TxQueue for Sender {
    #[inline]
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        self.0.follow();
        let Some(end) = &self.0.end else { return };
        let outcome = lock(&end.ring).transmit(cache, packets, &self.0.line.counts);
        match outcome {
            Ok(waited_for) => {
                if let (true, Some(signal)) = (waited_for, &end.signal) {
                    signal.send();
                }
            }
            Err(Lie) => self.0.give_up(),
        }
    }
}

/// A lock whose holder panicked is taken all the same: what it guards is whole at any time.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
