//! An event that repeats is told a hundred times, then every ten seconds.
//!
//! A token bucket for each place in the code that tells events. What it holds back is counted, and
//! the count is told as soon as there is a token for it, by the writer's thread if nobody comes.

use crate::Level;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;

/// Events of one place that may come at once.
const BURST: u32 = 100;
/// Until there may be one more.
pub(crate) const PERIOD: Duration = Duration::from_secs(10);

/// What became of events that were held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suppressed {
    pub(crate) count: u64,
    pub(crate) level: Level,
    pub(crate) source: &'static str,
    /// The message of the last that was told before.
    pub(crate) message: String,
}

struct Bucket {
    tokens: u32,
    /// When the tokens were counted.
    at: Instant,
    held: Suppressed,
}

impl Bucket {
    fn fill(&mut self, now: Instant, period: Duration) {
        let periods = now.saturating_duration_since(self.at).as_nanos() / period.as_nanos().max(1);
        let tokens = u32::try_from(periods).unwrap_or(BURST).min(BURST);
        self.tokens = BURST.min(self.tokens + tokens);
        // One that is full begins to fill anew.
        self.at = if self.tokens == BURST { now } else { self.at + period * tokens };
    }

    fn take_held(&mut self) -> Option<Suppressed> {
        let count = std::mem::take(&mut self.held.count);
        (count > 0).then(|| Suppressed { count, ..self.held.clone() })
    }
}

/// Whether an event is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Yes, behind the tale of those that were not.
    Tell(Option<Suppressed>),
    /// No; `first` of those that are held back.
    Hold { first: bool },
}

/// The buckets of all places.
pub(crate) struct Limits {
    period: Duration,
    buckets: Mutex<HashMap<Identifier, Bucket>>,
}

impl Limits {
    /// One more event every `period`.
    pub(crate) fn every(period: Duration) -> Self {
        Self { period, buckets: Mutex::default() }
    }

    pub(crate) fn period(&self) -> Duration {
        self.period
    }

    fn buckets(&self) -> MutexGuard<'_, HashMap<Identifier, Bucket>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an event of this place is told now.
    pub(crate) fn ask(
        &self,
        place: Identifier,
        level: Level,
        source: &'static str,
        now: Instant,
    ) -> Verdict {
        let mut buckets = self.buckets();
        let bucket = buckets.entry(place).or_insert_with(|| Bucket {
            tokens: BURST,
            at: now,
            held: Suppressed { count: 0, level, source, message: String::new() },
        });
        bucket.fill(now, self.period);
        if bucket.tokens == 0 {
            bucket.held.count += 1;
            return Verdict::Hold { first: bucket.held.count == 1 };
        }
        bucket.tokens -= 1;
        Verdict::Tell(bucket.take_held())
    }

    /// What the place said, for the tale of those that come behind it.
    pub(crate) fn said(&self, place: &Identifier, message: &str) {
        if let Some(bucket) = self.buckets().get_mut(place)
            && bucket.tokens == 0
        {
            message.clone_into(&mut bucket.held.message);
        }
    }

    /// Those held back that may be told by now, and whether there are others still.
    pub(crate) fn due(&self, now: Instant) -> (Vec<Suppressed>, bool) {
        let (mut due, mut more) = (Vec::new(), false);
        for bucket in self.buckets().values_mut().filter(|bucket| bucket.held.count > 0) {
            bucket.fill(now, self.period);
            match bucket.tokens {
                0 => more = true,
                _ => {
                    bucket.tokens -= 1;
                    due.extend(bucket.take_held());
                }
            }
        }
        (due, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::{Metadata, callsite::Callsite, metadata::Kind, subscriber::Interest};

    struct Place(u8);
    static HERE: Place = Place(1);
    static THERE: Place = Place(2);

    impl Callsite for Place {
        fn set_interest(&self, _: Interest) {
            assert_ne!(self.0, 0);
        }

        fn metadata(&self) -> &Metadata<'_> {
            static METADATA: Metadata<'static> = tracing::metadata! {
                name: "test", target: "test", level: tracing::Level::INFO, fields: &[],
                callsite: &HERE, kind: Kind::EVENT
            };
            &METADATA
        }
    }

    fn ask(limits: &Limits, place: &'static Place, now: Instant) -> Verdict {
        limits.ask(tracing::callsite::Identifier(place), Level::Warn, "test", now)
    }

    #[test]
    fn what_repeats_is_held_back_and_counted_and_nothing_else_is() {
        let (limits, start) = (Limits::every(PERIOD), Instant::now());
        for _ in 0..BURST {
            assert_eq!(ask(&limits, &HERE, start), Verdict::Tell(None));
        }
        assert_eq!(ask(&limits, &HERE, start), Verdict::Hold { first: true });
        assert_eq!(ask(&limits, &HERE, start), Verdict::Hold { first: false });
        assert_eq!(ask(&limits, &THERE, start), Verdict::Tell(None));
        let Verdict::Tell(Some(held)) = ask(&limits, &HERE, start + PERIOD) else { panic!() };
        assert_eq!((held.count, held.level), (2, Level::Warn));
        assert_eq!(ask(&limits, &HERE, start + PERIOD), Verdict::Hold { first: true });
    }

    #[test]
    fn the_count_is_told_though_nothing_more_happens() {
        let (limits, start) = (Limits::every(PERIOD), Instant::now());
        for _ in 0..BURST + 7 {
            ask(&limits, &HERE, start);
            limits.said(&Identifier(&HERE), "again");
        }
        assert_eq!(limits.due(start), (Vec::new(), true));
        let (due, more) = limits.due(start + PERIOD);
        assert_eq!((due[0].count, &due[0].message[..], more), (7, "again", false));
        assert_eq!(limits.due(start + PERIOD * 9), (Vec::new(), false));
    }

    #[test]
    fn a_bucket_fills_up_to_its_size_and_no_further() {
        let (limits, start) = (Limits::every(PERIOD), Instant::now());
        assert_eq!(ask(&limits, &HERE, start), Verdict::Tell(None));
        let later = start + PERIOD * 1_000;
        for _ in 0..BURST {
            assert_eq!(ask(&limits, &HERE, later), Verdict::Tell(None));
        }
        assert_eq!(ask(&limits, &HERE, later), Verdict::Hold { first: true });
    }
}
