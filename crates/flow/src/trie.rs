//! A map from hashes to lists, whose copies share all that did not change since.
//!
//! ```text
//!  root ─▶ 16 branches by the hash's lowest 4 bits ─▶ 16 by the next ─▶ … ─▶ leaf: hash, items
//! ```
//! A copy is one counter; a change copies the nodes on its way that a copy holds as well, and no
//! other. A leaf takes as much as a branch, 152 bytes, and its list; a look-up costs a line of
//! cache a level.

use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Trie<T> {
    root: Option<Arc<Node<T>>>,
}

#[derive(Clone, Debug)]
enum Node<T> {
    Branch([Option<Arc<Node<T>>>; 16]),
    Leaf(u64, Vec<T>),
}

impl<T> Default for Trie<T> {
    fn default() -> Self {
        Self { root: None }
    }
}

impl<T: Clone> Trie<T> {
    /// The items of a hash.
    pub(crate) fn get(&self, hash: u64) -> &[T] {
        let (mut node, mut rest) = (self.root.as_deref(), hash);
        loop {
            match node {
                Some(Node::Branch(branches)) => {
                    node = branches[rest as usize & 15].as_deref();
                    rest >>= 4;
                }
                Some(Node::Leaf(own, items)) if *own == hash => return items,
                _ => return &[],
            }
        }
    }

    /// Changes the items of a hash; none at all are forgotten.
    pub(crate) fn change(&mut self, hash: u64, change: impl FnOnce(&mut Vec<T>)) {
        change_below(&mut self.root, hash, 0, change);
    }

    /// Every item, in no order.
    pub(crate) fn each(&self, look: &mut impl FnMut(&T)) {
        let mut left: Vec<&Node<T>> = self.root.as_deref().into_iter().collect();
        while let Some(node) = left.pop() {
            match node {
                Node::Branch(branches) => left.extend(branches.iter().filter_map(Option::as_deref)),
                Node::Leaf(_, items) => items.iter().for_each(&mut *look),
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.root.is_none()
    }
}

fn change_below<T: Clone>(
    slot: &mut Option<Arc<Node<T>>>,
    hash: u64,
    level: u32,
    change: impl FnOnce(&mut Vec<T>),
) {
    let Some(node) = slot else {
        let mut items = Vec::new();
        change(&mut items);
        if !items.is_empty() {
            *slot = Some(Arc::new(Node::Leaf(hash, items)));
        }
        return;
    };
    match Arc::make_mut(node) {
        Node::Leaf(own, items) if *own == hash => {
            change(items);
            if items.is_empty() {
                *slot = None;
            }
        }
        Node::Leaf(own, _) => {
            // Two hashes: a branch takes the leaf's place, and the leaf is below it.
            let own = *own >> (level * 4) & 15;
            let leaf = slot.take();
            let mut branches: [Option<Arc<Node<T>>>; 16] = Default::default();
            branches[own as usize] = leaf;
            *slot = Some(Arc::new(Node::Branch(branches)));
            change_below(slot, hash, level, change);
        }
        Node::Branch(branches) => {
            let at = (hash >> (level * 4) & 15) as usize;
            change_below(&mut branches[at], hash, level + 1, change);
            let mut left = branches.iter_mut().filter(|branch| branch.is_some());
            let (first, second) = (left.next(), left.next());
            match (first, second) {
                (None, _) => *slot = None,
                // A leaf alone needs no branch.
                (Some(only), None) if matches!(only.as_deref(), Some(Node::Leaf(..))) => {
                    let leaf = only.take();
                    *slot = leaf;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn it_is_a_map_and_copies_stay_as_they_were(
            steps in proptest::collection::vec((0..40u64, any::<bool>(), 0..60u32), 1..200),
        ) {
            // Hashes that share their lowest bits, and few of them.
            let hash = |number: u64| (number % 5) << 60 | (number / 5) << 20 | 7;
            let (mut trie, mut twin) = (Trie::default(), HashMap::<u64, Vec<u32>>::new());
            let mut copies = Vec::new();
            for (at, (number, adds, value)) in steps.into_iter().enumerate() {
                let hash = hash(number);
                let change = |items: &mut Vec<u32>| {
                    if adds { items.push(value) } else { items.clear() }
                };
                trie.change(hash, change);
                change(twin.entry(hash).or_default());
                if at % 20 == 0 {
                    copies.push((trie.clone(), twin.clone()));
                }
            }
            copies.push((trie, twin));
            for (trie, twin) in copies {
                for number in 0..40 {
                    let items = twin.get(&hash(number)).cloned().unwrap_or_default();
                    prop_assert_eq!(trie.get(hash(number)), &items[..]);
                }
                prop_assert_eq!(trie.is_empty(), twin.values().all(Vec::is_empty));
            }
        }
    }
}
