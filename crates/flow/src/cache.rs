//! What tables came to, remembered: one thread's own.
//!
//! ```text
//!  bytes of a packet of the usual form ─▶ Exact: a line that proves itself ──┐
//!  key of another ─▶ two places by its hash, proved by the megaflow's mask ──┼▶ a megaflow's line
//!  key of either ─▶ Megaflows, mask by mask ─────────────────────────────────┘
//! ```
//! Each is looked up for some tens of packets in turns, so that lines of cache are on their way
//! while others are looked at. With another snapshot it begins anew: what has packets is found
//! again by the first of them.

use crate::exact::Exact;
use crate::key::Key;
use crate::megaflows::{Megaflows, Remembered, TOGETHER};
use crate::plain::Plain;
use crate::steps::{Does, Step, Verdict};
use crate::track::{Frozen, Tracked};
use crate::wide::Wide;
use std::collections::HashMap;
use std::sync::Arc;

/// Places of packets of other forms.
const PLACES: usize = 1 << 14;

/// Octets of a line of the processor's cache.
const LINE: usize = 64;
/// Octets in front of what an [`Arc`] holds, which count who holds it.
const HOLDERS: usize = 2 * size_of::<usize>();
/// Octets of a verdict that each packet needs.
const HEAD: usize = std::mem::offset_of!(Verdict, mask);
/// Octets of steps that are asked for.
const MOST_STEPS: usize = 6 * LINE;

/// Ways on which packets begin again, at most.
const MOST_FROZEN: usize = 1 << 14;

/// See the module.
#[derive(Debug)]
pub struct Cache {
    exact: Exact,
    others: Box<[(u32, u32)]>,
    megaflows: Megaflows,
    /// Of which snapshot all this is.
    generation: u64,
    /// What packets take along that begin again, by number, from 1 on; and the numbers.
    frozen: Vec<Arc<Frozen>>,
    numbers: HashMap<Arc<Frozen>, u32>,
    /// What packets of these came to lately, in the same order.
    wides: Vec<Option<Box<Wide>>>,
    /// How many numbers are nobody's any more: none is given twice.
    spent: u32,
}

/// Where a packet's megaflow is: its place, and 12 bits more of its number that tell whether it is
/// still there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found(pub u32);

impl Found {
    /// That of a number.
    pub fn of(id: u64) -> Self {
        Self(id as u32)
    }
}

impl Cache {
    /// An empty one, of so many megaflows at most.
    pub fn new(most: usize) -> Self {
        Self {
            exact: Exact::new(),
            others: vec![(0, u32::MAX); PLACES].into(),
            megaflows: Megaflows::new(most),
            generation: 0,
            frozen: Vec::new(),
            numbers: HashMap::new(),
            wides: Vec::new(),
            spent: 0,
        }
    }

    /// How many megaflows.
    pub fn len(&self) -> usize {
        self.megaflows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many masks.
    pub fn masks(&self) -> usize {
        self.megaflows.masks()
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
        self.megaflows.clear(now_ns);
        self.generation = generation;
        self.spent = self.spent.wrapping_add(self.frozen.len() as u32);
        self.frozen.clear();
        self.numbers.clear();
        self.wides.clear();
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
        self.wides.push(None);
        let number = self.spent.wrapping_add(self.frozen.len() as u32);
        self.numbers.insert(Arc::clone(frozen), number);
        number
    }

    /// Whether the next group of packets is worth looking for by their bytes.
    #[inline(always)]
    pub fn looks_exactly(&mut self) -> bool {
        self.exact.looks()
    }

    /// So many packets were looked for by their bytes, of which so many were not found.
    #[inline(always)]
    pub fn looked_exactly(&mut self, many: u32, missed: u32) {
        self.exact.looked(many, missed);
    }

    /// What is looked at first for a packet of the usual form: to be asked for before.
    #[inline(always)]
    pub fn place_of(&self, hash: u64) -> *const u8 {
        self.exact.address(hash)
    }

    /// The number of the megaflow of a packet of the usual form, 0 where none is remembered. It may
    /// be gone.
    #[inline(always)]
    pub fn find_plain(&self, plain: &Plain, hash: u64) -> u64 {
        self.exact.find(plain, hash)
    }

    /// Whether a megaflow is still there.
    #[inline(always)]
    pub fn is_there(&self, id: u64) -> bool {
        self.megaflows.id_of(id as u32) == Some(id)
    }

    /// What is looked at to count a packet of a megaflow.
    #[inline(always)]
    pub fn line_of(&self, id: u64) -> *const u8 {
        self.megaflows.address(id)
    }

    /// Asks for what is done with a packet, one part further with each turn: where that stands,
    /// what it is, its steps. Of many packets each turn is taken for all.
    #[inline(always)]
    pub fn ask_for_steps(&self, found: Found, turn: usize, ask: impl Fn(*const u8)) {
        if turn == 0 {
            return ask(self.megaflows.rest_address(found.0));
        }
        let Some(verdict) = self.megaflows.verdict(found.0) else { return };
        let (from, bytes) = match turn {
            _ if turn > 1 && verdict.rewrite.is_some() => return,
            1 => (Arc::as_ptr(verdict).cast::<u8>().wrapping_sub(HOLDERS), HOLDERS + HEAD),
            _ => (verdict.steps.as_ptr().cast(), size_of_val(&*verdict.steps).min(MOST_STEPS)),
        };
        (0..bytes).step_by(LINE).for_each(|at| ask(from.wrapping_add(at)));
        ask(from.wrapping_add(bytes.saturating_sub(1)));
    }

    /// From now on packets like this one are of a megaflow.
    #[inline]
    pub fn remember(&mut self, plain: &Plain, hash: u64, id: u64) {
        self.exact.remember(plain, hash, id);
    }

    /// The number of the megaflow of a packet of the usual form that begins again on a way of this
    /// number, 0 where none is known by few bits. It may be gone.
    #[inline]
    pub fn find_again(&mut self, number: u32, plain: &Plain) -> u64 {
        let at = number.wrapping_sub(self.spent).wrapping_sub(1) as usize;
        match self.wides.get_mut(at) {
            Some(Some(wide)) => wide.find(plain),
            _ => 0,
        }
    }

    /// From now on packets that are like this one where its megaflow says so may be known by that.
    #[inline]
    pub fn remember_again(&mut self, number: u32, plain: &Plain, id: u64) {
        let at = number.wrapping_sub(self.spent).wrapping_sub(1) as usize;
        let Some(wide) = self.wides.get_mut(at) else { return };
        if let Some(verdict) = self.megaflows.verdict(id as u32) {
            wide.get_or_insert_default().miss(plain, &verdict.mask, id);
        }
    }

    /// The numbers of the megaflows of many keys, of packets that were not found otherwise: 0 where
    /// there is none. `ask` is told what will be looked at soon.
    pub fn find_all(&mut self, keys: &[Key], found: &mut [u64], ask: impl Fn(*const u8)) {
        for (keys, found) in keys.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            self.megaflows.find_all(keys, found, &ask);
        }
    }

