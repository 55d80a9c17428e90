//! The linear twin: all flows in a list.

use crate::flow::Flow;
use crate::key::Key;
use openflow::{Action, Field, Match};
use std::sync::Arc;

/// See the module.
#[derive(Clone, Default)]
pub(crate) struct Naive(Vec<Arc<Flow>>);

/// Whether a key's fields are what a match wants.
pub(crate) fn holds(matching: &Match, key: &Key) -> bool {
    matching.fields().iter().all(|(field, value, mask)| key.get(*field) & mask == *value)
}

impl Naive {
    pub(crate) fn insert(&mut self, flow: Arc<Flow>) {
        self.remove(&flow.matching, flow.priority);
        self.0.push(flow);
    }

    pub(crate) fn remove(&mut self, matching: &Match, priority: u16) {
        self.0.retain(|it| it.priority != priority || it.matching != *matching);
    }

    fn holding(&self, key: &Key) -> Vec<&Arc<Flow>> {
        let mut found: Vec<_> = self.0.iter().filter(|it| holds(&it.matching, key)).collect();
        found.sort_by_key(|it| std::cmp::Reverse(it.priority));
        found
    }

    /// The priorities and whether by a conjunction.
    pub(crate) fn find(&self, key: &Key) -> Option<(u16, Option<u32>)> {
        let found = self.holding(key);
        let hard = found.iter().find(|it| !it.is_soft()).map(|it| it.priority);
        let mut soft: Vec<_> =
            found.iter().filter(|it| it.is_soft()).map(|it| it.priority).collect();
        soft.dedup();
        for priority in soft {
            if hard.is_some_and(|hard| hard >= priority) {
                break;
            }
            for id in 0..4u32 {
                let has = |clause: u8| {
                    found.iter().any(|it| {
                        it.priority == priority && it.program.iter().any(|action| {
                        matches!(action, Action::Conjunction(c) if c.id == id && c.clause == clause)
                    })
                    })
                };
                if !(has(0) && has(1)) {
                    continue;
                }
                let mut key = key.clone();
                key.set(Field::ConjId, id.into(), u128::MAX);
                let meant = self.holding(&key).into_iter().find(|it| !it.is_soft());
                if let Some(meant) =
                    meant.filter(|it| it.matching.exact(Field::ConjId) == Some(id.into()))
                {
                    return Some((meant.priority, Some(id)));
                }
            }
        }
        hard.map(|hard| (hard, None))
    }
}
