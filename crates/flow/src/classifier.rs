//! The flows of one table, found by packets: a hash table for each mask that flows have, highest
//! priorities first, looked into stage by stage.
//!
//! ```text
//!  key ─▶ mask 1: metadata? ─▶ Ethernet? ─▶ network? ─▶ flows      (no: the bits looked at matter)
//!       ─▶ mask 2: …                 until no priority left is higher than what was found
//! ```
//! What was looked at is marked in a mask: a packet that is the same there finds the same. A mask
//! costs a hash a stage and a walk of a few lines; a flow takes about 1.1 kB. Copies share what
//! did not change.

use crate::flow::Flow;
use crate::key::{Key, STAGES, hash_under};
use crate::trie::Trie;
use openflow::{Action, Field, Match};
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    /// Highest priority first.
    masks: Vec<Arc<Masked>>,
    flows: usize,
}

/// Flows of one mask.
#[derive(Clone, Debug)]
struct Masked {
    mask: Arc<[(u8, u64)]>,
    /// How many words of the mask are before the end of each stage.
    ends: [usize; 4],
    /// How many flows begin with what has this hash, for every stage but the last.
    begins: [Trie<u32>; 3],
    flows: Trie<Arc<Flow>>,
    /// How many flows have which priority.
    priorities: BTreeMap<u16, u32>,
}

impl Masked {
    fn new(mask: Arc<[(u8, u64)]>) -> Self {
        let ends =
            STAGES.map(|end| mask.iter().filter(|(word, _)| usize::from(*word) < end).count());
        let (begins, flows, priorities) = Default::default();
        Self { mask, ends, begins, flows, priorities }
    }

    fn highest(&self) -> u16 {
        self.priorities.last_key_value().map_or(0, |(priority, _)| *priority)
    }

    /// The hashes of a key at the end of each stage.
    fn hashes(&self, key: &Key) -> [u64; 4] {
        let (mut start, mut hash) = (0, 0);
        self.ends.map(|end| {
            hash = hash_under(key, &self.mask[start..end], hash);
            start = end;
            hash
        })
    }

    /// Flows of the key's values, by priority; bits that were looked at are marked.
    fn find(&self, key: &Key, seen: &mut Key) -> &[Arc<Flow>] {
        let (mut start, mut hash) = (0, 0);
        for (stage, &end) in self.ends.iter().enumerate() {
            hash = hash_under(key, &self.mask[start..end], hash);
            let is_last = end == self.mask.len();
            if !is_last && end > start && self.begins[stage.min(2)].get(hash).is_empty() {
                seen.mark(&self.mask[..end]);
                return &[];
            }
            start = end;
            if is_last {
                break;
            }
        }
        seen.mark(&self.mask);
        self.flows.get(hash)
    }

    /// The hashes of a flow's values at the end of each stage.
    fn hashes_of(&self, flow: &Flow) -> [u64; 4] {
        let mut key = Key::default();
        for (&(word, _), value) in flow.key.mask.iter().zip(&flow.key.values) {
            key.words[usize::from(word)] = *value;
        }
        self.hashes(&key)
    }

    /// Whether a stage that is not the last looks at anything: else it is passed over.
    fn is_looked_at(&self, stage: usize) -> bool {
        let start = stage.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends[stage] > start && self.ends[stage] != self.mask.len()
    }

    fn count(&mut self, flow: &Flow, hashes: [u64; 4], adds: bool) {
        let looked_at = [0, 1, 2].map(|stage| self.is_looked_at(stage));
        let begins = self.begins.iter_mut().zip(hashes).zip(looked_at);
        for ((begins, hash), _) in begins.filter(|(_, looked_at)| *looked_at) {
            begins.change(hash, |count| match count.first_mut() {
                Some(count) if adds => *count += 1,
                Some(count) if *count > 1 => *count -= 1,
                Some(_) => count.clear(),
                None => count.push(1),
            });
        }
        let count = self.priorities.entry(flow.priority).or_insert(0);
        *count = if adds { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.priorities.remove(&flow.priority);
        }
    }
}

impl Classifier {
    /// How many flows.
    pub fn len(&self) -> usize {
        self.flows
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flows == 0
    }

    /// How many masks.
    pub fn masks(&self) -> usize {
        self.masks.len()
    }

    /// Puts a flow in, in place of the one of the same match and priority: that one.
    pub fn insert(&mut self, flow: Flow) -> Option<Arc<Flow>> {
        self.put(flow).1
    }

    /// The same, and the flow itself, as it is there.
    pub fn put(&mut self, mut flow: Flow) -> (Arc<Flow>, Option<Arc<Flow>>) {
        let at = self.masks.iter().position(|masked| masked.mask == flow.key.mask);
        let at = at.unwrap_or_else(|| {
            self.masks.push(Arc::new(Masked::new(Arc::clone(&flow.key.mask))));
            self.masks.len() - 1
        });
        let masked = Arc::make_mut(&mut self.masks[at]);
        // Flows of a mask share it.
        flow.key.mask = Arc::clone(&masked.mask);
        let flow = Arc::new(flow);
        let (hashes, highest) = (masked.hashes_of(&flow), masked.highest());
        let (mut had, added) = (None, Arc::clone(&flow));
        masked.flows.change(hashes[3], |flows| {
            match flows.iter_mut().find(|it| it.is_alike(&added)) {
                Some(place) => had = Some(std::mem::replace(place, added)),
                None => {
                    let at = flows.partition_point(|it| it.priority > added.priority);
                    flows.insert(at, added);
                }
            }
        });
        if had.is_none() {
            masked.count(&flow, hashes, true);
            self.flows += 1;
            // A new mask of the lowest priority is where it belongs: last.
            if masked.highest() != highest {
                self.sort();
            }
        }
        (flow, had)
    }

