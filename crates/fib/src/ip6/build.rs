//! Builds the best shape for a set of routes, and reads the routes back out of a shape.
//!
//! ```text
//!   none              a leaf
//!   up to 4 entries   a bucket
//!   8 or more shared  a bucket with one entry that leads past the shared bits
//!   otherwise         a node, wide enough for at most two routes a slot; each slot likewise
//! ```
//!
//! An *entry* of a half of the address is a route that ends in that half, or all longer routes that
//! share that half. What already hangs behind an entry of a bucket is hung elsewhere as it is.

use std::sync::atomic::{AtomicU32, Ordering};

use super::bucket::{Entry, WAYS};
use super::store::{ROUTE, Store};
use super::word::{CLASSES, Link, Node, Word, half_of, stride};
use crate::{Address, FibError};

/// A route, or what hangs behind the bits of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) key: u128,
    pub(super) length: u32,
    /// Whether it is a route; if not, it leads to longer ones only.
    pub(super) owned: bool,
    /// Its answer, or what hangs behind it.
    pub(super) word: Word,
}

/// Shared bits worth an extra step: fewer are cheaper to index than to compare.
const SKIP_BITS: u32 = 8;
/// A node is built with at least half as many slots as routes.
const ROUTES_PER_SLOT: usize = 2;
/// A node is rebuilt wider when it has this many routes a slot: more than it would be built with.
pub(super) const CROWDED: usize = 3;

/// The address bits before the end of the half that `depth` lies in.
pub(super) fn half_end(depth: u32) -> u32 {
    if depth < 64 { 64 } else { 128 }
}

/// The `length` leading ones.
pub(super) fn mask(length: u32) -> u128 {
    <u128 as Address>::mask(length as u8)
}

impl Item {
    pub(super) fn route(key: u128, length: u32, forward: u32) -> Item {
        Item { key, length, owned: true, word: Word::leaf(forward) }
    }

    /// The entry for it in a bucket at `depth`, as far as the half reaches.
    pub(super) fn entry(&self, depth: u32) -> Entry {
        let end = half_end(depth);
        let length = self.length.min(end);
        let key = half_of(self.key & mask(length), end == 128);
        Entry { key, shift: (end - length) as u8, owned: self.owned, word: self.word }
    }

    /// Whether `other` lies inside it and is longer.
    pub(super) fn covers(&self, other: &Item) -> bool {
        self.length < other.length && (self.key ^ other.key) & mask(self.length) == 0
    }
}

/// The best match among `entries` for one that lies inside, else `default`.
pub(super) fn cover(store: &Store, entries: &[Entry], inside: &Entry, default: u32) -> u32 {
    let covers = |entry: &&Entry| entry.owned && entry.covers(inside);
    let best = entries.iter().filter(covers).min_by_key(|entry| entry.shift);
    best.map_or(default, |entry| store.default_of(entry.word))
}

impl Store {
    /// Builds `items`, sorted by key and then length, all longer than `depth` and alike before
    /// it, over `default`. On an error nothing is kept, but what hung behind the items is.
    pub(super) fn build(
        &mut self,
        items: &[Item],
        depth: u32,
        default: u32,
    ) -> Result<Word, FibError> {
        let (Some(first), Some(last)) = (items.first(), items.last()) else {
            return Ok(Word::leaf(default));
        };
        let end = half_end(depth);
        if entries_of(items, end, WAYS + 1) <= WAYS {
            return self.build_bucket(items, end, depth, default);
        }
        let shortest = items.iter().map(|item| item.length).fold(end, u32::min);
        let shared = (first.key ^ last.key).leading_zeros().min(shortest);
        let skip = shared & !3;
        if skip >= depth + SKIP_BITS && skip < end {
            return self.build_bucket(items, skip, depth, default);
        }
        self.build_node(items, depth, shared.saturating_sub(depth), default)
    }

    /// A bucket whose entries are the items that end by `end`, with longer ones behind entries
    /// of length `end`.
    fn build_bucket(
        &mut self,
        mut items: &[Item],
        end: u32,
        depth: u32,
        default: u32,
    ) -> Result<Word, FibError> {
        let mut entries: Vec<Entry> = Vec::with_capacity(WAYS);
        while let Some(first) = items.first() {
            let alike = if first.length < end {
                1
            } else {
                items.partition_point(|item| item.key <= first.key | !mask(end))
            };
            let mut entry = first.entry(depth);
            if first.length > end || alike > 1 {
                let head = Item { length: end, owned: first.length == end, ..*first };
                entry = head.entry(depth);
                let under = match entry.owned {
                    true => self.default_of(first.word),
                    false => cover(self, &entries, &entry, default),
                };
                match self.build(&items[usize::from(entry.owned)..alike], end, under) {
                    Ok(word) => entry.word = word,
                    Err(error) => return Err(self.abandon(&entries, error)),
                }
            }
            entries.push(entry);
            items = &items[alike..];
        }
        match self.make_bucket(&mut entries, default, depth >= 64) {
            Ok(word) => Ok(word),
            Err(error) => Err(self.abandon(&entries, error)),
        }
    }

    fn abandon(&mut self, entries: &[Entry], error: FibError) -> FibError {
        for entry in entries {
            self.discard_tree(entry.word);
        }
        error
    }

