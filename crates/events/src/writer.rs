//! The thread that writes the log. It alone waits for whoever reads it.
//!
//! ```text
//!  Hub ── queue of 1,024: full means lost and counted ──▶ thread ─▶ sink
//! ```

use crate::{Event, Hub, Level, journal, text};
use serde_json::Value;
use std::io::{self, Write};
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Lines that wait.
const QUEUE: usize = 1024;
/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// To the journal when systemd started us, else as text.
    #[default]
    Auto,
    /// Lines for reading, on stderr.
    Text,
    /// JSON objects, one a line, on stderr.
    Json,
    /// Entries of systemd's journal, with fields.
    Journald,
}

impl Format {
    /// What writes so.
    pub fn sink(self) -> Box<dyn Sink> {
        match self {
            Self::Json => Box::new(Stderr(json)),
            Self::Journald => Box::new(Journal(None)),
            Self::Auto if journal::has_our_stderr() => Box::new(Journal(None)),
            Self::Text | Self::Auto => Box::new(Stderr(text::line)),
        }
    }
}

fn json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// Where events are written.
pub trait Sink: Send {
    /// Writes one. May wait; nobody but the writer's thread waits with it.
    fn write(&mut self, event: &Event) -> io::Result<()>;
}

struct Stderr(fn(&Event) -> String);

impl Sink for Stderr {
    fn write(&mut self, event: &Event) -> io::Result<()> {
        // One call a line: lines of several threads and processes do not mix.
        let line = (self.0)(event) + "\n";
        io::stderr().write_all(line.as_bytes())
    }
}

/// Connected at the first event, and again when the journal was restarted; stderr until then.
struct Journal(Option<UnixDatagram>);

impl Sink for Journal {
    fn write(&mut self, event: &Event) -> io::Result<()> {
        let entry = journal::entry(event);
        for _ in 0..2 {
            if self.0.is_none() {
                self.0 = journal::connect().ok();
            }
            match self.0.as_ref().map(|socket| socket.send(&entry)) {
                Some(Ok(_)) => return Ok(()),
                _ => self.0 = None,
            }
        }
        Stderr(text::line).write(event)
    }
}

pub(crate) enum Order {
    Write(Arc<Event>),
    /// Something was held back.
    LookAgain,
    Answer(SyncSender<()>),
}

/// The way to the thread.
#[derive(Default)]
pub(crate) struct Queue {
    orders: OnceLock<SyncSender<Order>>,
    sink: Mutex<Option<Box<dyn Sink>>>,
    /// Lines lost since that was told.
    lost: AtomicU64,
}

impl Queue {
    /// False if there is no room. Without a thread nothing is written, and nothing lost.
    pub(crate) fn put(&self, order: Order) -> bool {
        let Some(orders) = self.orders.get() else { return true };
        let is_line = matches!(order, Order::Write(_));
        let taken = orders.try_send(order).is_ok();
        if !taken && is_line {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    pub(crate) fn write_as(&self, sink: Box<dyn Sink>) {
        *self.sink.lock().unwrap_or_else(PoisonError::into_inner) = Some(sink);
    }

    pub(crate) fn flush(&self, at_most: Duration) {
        let (done, written) = sync_channel(1);
        let end = Instant::now() + at_most;
        let Some(orders) = self.orders.get() else { return };
        let mut order = Order::Answer(done);
        // A full queue moves on, or its reader has stopped.
        while let Err(error) = orders.try_send(order) {
            let std::sync::mpsc::TrySendError::Full(back) = error else { return };
            order = back;
            if Instant::now() >= end {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let left = end.saturating_duration_since(Instant::now());
        // Not written in time: then it is not written.
        let _late = written.recv_timeout(left);
    }
}

pub(crate) fn start(hub: Arc<Hub>, sink: Box<dyn Sink>) -> io::Result<()> {
    let (orders, queue) = sync_channel(QUEUE);
    if hub.queue.orders.set(orders).is_err() {
        return Err(io::Error::other("the log is written already"));
    }
    let mut writer = Writer { hub, sink, look_again: false };
    std::thread::Builder::new().name("log".into()).spawn(move || writer.run(&queue))?;
    Ok(())
}

struct Writer {
    hub: Arc<Hub>,
    sink: Box<dyn Sink>,
    look_again: bool,
}

impl Writer {
    fn run(&mut self, queue: &Receiver<Order>) {
        loop {
            let order = match self.look_again {
                true => queue.recv_timeout(self.hub.limits.period()),
                false => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match order {
                Ok(Order::Write(event)) => self.write(&event),
                Ok(Order::LookAgain) => self.look_again = true,
                Ok(Order::Answer(done)) => drop(done.try_send(())),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.look_again {
                let (due, more) = self.hub.limits.due(Instant::now());
                self.look_again = more;
                for held in due {
                    let event = self.hub.suppressed(&held);
                    self.write(&event);
                }
            }
        }
    }

    fn write(&mut self, event: &Event) {
        let sink = self.hub.queue.sink.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sink) = sink {
            self.sink = sink;
        }
        if self.sink.write(event).is_err() {
            // Nobody reads any more: the ring has it still.
            self.hub.counts.lost();
        }
        let lost = self.hub.queue.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let message = "lines of the log were lost: its reader is too slow".to_owned();
            let fields = [("lost".to_owned(), Value::from(lost))].into();
            let event = self.hub.keep(Level::Warn, "events", message, fields);
            if self.sink.write(&event).is_err() {
                self.hub.counts.lost();
            }
        }
    }
}
