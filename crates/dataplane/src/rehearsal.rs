//! What would become of a packet: a graph of its own, of the same nodes on the same tables, whose
//! ends lead nowhere.
//!
//! ```text
//!  one frame ─▶ port_rx ─▶ the nodes, on the tables that workers read ─▶ port_tx ─▶ written down
//!                              ├▶ shape: a scheduler just made ───────────┘
//!                              ├▶ to the kernel's twins ─▶ written down
//!                              └▶ to the control thread ─▶ told, with what it would bring about left undone
//! ```
//! Its counters, buffers, rate limits and queues are its own. Its thread only looks
//! ([`fib::Onlooker`]): no station is learned, no adjacency marked as used, no token taken from a
//! policer.

use crate::start::{Dataplane, DataplaneError};
use fib::Onlooker;
use fib::quiesce::{Quiescence, Reader};
use graph::{Graph, GraphSettings, Layout, TraceRecord};
use nodes::port::Classifier;
use nodes::tables::{
    LastDropped, Leftover, NextHopCounters, Punt, Punts, Reception, RxAttachment, Setup,
    ShapeLetter, Shaper, Shared, ToTwin, TxAttachment, WorkerCounters, slow_path, twin_queue,
};
use packet::{
    HeapPool, MemorySink, MemorySource, PacketScheduler, Pool, PoolError, Recorded, Repeat,
};
use sched::{Config, Report, Share, WaitingRoom};
use std::collections::BTreeSet;
use std::mem;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, PoisonError};

/// The longest frame that can be asked about.
pub const LONGEST_FRAME: usize = 9216;
/// Buffers: a flooded frame's copies and their pieces need the most.
const BUFFERS: usize = 512;
/// Steps that are written down, of all packets that become of one.
const STEPS: usize = 4096;
/// Passes over the graph: what goes on without time is done in the first, or follows from it.
const PASSES: usize = 4;
/// No worker has this number, so what is counted by worker elsewhere is not counted.
const NO_WORKER: u16 = u16::MAX;

/// What a rehearsal is made of, on any thread.
pub struct Stage {
    layout: Arc<Layout<Setup>>,
    shared: Shared,
    readers: Arc<Quiescence>,
    adjacencies: usize,
    ports: BTreeSet<u16>,
}

/// A graph on which packets can be tried.
pub struct Rehearsal {
    graph: Graph,
    reader: Reader,
    setup: Setup,
    punts: Punts,
    twins: Receiver<ToTwin>,
    records: Receiver<TraceRecord>,
    sent: Vec<(u16, Recorded)>,
    /// Ports with a scheduler.
    shaped: Vec<u16>,
    pool: HeapPool,
}

/// What became of a frame, and of all that nodes made of it.
#[derive(Default)]
pub struct Rehearsed {
    /// Every step, in order.
    pub steps: Vec<TraceRecord>,
    /// Frames that ports would send.
    pub sent: Vec<(u16, Vec<u8>)>,
    /// Frames that twins of interfaces would be handed.
    pub twins: Vec<(u16, Vec<u8>)>,
}

impl Dataplane {
    /// What it takes to try packets on the tables as they are now.
    pub fn stage(&self) -> Option<Stage> {
        let worker = self.workers.first()?;
        Some(Stage {
            layout: Arc::clone(&self.layout),
            shared: worker.setup.shared.clone(),
            readers: Arc::clone(&self.readers),
            adjacencies: self.adjacencies.capacity(),
            ports: self.interfaces.all().map(|row| row.port).collect(),
        })
    }

    /// The scheduler's configuration of a shaped port.
    pub fn shape_of(&self, port: u16) -> Option<&Config> {
        self.shaped.get(&port)
    }
}