    fn build_node(
        &mut self,
        items: &[Item],
        depth: u32,
        shared: u32,
        default: u32,
    ) -> Result<Word, FibError> {
        let node = self.make_node(class_for(items, depth, shared), depth)?;
        let end = node.end();
        let routes: u32 = items.iter().map(|item| self.routes_of(item)).sum();
        self.ledger(node)[0].store(routes, Ordering::Relaxed);
        self.ledger(node)[1].store(default, Ordering::Relaxed);
        self.spread(node, 1, default);
        // Sorted, so that a route comes before those it covers.
        for item in items.iter().filter(|item| item.length <= end) {
            if item.owned {
                let forward = self.default_of(item.word);
                let place = place_of(node, item.key, item.length);
                self.ledger(node)[place].store(forward | ROUTE, Ordering::Relaxed);
                self.spread(node, place, forward);
            }
            if !item.word.is_leaf() {
                let slot = node.slot_of(item.key) as usize;
                self.slots(node)[slot].store(item.word.0, Ordering::Relaxed);
            }
        }
        let mut longer = items.iter().filter(|item| item.length > end).copied().peekable();
        let mut group = Vec::new();
        while let Some(item) = longer.next() {
            group.push(item);
            let slot = node.slot_of(item.key) as usize;
            if longer.peek().is_some_and(|next| node.slot_of(next.key) as usize == slot) {
                continue;
            }
            let default = self.slots(node)[slot].load(Ordering::Relaxed);
            match self.build(&group, end, default) {
                Ok(word) => self.slots(node)[slot].store(word.0, Ordering::Relaxed),
                Err(error) => {
                    self.discard_tree(Word::node(node));
                    return Err(error);
                }
            }
            group.clear();
        }
        Ok(Word::node(node))
    }

    /// How many routes `item` is and leads to.
    fn routes_of(&self, item: &Item) -> u32 {
        u32::from(item.owned) + self.routes_below(item.word)
    }

    fn routes_below(&self, word: Word) -> u32 {
        match word.link() {
            Link::Leaf(_) => 0,
            Link::Bucket(index) => {
                let entries = self.bucket(index).entries();
                entries.map(|e| u32::from(e.owned) + self.routes_below(e.word)).sum()
            }
            Link::Node(node) => self.ledger(node)[0].load(Ordering::Relaxed),
        }
    }

    /// Sets what covers `place` of `node`'s ledger, and with it all slots below that no longer
    /// route of the node covers.
    pub(super) fn spread(&self, node: Node, place: usize, forward: u32) {
        let leaves = 1usize << node.stride();
        if place >= leaves {
            self.set_default(&self.slots(node)[place - leaves], forward);
            return;
        }
        for below in [2 * place, 2 * place + 1] {
            if self.ledger(node)[below].load(Ordering::Relaxed) & ROUTE == 0 {
                self.spread(node, below, forward);
            }
        }
    }

    /// Sets what covers all that hangs at `slot`.
    pub(super) fn set_default(&self, slot: &AtomicU32, forward: u32) {
        let word = Word(slot.load(Ordering::Relaxed));
        match word.link() {
            // Writing what is there already would cost memory that was never touched.
            Link::Leaf(old) if old == forward => {}
            Link::Leaf(_) => slot.store(forward, Ordering::Relaxed),
            Link::Bucket(_) | Link::Node(_) => self.set_default_below(word, forward),
        }
    }

    /// Sets what covers all below `word`; a leaf has nothing below.
    pub(super) fn set_default_below(&self, word: Word, forward: u32) {
        match word.link() {
            Link::Leaf(_) => {}
            Link::Bucket(index) => {
                let bucket = self.bucket(index);
                bucket.default_word().store(forward, Ordering::Relaxed);
                for (way, entry) in bucket.entries().enumerate() {
                    let shadowed =
                        bucket.entries().any(|other| other.owned && other.covers(&entry));
                    if !entry.owned && !shadowed {
                        self.set_default(&bucket.words[way], forward);
                    }
                }
            }
            Link::Node(node) => {
                self.ledger(node)[1].store(forward, Ordering::Relaxed);
                self.spread(node, 1, forward);
            }
        }
    }
}

/// Where `node`'s ledger keeps the route of `length` bits at `key`.
pub(super) fn place_of(node: Node, key: u128, length: u32) -> usize {
    let slot = node.slot_of(key);
    (1 << (length - node.depth) | slot >> (node.end() - length)) as usize
}

/// How many entries `items` make in the half that ends at `end`, counted up to `enough`.
fn entries_of(items: &[Item], end: u32, enough: usize) -> usize {
    let mut entries = 0;
    let mut last = None;
    for item in items {
        let group = (item.length >= end).then_some(item.key & mask(end));
        if group.is_none() || group != last {
            entries += 1;
        }
        last = group;
        if entries == enough {
            break;
        }
    }
    entries
}

/// The width of a node at `depth` for `items` that share the first `shared` bits it indexes.
fn class_for(items: &[Item], depth: u32, shared: u32) -> usize {
    // What hangs behind an item cannot be cut in two.
    let links = items.iter().filter(|item| !item.word.is_leaf()).map(|item| item.length);
    let end = links.fold(half_end(depth), u32::min);
    let widest = ((end - depth) / 4) as usize - 1;
    let fits = |class: &usize| {
        (ROUTES_PER_SLOT << stride(*class)) >> shared.min(stride(*class)) >= items.len()
    };
    (0..CLASSES).find(fits).unwrap_or(CLASSES - 1).min(widest)
}
