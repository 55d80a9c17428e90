//! A worker that looks for packets and finds few leaves its core to others that want it, as one
//! that yields after each look does: how much that is, is Linux's affair.

#![allow(clippy::unwrap_used)]

use fib::quiesce::Quiescence;
use graph::harness::TestDrop;
use graph::{Context, Exits, Graph, GraphSettings, Idle, Layout, Node, Role, WorkerHandle, spec};
use packet::{Frame, HeapPool};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Of both workers on the core.
const MEASURED: Duration = Duration::from_millis(500);

graph::exits! {
    /// Of the input.
    enum Exit {
        /// All.
        Out => drop "Nothing.",
    }
}

/// Passes from one packet to the next: not so many that the worker rests between them.
const PASSES: u32 = 100;

/// Has a packet now and then, and may yield the core each time it is asked.
struct Input<const YIELDS: bool>(u32);

impl<const YIELDS: bool> Node for Input<YIELDS> {
    const NAME: &'static str = "input";
    const ABOUT: &'static str = "has few packets";
    const ROLE: Role = Role::Input;
    type Exit = Exit;
    type Setup = ();

    fn new((): &()) -> Self {
        Self(0)
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        if YIELDS {
            thread::yield_now();
        }
        self.0 += 1;
        if self.0.is_multiple_of(PASSES) {
            frame.push(context.cache.copy_of(b"packet").unwrap(), 0);
        }
        exits.all(Exit::Out);
    }
}

fn on_core_0<const YIELDS: bool>(name: &str, idle: Idle) -> WorkerHandle {
    let reader = Quiescence::new().reader();
    WorkerHandle::spawn(name, Some(0), idle, reader, move || {
        let layout = Arc::new(Layout::new(&[spec::<TestDrop>(), spec::<Input<YIELDS>>()]).unwrap());
        let pool = HeapPool::new(64, 256).unwrap();
        Graph::new(&layout, &(), &pool, GraphSettings::default())
    })
    .unwrap()
}

/// Nanoseconds that the thread of that name has had of a processor.
fn had(name: &str) -> u64 {
    let mut threads = fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let is_named = |path: &PathBuf| {
        fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    };
    let thread = threads.find(is_named).unwrap();
    let had = fs::read_to_string(thread.join("schedstat")).unwrap();
    had.split_whitespace().next().unwrap().parse().unwrap()
}

/// The share of a core that such a worker has beside one that keeps it.
fn share<const YIELDS: bool>(idle: Idle) -> f64 {
    let _tried = on_core_0::<YIELDS>("tried", idle);
    let _keeps = on_core_0::<false>("keeps", Idle::Poll);
    let before = (had("tried"), had("keeps"));
    // Until both together have had enough: a busy machine takes longer.
    loop {
        thread::sleep(Duration::from_millis(20));
        let (tried, keeps) = (had("tried") - before.0, had("keeps") - before.1);
        if u128::from(tried + keeps) >= MEASURED.as_nanos() {
            return tried as f64 / (tried + keeps) as f64;
        }
    }
}

#[test]
fn a_worker_that_finds_few_packets_leaves_its_core_to_who_wants_it() {
    let (yielder, adaptive) = (share::<true>(Idle::Poll), share::<false>(Idle::Adaptive));
    println!("of a core: {yielder:.3} who only yields, {adaptive:.3} a worker");
    // One that kept its core had 0.42 here, one that gives way 0.08, and a yielder 0.002.
    assert!(adaptive <= 2.0 * yielder + 0.2, "{adaptive:.3} where {yielder:.3} is to be had");
}
