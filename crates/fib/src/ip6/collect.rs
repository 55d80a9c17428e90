//! Reads the routes back out of the table's shape.

use std::sync::atomic::Ordering;

use super::bucket::Entry;
use super::build::{Item, half_end, mask};
use super::store::{ROUTE, Store};
use super::word::{Link, Node, Word};

impl Store {
    /// Calls `visit` with each route below `word`, which hangs behind the first `depth` bits of
    /// `key`, by key and then length.
    pub(super) fn for_each_below(
        &self,
        word: Word,
        key: u128,
        depth: u32,
        visit: &mut impl FnMut(Item),
    ) {
        match word.link() {
            Link::Leaf(_) => {}
            Link::Bucket(index) => {
                for item in self.items_of(index, key, depth) {
                    if item.owned {
                        visit(Item::route(item.key, item.length, self.default_of(item.word)));
                    }
                    self.for_each_below(item.word, item.key, item.length, visit);
                }
            }
            Link::Node(node) => self.for_each_in_node(node, 1, key, visit),
        }
    }

    /// The entries of a bucket that are still of use, by key and then length.
    pub(super) fn items_of(&self, index: u32, key: u128, depth: u32) -> Vec<Item> {
        let end = half_end(depth);
        let item = |entry: Entry| Item {
            key: match end {
                64 => u128::from(entry.key) << 64,
                _ => key & mask(64) | u128::from(entry.key),
            },
            length: end - u32::from(entry.shift),
            owned: entry.owned,
            word: entry.word,
        };
        let entries = self.bucket(index).entries();
        let mut items: Vec<Item> =
            entries.filter(|entry| entry.owned || !entry.word.is_leaf()).map(item).collect();
        items.sort_unstable_by_key(|item| (item.key, item.length));
        items
    }

    fn for_each_in_node(&self, node: Node, place: usize, key: u128, visit: &mut impl FnMut(Item)) {
        let route = self.ledger(node)[place].load(Ordering::Relaxed);
        let level = place.ilog2();
        if place > 1 && route & ROUTE != 0 {
            visit(Item::route(key, node.depth + level, route & !ROUTE));
        }
        if level == node.stride() {
            let slot = place - (1 << level);
            let word = Word(self.slots(node)[slot].load(Ordering::Relaxed));
            self.for_each_below(word, key, node.end(), visit);
            return;
        }
        self.for_each_in_node(node, 2 * place, key, visit);
        let one = 1 << (127 - node.depth - level);
        self.for_each_in_node(node, 2 * place + 1, key | one, visit);
    }
}
