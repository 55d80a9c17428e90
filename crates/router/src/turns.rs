//! When the control thread looks after the router: when a part has something to do, when somebody
//! asks, and now and then in any case.
//!
//! ```text
//!  threads of their own    ── asked ────────────── asked ──▶      at once
//!  a thread that forwards  ─┬─┬─┬─┬─ asked ─┬─┬─ due ─┬─┬──▶      packets each millisecond, the rest when due or asked for
//! ```

use crate::ports;
use crate::router::Router;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at the links.
const LINK_PERIOD: Duration = Duration::from_millis(200);
/// Between two attempts to open a device that went away.
const REOPEN_PERIOD: Duration = Duration::from_secs(1);
/// Longest that the router wants to be left alone.
const TICK_PERIOD: Duration = Duration::from_millis(20);
/// Between two looks for packets of a thread that does all, where none come.
const LOCAL_PERIOD: Duration = Duration::from_millis(1);

/// When what is due.
pub(crate) struct Turns {
    /// Somebody asked for a turn.
    asked: Arc<AtomicBool>,
    /// When one is due in any case, to a thread that looks for packets in between.
    next_turn: Instant,
    next_link_look: Instant,
    next_reopen: Instant,
}

impl Turns {
    /// All is due.
    pub(crate) fn new(now: Instant) -> Self {
        let asked = Arc::default();
        Self { asked, next_turn: now, next_link_look: now, next_reopen: now }
    }

    /// What is to be called to have a turn soon, so that it is known that one was asked for.
    pub(crate) fn asked_for(
        &self,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> Arc<dyn Fn() + Send + Sync> {
        let asked = Arc::clone(&self.asked);
        Arc::new(move || {
            asked.store(true, Ordering::Release);
            wake();
        })
    }
}

impl Router {
    /// A turn, if one is due or was asked for, or packets came; says when to call it again. A
    /// thread that also forwards looks for packets far more often than parts have anything to do.
    pub(crate) fn turn_if_due(&mut self) -> Duration {
        let asked = self.turns.asked.swap(false, Ordering::AcqRel);
        let now = self.core.clock.now();
        if self.core.local.is_none() || self.core.clock.given_tsc().is_some() || asked {
            return self.turn();
        }
        if now >= self.turns.next_turn
            || self.core.turn_local()
            || self.turns.asked.load(Ordering::Acquire)
        {
            return self.turn();
        }
        LOCAL_PERIOD.min(self.turns.next_turn - now)
    }

    /// One turn: punts, neighbours, links, traces; says when the next is due.
    pub(crate) fn turn(&mut self) -> Duration {
        let mut busy = self.core.turn_local();
        if self.read_punts() {
            busy = true;
            // A turn that was asked for is no regular one: the next is asked for, too.
            (self.core.wake)();
        }
        let now = self.core.clock.now();
        for part in self.parts.all_mut() {
            busy |= part.turn(&mut self.core, now);
        }
        busy |= self.explain_traced();
        if self.parts.keeping.take_asks_parts() {
            self.leave();
        }
        busy |= self.core.settle_routes();
        self.settle();
        self.look_at_links(now);
        self.core.dataplane.reclaim();
        if busy {
            return Duration::ZERO;
        }
        let idle = self.until_next_due();
        self.turns.next_turn = now + idle;
        if self.core.local.is_some() { idle.min(LOCAL_PERIOD) } else { idle }
    }

    fn look_at_links(&mut self, now: Instant) {
        if now < self.turns.next_link_look {
            return;
        }
        self.turns.next_link_look = now + LINK_PERIOD;
        let reopen = now >= self.turns.next_reopen;
        if reopen {
            self.turns.next_reopen = now + REOPEN_PERIOD;
        }
        ports::look_at_links(&mut self.parts, &mut self.core, reopen);
    }

    fn until_next_due(&self) -> Duration {
        let due = self.parts.all().into_iter().filter_map(|part| part.next_due_ns());
        let due_ns = due.chain(self.core.neighborhood.machine.next_due_ns()).min();
        let left_ns = due_ns.unwrap_or(u64::MAX).saturating_sub(self.core.now_ns());
        Duration::from_nanos(left_ns).min(TICK_PERIOD)
    }
}
