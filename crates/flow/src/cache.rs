//! What tables came to, remembered: one thread's own.
//!
//! ```text
//!  key ─▶ exact: two places by the hash of the packet ─▶ a megaflow, proved by its mask
//!      ─▶ megaflows: a hash table for each mask, often hit ones first
//! ```
//! An exact entry is 8 bytes: half of the hash and a number; that the megaflow matches is looked
//! at, so a wrong guess costs time and is never believed. Megaflows do not contradict each other:
//! each says what all packets of its mask come to. With another snapshot it begins anew: what has
//! packets is found again by the first of them. Bounded: where there is no room, what was not used
//! since the hand passed goes.

use crate::flow::Counters;
use crate::key::{Key, Sparse, hash_under};
use crate::steps::{Step, Verdict};
use crate::track::{Frozen, Tracked};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Places of the exact table.
const PLACES: usize = 1 << 14;

/// Ways on which packets begin again, at most.
const MOST_FROZEN: usize = 1 << 14;

/// See the module.
#[derive(Debug)]
pub struct Cache {
    exact: Box<[(u32, u32)]>,
    masks: Vec<Mask>,
    flows: Vec<Option<Megaflow>>,
    free: Vec<u32>,
    /// Where the next victim is looked for.
    hand: usize,
    most: usize,
    /// Of which snapshot all this is.
    generation: u64,
    /// What packets take along that begin again, by number, from 1 on; and the numbers.
    frozen: Vec<Arc<Frozen>>,
    numbers: HashMap<Arc<Frozen>, u32>,
    /// How many numbers are nobody's any more: none is given twice.
    spent: u32,
    /// Those with packets that nobody counted yet.
    dirty: Vec<u32>,
    /// Megaflows that there ever were.
    made: u32,
    /// Look-ups since masks were put in order.
    since_order: u32,
    /// What was found where.
    pub hits: [u64; 3],
}

#[derive(Debug)]
struct Mask {
    words: Arc<[(u8, u64)]>,
    by_hash: HashMap<u64, u32, BuildHasherDefault<Taken>>,
    hits: u64,
}

#[derive(Debug)]
struct Megaflow {
    key: Sparse,
    verdict: Arc<Verdict>,
    /// Tells it from those that were in its place before.
    tag: u32,
    packets: u64,
    bytes: u64,
    was_used: bool,
}

/// Hashes are hashes already.
#[derive(Default, Debug)]
struct Taken(u64);

impl Hasher for Taken {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Where a packet's megaflow is: its place, and a tag of 12 bits that tells whether it is still
/// there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found(pub u32);

/// Bits of a place.
const PLACE_BITS: u32 = 20;

impl Found {
    fn place(self) -> usize {
        self.0 as usize & ((1 << PLACE_BITS) - 1)
    }
}

impl Cache {
    /// An empty one, of so many megaflows at most.
    pub fn new(most: usize) -> Self {
        Self {
            exact: vec![(0, u32::MAX); PLACES].into(),
            masks: Vec::new(),
            flows: Vec::new(),
            free: Vec::new(),
            hand: 0,
            most: most.clamp(1, 1 << PLACE_BITS),
            generation: 0,
            frozen: Vec::new(),
            numbers: HashMap::new(),
            spent: 0,
            dirty: Vec::new(),
            made: 0,
            since_order: 0,
            hits: [0; 3],
        }
    }

