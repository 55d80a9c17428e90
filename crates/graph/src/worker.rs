//! The thread around a graph: pinned to a core, resting when idle, told what to do by mail.
//!
//! ```text
//!  loop:  mail? ─▶ run the graph once ─▶ pass (tables may be freed) ─▶ rest if idle
//! ```

use crate::capture::CaptureRequest;
use crate::clock::tsc;
use crate::counter::add;
use crate::counters::GraphCounters;
use crate::dispatch::Graph;
use crate::doorbell::Doorbell;
use crate::idle::{Idle, IdlePolicy};
use crate::stalls::StallWatch;
use crate::trace::{TraceRecord, TraceRequest};
use fib::quiesce::Reader;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
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
    thread: Option<(JoinHandle<()>, Thread)>,
}

impl Worker {
    /// A worker around `graph`, to be turned by the caller, and its handle.
    pub fn new(graph: Graph, reader: Reader, idle: Idle) -> (Self, WorkerHandle) {
        let shared = Arc::new(Shared {
            has_mail: AtomicBool::new(false),
            mail: Mutex::default(),
            stop: AtomicBool::new(false),
            bell: Doorbell::default(),
            counters: graph.counters(),
        });
        let handle = WorkerHandle { shared: Arc::clone(&shared), thread: None };
        let (idle, stalls) = (IdlePolicy::new(idle, tsc()), StallWatch::new());
        (Self { graph, reader, idle, stalls, shared }, handle)
    }

    /// One pass over the graph; says how long to rest. While it rests, call [`Worker::rest`].
    #[inline]
    pub fn turn(&mut self) -> Option<Duration> {
        if self.shared.has_mail.load(Ordering::Relaxed) {
            self.read_mail();
        }
        if self.shared.bell.answer() {
            self.graph.call_timed();
        }
        let received = self.graph.run_once();
        self.reader.pass();
        let now_tsc = tsc();
        self.stalls.passed(now_tsc, received, &self.shared.counters.stalls);
        self.idle.until(self.graph.due_tsc(), received, now_tsc)
    }

    /// Rests through `wait`, during which the worker holds no table.
    pub fn rest(&mut self, wait: impl FnOnce()) {
        add(&self.shared.counters.sleeps, 1);
        self.reader.away();
        self.shared.bell.rest(wait);
        self.reader.back();
        self.stalls.rests();
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
        let join = thread::Builder::new().name(name.to_owned()).spawn(move || {
            if let Some(core) = core {
                pin_to(core);
            }
            let (mut worker, _) = Worker::new(make(), reader, idle);
            worker.shared.bell.belongs_to_this_thread();
            // The spawner waits for exactly this message.
            let _listening = started.send(Arc::clone(&worker.shared));
            while !worker.is_stopped() {
                if let Some(rest) = worker.turn() {
                    worker.rest(|| thread::park_timeout(rest));
                }
            }
        })?;
        let thread = join.thread().clone();
        match start.recv() {
            Ok(shared) => Ok(Self { shared, thread: Some((join, thread)) }),
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

    /// For who hands the worker's timed nodes something.
    pub fn doorbell(&self) -> &Doorbell {
        &self.shared.bell
    }

    /// Ends a rest early.
    pub fn wake(&self) {
        if let Some((_, thread)) = &self.thread {
            thread.unpark();
        }
    }
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        let Some((join, thread)) = self.thread.take() else { return };
        self.shared.stop.store(true, Ordering::Release);
        thread.unpark();
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
