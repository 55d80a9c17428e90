//! Giving a port a scheduler, changing it under traffic, taking it away.
//!
//! ```text
//!  shape:    owner gets the scheduler ─▶ the others get their rings ─▶ rows say shaped
//!  unshape:  rows say unshaped ─▶ the others keep their packets ─▶ the owner gives back
//!
//!  shape, of all workers:    each gets its part, the owner first ─▶ the owner's rings end ─▶ rows say shaped
//! ```
//! In this order no packet for a shaped port ever meets a worker that does not know it. A port's
//! owner is the worker of its number modulo the workers, so that many shaped ports spread.

use crate::start::{Dataplane, WorkerSlot};
use nodes::port::Classifier;
use nodes::port::Shaped;
use nodes::tables::{HandOver, Leftover, Outcome, ShapeLetter, Shaper};
use packet::{PacketScheduler, hand_over};
use sched::{Config, Replaced, Report, Share};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

/// Packets that another worker may have handed over before it has to drop: four full frames.
const HANDED_PACKETS: usize = 1024;

/// Why a port is not shaped as asked.
#[derive(Debug, thiserror::Error)]
pub enum ShapingError {
    /// There can be no such scheduler.
    #[error(transparent)]
    Refused(#[from] sched::Error),
    /// The owner is stuck.
    #[error("worker {worker} did not answer within {} s", patience.as_secs())]
    NoAnswer {
        /// The worker.
        worker: usize,
        /// How long it had.
        patience: Duration,
    },
}

/// How to wait for workers.
pub struct Waiting<'a> {
    /// How long they have.
    pub patience: Duration,
    /// Called meanwhile; where the caller turns the worker, it does so there.
    pub turn: &'a mut dyn FnMut(),
}

impl Dataplane {
    /// Whether packets for this port wait in a scheduler.
    pub fn is_shaped(&self, port: u16) -> bool {
        self.shaped.contains_key(&port)
    }

    /// Shapes a port, or changes how: says what became of the packets that waited. `spent`: a port
    /// that was not shaped begins without tokens.
    pub fn shape_port(
        &mut self,
        port: u16,
        config: &Config,
        spent: bool,
        waiting: &mut Waiting<'_>,
    ) -> Result<Replaced, ShapingError> {
        let mut parts = PacketScheduler::for_workers(config, self.workers.len())?;
        if parts.len() > 1 {
            return self.shape_at_all(port, config, parts, spent, waiting);
        }
        let Some(scheduler) = parts.pop() else { return Ok(Replaced::default()) };
        let classifier = Classifier::of_scheduler(config);
        let owner = self.owner_of(port);
        let others = || (0..self.workers.len()).filter(|&worker| worker != owner);
        let (rings, handed): (Vec<_>, Vec<_>) = others().map(|_| hand_over(HANDED_PACKETS)).unzip();
        let shaper = Shaper {
            port,
            scheduler,
            classifier: classifier.clone(),
            handed,
            share: Share::default(),
            spent,
        };
        let outcome =
            self.ask(owner, waiting, |reply| ShapeLetter::Own(Box::new(shaper), reply))?;
        for (worker, ring) in others().zip(rings) {
            let doorbell = self.workers[owner].handle.doorbell().clone();
            let way = HandOver { port, classifier: classifier.clone(), ring, doorbell };
            self.workers[worker].write(ShapeLetter::HandOver(Box::new(way)));
            self.wait_until_read(worker, waiting)?;
        }
        self.shaped.insert(port, config.clone());
        self.mark_rows(port, true);
        Ok(outcome.packets)
    }

    /// Gives each worker its part.
    fn shape_at_all(
        &mut self,
        port: u16,
        config: &Config,
        parts: Vec<PacketScheduler>,
        spent: bool,
        waiting: &mut Waiting<'_>,
    ) -> Result<Replaced, ShapingError> {
        let classifier = Classifier::of_scheduler(config);
        let owner = self.owner_of(port);
        let mut packets = Replaced::default();
        let mut parts: Vec<_> = (0..).zip(parts).collect();
        // The others hand over to the owner until they have their parts.
        parts.sort_by_key(|&(worker, _)| worker != owner);
        for (worker, scheduler) in parts {
            let shaper = Shaper {
                port,
                scheduler,
                classifier: classifier.clone(),
                handed: Vec::new(),
                share: Share::default(),
                spent,
            };
            let own = |reply| ShapeLetter::Own(Box::new(shaper), reply);
            add(&mut packets, self.ask(worker, waiting, own)?.packets);
        }
        self.workers[owner].write(ShapeLetter::HandedAll(port));
        self.wait_until_read(owner, waiting)?;
        self.shaped.insert(port, config.clone());
        self.mark_rows(port, true);
        Ok(packets)
    }

