//! One worker's graph: runs nodes in rank order and moves their packets along the edges.
//!
//! ```text
//!  inputs ─▶ frame ─▶ node.process ─▶ exits agree?  yes: the frame itself moves on
//!                                                   no:  split, a SIMD compress for each exit
//!  pending: a bit a slot; the lowest runs next, so a node sees all its inputs' packets at once
//! ```
//! Nothing is allocated once the arena has grown to what the graph needs.

use crate::clock::tsc;
use crate::context::{Context, Emitted};
use crate::counter::add;
use crate::counters::{GraphCounters, NodeCounters};
use crate::exit::ExitIndex;
use crate::layout::Layout;
use crate::node::{DynNode, Role};
use crate::observe::Observer;
use crate::stalls::StallCounters;
use crate::watch::Watch;
use packet::{ExitBytes, Frame, PacketCache, Pool, Splitter};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Frames made at start: enough for every node of a usual graph to have one waiting.
const FIRST_FRAMES: usize = 32;
/// Waiting frames that a node's queue holds before it has to grow.
const QUEUE_FRAMES: usize = 16;

/// How one worker's graph is made.
#[derive(Clone, Copy, Debug)]
pub struct GraphSettings {
    /// Number of the worker.
    pub worker: u16,
    /// Read the TSC around every call (some 25 cycles a call).
    pub count_cycles: bool,
    /// How mixed frames are split.
    pub splitter: Splitter,
}

impl Default for GraphSettings {
    fn default() -> Self {
        Self { worker: 0, count_cycles: true, splitter: Splitter::detect() }
    }
}

/// A graph that runs.
pub struct Graph {
    slots: Vec<Slot>,
    inputs: Vec<usize>,
    timed: Vec<usize>,
    due_tsc: u64,
    mover: Mover,
    bytes: Box<ExitBytes>,
    emitted: Emitted,
    spare_queue: Vec<Box<Frame>>,
    cache: Box<dyn PacketCache>,
    counters: Arc<GraphCounters>,
    observer: Observer,
    settings: GraphSettings,
}

struct Slot {
    node: Box<dyn DynNode>,
    role: Role,
    edges: Box<[Wire]>,
}

#[derive(Clone, Copy)]
struct Wire {
    target: usize,
    cause: Option<u16>,
}

/// Everything that moving packets touches.
struct Mover {
    queues: Vec<Vec<Box<Frame>>>,
    pending: u128,
    arena: Vec<Box<Frame>>,
    made: u64,
    splitter: Splitter,
}

impl Graph {
    /// A worker's own copy of the layout, its nodes made from `setup`.
    pub fn new<S>(layout: &Layout<S>, setup: &S, pool: &dyn Pool, settings: GraphSettings) -> Self {
        let slots: Vec<Slot> = layout
            .nodes
            .iter()
            .map(|node| {
                let mut made = (node.spec.make)(setup);
                for &(key, exit) in &node.attached {
                    made.attach(key, exit);
                }
                let wire = |edge: &crate::Edge| Wire { target: edge.target, cause: edge.cause };
                let edges = node.edges.iter().map(wire).collect();
                Slot { node: made, role: node.spec.role, edges }
            })
            .collect();
        let counters = GraphCounters {
            nodes: slots.iter().map(|slot| NodeCounters::new(slot.edges.len())).collect(),
            loops: AtomicU64::new(0),
            idle_loops: AtomicU64::new(0),
            sleeps: AtomicU64::new(0),
            stalls: StallCounters::default(),
            frames_made: AtomicU64::new(0),
        };
        let with_role = |roles: &[Role]| -> Vec<usize> {
            (0..slots.len()).filter(|&slot| roles.contains(&slots[slot].role)).collect()
        };
        let inputs = with_role(&[Role::Input, Role::Polled]);
        let timed = with_role(&[Role::Timed]);
        let queue = |_: &Slot| Vec::with_capacity(QUEUE_FRAMES);
        let mover = Mover {
            queues: slots.iter().map(queue).collect(),
            pending: 0,
            arena: (0..FIRST_FRAMES).map(|_| Frame::new()).collect(),
            made: 0,
            splitter: settings.splitter,
        };
        Self {
            slots,
            inputs,
            timed,
            due_tsc: u64::MAX,
            mover,
            bytes: Box::default(),
            emitted: Emitted::new(),
            spare_queue: Vec::with_capacity(QUEUE_FRAMES),
            cache: pool.cache(),
            counters: Arc::new(counters),
            observer: Observer::default(),
            settings,
        }
    }

