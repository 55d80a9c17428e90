//! Where all events meet.

use crate::heard::Heard;
use crate::limit::{Limits, PERIOD, Suppressed, Verdict};
use crate::queue::{Order, Queue};
use crate::ring::Ring;
use crate::{Counts, Event, Follower, Format, Level, time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use tracing::Metadata;

/// All that is known of what happened, and the way into the log.
pub struct Hub {
    pub(crate) counts: Counts,
    pub(crate) limits: Limits,
    pub(crate) queue: Queue,
    level: AtomicU8,
    ring: Ring,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            counts: Counts::default(),
            limits: Limits::every(PERIOD),
            queue: Queue::default(),
            level: AtomicU8::new(Level::default() as u8),
            ring: Ring::default(),
        }
    }
}

impl Hub {
    /// The least grave that is told.
    pub fn level(&self) -> Level {
        Level::ALL[usize::from(self.level.load(Ordering::Relaxed)).min(4)]
    }

    /// Tells what is as grave as this.
    pub fn set_level(&self, level: Level) {
        self.level.store(level as u8, Ordering::Relaxed);
        tracing::callsite::rebuild_interest_cache();
    }

    /// Writes the log so from now on.
    pub fn set_format(&self, format: Format) {
        self.queue.write_as(format.sink());
    }

    /// Counters.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The latest events, at most so many, oldest first.
    pub fn latest(&self, most: usize) -> Vec<Arc<Event>> {
        self.ring.latest(most)
    }

    /// Reads events as they happen: those behind number `after`, or only what is to come.
    pub fn follow(&self, after: Option<u64>) -> Follower {
        self.ring.follow(after)
    }

    /// Waits until everything told so far is written, at most so long: a reader may have stopped.
    pub fn flush(&self, at_most: Duration) {
        self.queue.flush(at_most);
    }

    pub(crate) fn take(&self, metadata: &'static Metadata<'static>, hear: impl FnOnce() -> Heard) {
        let level = Level::from(*metadata.level());
        self.counts.told(level);
        let place = metadata.callsite();
        match self.limits.ask(place.clone(), level, metadata.target(), Instant::now()) {
            Verdict::Hold { first } => {
                self.counts.suppressed();
                if first {
                    // The writer tells the count if nobody else does.
                    self.queue.put(Order::LookAgain);
                }
            }
            Verdict::Tell(held) => {
                let heard = hear();
                if let Some(held) = held {
                    self.log(self.suppressed(&held));
                }
                self.limits.said(&place, &heard.message);
                self.log(self.keep(level, metadata.target(), heard.message, heard.fields));
            }
        }
    }

    /// An event that tells how many were held back.
    pub(crate) fn suppressed(&self, held: &Suppressed) -> Arc<Event> {
        let message = format!("{} more suppressed: {}", held.count, held.message);
        let fields = [("suppressed".to_owned(), Value::from(held.count))].into();
        self.keep(held.level, held.source, message, fields)
    }

    pub(crate) fn keep(
        &self,
        level: Level,
        source: &str,
        message: String,
        fields: BTreeMap<String, Value>,
    ) -> Arc<Event> {
        let time = time::rfc3339(SystemTime::now());
        let source = source.to_owned();
        self.ring.push(|number| Event { number, time, level, source, message, fields })
    }

    fn log(&self, event: Arc<Event>) {
        if !self.queue.put(Order::Write(event)) {
            self.counts.lost();
        }
    }
}

static HUB: OnceLock<Arc<Hub>> = OnceLock::new();

/// The program's own.
pub fn hub() -> &'static Arc<Hub> {
    HUB.get_or_init(Arc::default)
}

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;