    /// Whether each worker has a part of the port's scheduler.
    fn is_shaped_at_all(&self, port: u16) -> bool {
        let config = self.shaped.get(&port);
        self.workers.len() > 1 && config.is_some_and(Config::is_for_all_workers)
    }

    /// Shapes a port no longer; `leftover` says what becomes of the packets that wait.
    pub fn unshape_port(
        &mut self,
        port: u16,
        leftover: Leftover,
        waiting: &mut Waiting<'_>,
    ) -> Result<Replaced, ShapingError> {
        let at_all = self.is_shaped_at_all(port);
        self.shaped.remove(&port);
        self.mark_rows(port, false);
        let owner = self.owner_of(port);
        let mut packets = Replaced::default();
        let disown = |reply| ShapeLetter::Disown(port, leftover, reply);
        for worker in (0..self.workers.len()).filter(|&worker| worker != owner) {
            if at_all {
                add(&mut packets, self.ask(worker, waiting, disown)?.packets);
            } else {
                self.workers[worker].write(ShapeLetter::Keep(port));
                self.wait_until_read(worker, waiting)?;
            }
        }
        let outcome: Outcome = self.ask(owner, waiting, disown)?;
        add(&mut packets, outcome.packets);
        Ok(packets)
    }

    /// How a shaped port's scheduler does, with what each worker sent where all have a part. Its
    /// owner writes it down between two vectors: some microseconds for tens of classes.
    pub fn shaping_report(
        &self,
        port: u16,
        waiting: &mut Waiting<'_>,
    ) -> Result<Report, ShapingError> {
        let tell = |reply| ShapeLetter::Tell(port, reply);
        if !self.is_shaped_at_all(port) {
            return self.ask(self.owner_of(port), waiting, tell);
        }
        let mut parts = Vec::with_capacity(self.workers.len());
        for worker in 0..self.workers.len() {
            parts.push((worker, self.ask(worker, waiting, tell)?));
        }
        let patience = waiting.patience;
        Report::joined(parts).ok_or(ShapingError::NoAnswer { worker: 0, patience })
    }

    fn owner_of(&self, port: u16) -> usize {
        usize::from(port) % self.workers.len().max(1)
    }

    fn mark_rows(&mut self, port: u16, shaped: bool) {
        let mark = |row: &mut nodes::tables::Interface| {
            if row.port == port {
                row.put(shaped.then_some(Shaped));
            }
        };
        self.interfaces.set(self.interfaces.with_each(mark));
    }

    /// Writes a letter that is answered, and waits for the answer.
    fn ask<T>(
        &self,
        worker: usize,
        waiting: &mut Waiting<'_>,
        letter: impl FnOnce(std::sync::mpsc::SyncSender<T>) -> ShapeLetter,
    ) -> Result<T, ShapingError> {
        let (reply, answer): (_, Receiver<T>) = sync_channel(1);
        self.workers[worker].write(letter(reply));
        let start = Instant::now();
        loop {
            match answer.try_recv() {
                Ok(answer) => return Ok(answer),
                Err(TryRecvError::Empty) if start.elapsed() < waiting.patience => (waiting.turn)(),
                Err(_) => {
                    return Err(ShapingError::NoAnswer { worker, patience: waiting.patience });
                }
            }
        }
    }

    fn wait_until_read(
        &self,
        worker: usize,
        waiting: &mut Waiting<'_>,
    ) -> Result<(), ShapingError> {
        let start = Instant::now();
        while !self.workers[worker].setup.shape.are_read() {
            if start.elapsed() >= waiting.patience {
                return Err(ShapingError::NoAnswer { worker, patience: waiting.patience });
            }
            (waiting.turn)();
        }
        Ok(())
    }
}

fn add(to: &mut Replaced, packets: Replaced) {
    to.kept += packets.kept;
    to.dropped += packets.dropped;
}

impl WorkerSlot {
    fn write(&self, letter: ShapeLetter) {
        self.setup.shape.write(letter);
        self.handle.doorbell().ring();
    }
}
