//! Adding and taking single routes.
//!
//! ```text
//!   insert   leaf ─▶ bucket ─(a fifth entry)─▶ node ─(crowded)─▶ wider node
//!   remove   node ─(three routes left)─▶ bucket ─(none left)─▶ leaf
//! ```
//!
//! Each change of shape is built aside and published by one store; what it replaces is retired.
//! A change of an answer is one store a word. An insert that fails does so before it publishes;
//! a remove needs no memory, so it cannot fail.

use std::sync::atomic::{AtomicU32, Ordering};

use super::bucket::{Bucket, Entry, WAYS};
use super::build::{CROWDED, Item, cover, half_end, mask, place_of};
use super::store::{Memory, ROUTE, Store};
use super::word::{CLASSES, Link, Node, Word};
use crate::FibError;

/// A node with no more routes than this becomes a bucket.
const SPARSE: u32 = 3;

impl Store {
    /// Adds or replaces `route` at `slot`, which hangs behind `depth` bits that are the route's
    /// too; says what the route had. `memory` is the store's own.
    pub(super) fn insert_at(
        &mut self,
        memory: &Memory,
        slot: &AtomicU32,
        depth: u32,
        route: &Item,
    ) -> Result<Option<u32>, FibError> {
        let word = Word(slot.load(Ordering::Relaxed));
        match word.link() {
            Link::Leaf(default) => {
                let built = self.build(std::slice::from_ref(route), depth, default)?;
                slot.store(built.0, Ordering::Release);
                Ok(None)
            }
            Link::Bucket(index) => self.insert_in_bucket(memory, slot, index, depth, route),
            Link::Node(node) => self.insert_in_node(memory, slot, node, route),
        }
    }

    fn insert_in_bucket(
        &mut self,
        memory: &Memory,
        slot: &AtomicU32,
        index: u32,
        depth: u32,
        route: &Item,
    ) -> Result<Option<u32>, FibError> {
        let bucket = memory.bucket(index);
        let (end, forward) = (half_end(depth), route.word.0);
        let mut added = route.entry(depth);
        for (way, entry) in bucket.entries().enumerate() {
            let length = end - u32::from(entry.shift);
            if leads_to(&entry, length, end, added.key, route.length) {
                return self.insert_at(memory, &bucket.words[way], length, route);
            }
            if length == route.length && entry.key == added.key {
                let old = entry.owned.then(|| self.default_of(entry.word));
                bucket.set_owned(way, true);
                self.set_default(&bucket.words[way], forward);
                self.recover(bucket, &entry, forward);
                return Ok(old);
            }
        }
        // Entries that a remove left behind go when the bucket is made anew.
        let mut entries = Vec::with_capacity(WAYS + 1);
        entries.extend(bucket.entries().filter(|entry| entry.owned || !entry.word.is_leaf()));
        if entries.len() == WAYS {
            self.overflow(slot, index, depth, route)?;
            return Ok(None);
        }
        let default = bucket.default_word().load(Ordering::Relaxed);
        if route.length > end {
            let under = cover(self, &entries, &added, default);
            added.word = self.build(std::slice::from_ref(route), end, under)?;
            added.owned = false;
        }
        entries.push(added);
        let made = match self.make_bucket(&mut entries, default, depth >= 64) {
            Ok(made) => made,
            Err(error) => {
                self.discard_tree(added.word);
                return Err(error);
            }
        };
        slot.store(made.0, Ordering::Release);
        self.retire_bucket(index);
        if added.owned {
            self.recover(memory.bucket(made.as_bucket()), &added, forward);
        }
        Ok(None)
    }

    fn insert_in_node(
        &mut self,
        memory: &Memory,
        slot: &AtomicU32,
        node: Node,
        route: &Item,
    ) -> Result<Option<u32>, FibError> {
        let old = if route.length > node.end() {
            let below = &memory.slots(node)[node.slot_of(route.key) as usize];
            self.insert_at(memory, below, node.end(), route)?
        } else {
            let place = place_of(node, route.key, route.length);
            let old = self.ledger(node)[place].swap(route.word.0 | ROUTE, Ordering::Relaxed);
            self.spread(node, place, route.word.0);
            (old & ROUTE != 0).then_some(old & !ROUTE)
        };
        if old.is_none() {
            let routes = self.ledger(node)[0].fetch_add(1, Ordering::Relaxed) as usize + 1;
            let widest = node.class as usize == CLASSES - 1 || node.end() == half_end(node.depth);
            if routes.is_multiple_of(CROWDED << node.stride()) && !widest {
                // Only for speed: without memory for it the node stays crowded.
                self.rebuild(slot, node.depth, route.key).ok();
            }
        }
        Ok(old)
    }

