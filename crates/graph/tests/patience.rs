//! A worker that is to poll never rests, until it no longer is to; one without patience rests after
//! the first pass that finds nothing.

#![allow(clippy::unwrap_used)]

use fib::quiesce::Quiescence;
use graph::harness::TestDrop;
use graph::{
    Context, Exits, Graph, GraphSettings, Idle, Layout, Node, Patience, Role, Watch, Worker, spec,
};
use packet::{Frame, HeapPool};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than a moment, many times.
const AWHILE: Duration = Duration::from_millis(20);

static PATIENCE: Mutex<Patience> = Mutex::new(Patience::Moment);
/// Rests that were announced and are not over.
static ARMED: AtomicU8 = AtomicU8::new(0);

graph::exits! {
    /// Of the input.
    enum Exit {
        /// All.
        Out => drop "Nothing.",
    }
}

struct Input;

impl Node for Input {
    const NAME: &'static str = "input";
    const ABOUT: &'static str = "has no packets";
    const ROLE: Role = Role::Input;
    type Exit = Exit;
    type Setup = ();

    fn new((): &()) -> Self {
        Self
    }

    fn process(&mut self, _: &mut Frame, _: &mut Exits<'_, Exit>, _: &mut Context<'_>) {}

    fn before_rest(&mut self, watch: &mut Watch) {
        ARMED.fetch_add(1, Ordering::Relaxed);
        watch.wait_with(*PATIENCE.lock().unwrap());
    }

    fn after_rest(&mut self) {
        ARMED.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn a_worker_rests_as_what_it_reads_has_it() {
    let layout = Arc::new(Layout::new(&[spec::<TestDrop>(), spec::<Input>()]).unwrap());
    let pool = HeapPool::new(64, 256).unwrap();
    let graph = Graph::new(&layout, &(), &pool, GraphSettings::default());
    let readers = Quiescence::new();
    let (mut worker, _handle) = Worker::new(graph, readers.reader(), Idle::Adaptive);
    let to_be = |patience| *PATIENCE.lock().unwrap() = patience;
    let rests_within = |worker: &mut Worker, time: Duration| {
        let begin = Instant::now();
        while begin.elapsed() < time {
            if worker.turn().is_some() {
                worker.rest(Duration::ZERO);
                return true;
            }
        }
        false
    };
    let ever = Duration::from_secs(600);
    assert!(rests_within(&mut worker, ever));
    to_be(Patience::Endless);
    // One rest may be on its way.
    rests_within(&mut worker, AWHILE);
    assert!(!rests_within(&mut worker, AWHILE));
    assert_eq!(ARMED.load(Ordering::Relaxed), 0, "it polls, and nothing is armed");
    to_be(Patience::None);
    assert!(rests_within(&mut worker, ever));
    // The pass that finds nothing, and the one after all is armed.
    let turns = (1..).find(|_| worker.turn().is_some()).unwrap();
    assert_eq!(turns, 2);
}