    /// How many megaflows.
    pub fn len(&self) -> usize {
        self.flows.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many masks.
    pub fn masks(&self) -> usize {
        self.masks.len()
    }

    /// From now on what is found is of this generation.
    #[inline]
    pub fn follow(&mut self, generation: u64, now_ns: u64) {
        if self.generation != generation {
            self.begin(generation, now_ns);
        }
    }

    #[cold]
    fn begin(&mut self, generation: u64, now_ns: u64) {
        self.flush(now_ns);
        self.generation = generation;
        self.masks.clear();
        self.flows.clear();
        self.free.clear();
        self.spent = self.spent.wrapping_add(self.frozen.len() as u32);
        self.frozen.clear();
        self.numbers.clear();
    }

    /// What a number stands for.
    #[inline]
    pub fn frozen(&self, number: u32) -> Option<&Arc<Frozen>> {
        self.frozen.get(number.wrapping_sub(self.spent).checked_sub(1)? as usize)
    }

    /// Makes a key that of a packet that begins again; false where nobody knows that number any
    /// more.
    #[inline]
    pub fn begin_again(&self, number: u32, tracked: &Tracked, key: &mut Key) -> bool {
        let frozen = self.frozen(number);
        frozen.map(|frozen| key.begin_again(frozen, number, tracked)).is_some()
    }

    /// The number of what a packet takes along: the same for the same.
    fn number(&mut self, frozen: &Arc<Frozen>) -> u32 {
        if let Some(number) = self.numbers.get(frozen) {
            return *number;
        }
        self.frozen.push(Arc::clone(frozen));
        let number = self.spent.wrapping_add(self.frozen.len() as u32);
        self.numbers.insert(Arc::clone(frozen), number);
        number
    }

    /// The megaflow of a packet.
    #[inline]
    pub fn find(&mut self, key: &Key) -> Option<Found> {
        let hash = key.hash_of_packet();
        let (place, proof) = (hash as usize % PLACES, (hash >> 32) as u32);
        for place in [place, place ^ 1] {
            let (own, number) = self.exact[place];
            if own == proof
                && let Some(flow) = flow_of(&mut self.flows, Found(number))
                && flow.key.matches(key)
            {
                flow.was_used = true;
                self.hits[0] += 1;
                return Some(Found(number));
            }
        }
        let found = self.find_mega(key)?;
        self.remember(place, proof, found.0);
        self.hits[1] += 1;
        Some(found)
    }

    /// The newest entry comes first, the other stays.
    fn remember(&mut self, place: usize, proof: u32, number: u32) {
        self.exact[place ^ 1] = self.exact[place];
        self.exact[place] = (proof, number);
    }

    fn find_mega(&mut self, key: &Key) -> Option<Found> {
        self.since_order += 1;
        if self.since_order > 1 << 12 {
            self.since_order = 0;
            self.masks.sort_by_key(|mask| std::cmp::Reverse(mask.hits));
            self.masks.iter_mut().for_each(|mask| mask.hits /= 2);
        }
        for mask in &mut self.masks {
            let hash = hash_under(key, &mask.words, 0);
            let Some(&number) = mask.by_hash.get(&hash) else { continue };
            let Some(Some(flow)) = self.flows.get_mut(number as usize) else { continue };
            if flow.key.matches(key) {
                mask.hits += 1;
                flow.was_used = true;
                return Some(Found(number | flow.tag << PLACE_BITS));
            }
        }
        None
    }

    /// Remembers what a packet came to.
    pub fn insert(&mut self, key: &Key, mut verdict: Verdict, now_ns: u64) -> Found {
        self.hits[2] += 1;
        if self.frozen.len() >= self.most.min(MOST_FROZEN) {
            // Ways that nobody goes any more are not told from others: all are found anew.
            self.begin(self.generation, now_ns);
        }
        for step in &mut verdict.steps {
            if let Step::Recirculate(number, frozen) = step {
                *number = self.number(frozen);
            }
        }
        let verdict = Arc::new(verdict);
        let words = verdict.mask.sparse();
        let at = self.masks.iter().position(|mask| *mask.words == *words);
        let words: Arc<[(u8, u64)]> = match at {
            Some(at) => Arc::clone(&self.masks[at].words),
            None => words.into(),
        };
        let hash = hash_under(key, &words, 0);
        let had = at.and_then(|at| self.masks[at].by_hash.get(&hash).copied());
        if let Some(number) = had {
            self.remove(number, now_ns);
        }
        if self.free.is_empty() && self.flows.len() >= self.most {
            self.evict(now_ns);
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.flows.push(None);
            self.flows.len() as u32 - 1
        });
        let at = self.masks.iter().position(|mask| mask.words == words).unwrap_or_else(|| {
            let (words, by_hash) = (Arc::clone(&words), HashMap::default());
            self.masks.push(Mask { words, by_hash, hits: 0 });
            self.masks.len() - 1
        });
        self.masks[at].by_hash.insert(hash, number);
        let key = Sparse::of(key, words);
        self.made = self.made.wrapping_add(1);
        let tag = self.made & (u32::MAX >> PLACE_BITS);
        let flow = Megaflow { key, verdict, tag, packets: 0, bytes: 0, was_used: true };
        self.flows[number as usize] = Some(flow);
        Found(number | tag << PLACE_BITS)
    }

    /// What a megaflow's packets come to.
    #[inline]
    pub fn verdict(&self, found: Found) -> Option<&Arc<Verdict>> {
        let flow = self.flows.get(found.place())?.as_ref()?;
        (flow.tag == found.0 >> PLACE_BITS).then_some(&flow.verdict)
    }

    /// A packet of a megaflow.
    #[inline]
    pub fn count(&mut self, found: Found, bytes: usize) {
        let Some(flow) = flow_of(&mut self.flows, found) else { return };
        if flow.packets == 0 {
            self.dirty.push(found.0);
        }
        flow.packets += 1;
        flow.bytes += bytes as u64;
    }

    /// Whether something was not counted yet.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Adds what packets there were to the counters of flows.
    pub fn flush(&mut self, now_ns: u64) {
        for number in std::mem::take(&mut self.dirty) {
            if let Some(flow) = flow_of(&mut self.flows, Found(number)) {
                settle(flow, now_ns);
            }
        }
    }

    /// Makes room: the hand passes those that were used since it came by last.
    fn evict(&mut self, now_ns: u64) {
        for _ in 0..self.flows.len() * 2 {
            self.hand = (self.hand + 1) % self.flows.len();
            match &mut self.flows[self.hand] {
                Some(flow) if flow.was_used => flow.was_used = false,
                Some(_) => {
                    self.remove(self.hand as u32, now_ns);
                    return;
                }
                None => {}
            }
        }
    }

    fn remove(&mut self, number: u32, now_ns: u64) {
        let Some(mut flow) = self.flows.get_mut(number as usize).and_then(Option::take) else {
            return;
        };
        settle(&mut flow, now_ns);
        self.free.push(number);
        if let Some(at) = self.masks.iter().position(|mask| mask.words == flow.key.mask) {
            let mask = &mut self.masks[at];
            let hash = flow.key.values.iter().fold(0, |hash, value| crate::key::mix(hash, *value));
            if mask.by_hash.get(&hash) == Some(&number) {
                mask.by_hash.remove(&hash);
            }
            if mask.by_hash.is_empty() {
                self.masks.swap_remove(at);
            }
        }
    }
}

/// A megaflow, if it is still there.
#[inline]
fn flow_of(flows: &mut [Option<Megaflow>], found: Found) -> Option<&mut Megaflow> {
    let flow = flows.get_mut(found.place())?.as_mut()?;
    (flow.tag == found.0 >> PLACE_BITS).then_some(flow)
}

fn settle(flow: &mut Megaflow, now_ns: u64) {
    let (packets, bytes) = (std::mem::take(&mut flow.packets), std::mem::take(&mut flow.bytes));
    if packets > 0 {
        let add = |counters: &Arc<Counters>| counters.add(packets, bytes, now_ns);
        flow.verdict.counters.iter().for_each(add);
    }
}

#[cfg(test)]
mod tests;
