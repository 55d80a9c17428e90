//! No packet waits for the end of a worker's rest, whenever it comes: each moment between the last
//! look and the rest is tried by itself. A wake-up that is lost keeps the test for ten minutes.

#![allow(clippy::unwrap_used)]

use fib::quiesce::Quiescence;
use graph::harness::TestDrop;
use graph::{Context, Exits, Graph, GraphSettings, Idle, Layout, Node, Role, Watch, Worker, spec};
use packet::{Frame, HeapPool};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(600);

/// When the test's packet comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moment {
    BeforeTheCardIsArmed,
    OnceItIsArmed,
    AfterTheLastPass,
    DuringTheRest,
}

/// A card that tells of a packet only if it was armed when that came, and only once.
struct Card {
    waiting: usize,
    is_armed: bool,
    comes: Option<Moment>,
    event: (PipeReader, PipeWriter),
}

impl Card {
    fn brings(&mut self) {
        self.waiting += 1;
        if std::mem::take(&mut self.is_armed) {
            self.event.1.write_all(b"x").unwrap();
        }
    }

    fn brings_at(&mut self, moment: Moment) {
        if self.comes.take_if(|comes| *comes == moment).is_some() {
            self.brings();
        }
    }
}

static CARD: OnceLock<Mutex<Card>> = OnceLock::new();
static RECEIVED: AtomicUsize = AtomicUsize::new(0);

fn card() -> std::sync::MutexGuard<'static, Card> {
    let event = || pipe().unwrap();
    let new = || Card { waiting: 0, is_armed: false, comes: None, event: event() };
    CARD.get_or_init(|| Mutex::new(new())).lock().unwrap()
}

graph::exits! {
    /// Of the receiver.
    enum Exit {
        /// All.
        Out => drop "Nothing.",
    }
}

struct Receiver;

impl Node for Receiver {
    const NAME: &'static str = "receiver";
    const ABOUT: &'static str = "reads the card";
    const ROLE: Role = Role::Input;
    type Exit = Exit;
    type Setup = ();

    fn new((): &()) -> Self {
        Self
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        for _ in 0..std::mem::take(&mut card().waiting) {
            frame.push(context.cache.copy_of(b"packet").unwrap(), 0);
            RECEIVED.fetch_add(1, Ordering::Relaxed);
        }
        exits.all(Exit::Out);
    }

    fn before_rest(&mut self, watch: &mut Watch) {
        let mut card = card();
        card.brings_at(Moment::BeforeTheCardIsArmed);
        card.is_armed = true;
        watch.readable(card.event.0.as_raw_fd());
        card.brings_at(Moment::OnceItIsArmed);
    }

    fn after_rest(&mut self) {
        let mut card = card();
        // What it told is forgotten, and what was not told is found by the next pass.
        if !std::mem::take(&mut card.is_armed) {
            card.event.0.read_exact(&mut [0]).unwrap();
        }
    }
}

#[test]
fn whenever_a_packet_comes_it_is_received_without_waiting_for_the_rest_to_be_over() {
    let layout = Arc::new(Layout::new(&[spec::<TestDrop>(), spec::<Receiver>()]).unwrap());
    let pool = HeapPool::new(64, 256).unwrap();
    let graph = Graph::new(&layout, &(), &pool, GraphSettings::default());
    let readers = Quiescence::new();
    let (mut worker, _handle) = Worker::new(graph, readers.reader(), Idle::Adaptive);
    for moment in [
        Moment::BeforeTheCardIsArmed,
        Moment::OnceItIsArmed,
        Moment::AfterTheLastPass,
        Moment::DuringTheRest,
    ] {
        let before = RECEIVED.load(Ordering::Relaxed);
        card().comes = Some(moment);
        let came = || RECEIVED.load(Ordering::Relaxed) != before;
        while !came() {
            if worker.turn().is_none() {
                continue;
            }
            card().brings_at(Moment::AfterTheLastPass);
            std::thread::scope(|scope| {
                scope.spawn(|| card().brings_at(Moment::DuringTheRest));
                worker.rest(LONG);
            });
        }
        assert_eq!(RECEIVED.load(Ordering::Relaxed), before + 1, "{moment:?}");
    }
}
