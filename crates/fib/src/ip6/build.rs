//! Builds the best shape for a set of routes, and reads the routes back out of a shape.
//!
//! ```text
//!   none              a leaf
//!   up to 4 entries   a bucket
//!   8 or more shared  a bucket with one entry that leads past the shared bits
//!   otherwise         a node, wide enough for about two routes a slot; each slot likewise
//! ```
//!
//! An *entry* of a half of the address is a route that ends in that half, or all longer routes that
//! share that half.

use std::sync::atomic::Ordering;

use super::bucket::{Entry, WAYS};
use super::store::{ROUTE, Store};
use super::word::{CLASSES, Link, Node, Word, half_of, stride};
use crate::{Address, FibError};

/// A route as the table keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) key: u128,
    pub(super) length: u32,
    pub(super) forward: u32,
}

/// Shared bits worth an extra step: fewer are cheaper to index than to compare.
const SKIP_BITS: u32 = 8;
/// A node is built with at least half as many slots as routes.
const ROUTES_PER_SLOT: usize = 2;
/// A node is rebuilt wider when it has this many routes a slot.
pub(super) const CROWDED: usize = 8;

/// The address bits before the end of the half that `depth` lies in.
pub(super) fn half_end(depth: u32) -> u32 {
    if depth < 64 { 64 } else { 128 }
}

/// The entry of a bucket at `depth` for the first `length` bits of `key`.
pub(super) fn entry(key: u128, length: u32, depth: u32, owned: bool, word: Word) -> Entry {
    let end = half_end(depth);
    let length = length.min(end);
    Entry { key: half_of(key & mask(length), end == 128), shift: (end - length) as u8, owned, word }
}

/// The `length` leading ones.
pub(super) fn mask(length: u32) -> u128 {
    <u128 as Address>::mask(length as u8)
}

/// The best match among `entries` for one that lies inside, else `default`.
pub(super) fn cover(store: &Store, entries: &[Entry], inside: &Entry, default: u32) -> u32 {
    let covers = |entry: &&Entry| entry.owned && entry.covers(inside);
    let best = entries.iter().filter(covers).min_by_key(|entry| entry.shift);
    best.map_or(default, |entry| store.default_of(entry.word))
}

impl Store {
    /// Builds `routes`, sorted by key and then length, all longer than `depth` and alike before
    /// it, over `default`. On an error nothing is kept.
    pub(super) fn build(
        &mut self,
        routes: &[Route],
        depth: u32,
        default: u32,
    ) -> Result<Word, FibError> {
        let (Some(first), Some(last)) = (routes.first(), routes.last()) else {
            return Ok(Word::leaf(default));
        };
        let end = half_end(depth);
        if entries_of(routes, end, WAYS + 1) <= WAYS {
            return self.build_bucket(routes, end, depth, default);
        }
        let shortest = routes.iter().map(|route| route.length).fold(end, u32::min);
        let shared = (first.key ^ last.key).leading_zeros().min(shortest);
        let skip = shared & !3;
        if skip >= depth + env("SKIP",8) as u32 && skip < end {
            return self.build_bucket(routes, skip, depth, default);
        }
        self.build_node(routes, depth, shared.saturating_sub(depth), default)
    }

