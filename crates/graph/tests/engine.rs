//! The engine on small graphs: packets arrive where exits say, in order, counted; nothing leaks
//! and nothing is allocated in steady state.

#![allow(clippy::unwrap_used)]

use graph::harness::TEST_DROP;
use graph::{Attach, Context, ExitIndex, Exits, Graph, GraphSettings, Layout, LayoutError};
use graph::{CaptureRequest, NoExit, Node, NodeSpec, Role, TraceRequest, WalkWanted, spec};
use packet::{Frame, HeapPool, MemorySource, Pool, Repeat, RxQueue, Splitter};
use std::alloc::{GlobalAlloc, Layout as MemoryLayout, System};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};

/// Where a packet ended, what its node was told, and its bytes.
type Seen = Arc<Mutex<Vec<(&'static str, u16, Vec<u8>)>>>;

/// Packets as first byte (the exit wanted) and a number, and where they ended.
#[derive(Clone, Default)]
struct Lab {
    packets: Vec<Vec<u8>>,
    repeat: bool,
    seen: Seen,
}

struct Source(MemorySource, Vec<packet::PacketBuf>);

graph::exits! {
    /// Of the source.
    enum SourceExit {
        /// All of them.
        Out => node "sort",
    }
}

impl Node for Source {
    const NAME: &'static str = "source";
    const ABOUT: &'static str = "brings the test's packets";
    const ROLE: Role = Role::Input;
    type Exit = SourceExit;
    type Setup = Lab;

    fn new(lab: &Lab) -> Self {
        let repeat = if lab.repeat { Repeat::Forever } else { Repeat::Once };
        let packets = MemorySource::new(lab.packets.clone(), repeat);
        Self(packets, Vec::with_capacity(packet::VECTOR))
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, SourceExit>,
        cx: &mut Context<'_>,
    ) {
        self.0.receive(cx.cache, packet::VECTOR, &mut self.1);
        frame.push_burst(&mut self.1, 3);
        exits.all(SourceExit::Out);
    }
}

struct Sort {
    attached: Vec<(u32, ExitIndex)>,
}

graph::exits! {
    /// Of the sorter.
    enum SortExit {
        /// First byte 0.
        Left => node "left",
        /// First byte 1, by way of a cause.
        Why => node "left" cause 77,
        /// Anything nobody attached to.
        Unknown => drop "Nothing.",
    }
}

impl Node for Sort {
    const NAME: &'static str = "sort";
    const ABOUT: &'static str = "sorts by the first byte";
    type Exit = SortExit;
    type Setup = Lab;

    fn new(_: &Lab) -> Self {
        Self { attached: Vec::new() }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.attached.push((key, exit));
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, SortExit>, _: &mut Context<'_>) {
        exits.each(frame, |packet| match packet.header()[0] {
            0 => SortExit::Left.into(),
            1 => SortExit::Why.into(),
            key => {
                let found = self.attached.iter().find(|(k, _)| *k == u32::from(key));
                found.map_or(SortExit::Unknown.into(), |found| found.1)
            }
        });
    }
}

macro_rules! end {
    ($node:ident, $name:literal, $attach:expr) => {
        struct $node(Seen);

        impl Node for $node {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = "writes down what comes";
            const ATTACH: &'static [Attach] = $attach;
            type Exit = NoExit;
            type Setup = Lab;

            fn new(lab: &Lab) -> Self {
                Self(Arc::clone(&lab.seen))
            }

            fn process(
                &mut self,
                frame: &mut Frame,
                exits: &mut Exits<'_, NoExit>,
                cx: &mut Context<'_>,
            ) {
                let mut seen = self.0.lock().unwrap();
                if seen.capacity() > seen.len() + frame.len() {
                    frame.each(|p| seen.push(($name, p.cause(), p.header().to_vec())));
                }
                cx.cache.release(frame.take_all());
                exits.all_taken();
            }
        }
    };
}

end!(Left, "left", &[]);
end!(Right, "right", &[Attach { of: "sort", key: 2 }, Attach { of: "sort", key: 3 }]);
end!(Drop_, "drop", &[]);

const SPECS: [NodeSpec<Lab>; 5] =
    [spec::<Drop_>(), spec::<Left>(), spec::<Right>(), spec::<Sort>(), spec::<Source>()];

struct Rig {
    graph: Graph,
    layout: Layout<Lab>,
    pool: HeapPool,
    lab: Lab,
}

fn rig(packets: Vec<Vec<u8>>, splitter: Splitter, repeat: bool) -> Rig {
    let seen = Arc::new(Mutex::new(Vec::with_capacity(if repeat { 0 } else { 4096 })));
    let lab = Lab { packets, repeat, seen };
    let layout = Layout::new(&SPECS).unwrap();
    let pool = HeapPool::new(2048, 256).unwrap();
    let settings = GraphSettings { splitter, ..GraphSettings::default() };
    let graph = Graph::new(&layout, &lab, &pool, settings);
    Rig { graph, layout, pool, lab }
}

/// 300 packets whose first byte runs over `kinds`, numbered in the bytes behind.
fn numbered(kinds: &[u8]) -> Vec<Vec<u8>> {
    (0..300u16)
        .map(|n| [&[kinds[usize::from(n) % kinds.len()]], &n.to_be_bytes()[..]].concat())
        .collect()
}

#[test]
fn packets_arrive_where_their_exits_lead_in_order_and_nothing_leaks() {
    for splitter in [Splitter::SCALAR, Splitter::detect()] {
        let packets = numbered(&[0, 1, 2, 3, 9, 2, 2]);
        let mut rig = rig(packets.clone(), splitter, false);
        assert_eq!(rig.graph.run_once() + rig.graph.run_once(), 300);
        let seen = rig.lab.seen.lock().unwrap();
        for (end, kinds, cause) in
            [("left", &[0][..], 0), ("left", &[1], 77), ("right", &[2, 3], 0), ("drop", &[9], 0)]
        {
            let wanted: Vec<_> = packets.iter().filter(|p| kinds.contains(&p[0])).collect();
            let got: Vec<_> = seen
                .iter()
                .filter(|(name, _, bytes)| *name == end && kinds.contains(&bytes[0]))
                .inspect(|(_, told, _)| assert!(end == "right" || *told == cause, "{end} {told}"))
                .map(|(_, _, bytes)| bytes)
                .collect();
            assert_eq!(got, wanted, "{end} {kinds:?} {splitter:?}");
        }
        drop(rig.graph);
        assert_eq!(rig.pool.usage().free, 2048);
    }
}

#[test]
fn counters_count_calls_packets_and_exits() {
    let mut rig = rig(numbered(&[0, 9]), Splitter::detect(), false);
    while rig.graph.run_once() != 0 {}
    let counters = rig.graph.counters();
    let of = |name: &str| &counters.nodes[rig.layout.slot(name).unwrap()];
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let exits: Vec<_> = of("sort").exits.iter().map(read).collect();
    assert_eq!(exits, [150, 0, 150, 0]);
    assert_eq!((read(&of("sort").calls), read(&of("sort").packets)), (2, 300));
    assert_eq!((read(&of("source").calls), read(&of("source").packets)), (2, 300));
    assert_eq!((read(&of("left").taken), read(&of("drop").taken)), (150, 150));
    assert!(read(&of("sort").cycles) > 0);
    assert_eq!(read(&counters.idle_loops), 1);
}

#[test]
fn inputs_come_first_and_edges_lead_to_higher_slots() {
    let layout = Layout::new(&SPECS).unwrap();
    for (slot, node) in layout.nodes.iter().enumerate() {
        assert!(node.edges.iter().all(|edge| edge.target > slot), "{}", node.spec.name);
    }
    assert_eq!(layout.nodes[0].spec.name, "source");
    let sort = &layout.nodes[layout.slot("sort").unwrap()];
    let names: Vec<_> = sort.edges.iter().map(|edge| edge.name.as_str()).collect();
    assert_eq!(names, ["left", "why", "unknown", "right"]);
    assert_eq!((layout.reasons[0].node, layout.reasons[0].exit.as_str()), ("sort", "unknown"));
}

#[test]
fn a_graph_that_cannot_be_wired_is_refused_with_the_reason() {
    let missing = Layout::new(&[spec::<Sort>(), spec::<Drop_>()]).err().unwrap();
    assert_eq!(
        missing.to_string(),
        "exit `left` of node `sort` leads to `left`, and there is no such node"
    );
    let twice = Layout::new(&[spec::<Drop_>(), spec::<Drop_>()]).err().unwrap();
    assert_eq!(twice, LayoutError::Twice("drop"));
    assert!(Layout::new(&[TEST_DROP]).is_ok());
    let lonely = Layout::new(&[spec::<Right>(), spec::<Drop_>()]).err().unwrap();
    assert_eq!(lonely, LayoutError::NoSuchDemux { node: "right", of: "sort" });
}

#[test]
fn a_trace_writes_down_the_walk_of_the_first_packets() {
    let mut rig = rig(numbered(&[0, 9]), Splitter::detect(), false);
    let (into, records) = mpsc::sync_channel(100);
    let request = TraceRequest { rx: Some(3), count: 2, ..TraceRequest::default() };
    rig.graph.observer().start_trace(request, into);
    rig.graph.run_once();
    let walk: Vec<_> = records
        .try_iter()
        .map(|r| (r.packet, rig.layout.nodes[r.slot].spec.name, r.exit, r.bytes[0], r.rx))
        .collect();
    assert_eq!(
        &walk[..4],
        [
            (1, "source", 0, 0, 3),
            (2, "source", 0, 9, 3),
            (1, "sort", 0, 0, 3),
            (2, "sort", 2, 9, 3)
        ]
    );
    let mut ends: Vec<_> = walk[4..].iter().map(|step| (step.0, step.1, step.2)).collect();
    ends.sort_unstable();
    assert_eq!(ends, [(1, "left", 255), (2, "drop", 255)]);
}

#[test]
fn a_trace_can_be_of_wanted_frames_and_of_those_that_end_so() {
    let traced = |request: TraceRequest| {
        let mut rig = rig(numbered(&[0, 9, 1]), Splitter::detect(), false);
        let (into, records) = mpsc::sync_channel(1000);
        rig.graph.observer().start_trace(request, into);
        while rig.graph.run_once() != 0 {}
        let step = |it: graph::TraceRecord| (rig.layout.nodes[it.slot].spec.name, it.bytes[0]);
        records.try_iter().map(step).collect::<Vec<_>>()
    };
    let count = 2;
    let wants: graph::Wants = Arc::new(|frame: &[u8]| frame[0] == 9);
    let wanted = traced(TraceRequest { wants: Some(wants), count, ..TraceRequest::default() });
    assert_eq!(
        wanted,
        [("source", 9), ("source", 9), ("sort", 9), ("sort", 9), ("drop", 9), ("drop", 9)]
    );
    let sort = Layout::new(&SPECS).unwrap().slot("sort").unwrap();
    let walk = WalkWanted { by: None, exits: Some([(sort, 2)].into()) };
    let dropped = traced(TraceRequest { walk: walk.clone(), count, ..TraceRequest::default() });
    let of_drop =
        [("source", 9), ("sort", 9), ("source", 9), ("sort", 9), ("drop", 9), ("drop", 9)];
    assert_eq!(dropped, of_drop);
    let never = WalkWanted { by: Some(8), ..walk };
    assert_eq!(traced(TraceRequest { walk: never, count, ..TraceRequest::default() }), []);
}

#[test]
fn a_capture_copies_what_takes_its_exit() {
    let mut rig = rig(numbered(&[0, 9]), Splitter::detect(), false);
    let (into, copies) = mpsc::sync_channel(1000);
    let slot = rig.layout.slot("sort").unwrap();
    let request = CaptureRequest { slot, exit: Some(2), snap_bytes: 2, into };
    rig.graph.observer().start_capture(request);
    while rig.graph.run_once() != 0 {}
    let copies: Vec<_> = copies.try_iter().collect();
    assert_eq!(copies.len(), 150);
    assert!(copies.iter().all(|copy| copy.bytes == [9, 0] || copy.bytes == [9, 1]));
    assert!(copies.iter().all(|copy| copy.length == 3 && copy.rx == 3));
}

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes everything on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: MemoryLayout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: MemoryLayout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn steady_state_allocates_nothing() {
    let mut rig = rig(numbered(&[0, 1, 2, 3, 9]), Splitter::detect(), true);
    (0..50).for_each(|_| assert_eq!(rig.graph.run_once(), 256));
    let before = ALLOCATIONS.get();
    (0..500).for_each(|_| assert_eq!(rig.graph.run_once(), 256));
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