    /// The counters, to be read by others.
    pub fn counters(&self) -> Arc<GraphCounters> {
        Arc::clone(&self.counters)
    }

    /// Tracing and capture.
    pub fn observer(&mut self) -> &mut Observer {
        &mut self.observer
    }

    /// Buffers of this worker.
    pub fn cache(&mut self) -> &mut dyn PacketCache {
        &mut *self.cache
    }

    /// One pass: every input once, then all that is pending. Says how many packets came in.
    #[inline]
    pub fn run_once(&mut self) -> usize {
        let now_tsc = tsc();
        self.pass(now_tsc, now_tsc)
    }

    /// The same at a time that the caller says. What nodes take is measured by the processor's.
    pub fn run_at(&mut self, now_tsc: u64) -> usize {
        self.pass(now_tsc, tsc())
    }

    fn pass(&mut self, now_tsc: u64, mut clock: u64) -> usize {
        let mut received = 0;
        for input in 0..self.inputs.len() {
            let slot = self.inputs[input];
            let frame = self.mover.empty_frame();
            received += self.run(slot, frame, now_tsc, &mut clock);
        }
        if now_tsc >= self.due_tsc {
            received += self.run_timed(now_tsc, &mut clock);
        }
        while self.mover.pending != 0 {
            let slot = self.mover.pending.trailing_zeros() as usize;
            self.mover.pending &= self.mover.pending - 1;
            // One frame waits nearly always; what the node sends to itself waits in its place.
            let queue = &mut self.mover.queues[slot];
            if queue.len() == 1
                && let Some(frame) = queue.pop()
            {
                self.run(slot, frame, now_tsc, &mut clock);
                continue;
            }
            // What it sends to itself lands in the spare queue, for the next round.
            let spare = core::mem::take(&mut self.spare_queue);
            let mut frames = core::mem::replace(&mut self.mover.queues[slot], spare);
            for frame in frames.drain(..) {
                self.run(slot, frame, now_tsc, &mut clock);
            }
            self.spare_queue = frames;
        }
        add(&self.counters.loops, 1);
        if received == 0 {
            add(&self.counters.idle_loops, 1);
        }
        if self.mover.made != 0 {
            add(&self.counters.frames_made, core::mem::take(&mut self.mover.made));
        }
        received
    }

    /// When timed nodes want to be called next.
    #[inline]
    pub fn due_tsc(&self) -> u64 {
        self.due_tsc
    }

    /// Has timed nodes called in the next pass.
    pub fn call_timed(&mut self) {
        self.due_tsc = 0;
    }

    /// Nodes that are called in each pass say what could bring them packets while they are not.
    pub fn before_rest(&mut self, watch: &mut Watch) {
        for &slot in &self.inputs {
            self.slots[slot].node.before_rest(watch);
        }
    }

    /// They are called again.
    pub fn after_rest(&mut self) {
        for &slot in &self.inputs {
            self.slots[slot].node.after_rest();
        }
    }

    fn run_timed(&mut self, now_tsc: u64, clock: &mut u64) -> usize {
        self.due_tsc = u64::MAX;
        let mut emitted = 0;
        for at in 0..self.timed.len() {
            let frame = self.mover.empty_frame();
            emitted += self.run(self.timed[at], frame, now_tsc, clock);
        }
        emitted
    }

