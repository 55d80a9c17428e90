//! The thread around a graph: pinned to a core, resting when idle, told what to do by mail.
//!
//! ```text
//!  loop:  mail? ─▶ run the graph once ─▶ pass (tables may be freed) ─▶ rest if idle
//!  rest:  nodes say what may wake them ─▶ the loop once more ─▶ nothing came: wait for that, or the bell
//! ```
//! What comes before nodes say it is found by the pass behind it; what comes after ends the rest.

use crate::capture::CaptureRequest;
use crate::clock::tsc;
use crate::counter::add;
use crate::counters::GraphCounters;
use crate::dispatch::Graph;
use crate::doorbell::Doorbell;
use crate::idle::{Idle, IdlePolicy};
use crate::stalls::StallWatch;
use crate::trace::{TraceRecord, TraceRequest};
use crate::watch::{Futile, Watch};
use fib::quiesce::Reader;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the control thread tells a worker.
pub enum Mail {
    /// Follow packets.
    StartTrace(TraceRequest, SyncSender<TraceRecord>),
    /// Follow no more.
    StopTrace,
    /// Copy packets.
    StartCapture(CaptureRequest),
    /// Copy no more.
    StopCaptures,
}

/// A graph with its mailbox and its way to rest: what a worker thread runs, or the main thread
/// where one thread does all.
pub struct Worker {
    graph: Graph,
    reader: Reader,
    idle: IdlePolicy,
    stalls: StallWatch,
    watch: Watch,
    /// Nodes have said what may wake them.
    is_watching: bool,
    futile: Futile,
    shared: Arc<Shared>,
}

struct Shared {
    has_mail: AtomicBool,
    mail: Mutex<Vec<Mail>>,
    stop: AtomicBool,
    bell: Doorbell,
    counters: Arc<GraphCounters>,
}

/// The control thread's hold on a worker.
pub struct WorkerHandle {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// A worker around `graph`, to be turned by the caller, and its handle.
    pub fn new(graph: Graph, reader: Reader, idle: Idle) -> (Self, WorkerHandle) {
        Self::with_bell(graph, reader, idle, Doorbell::default())
    }

    fn with_bell(graph: Graph, reader: Reader, idle: Idle, bell: Doorbell) -> (Self, WorkerHandle) {
        let shared = Arc::new(Shared {
            has_mail: AtomicBool::new(false),
            mail: Mutex::default(),
            stop: AtomicBool::new(false),
            bell,
            counters: graph.counters(),
        });
        let handle = WorkerHandle { shared: Arc::clone(&shared), thread: None };
        let (idle, stalls) = (IdlePolicy::new(idle, tsc()), StallWatch::new());
        let (watch, futile) = (Watch::default(), Futile::default());
        let worker =
            Self { graph, reader, idle, stalls, watch, is_watching: false, futile, shared };
        (worker, handle)
    }

    /// One pass over the graph; says how long to rest, at most, where that is in order.
    #[inline]
    pub fn turn(&mut self) -> Option<Duration> {
        // First: what it rang for is found behind it, or it rings again.
        if self.shared.bell.answer() {
            self.graph.call_timed();
        }
        if self.shared.has_mail.load(Ordering::Relaxed) {
            self.read_mail();
        }
        let received = self.graph.run_once();
        self.reader.pass();
        let now_tsc = tsc();
        self.stalls.passed(now_tsc, received, &self.shared.counters.stalls);
        self.futile.passed(received);
        match (self.idle.is_quiet(received, now_tsc), self.is_watching) {
            (false, false) => {
                if self.idle.gives_way(self.graph.due_tsc(), now_tsc) {
                    thread::yield_now();
                }
                None
            }
            (false, true) => self.wake(),
            (true, false) => self.watch(now_tsc),
            (true, true) => {
                let must_look = self.watch.must_look() || self.futile.must_nap();
                self.idle.rest(must_look, self.graph.due_tsc(), now_tsc)
            }
        }
    }

    /// One pass at a time that the caller says, who never rests: a simulation. Says how many
    /// packets came in.
    pub fn turn_at(&mut self, now_tsc: u64) -> usize {
        if self.shared.bell.answer() {
            self.graph.call_timed();
        }
        if self.shared.has_mail.load(Ordering::Relaxed) {
            self.read_mail();
        }
        let received = self.graph.run_at(now_tsc);
        self.reader.pass();
        received
    }