impl Stage {
    /// Makes the graph. It takes some milliseconds.
    pub fn rehearsal(self) -> Result<Rehearsal, RehearsalError> {
        let Self { layout, mut shared, readers, adjacencies, ports } = self;
        let (slow_path, punts) = slow_path(16, Arc::new(|| ()));
        let (twin_queue, twins) = twin_queue(STEPS, Arc::new(|| ()));
        (shared.slow_path, shared.twins) = (slow_path, twin_queue);
        shared.reception = Reception::default();
        shared.waiting_room = Arc::new(WaitingRoom::of_pool(BUFFERS));
        let setup = Setup {
            shared,
            counters: Arc::new(WorkerCounters::new(&layout.reasons)),
            dropped: Arc::new(LastDropped::new(&layout.reasons)),
            next_hops: Arc::new(NextHopCounters::new(adjacencies).map_err(DataplaneError::from)?),
            flow: Default::default(),
            flow_asked: Default::default(),
            rx: Arc::default(),
            tx: Arc::default(),
            shape: Arc::default(),
            injected: Arc::default(),
        };
        let sink = |port| {
            let recorded = Recorded::default();
            let queue = Box::new(MemorySink::recording(Arc::clone(&recorded)));
            setup.tx.add(TxAttachment { port, queue });
            (port, recorded)
        };
        let sent = ports.into_iter().map(sink).collect();
        let pool = HeapPool::new(BUFFERS, LONGEST_FRAME)?;
        let settings =
            GraphSettings { worker: NO_WORKER, count_cycles: false, ..GraphSettings::default() };
        let mut graph = Graph::new(&layout, &setup, &pool, settings);
        let (into, records) = sync_channel(STEPS);
        graph.observer().follow_all(into);
        let reader = readers.reader();
        reader.away();
        let shaped = Vec::new();
        Ok(Rehearsal { graph, reader, setup, punts, twins, records, sent, shaped, pool })
    }
}

/// Why there is no rehearsal.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// A table of its own cannot be made.
    #[error(transparent)]
    Table(#[from] DataplaneError),
    /// There is no memory for its buffers.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

impl Rehearsal {
    /// Gives a port a scheduler of this configuration, in which nothing waits.
    pub fn shape(&mut self, port: u16, config: &Config) -> Result<(), sched::Error> {
        let shaper = Shaper {
            port,
            scheduler: PacketScheduler::new(config)?,
            classifier: Classifier::of_scheduler(config),
            handed: Vec::new(),
            share: Share::default(),
            spent: false,
        };
        let (reply, _nobody_asks) = sync_channel(1);
        self.setup.shape.write(ShapeLetter::Own(Box::new(shaper), reply));
        self.shaped.push(port);
        Ok(())
    }

    /// What the scheduler of a port has done since it was given.
    pub fn shaped(&mut self, port: u16) -> Option<Report> {
        let (reply, answer) = sync_channel(1);
        self.setup.shape.write(ShapeLetter::Tell(port, reply));
        self.pass();
        answer.try_recv().ok()
    }

    /// Has an interface receive a frame, and follows what becomes of it; `hear` is told what the
    /// control thread would have been told.
    pub fn run(&mut self, interface: u16, frame: &[u8], mut hear: impl FnMut(&Punt)) -> Rehearsed {
        let queue = Box::new(MemorySource::new(vec![frame.to_vec()], Repeat::Once));
        self.setup.rx.add(RxAttachment { interface, queue });
        for _ in 0..PASSES {
            self.pass();
        }
        self.setup.rx.ask_back(interface);
        while let Some(punt) = self.punts.next() {
            hear(&punt);
            if let Some(packet) = punt.into_packet() {
                self.graph.cache().release_one(packet);
            }
        }
        let mut twins = Vec::new();
        for ToTwin { interface, packet } in self.twins.try_iter() {
            twins.push((interface, packet.bytes().to_vec()));
            self.graph.cache().release_one(packet);
        }
        let take = |(port, recorded): &(u16, Recorded)| {
            let frames = mem::take(&mut *recorded.lock().unwrap_or_else(PoisonError::into_inner));
            let port = *port;
            frames.into_iter().map(move |frame| (port, frame))
        };
        Rehearsed {
            steps: self.records.try_iter().collect(),
            sent: self.sent.iter().flat_map(take).collect(),
            twins,
        }
    }

    /// Buffers that nobody holds.
    pub fn free_buffers(&self) -> usize {
        self.pool.usage().free
    }

    fn pass(&mut self) {
        let _looks = Onlooker::new();
        self.reader.back();
        self.graph.call_timed();
        self.graph.run_once();
        self.reader.away();
    }
}

/// What waits in a scheduler still is taken out: a buffer that is lost keeps all of them.
impl Drop for Rehearsal {
    fn drop(&mut self) {
        for port in std::mem::take(&mut self.shaped) {
            let (reply, _nobody_asks) = sync_channel(1);
            self.setup.shape.write(ShapeLetter::Disown(port, Leftover::Dropped, reply));
        }
        // Letters are read, then what was taken out leaves, a frame at a time.
        (0..PASSES).for_each(|_| self.pass());
    }
}
