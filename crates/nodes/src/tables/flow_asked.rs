//! Somebody asks a worker what it remembers of bridges of flows.
//!
//! ```text
//!  who asks ── Asked: to whom ── doorbell ──▶ flow_input: some at a time, between packets
//!       ▲                                        │
//!       └──────────────── a channel ◀────────────┘ all of it, once
//! ```
//! A worker that nobody asks looks at one flag a call. One that is asked while it answers another
//! begins again: the first gets nothing.

use crate::tables::{BridgeId, FlowBridges, FlowClock, FlowState};
use flow::Remembered;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Megaflows that are told of in a call: some tens of microseconds.
const AT_ONCE: usize = 256;

/// A worker's answer.
pub type FlowsTold = Vec<(BridgeId, Remembered)>;

/// See the module.
#[derive(Debug, Default)]
pub struct FlowAsked {
    is_asked: AtomicBool,
    who: Mutex<Option<SyncSender<FlowsTold>>>,
}

impl FlowAsked {
    /// Asks; the worker is to be woken then.
    pub fn ask(&self) -> Receiver<FlowsTold> {
        let (who, answer) = sync_channel(1);
        *self.who.lock().unwrap_or_else(PoisonError::into_inner) = Some(who);
        self.is_asked.store(true, Ordering::Release);
        answer
    }

    /// Who asks, if somebody does.
    #[inline]
    fn take(&self) -> Option<SyncSender<FlowsTold>> {
        if !self.is_asked.load(Ordering::Relaxed) {
            return None;
        }
        self.take_who()
    }

    #[cold]
    fn take_who(&self) -> Option<SyncSender<FlowsTold>> {
        // Who asks has the lock for a moment: it is looked at again in the next call.
        let mut who = self.who.try_lock().ok()?;
        self.is_asked.store(false, Ordering::Relaxed);
        who.take()
    }
}

/// How far a worker has told.
#[derive(Default)]
pub struct FlowTelling(Option<(SyncSender<FlowsTold>, FlowsTold, (usize, usize))>);

impl FlowTelling {
    /// Tells some more, if somebody asks; whether it is to be called again for that.
    #[inline]
    pub fn go_on(
        &mut self,
        asked: &FlowAsked,
        state: &mut FlowState,
        bridges: &FlowBridges,
        clock: &FlowClock,
    ) -> bool {
        if let Some(who) = asked.take() {
            // What is of tables that are no more nobody is told of.
            state.follow(bridges, clock.now_ns());
            self.0 = Some((who, Vec::new(), (0, 0)));
        }
        self.0.is_some() && self.tell(state)
    }

    #[cold]
    fn tell(&mut self, state: &FlowState) -> bool {
        let Some((_, told, place)) = &mut self.0 else { return false };
        match state.tell(*place, AT_ONCE, &mut |bridge, it| told.push((bridge, it))) {
            Some(next) => *place = next,
            None => {
                if let Some((who, told, _)) = self.0.take() {
                    // Who does not wait any more does not want it.
                    _ = who.try_send(told);
                }
            }
        }
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::FlowBridge;
    use flow::{Key, Snapshot, Verdict};
    use openflow::Field;
    use std::sync::Arc;

    #[test]
    fn all_is_told_some_at_a_time_and_once() {
        let (mut state, clock) = (FlowState::default(), FlowClock::Given(Arc::new(8.into())));
        let bridge = FlowBridge::default();
        let bridges = FlowBridges::default().with(BridgeId(0), Some(bridge.clone()));
        let bridges = bridges.with(BridgeId(1), Some(bridge));
        for number in 0..600_u16 {
            let (mut key, mut mask) = (Key::default(), Key::default());
            key.set(Field::InPort, number.into(), 0xffff);
            mask.set(Field::InPort, 0xffff, 0xffff);
            let verdict = Verdict {
                rewrite: None,
                steps: [].into(),
                counters: [].into(),
                mask,
                is_cut: false,
            };
            let cache = state.cache(BridgeId(number % 2));
            let found = cache.insert(&key, verdict, 1);
            cache.count(found, 100);
        }
        let (asked, mut telling) = (FlowAsked::default(), FlowTelling::default());
        assert!(!telling.go_on(&asked, &mut state, &bridges, &clock));
        let answer = asked.ask();
        let mut calls = 1;
        while telling.go_on(&asked, &mut state, &bridges, &clock) {
            calls += 1;
        }
        let mut told = answer.try_recv().unwrap();
        assert!(calls > 3, "{calls}");
        told.sort_by_key(|(_, it)| it.key.get(Field::InPort));
        let numbers: Vec<u128> = told.iter().map(|(_, it)| it.key.get(Field::InPort)).collect();
        assert_eq!(numbers, (0..600).collect::<Vec<_>>());
        assert!(told.iter().all(|(id, it)| u128::from(id.0) == it.key.get(Field::InPort) % 2));
        let (_, one) = &told[7];
        assert_eq!((one.packets, one.bytes, one.used_ns), (1, 100, 9));
        assert!(!telling.go_on(&asked, &mut state, &bridges, &clock) && answer.try_recv().is_err());
        // With other tables they are no more.
        let snapshot = Snapshot { generation: 5, ..Snapshot::default() };
        let other = FlowBridge { snapshot, ..FlowBridge::default() };
        let bridges = bridges.with(BridgeId(0), Some(other)).with(BridgeId(1), None);
        let answer = asked.ask();
        while telling.go_on(&asked, &mut state, &bridges, &clock) {}
        assert_eq!(answer.try_recv().unwrap().len(), 0);
    }
}