    /// When timed nodes want to be called next.
    pub fn due_tsc(&self) -> u64 {
        self.graph.due_tsc()
    }

    #[cold]
    fn watch(&mut self, now_tsc: u64) -> Option<Duration> {
        self.watch.clear();
        self.graph.before_rest(&mut self.watch);
        match self.idle.waits(self.watch.patience(), now_tsc) {
            true => self.is_watching = true,
            false => self.graph.after_rest(),
        }
        None
    }

    #[cold]
    fn wake(&mut self) -> Option<Duration> {
        self.graph.after_rest();
        self.is_watching = false;
        None
    }

    /// Rests until something watched has packets, the bell rings, or it is time; meanwhile the
    /// worker holds no table.
    pub fn rest(&mut self, longest: Duration) {
        add(&self.shared.counters.sleeps, 1);
        if self.futile.must_nap() {
            self.watch.clear();
        }
        self.reader.away();
        let ended = self.shared.bell.rest(&mut self.watch, longest);
        self.reader.back();
        self.stalls.rests();
        self.futile.ended(ended);
        self.wake();
    }

    /// True once the handle asked for the end.
    pub fn is_stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Acquire)
    }

    #[cold]
    fn read_mail(&mut self) {
        self.shared.has_mail.store(false, Ordering::Release);
        let mut letters = self.shared.mail.lock().unwrap_or_else(PoisonError::into_inner);
        for mail in letters.drain(..) {
            let observer = self.graph.observer();
            match mail {
                Mail::StartTrace(request, into) => observer.start_trace(request, into),
                Mail::StopTrace => observer.stop_trace(),
                Mail::StartCapture(request) => observer.start_capture(request),
                Mail::StopCaptures => observer.stop_captures(),
            }
        }
    }
}

impl WorkerHandle {
    /// Starts a thread named `name`, pinned to `core` if one is given, that makes its graph (so
    /// that all of it belongs to that thread) and runs it until the handle is dropped.
    pub fn spawn(
        name: &str,
        core: Option<usize>,
        idle: Idle,
        reader: Reader,
        make: impl FnOnce() -> Graph + Send + 'static,
    ) -> io::Result<Self> {
        let (started, start): (Sender<Arc<Shared>>, Receiver<_>) = mpsc::channel();
        let bell = Doorbell::that_wakes()?;
        let join = thread::Builder::new().name(name.to_owned()).spawn(move || {
            if let Some(core) = core {
                pin_to(core);
            }
            let (mut worker, _) = Worker::with_bell(make(), reader, idle, bell);
            // The spawner waits for exactly this message.
            let _listening = started.send(Arc::clone(&worker.shared));
            while !worker.is_stopped() {
                if let Some(rest) = worker.turn() {
                    worker.rest(rest);
                }
            }
        })?;
        match start.recv() {
            Ok(shared) => Ok(Self { shared, thread: Some(join) }),
            Err(_) => Err(io::Error::other(format!("worker thread `{name}` died at its start"))),
        }
    }

    /// What its nodes did.
    pub fn counters(&self) -> &Arc<GraphCounters> {
        &self.shared.counters
    }

    /// Tells the worker something.
    pub fn tell(&self, mail: Mail) {
        self.shared.mail.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
        self.shared.has_mail.store(true, Ordering::Release);
        self.wake();
    }

    /// For who hands the worker something.
    pub fn doorbell(&self) -> &Doorbell {
        &self.shared.bell
    }

    /// Ends a rest early.
    pub fn wake(&self) {
        self.shared.bell.ring();
    }
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        let Some(join) = self.thread.take() else { return };
        self.shared.stop.store(true, Ordering::Release);
        self.wake();
        // A worker that panicked has said so on stderr.
        let _panicked = join.join();
    }
}

/// Pins the calling thread to `core`. A core that is not there leaves the thread where it is: the
/// configuration was checked before.
#[allow(unsafe_code)]
fn pin_to(core: usize) {
    // SAFETY: cpu_set_t is plain bits, zero is the empty set, and the call copies it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}
