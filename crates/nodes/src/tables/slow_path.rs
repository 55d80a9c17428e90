//! Between workers and the control thread: punts one way, packets to send the other.
//!
//! ```text
//!  workers ─┬─ answers: who has an address that was asked for ─┐
//!           ├─ notices: questions, announcements, the rest ────┼─▶ control thread ── injected ──▶ worker 0
//!           └─ packets that wait, pieces ──────────────────────┘
//! ```
//! All queues are bounded and made beforehand, a full one refuses, and of each no interface and
//! family has more than a share: a flood costs its own packets and nothing else. The control thread
//! takes answers first.

mod injected;
mod lane;
mod punt;

pub use injected::Injected;
pub use lane::Lane;
pub use punt::*;

use graph::Doorbell;
use lane::Waiting;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};

/// The workers' end: tells the control thread, and wakes it.
#[derive(Clone)]
pub struct SlowPath {
    lanes: [(SyncSender<Punt>, Arc<Waiting>); Lane::ALL.len()],
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// The control thread's end of the punts.
pub struct Punts([(Receiver<Punt>, Arc<Waiting>); Lane::ALL.len()]);

/// The control thread's end of a worker's injection queue.
#[derive(Clone)]
pub struct Injector {
    queue: SyncSender<Injected>,
    waiting: Arc<AtomicUsize>,
    most: usize,
    /// The worker's, once there is one.
    doorbell: Arc<OnceLock<Doorbell>>,
}

/// The worker's end of its injection queue.
pub struct InjectedQueue {
    queue: Receiver<Injected>,
    waiting: Arc<AtomicUsize>,
}

/// A slow path that holds, in each lane, at most `most` punts of each interface and family; `wake`
/// is called (by workers) after each.
pub fn slow_path(most: usize, wake: Arc<dyn Fn() + Send + Sync>) -> (SlowPath, Punts) {
    let waiting = || Arc::new(Waiting::new(most));
    let lanes = Lane::ALL.map(|lane| (sync_channel(most * lane.shares()), waiting()));
    let told =
        lanes.map(|((send, receive), waiting)| ((send, Arc::clone(&waiting)), (receive, waiting)));
    let [answers, notices, packets] = told;
    let lanes = [answers.0, notices.0, packets.0];
    (SlowPath { lanes, wake }, Punts([answers.1, notices.1, packets.1]))
}

impl SlowPath {
    /// Tells the control thread; gives the punt back when it has too much to do.
    pub fn tell(&self, punt: Punt) -> Result<(), Punt> {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        let (queue, waiting) = &self.lanes[punt.lane() as usize];
        if !waiting.enter(&punt) {
            return Err(punt);
        }
        match queue.try_send(punt) {
            Ok(()) => {
                (self.wake)();
                Ok(())
            }
            Err(Full(punt) | Disconnected(punt)) => {
                waiting.leave(&punt);
                Err(punt)
            }
        }
    }
}

impl Punts {
    /// The oldest punt of the first lane that has any.
    pub fn next(&self) -> Option<Punt> {
        Lane::ALL.into_iter().find_map(|lane| self.next_of(lane))
    }

    /// The oldest punt of a lane, if there is any.
    pub fn next_of(&self, lane: Lane) -> Option<Punt> {
        let (queue, waiting) = &self.0[lane as usize];
        let punt = queue.try_recv().ok()?;
        waiting.leave(&punt);
        Some(punt)
    }
}

impl Injector {
    /// A queue of at most `most` packets, and the worker's end of it.
    pub fn new(most: usize) -> (Self, InjectedQueue) {
        let (send, queue) = sync_channel(most);
        let waiting = Arc::new(AtomicUsize::new(0));
        let injector =
            Self { queue: send, waiting: Arc::clone(&waiting), most, doorbell: Arc::default() };
        (injector, InjectedQueue { queue, waiting })
    }

    /// From now on this is rung for all that is sent: the bell of the worker that reads.
    pub fn rings(&self, doorbell: &Doorbell) {
        let _first = self.doorbell.set(doorbell.clone());
    }

    /// Whether more than half of the queue is free.
    pub fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < self.most / 2
    }

    /// Sends; gives the packet back when the queue is full.
    pub fn send(&self, injected: Injected) -> Result<(), Injected> {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.queue.try_send(injected).map_err(|error| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                Full(injected) | Disconnected(injected) => injected,
            }
        })?;
        if let Some(doorbell) = self.doorbell.get() {
            doorbell.ring();
        }
        Ok(())
    }
}

impl InjectedQueue {
    /// The next, if there is any.
    pub fn next(&self) -> Option<Injected> {
        let injected = self.queue.try_recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(injected)
    }
}

#[cfg(test)]
mod tests;
