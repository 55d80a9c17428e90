//! The latest events, and those who follow them.
//!
//! ```text
//!  push ─▶ [ 17 18 19 … 528 ] ─▶ followers, each with the number that it has read up to
//! ```
//! A follower has no queue: it reads the ring when it can. One that comes so late that events have
//! left the ring is told how many. So nobody waits for a follower, and none costs memory.

use crate::Event;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Events kept: about 200 KiB.
const KEPT: usize = 512;

#[derive(Default)]
struct Inner {
    events: VecDeque<Arc<Event>>,
    /// Events so far: the number of the latest.
    told: u64,
    waiting: HashMap<u64, Waker>,
    followers: u64,
}

impl Inner {
    fn after(&self, number: u64) -> Batch {
        let oldest = self.told - self.events.len() as u64;
        // A number that was never told is of an earlier run: begin with what is there.
        let number = if number > self.told { 0 } else { number };
        let missed = oldest.saturating_sub(number);
        let skip = number.saturating_sub(oldest) as usize;
        Batch { missed, events: self.events.iter().skip(skip).cloned().collect() }
    }
}

/// What a follower has not read yet.
#[derive(Debug, Default)]
pub struct Batch {
    /// Events that left the ring before it came.
    pub missed: u64,
    /// The others.
    pub events: Vec<Arc<Event>>,
}

/// The ring.
#[derive(Clone, Default)]
pub(crate) struct Ring(Arc<Mutex<Inner>>);

impl Ring {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an event its number, keeps it, and calls the followers.
    pub(crate) fn push(&self, make: impl FnOnce(u64) -> Event) -> Arc<Event> {
        let mut inner = self.lock();
        inner.told += 1;
        let event = Arc::new(make(inner.told));
        if inner.events.len() == KEPT {
            inner.events.pop_front();
        }
        inner.events.push_back(Arc::clone(&event));
        let waiting: Vec<Waker> = inner.waiting.drain().map(|(_, waker)| waker).collect();
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
        event
    }

    /// The latest, oldest first.
    pub(crate) fn latest(&self, most: usize) -> Vec<Arc<Event>> {
        let inner = self.lock();
        let skip = inner.events.len().saturating_sub(most);
        inner.events.iter().skip(skip).cloned().collect()
    }

    /// Follows from the event behind `after`; without one, from the next that happens.
    pub(crate) fn follow(&self, after: Option<u64>) -> Follower {
        let mut inner = self.lock();
        inner.followers += 1;
        let read = after.unwrap_or(inner.told);
        Follower { ring: self.clone(), id: inner.followers, read }
    }
}

/// Someone who reads events as they happen.
pub struct Follower {
    ring: Ring,
    id: u64,
    read: u64,
}

impl Follower {
    /// What is new.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Batch> {
        let mut inner = self.ring.lock();
        let batch = inner.after(self.read);
        if batch.events.is_empty() {
            inner.waiting.insert(self.id, context.waker().clone());
            return Poll::Pending;
        }
        self.read = inner.told;
        Poll::Ready(batch)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.ring.lock().waiting.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn push(ring: &Ring, times: u64) {
        for _ in 0..times {
            ring.push(|number| Event {
                number,
                time: String::new(),
                level: Level::Info,
                source: "test".into(),
                message: "it happened".into(),
                fields: BTreeMap::new(),
            });
        }
    }

    fn poll(follower: &mut Follower, calls: &Arc<Calls>) -> Option<(u64, Vec<u64>)> {
        let waker = Waker::from(Arc::clone(calls));
        match follower.poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => None,
            Poll::Ready(batch) => {
                Some((batch.missed, batch.events.iter().map(|event| event.number).collect()))
            }
        }
    }

    #[test]
    fn a_follower_reads_each_event_once_and_is_called_for_the_next() {
        let (ring, calls) = (Ring::default(), Arc::default());
        push(&ring, 3);
        let (mut new, mut all) = (ring.follow(None), ring.follow(Some(0)));
        assert_eq!(poll(&mut new, &calls), None);
        assert_eq!(poll(&mut all, &calls), Some((0, vec![1, 2, 3])));
        assert_eq!(poll(&mut all, &calls), None);
        push(&ring, 1);
        assert_eq!(calls.0.load(Ordering::Relaxed), 2);
        assert_eq!(poll(&mut new, &calls), Some((0, vec![4])));
        assert_eq!(poll(&mut all, &calls), Some((0, vec![4])));
    }

    #[test]
    fn a_slow_follower_is_told_how_many_it_missed() {
        let (ring, calls) = (Ring::default(), Arc::default());
        let mut slow = ring.follow(None);
        push(&ring, KEPT as u64 + 5);
        let (missed, read) = poll(&mut slow, &calls).unwrap();
        assert_eq!((missed, read.len(), read[0]), (5, KEPT, 6));
        assert_eq!(poll(&mut slow, &calls), None);
    }

    #[test]
    fn who_was_there_before_a_restart_begins_anew() {
        let (ring, calls) = (Ring::default(), Arc::default());
        push(&ring, 2);
        assert_eq!(poll(&mut ring.follow(Some(1_000)), &calls), Some((0, vec![1, 2])));
    }

    #[test]
    fn those_who_left_are_called_no_more() {
        let (ring, calls) = (Ring::default(), Arc::default());
        assert_eq!(poll(&mut ring.follow(None), &calls), None);
        push(&ring, 1);
        assert_eq!(calls.0.load(Ordering::Relaxed), 0);
        assert_eq!(ring.latest(9).len(), 1);
    }
}
