//! The thread that writes the log. It alone waits for whoever reads it.
//!
//! ```text
//!  Hub ── queue of 1,024: full means lost and counted ──▶ thread ─▶ sink
//! ```

use crate::queue::Order;
use crate::{Event, Hub, Level, Sink};
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

impl Hub {
    /// Begins to write; `sink` is where.
    pub fn start_writing(self: &Arc<Self>, sink: Box<dyn Sink>) -> io::Result<()> {
        let queue = self.queue.open()?;
        let mut writer = Writer { hub: Arc::clone(self), sink, look_again: false };
        std::thread::Builder::new().name("log".into()).spawn(move || writer.run(&queue))?;
        Ok(())
    }
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
        if let Some(sink) = self.hub.queue.new_sink() {
            self.sink = sink;
        }
        if self.sink.write(event).is_err() {
            // Nobody reads any more: the ring has it still.
            self.hub.counts.lost();
        }
        let lost = self.hub.queue.newly_lost();
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
