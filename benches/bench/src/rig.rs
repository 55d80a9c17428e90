//! A data plane on memory ports, turned by this thread, and measured.

use crate::pace::Pace;
use crate::sample::{NodeCost, Sample};
use dataplane::{Dataplane, NodeTotals, PortQueues, Settings, Threads};
use graph::{Idle, Worker};
use nodes::tables::{Interface, InterfaceId, Mode};
use packet::{HeapPool, MemorySink, MemorySource, Repeat, RxQueue, TxQueue};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The node whose cycles are the source's, not the router's.
pub(crate) const SOURCE: &str = "port-rx";

/// Buffers: more than a graph ever holds, few enough to stay in the second-level cache, as with
/// the packet generator that the figures are compared with.
const BUFFERS: usize = 4096;

/// The router's own MAC address on each interface.
pub(crate) const ROUTER_MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 1];

pub(crate) struct Rig {
    pub(crate) dataplane: Dataplane,
    /// None where workers are threads of their own.
    worker: Option<Worker>,
    /// What its source brings, over and over.
    frames: Arc<[Vec<u8>]>,
    made: Instant,
}

impl Rig {
    /// Two interfaces, 0 and 1: interface 0 brings `packets` for ever, and each sends to a sink.
    pub(crate) fn new(packets: Vec<Vec<u8>>, mode: Mode) -> Result<Self, RigError> {
        Self::with_settings(packets, mode, |_| ())
    }

    /// The same, with settings of its own.
    pub(crate) fn with_settings(
        packets: Vec<Vec<u8>>,
        mode: Mode,
        change: impl FnOnce(&mut Settings),
    ) -> Result<Self, RigError> {
        let frames: Arc<[Vec<u8>]> = packets.into();
        let mut dataplane = plane(Arc::clone(&frames), mode, change)?;
        let worker = dataplane.take_local_worker();
        Ok(Self { dataplane, worker, frames, made: Instant::now() })
    }

    /// Two interfaces as [`Rig::new`] makes them; of several workers each is a thread, that sleeps
    /// where nothing comes in.
    pub(crate) fn with_workers(
        workers: usize,
        packets: Vec<Vec<u8>>,
        mode: Mode,
        change: impl FnOnce(&mut Settings),
    ) -> Result<Self, RigError> {
        let pool = Arc::new(HeapPool::new(workers * BUFFERS, 2048)?);
        Self::with_settings(packets, mode, |settings| {
            if workers > 1 {
                settings.pool = pool;
                settings.threads = Threads::Pinned(vec![None; workers]);
                settings.idle = Idle::Adaptive;
            }
            change(settings);
        })
    }

    /// Runs once, where no thread does that.
    pub(crate) fn turn(&mut self) {
        if let Some(worker) = &mut self.worker {
            worker.turn();
        }
    }

    /// Tells the stations' clock what time it is.
    pub(crate) fn look_at_clock(&self) {
        self.dataplane.stations.set_now(self.made.elapsed().as_secs() as u32);
    }

    /// Meets each packet once: what the scenarios before it took from the caches is there again, as
    /// far as they hold it. A router that does one thing all day is in that state.
    pub(crate) fn warm_up(&mut self) {
        self.look_at_clock();
        let passes = self.frames.len().div_ceil(packet::VECTOR);
        (0..passes).for_each(|_| self.turn());
    }

    /// What its source brings.
    pub(crate) fn frames(&self) -> &[Vec<u8>] {
        &self.frames
    }

    /// Packets that the source brought until now.
    pub(crate) fn brought(&self) -> u64 {
        let totals = self.dataplane.node_totals(None);
        totals.iter().filter(|it| it.name == SOURCE).map(|it| it.packets).sum()
    }

    /// Runs for some milliseconds.
    pub(crate) fn sample(&mut self, milliseconds: u64) -> Sample {
        self.look_at_clock();
        let before = self.dataplane.node_totals(None);
        let ((), pace) = Pace::beside(|| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(milliseconds) {
                for _ in 0..64 {
                    self.turn();
                }
            }
        });
        difference(&before, &self.dataplane.node_totals(None), pace)
    }
}

/// The data plane alone: its worker is another thread's where the settings say so.
pub(crate) fn plane(
    packets: Arc<[Vec<u8>]>,
    mode: Mode,
    change: impl FnOnce(&mut Settings),
) -> Result<Dataplane, RigError> {
    let mut settings = Settings::new(Arc::new(HeapPool::new(BUFFERS, 2048)?));
    settings.idle = Idle::Poll;
    change(&mut settings);
    let mut dataplane = Dataplane::start(&settings)?;
    let workers = dataplane.worker_cores().len();
    let source = |_| {
        let source = MemorySource::new(Arc::clone(&packets), Repeat::Forever);
        Box::new(source) as Box<dyn RxQueue>
    };
    let tx = || (0..workers).map(|_| Box::new(MemorySink::new()) as Box<dyn TxQueue>).collect();
    dataplane.attach_port(0, 0, PortQueues { rx: (0..workers).map(source).collect(), tx: tx() })?;
    dataplane.attach_port(1, 1, PortQueues { rx: Vec::new(), tx: tx() })?;
    for id in 0..2u16 {
        dataplane.set_interface(id, Some(interface(id, mode)));
    }
    Ok(dataplane)
}

pub(crate) fn interface(id: u16, mode: Mode) -> Interface {
    let mode = match mode {
        Mode::CrossConnect(_) => Mode::CrossConnect(InterfaceId(1 - id)),
        same => same,
    };
    Interface {
        mode,
        mac: ROUTER_MAC,
        ip4: vec![(u32::from_be_bytes([192, 0, 2 + id as u8, 1]), 24)],
        ip6: vec![(0x2001_0db8 << 96 | u128::from(id) << 64 | 1, 64)],
        ..Interface::new(&format!("p{id}"), id)
    }
}

fn difference(before: &[NodeTotals], after: &[NodeTotals], pace: Pace) -> Sample {
    let mut sample = Sample { packets: 0, cycles: 0, receiving_cycles: 0, nodes: Vec::new(), pace };
    for (before, after) in before.iter().zip(after) {
        let packets = after.packets - before.packets;
        if after.name == SOURCE {
            sample.packets = packets;
            sample.receiving_cycles = after.cycles - before.cycles;
        } else if packets != 0 {
            let (calls, cycles) = (after.calls - before.calls, after.cycles - before.cycles);
            sample.cycles += cycles;
            sample.nodes.push(NodeCost { name: after.name, calls, packets, cycles });
        }
    }
    sample
}

/// What making a rig can fail with.
pub(crate) type RigError = Box<dyn std::error::Error>;