    /// Takes a flow out that was found here; false where it is not there any more.
    pub fn remove(&mut self, flow: &Arc<Flow>) -> bool {
        let at = self.masks.iter().position(|masked| masked.mask == flow.key.mask);
        let Some(at) = at else { return false };
        let masked = Arc::make_mut(&mut self.masks[at]);
        let (hashes, mut had) = (masked.hashes_of(flow), false);
        masked.flows.change(hashes[3], |flows| {
            let before = flows.len();
            flows.retain(|it| !Arc::ptr_eq(it, flow));
            had = flows.len() != before;
        });
        if !had {
            return false;
        }
        masked.count(flow, hashes, false);
        self.flows -= 1;
        if masked.flows.is_empty() {
            self.masks.remove(at);
        }
        self.sort();
        true
    }

    /// The flow of exactly this match and priority.
    pub fn get(&self, matching: &Match, priority: u16) -> Option<&Arc<Flow>> {
        let (key, mask) = Key::of_match(matching);
        let masked = self.masks.iter().find(|masked| mask.is_sparsely(&masked.mask))?;
        let mut flows = masked.flows.get(masked.hashes(&key)[3]).iter();
        flows.find(|it| it.priority == priority && it.matching == *matching)
    }

    /// The mask of flows that are here already.
    pub(crate) fn mask_of(&self, mask: &Key) -> Option<&Arc<[(u8, u64)]>> {
        self.masks.iter().map(|masked| &masked.mask).find(|it| mask.is_sparsely(it))
    }

    /// The flow of the match and priority of another.
    pub fn get_alike(&self, wanted: &Flow) -> Option<&Arc<Flow>> {
        let masked = self.masks.iter().find(|masked| masked.mask == wanted.key.mask)?;
        let flows = masked.flows.get(masked.hashes_of(wanted)[3]);
        flows.iter().find(|it| it.is_alike(wanted))
    }

    /// Highest priorities first; nearly always they are already.
    fn sort(&mut self) {
        if !self.masks.is_sorted_by_key(|masked| std::cmp::Reverse(masked.highest())) {
            self.masks.sort_by_key(|masked| std::cmp::Reverse(masked.highest()));
        }
    }

    /// The flow that a packet takes; bits that decided are marked in `seen`.
    pub fn find(&self, key: &Key, seen: &mut Key) -> Option<&Arc<Flow>> {
        let mut soft = Vec::new();
        let hard = self.find_hard(key, seen, Some(&mut soft));
        if soft.is_empty() {
            return hard;
        }
        let least = hard.map_or(-1, |flow| i32::from(flow.priority));
        soft.retain(|flow| i32::from(flow.priority) > least);
        soft.sort_by_key(|flow| std::cmp::Reverse(flow.priority));
        for alike in soft.chunk_by(|one, other| one.priority == other.priority) {
            for id in complete(alike) {
                let mut key = key.clone();
                key.set(Field::ConjId, id.into(), Field::ConjId.ones());
                // What is matched beside the conjunction is seen; its number no packet has.
                let mut more = Key::default();
                let found = self.find_hard(&key, &mut more, None);
                more.set(Field::ConjId, 0, Field::ConjId.ones());
                seen.mark(&more.sparse());
                let is_meant =
                    |flow: &&Arc<Flow>| flow.matching.exact(Field::ConjId) == Some(id.into());
                if let Some(flow) = found.filter(is_meant) {
                    return Some(flow);
                }
            }
        }
        hard
    }

    fn find_hard<'a>(
        &'a self,
        key: &Key,
        seen: &mut Key,
        mut soft: Option<&mut Vec<&'a Arc<Flow>>>,
    ) -> Option<&'a Arc<Flow>> {
        let mut best: Option<&Arc<Flow>> = None;
        for masked in &self.masks {
            if best.is_some_and(|best| best.priority >= masked.highest()) {
                break;
            }
            for flow in masked.find(key, seen) {
                if best.is_some_and(|best| best.priority >= flow.priority) {
                    break;
                }
                if !flow.key.matches(key) {
                    continue;
                }
                if flow.is_soft() {
                    if let Some(soft) = &mut soft {
                        soft.push(flow);
                    }
                } else {
                    best = Some(flow);
                    break;
                }
            }
        }
        best
    }

    /// Every flow, in no order.
    pub fn each(&self, mut look: impl FnMut(&Arc<Flow>)) {
        for masked in &self.masks {
            masked.flows.each(&mut look);
        }
    }
}

/// The conjunctions of which every condition is among these flows.
fn complete(flows: &[&Arc<Flow>]) -> Vec<u32> {
    let mut clauses = BTreeMap::<u32, (u64, u8)>::new();
    for action in flows.iter().flat_map(|flow| &flow.program) {
        if let Action::Conjunction(it) = action {
            let entry = clauses.entry(it.id).or_insert((0, it.clauses));
            if entry.1 == it.clauses {
                entry.0 |= 1 << it.clause;
            }
        }
    }
    let all = |count: u8| u64::MAX >> (64 - u32::from(count.clamp(1, 64)));
    let whole = clauses.into_iter().filter(|(_, (had, count))| *had == all(*count));
    whole.map(|(id, _)| id).collect()
}

#[cfg(test)]
mod tests;
