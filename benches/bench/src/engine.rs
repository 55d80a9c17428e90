//! The engine by itself: cycles per packet and hop through nodes that do next to nothing.
//!
//! ```text
//!  source ─▶ hop 1 ─▶ hop 2 ─▶ … ─▶ hop 8 ─▶ sink        all-same: the frame moves whole
//!              └──────────▶┘ both exits lead there         mixed: every hop splits its frame
//! ```

use crate::report::Row;
use crate::sample::Middle;
use graph::{Context, Exits, Graph, GraphSettings, Layout, NoExit, Node, Role, spec};
use packet::{Frame, HeapPool, MemorySource, PacketBuf, Repeat, RxQueue, VECTOR};
use std::sync::atomic::Ordering;

/// Which graph: packets a vector, and whether exits are mixed.
#[derive(Clone)]
struct Shape {
    vector: usize,
    mixed: bool,
}

struct Source {
    packets: MemorySource,
    vector: usize,
    burst: Vec<PacketBuf>,
}

graph::exits! {
    /// Of the source.
    enum SourceExit {
        /// All.
        Out => node "hop-1",
    }
}

impl Node for Source {
    const NAME: &'static str = "source";
    const ABOUT: &'static str = "brings packets";
    const ROLE: Role = Role::Input;
    type Exit = SourceExit;
    type Setup = Shape;

    fn new(shape: &Shape) -> Self {
        let packets = MemorySource::new(vec![vec![0; 60]; VECTOR], Repeat::Forever);
        Self { packets, vector: shape.vector, burst: Vec::with_capacity(VECTOR) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, SourceExit>,
        cx: &mut Context<'_>,
    ) {
        self.packets.receive(cx.cache, self.vector, &mut self.burst);
        frame.push_burst(&mut self.burst, 0);
        exits.all(SourceExit::Out);
    }
}

macro_rules! hops {
    ($($module:ident $name:literal to $next:literal,)+) => {
        $(mod $module {
            use super::{Context, Exits, Frame, Node, Shape};

            graph::exits! {
                /// Both lead on.
                pub(super) enum Exit {
                    /// Even slots, or all.
                    Even => node $next,
                    /// Odd slots.
                    Odd => node $next,
                }
            }

            pub(super) struct Hop {
                mixed: bool,
            }

            impl Node for Hop {
                const NAME: &'static str = $name;
                const ABOUT: &'static str = "decides nothing";
                type Exit = Exit;
                type Setup = Shape;

                fn new(shape: &Shape) -> Self {
                    Self { mixed: shape.mixed }
                }

                fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
                    // Both write every exit, so that only the engine's work differs.
                    let odd = u8::from(self.mixed);
                    for (slot, byte) in exits.bytes().0[..frame.len()].iter_mut().enumerate() {
                        *byte = slot as u8 & odd;
                    }
                }
            }
        })+

        fn layout() -> Result<Layout<Shape>, graph::LayoutError> {
            Layout::new(&[spec::<Source>(), $(spec::<$module::Hop>(),)+ spec::<Sink>()])
        }
    };
}

hops! {
    hop_1 "hop-1" to "hop-2",
    hop_2 "hop-2" to "hop-3",
    hop_3 "hop-3" to "hop-4",
    hop_4 "hop-4" to "sink",
}

struct Sink;

impl Node for Sink {
    const NAME: &'static str = "sink";
    const ABOUT: &'static str = "frees packets";
    type Exit = NoExit;
    type Setup = Shape;

    fn new(_: &Shape) -> Self {
        Self
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, NoExit>, cx: &mut Context<'_>) {
        cx.cache.release(frame.take_all());
        exits.all_taken();
    }
}

/// A row for each vector size, all-same and mixed; cycles per packet and hop.
pub(crate) fn rows(rounds: usize, progress: fn(&str)) -> Vec<Row> {
    let mut rows = Vec::new();
    for mixed in [false, true] {
        for vector in [1, 8, 64, 256] {
            let kind = if mixed { "mixed" } else { "same" };
            progress(&format!("engine, {vector} packets, {kind} exits"));
            let samples = measure(&Shape { vector, mixed }, rounds).unwrap_or_default();
            let middle = Middle::of(samples.iter().copied());
            let scenario = format!("engine-hop-{kind}-{vector}");
            rows.push(Row::plain(scenario, middle, samples.len(), vector as f64));
        }
    }
    rows
}

fn measure(shape: &Shape, rounds: usize) -> Option<Vec<f64>> {
    let layout = layout().ok()?;
    let pool = HeapPool::new(2048, 256).ok()?;
    let mut graph = Graph::new(&layout, shape, &pool, GraphSettings::default());
    let counters = graph.counters();
    let hops: Vec<usize> = (1..=4).filter_map(|hop| layout.slot(&format!("hop-{hop}"))).collect();
    let read = || {
        hops.iter().fold((0, 0), |(cycles, packets), &slot| {
            let node = &counters.nodes[slot];
            let packets: u64 = packets + node.packets.load(Ordering::Relaxed);
            (cycles + node.cycles.load(Ordering::Relaxed), packets)
        })
    };
    let passes = 200_000 / shape.vector.max(4);
    let mut samples = Vec::new();
    for _ in 0..=rounds {
        let before = read();
        (0..passes).for_each(|_| {
            graph.run_once();
        });
        let after = read();
        samples.push((after.0 - before.0) as f64 / (after.1 - before.1).max(1) as f64);
    }
    samples.remove(0);
    Some(samples)
}