    /// Takes the route of `length` bits at `key` from below `slot`; says what it had.
    pub(super) fn remove_at(
        &mut self,
        memory: &Memory,
        slot: &AtomicU32,
        depth: u32,
        key: u128,
        length: u32,
    ) -> Option<u32> {
        let word = Word(slot.load(Ordering::Relaxed));
        match word.link() {
            Link::Leaf(_) => None,
            Link::Bucket(index) => {
                let bucket = memory.bucket(index);
                let old = self.remove_in_bucket(memory, bucket, depth, key, length)?;
                if bucket.entries().all(|entry| !entry.owned && entry.word.is_leaf()) {
                    slot.store(self.default_of(word), Ordering::Release);
                    self.retire_bucket(index);
                }
                Some(old)
            }
            Link::Node(node) => {
                let old = self.remove_in_node(memory, node, key, length)?;
                let routes = self.ledger(node)[0].fetch_sub(1, Ordering::Relaxed) - 1;
                if routes <= SPARSE {
                    // Only to save memory: without memory for the bucket the node stays.
                    self.rebuild(slot, node.depth, key).ok();
                }
                Some(old)
            }
        }
    }

    fn remove_in_bucket(
        &mut self,
        memory: &Memory,
        bucket: &Bucket,
        depth: u32,
        key: u128,
        length: u32,
    ) -> Option<u32> {
        let end = half_end(depth);
        let removed = Item::route(key, length, 0).entry(depth);
        for (way, entry) in bucket.entries().enumerate() {
            let entry_length = end - u32::from(entry.shift);
            if leads_to(&entry, entry_length, end, removed.key, length) {
                return self.remove_at(memory, &bucket.words[way], entry_length, key, length);
            }
            if entry_length == length && entry.key == removed.key && entry.owned {
                let old = self.default_of(entry.word);
                let default = bucket.default_word().load(Ordering::Relaxed);
                let entries: Vec<Entry> = bucket.entries().collect();
                let under = cover(self, &entries, &entry, default);
                bucket.set_owned(way, false);
                self.set_default(&bucket.words[way], under);
                self.recover(bucket, &entry, under);
                return Some(old);
            }
        }
        None
    }

    fn remove_in_node(
        &mut self,
        memory: &Memory,
        node: Node,
        key: u128,
        length: u32,
    ) -> Option<u32> {
        if length > node.end() {
            let below = &memory.slots(node)[node.slot_of(key) as usize];
            return self.remove_at(memory, below, node.end(), key, length);
        }
        let place = place_of(node, key, length);
        let old = self.ledger(node)[place].swap(0, Ordering::Relaxed);
        if old & ROUTE == 0 {
            return None;
        }
        let mut above = place / 2;
        while above > 1 && self.ledger(node)[above].load(Ordering::Relaxed) & ROUTE == 0 {
            above /= 2;
        }
        let under = self.ledger(node)[above].load(Ordering::Relaxed) & !ROUTE;
        self.spread(node, place, under);
        Some(old & !ROUTE)
    }

    /// Tells what hangs behind entries that lie right under `changed`, which now yields `forward`.
    fn recover(&self, bucket: &Bucket, changed: &Entry, forward: u32) {
        for (way, entry) in bucket.entries().enumerate() {
            let nearer =
                |other: Entry| other.owned && other.covers(&entry) && changed.covers(&other);
            if !entry.owned && changed.covers(&entry) && !bucket.entries().any(nearer) {
                self.set_default(&bucket.words[way], forward);
            }
        }
    }

    /// Puts a better shape in the stead of a full bucket.
    fn overflow(
        &mut self,
        slot: &AtomicU32,
        index: u32,
        depth: u32,
        added: &Item,
    ) -> Result<(), FibError> {
        let mut items = self.items_of(index, added.key & mask(depth), depth);
        let default = self.bucket(index).default_word().load(Ordering::Relaxed);
        self.keep(items.iter().map(|item| item.word));
        let order = |item: &Item| (item.key, item.length) < (added.key, added.length);
        items.insert(items.partition_point(order), *added);
        let built = self.build(&items, depth, default);
        self.keep([].into_iter());
        slot.store(built?.0, Ordering::Release);
        self.retire_bucket(index);
        for item in items.iter().filter(|item| !item.owned && added.covers(item)) {
            let nearer = |other: &Item| other.owned && added.covers(other) && other.covers(item);
            if items.iter().any(nearer) {
                continue;
            }
            self.set_default_below(item.word, added.word.0);
        }
        Ok(())
    }

    /// Builds what hangs at `slot` anew.
    fn rebuild(&mut self, slot: &AtomicU32, depth: u32, key: u128) -> Result<(), FibError> {
        let word = Word(slot.load(Ordering::Relaxed));
        let mut items = Vec::new();
        self.for_each_below(word, key & mask(depth), depth, &mut |item| items.push(item));
        let built = self.build(&items, depth, self.default_of(word))?;
        slot.store(built.0, Ordering::Release);
        self.retire_tree(word);
        Ok(())
    }
}

/// Whether a longer route of `length` bits at `key` belongs behind `entry`, of `entry_length`.
fn leads_to(entry: &Entry, entry_length: u32, end: u32, key: u64, length: u32) -> bool {
    let has_below = entry_length == end || !entry.word.is_leaf();
    length > entry_length && has_below && entry.matches(key)
}
