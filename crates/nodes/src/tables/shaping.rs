//! How a port comes to be shaped: one worker has its scheduler, the others hand their packets to
//! it; or each worker has a part of it, and hands over nothing.
//!
//! ```text
//!  control thread ── Own ───────▶ worker 1 ◀══ ring, doorbell ══ worker 0 ◀─── HandOver ── control thread
//!                 ◀─ what waited ─            ◀═ ring, doorbell ══ worker 2 ◀─── HandOver ──
//! ```
//! A letter to the worker that owns the scheduler is answered with what it replaced, so that memory
//! is freed by the control thread.

use crate::port::Classifier;
use graph::Doorbell;
use packet::{Handed, Handing, PacketScheduler};
use sched::Share;
use sched::{Replaced, Report};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

/// A shaped port in the hands of a worker that owns it, or a part of it.
pub struct Shaper {
    /// The port.
    pub port: u16,
    /// What waits, and in what order it leaves.
    pub scheduler: PacketScheduler,
    /// Which class a packet goes to.
    pub classifier: Classifier,
    /// What the other workers hand over.
    pub handed: Vec<Handed>,
    /// What it has of the room for packets that wait.
    pub share: Share,
    /// It begins without tokens, where no other is taken over: a router before this one may have
    /// spent them.
    pub spent: bool,
}

/// The way from another worker to a shaped port's owner.
pub struct HandOver {
    /// The port.
    pub port: u16,
    /// Which class a packet goes to.
    pub classifier: Classifier,
    /// To the owner.
    pub ring: Handing,
    /// The owner's.
    pub doorbell: Doorbell,
}

/// What becomes of the packets that wait when a port is no longer shaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leftover {
    /// They are sent at once.
    Sent,
    /// They are dropped: the port goes, too.
    Dropped,
}

/// What a scheduler's owner gives back.
pub struct Outcome {
    /// The scheduler that is no longer needed, empty.
    pub old: Option<PacketScheduler>,
    /// What became of the packets that waited in it.
    pub packets: Replaced,
}

/// What the control thread tells a worker's shape node.
pub enum ShapeLetter {
    /// Own this port's scheduler. What waits in the one before moves over, its rings stay.
    Own(Box<Shaper>, SyncSender<Outcome>),
    /// Own it no longer.
    Disown(u16, Leftover, SyncSender<Outcome>),
    /// Hand packets of a port over, and those that wait in a part of its scheduler; where that is
    /// done already, by another classifier.
    HandOver(Box<HandOver>),
    /// Hand packets of the port over no longer.
    Keep(u16),
    /// Nobody hands packets of the port over any more.
    HandedAll(u16),
    /// Tell how the port's scheduler does.
    Tell(u16, SyncSender<Report>),
}

/// Letters to one worker's shape node. Looking for one costs a load.
#[derive(Default)]
pub struct ShapeLetters {
    full: AtomicBool,
    letters: Mutex<Vec<ShapeLetter>>,
}

impl ShapeLetters {
    /// Writes one. Ring the worker's bell behind it.
    pub fn write(&self, letter: ShapeLetter) {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).push(letter);
        self.full.store(true, Ordering::Release);
    }

    /// Whether the worker has read all.
    #[inline]
    pub fn are_read(&self) -> bool {
        !self.full.load(Ordering::Acquire)
    }

    /// For the worker: each letter, in order.
    pub fn read(&self, read: impl FnMut(ShapeLetter)) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters.drain(..).for_each(read);
        self.full.store(false, Ordering::Release);
    }
}
