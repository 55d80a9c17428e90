//! How an address finds its answer, step by step: for people, not for packets.
//!
//! ```text
//!   2001:db8::1   node of 16 bits at 0 ─▶ bucket at 16 ─▶ 2001:db8::/32, 2 cache lines
//! ```

use std::sync::atomic::Ordering;

use super::build::{Item, half_end, mask, place_of};
use super::store::{ROUTE, Store};
use super::word::{Link, Word, half_of};
use super::{Ip6Table, bucket::Entry};
use crate::{Forward, Ip6Prefix, Prefix};

/// One step of a lookup: one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip6Step {
    /// An array indexed by `bits` of the address, behind the first `depth`.
    Node {
        /// Bits of the address decided before.
        depth: u32,
        /// Bits that this step decides.
        bits: u32,
    },
    /// Up to four prefixes compared, behind the first `depth` bits.
    Bucket {
        /// Bits of the address decided before.
        depth: u32,
    },
}

/// What an address matches, and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ip6Match {
    /// The longest route that holds the address, if any does.
    pub prefix: Option<Ip6Prefix>,
    /// What it forwards to.
    pub forward: Forward,
    /// The steps of the lookup, each of one cache line.
    pub steps: Vec<Ip6Step>,
}

impl Ip6Table {
    /// What `address` matches and how. Writers wait meanwhile, readers do not.
    pub fn explain(&self, address: u128) -> Ip6Match {
        let store = self.pool.store();
        let default = Forward::from_bits(self.default.load(Ordering::Relaxed));
        let root = Word(self.root.load(Ordering::Relaxed));
        let (length, steps) = store.explain(root, address);
        let length = length.or((!default.is_none()).then_some(0));
        Ip6Match {
            prefix: length.and_then(|length| Prefix::new(address, length as u8).ok()),
            forward: self.lookup(address),
            steps,
        }
    }
}

impl Store {
    /// The length of the longest route below `root` that holds `address`, and the steps to it.
    fn explain(&self, root: Word, address: u128) -> (Option<u32>, Vec<Ip6Step>) {
        let (mut word, mut depth) = (root, 0);
        let (mut length, mut steps) = (None, Vec::new());
        loop {
            match word.link() {
                Link::Leaf(_) => return (length, steps),
                Link::Bucket(index) => {
                    steps.push(Ip6Step::Bucket { depth });
                    let end = half_end(depth);
                    let half = half_of(address, word.is_low());
                    let mut matching =
                        self.bucket(index).entries().filter(|entry| entry.matches(half)).peekable();
                    let Some(first) = matching.peek().copied() else { return (length, steps) };
                    let length_of = |entry: Entry| end - u32::from(entry.shift);
                    let owned = matching.find(|entry| entry.owned);
                    length = owned.map(length_of).or(length);
                    (word, depth) = (first.word, length_of(first));
                }
                Link::Node(node) => {
                    steps.push(Ip6Step::Node { depth, bits: node.stride() });
                    let ledger = self.ledger(node);
                    let held = |length: &u32| {
                        let place = place_of(node, address, *length);
                        ledger[place].load(Ordering::Relaxed) & ROUTE != 0
                    };
                    length = (depth + 1..=node.end()).rev().find(held).or(length);
                    let slot = node.slot_of(address) as usize;
                    word = Word(self.slots(node)[slot].load(Ordering::Relaxed));
                    depth = node.end();
                }
            }
        }
    }

    /// What the route of `length` bits at `key` has, if it is below `word`.
    pub(super) fn get_below(
        &self,
        mut word: Word,
        mut depth: u32,
        key: u128,
        length: u32,
    ) -> Option<u32> {
        loop {
            match word.link() {
                Link::Leaf(_) => return None,
                Link::Bucket(index) => {
                    let items = self.items_of(index, key & mask(depth), depth);
                    let wanted = Item::route(key, length, 0);
                    let exact = |item: &&Item| item.length == length && item.key == key;
                    if let Some(item) = items.iter().find(exact) {
                        return item.owned.then(|| self.default_of(item.word));
                    }
                    let leads = |item: &&Item| !item.word.is_leaf() && item.covers(&wanted);
                    let item = items.iter().find(leads)?;
                    (word, depth) = (item.word, item.length);
                }
                Link::Node(node) if length <= node.end() => {
                    let place =
                        self.ledger(node)[place_of(node, key, length)].load(Ordering::Relaxed);
                    return (place & ROUTE != 0).then_some(place & !ROUTE);
                }
                Link::Node(node) => {
                    let slot = node.slot_of(key) as usize;
                    word = Word(self.slots(node)[slot].load(Ordering::Relaxed));
                    depth = node.end();
                }
            }
        }
    }
}