    /// The megaflow of a packet.
    #[inline]
    pub fn find(&mut self, key: &Key) -> Option<Found> {
        self.find_id(key).map(Found::of)
    }

    /// Its number.
    pub fn find_id(&mut self, key: &Key) -> Option<u64> {
        let hash = key.hash_of_packet();
        let (place, proof) = (hash as usize % PLACES, (hash >> 32) as u32);
        for place in [place, place ^ 1] {
            let (own, low) = self.others[place];
            if own == proof
                && let Some(id) = self.megaflows.id_if(low, key)
            {
                return Some(id);
            }
        }
        let id = self.megaflows.find(key)?;
        // The newest comes first, what stood there second.
        if self.others[place].1 != u32::MAX {
            self.others[place ^ 1] = self.others[place];
        }
        self.others[place] = (proof, id as u32);
        Some(id)
    }

    /// Remembers what a packet came to.
    pub fn insert(&mut self, key: &Key, verdict: Verdict, now_ns: u64) -> Found {
        Found::of(self.insert_id(key, verdict, now_ns))
    }

    /// The same; its number.
    pub fn insert_id(&mut self, key: &Key, mut verdict: Verdict, now_ns: u64) -> u64 {
        if self.frozen.len() >= self.megaflows.most().min(MOST_FROZEN) {
            // Ways that nobody goes any more are not told from others: all are found anew.
            self.begin(self.generation, now_ns);
        }
        for step in &mut verdict.steps {
            if let Step::Recirculate(number, frozen) = step {
                *number = self.number(frozen);
            }
        }
        self.megaflows.insert(key, Arc::new(verdict), now_ns)
    }

    /// What a megaflow's packets come to.
    #[inline]
    pub fn verdict(&self, found: Found) -> Option<&Arc<Verdict>> {
        self.megaflows.verdict(found.0)
    }

    /// A packet of a megaflow.
    #[inline]
    pub fn count(&mut self, found: Found, bytes: usize) {
        if let Some(id) = self.megaflows.id_of(found.0) {
            self.megaflows.count(id, 1, bytes as u64);
        }
    }

    /// So many packets of a megaflow, of so many bytes: what becomes of them, if it is still there.
    #[inline(always)]
    pub fn count_of(&mut self, id: u64, packets: u32, bytes: u64) -> Option<Does> {
        self.megaflows.count(id, packets, bytes)
    }

    /// Tells of megaflows from a place on, so many at most: where to go on, if there are more. What
    /// was not [flushed](Self::flush) is not counted.
    pub fn tell(
        &self,
        from: usize,
        most: usize,
        tell: &mut dyn FnMut(Remembered),
    ) -> Option<usize> {
        self.megaflows.tell(from, most, tell)
    }

    /// Whether something was not counted yet.
    pub fn is_dirty(&self) -> bool {
        self.megaflows.is_dirty()
    }

    /// Adds what packets there were to the counters of flows.
    pub fn flush(&mut self, now_ns: u64, ask: impl Fn(*const u8)) {
        self.megaflows.flush(now_ns, ask);
    }
}

#[cfg(test)]
mod tests;