    /// Shows `frame` to the node in `slot` and moves the packets where it says.
    fn run(&mut self, slot: usize, mut frame: Box<Frame>, now_tsc: u64, clock: &mut u64) -> usize {
        let Slot { node, role, edges } = &mut self.slots[slot];
        let counters = &self.counters.nodes[slot];
        let mut uniform = None;
        let is_active = self.observer.is_active();
        if is_active {
            self.observer.before(slot, &mut frame);
        }
        let mut context = Context {
            now_tsc,
            worker: self.settings.worker,
            is_observed: is_active && self.observer.is_looking(),
            cache: &mut *self.cache,
            emitted: &mut self.emitted,
            due_tsc: &mut self.due_tsc,
        };
        node.process(&mut frame, &mut self.bytes, &mut uniform, &mut context);
        let left = frame.left();
        let count = left + frame.len();
        if is_active {
            let input = *role == Role::Input;
            self.observer.after(slot, input, &mut frame, &self.bytes, uniform);
        }
        if left != 0 {
            add(&counters.taken, left as u64);
        }
        if frame.is_empty() {
            self.mover.recycle(frame);
        } else {
            self.mover.forward(frame, &mut self.bytes, uniform, edges, counters);
        }
        let emitted = self.emitted.frame.len();
        if emitted != 0 {
            if self.observer.is_active() {
                self.observer.emitted(slot, &mut self.emitted);
            }
            let full = core::mem::replace(&mut self.emitted.frame, self.mover.empty_frame());
            self.mover.forward(full, &mut self.emitted.exits, None, edges, counters);
        }
        // A poll that found nothing is not counted as a call: idling would drown the figures.
        if count + emitted != 0 || *role == Role::Inner {
            add(&counters.calls, 1);
            add(&counters.packets, count as u64);
            if self.settings.count_cycles {
                let end = tsc();
                add(&counters.cycles, end - *clock);
                *clock = end;
            }
        } else if self.settings.count_cycles {
            *clock = tsc();
        }
        count + emitted
    }
}

impl Mover {
    fn empty_frame(&mut self) -> Box<Frame> {
        self.arena.pop().unwrap_or_else(|| {
            self.made += 1;
            Frame::new()
        })
    }

    fn recycle(&mut self, mut frame: Box<Frame>) {
        frame.clear();
        self.arena.push(frame);
    }

    /// Sends each packet along the edge its exit names.
    #[inline]
    fn forward(
        &mut self,
        frame: Box<Frame>,
        bytes: &mut ExitBytes,
        uniform: Option<ExitIndex>,
        edges: &[Wire],
        counters: &NodeCounters,
    ) {
        let count = frame.len();
        match uniform.or_else(|| agreed(bytes, count)) {
            Some(ExitIndex::TAKEN) => {
                add(&counters.taken, count as u64);
                self.recycle(frame);
            }
            Some(ExitIndex(exit)) => {
                let exit = usize::from(exit);
                add(&counters.exits[exit], count as u64);
                self.move_whole(frame, edges[exit]);
            }
            None => self.split(frame, bytes, edges, counters),
        }
    }

    /// The frame itself goes on, or its packets join the frame that waits there if they fit.
    #[inline]
    fn move_whole(&mut self, mut frame: Box<Frame>, wire: Wire) {
        self.pending |= 1 << wire.target;
        let queue = &mut self.queues[wire.target];
        if let Some(waiting) = queue.last_mut().filter(|waiting| waiting.room() >= frame.len()) {
            let from = waiting.len();
            waiting.append(&mut frame);
            if let Some(cause) = wire.cause {
                waiting.fill_cause(from, cause);
            }
            self.recycle(frame);
            return;
        }
        if let Some(cause) = wire.cause {
            frame.fill_cause(0, cause);
        }
        queue.push(frame);
    }

    fn split(
        &mut self,
        mut frame: Box<Frame>,
        bytes: &ExitBytes,
        edges: &[Wire],
        counters: &NodeCounters,
    ) {
        for part in frame.parts(bytes) {
            let (exit, count) = (part.exit(), part.slots());
            if exit == ExitIndex::TAKEN.0 {
                add(&counters.taken, count as u64);
                continue;
            }
            add(&counters.exits[usize::from(exit)], count as u64);
            let wire = edges[usize::from(exit)];
            self.pending |= 1 << wire.target;
            if self.queues[wire.target].last().is_none_or(|waiting| waiting.room() < count) {
                let fresh = self.empty_frame();
                self.queues[wire.target].push(fresh);
            }
            if let Some(target) = self.queues[wire.target].last_mut() {
                let from = target.len();
                target.gather(part, self.splitter);
                if let Some(cause) = wire.cause {
                    target.fill_cause(from, cause);
                }
            }
        }
        self.recycle(frame);
    }
}

/// The exit that all of the first `count` slots name, if they agree.
#[inline]
fn agreed(bytes: &mut ExitBytes, count: usize) -> Option<ExitIndex> {
    const STEP: usize = 64;
    let first = bytes.0[0];
    let padded = count.next_multiple_of(STEP);
    bytes.0[count..padded].fill(first);
    // No early exit: a plain fold is what the compiler turns into vector code.
    let differing = bytes.0[..padded].iter().fold(0, |found, &byte| found | (byte ^ first));
    (differing == 0).then_some(ExitIndex(first))
}