    /// A bucket whose entries are the routes that end by `end`, with longer ones behind entries
    /// of length `end`.
    fn build_bucket(
        &mut self,
        mut routes: &[Route],
        end: u32,
        depth: u32,
        default: u32,
    ) -> Result<Word, FibError> {
        let mut entries: Vec<Entry> = Vec::with_capacity(WAYS);
        while let Some(first) = routes.first() {
            let (entry, rest) = if first.length < end {
                let word = Word::leaf(first.forward);
                (entry(first.key, first.length, depth, true, word), 1)
            } else {
                let alike = routes.partition_point(|route| route.key & mask(end) <= first.key | !mask(end));
                let owned = first.length == end;
                let mut entry = entry(first.key, end, depth, owned, Word::leaf(first.forward));
                if !owned || alike > 1 {
                    let under = if owned {
                        first.forward
                    } else {
                        cover(self, &entries, &entry, default)
                    };
                    match self.build(&routes[usize::from(owned)..alike], end, under) {
                        Ok(word) => entry.word = word,
                        Err(error) => return Err(self.abandon(&entries, error)),
                    }
                }
                (entry, alike)
            };
            entries.push(entry);
            routes = &routes[rest..];
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
        routes: &[Route],
        depth: u32,
        shared: u32,
        default: u32,
    ) -> Result<Word, FibError> {
        let class = class_for(routes.len(), depth, shared);
        let node = self.make_node(class, depth)?;
        let end = node.end();
        let ledger = self.ledger(node);
        ledger[0].store(routes.len() as u32, Ordering::Relaxed);
        ledger[1].store(default, Ordering::Relaxed);
        self.spread(node, 1, default);
        // Sorted, so that a route comes before those it covers.
        for route in routes.iter().filter(|route| route.length <= end) {
            let place = place_of(node, route.key, route.length);
            self.ledger(node)[place].store(route.forward | ROUTE, Ordering::Relaxed);
            self.spread(node, place, route.forward);
        }
        let mut longer = routes.iter().filter(|route| route.length > end).copied().peekable();
        let mut group = Vec::new();
        while let Some(route) = longer.next() {
            group.push(route);
            let slot = node.slot_of(route.key) as usize;
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

    /// Sets what covers `place` of `node`'s ledger, and with it all slots below that no longer
    /// route of the node covers.
    pub(super) fn spread(&self, node: Node, place: usize, forward: u32) {
        let leaves = 1usize << node.stride();
        if place >= leaves as usize {
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
    pub(super) fn set_default(&self, slot: &std::sync::atomic::AtomicU32, forward: u32) {
        let word = Word(slot.load(Ordering::Relaxed));
        match word.link() {
            // Writing what is there already would cost memory that was never touched.
            Link::Leaf(old) if old == forward => {}
            Link::Leaf(_) => slot.store(forward, Ordering::Relaxed),
            Link::Bucket(index) => {
                let bucket = self.bucket(index);
                bucket.default_word().store(forward, Ordering::Relaxed);
                let entries: Vec<Entry> = bucket.entries().collect();
                for (way, entry) in entries.iter().enumerate() {
                    let shadowed = entries.iter().any(|other| other.owned && other.covers(entry));
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

    /// Appends the routes below `word`, which hangs behind the first `depth` bits of `key`,
    /// sorted by key and then length.
    pub(super) fn collect(&self, word: Word, key: u128, depth: u32, routes: &mut Vec<Route>) {
        match word.link() {
            Link::Leaf(_) => {}
            Link::Bucket(index) => self.collect_bucket(index, key, depth, routes),
            Link::Node(node) => self.collect_node(node, 1, key, routes),
        }
    }

    fn collect_bucket(&self, index: u32, key: u128, depth: u32, routes: &mut Vec<Route>) {
        let end = half_end(depth);
        let mut entries: Vec<Entry> = self.bucket(index).entries().collect();
        entries.sort_unstable_by_key(|entry| (entry.key, u8::MAX - entry.shift));
        for entry in entries {
            let length = end - u32::from(entry.shift);
            let key = if end == 64 {
                u128::from(entry.key) << 64
            } else {
                key & mask(64) | u128::from(entry.key)
            };
            if entry.owned {
                routes.push(Route { key, length, forward: self.default_of(entry.word) });
            }
            self.collect(entry.word, key, length, routes);
        }
    }

    fn collect_node(&self, node: Node, place: usize, key: u128, routes: &mut Vec<Route>) {
        let ledger = self.ledger(node)[place].load(Ordering::Relaxed);
        let level = place.ilog2();
        if place > 1 && ledger & ROUTE != 0 {
            routes.push(Route { key, length: node.depth + level, forward: ledger & !ROUTE });
        }
        if level == node.stride() {
            let slot = place - (1 << level);
            let word = Word(self.slots(node)[slot].load(Ordering::Relaxed));
            self.collect(word, key, node.end(), routes);
            return;
        }
        self.collect_node(node, 2 * place, key, routes);
        let one = 1 << (127 - node.depth - level);
        self.collect_node(node, 2 * place + 1, key | one, routes);
    }
}

/// Where `node`'s ledger keeps the route of `length` bits at `key`.
pub(super) fn place_of(node: Node, key: u128, length: u32) -> usize {
    let slot = node.slot_of(key);
    (1 << (length - node.depth) | slot >> (node.end() - length)) as usize
}

/// How many entries `routes` make in the half that ends at `end`, counted up to `enough`.
fn entries_of(routes: &[Route], end: u32, enough: usize) -> usize {
    let mut entries = 0;
    let mut last = None;
    for route in routes {
        let group = (route.length >= end).then_some(route.key & mask(end));
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

/// The width of a node at `depth` for `routes` that share the first `shared` bits it indexes.
fn class_for(routes: usize, depth: u32, shared: u32) -> usize {
    let widest = ((half_end(depth) - depth) / 4) as usize - 1;
    let fits = |class: &usize| {
        (env("RPS", 2) << stride(*class)) >> shared.min(stride(*class)) >= routes
    };
    (0..CLASSES).find(fits).unwrap_or(CLASSES - 1).min(widest).min(env("MAXC", 5))
}

pub(super) fn env(n: &str, d: usize) -> usize { use std::sync::OnceLock; static A: OnceLock<[usize;4]> = OnceLock::new();
 let a = A.get_or_init(|| { let g=|n: &str,d| std::env::var(n).ok().and_then(|v| v.parse().ok()).unwrap_or(d); [g("MAXC",5),g("RPS",2),g("SKIP",8),g("CROWD",8)]});
 let _ = d; match n {"MAXC"=>a[0],"RPS"=>a[1],"SKIP"=>a[2],_=>a[3]} }
