//! Packets that wait for a neighbour's MAC: a few for each, bounded in all, the oldest dropped.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::NeighborKey;

/// Held items by neighbour. The item type is the caller's: this crate knows no packets.
#[derive(Debug)]
pub struct HoldQueue<T> {
    per_neighbor: usize,
    total: usize,
    next: u64,
    /// All items by age; the lists of each neighbour name them.
    items: BTreeMap<u64, (NeighborKey, T)>,
    waiting: HashMap<NeighborKey, VecDeque<u64>>,
}

impl<T> HoldQueue<T> {
    /// Holds at most `per_neighbor` for each neighbour and `total` in all (at least one of each).
    pub fn new(per_neighbor: usize, total: usize) -> HoldQueue<T> {
        HoldQueue {
            per_neighbor: per_neighbor.max(1),
            total: total.max(1),
            next: 0,
            items: BTreeMap::new(),
            waiting: HashMap::new(),
        }
    }

    /// Holds at most so many for each neighbour (at least one) from now on; those that wait may.
    pub fn set_per_neighbor(&mut self, per_neighbor: usize) {
        self.per_neighbor = per_neighbor.max(1);
    }

    /// Holds `item`, and returns the one that had to make room for it.
    pub fn hold(&mut self, key: NeighborKey, item: T) -> Option<T> {
        let own = self.waiting.get(&key).filter(|ages| ages.len() >= self.per_neighbor);
        let oldest = match own {
            Some(ages) => ages.front().copied(),
            None if self.items.len() >= self.total => self.items.keys().next().copied(),
            None => None,
        };
        let dropped = oldest.and_then(|age| self.take(age));
        self.items.insert(self.next, (key, item));
        self.waiting.entry(key).or_default().push_back(self.next);
        self.next += 1;
        dropped
    }

    /// Hands back all that waits for `key`, oldest first.
    pub fn release(&mut self, key: NeighborKey) -> impl Iterator<Item = T> + '_ {
        let ages = self.waiting.remove(&key).unwrap_or_default();
        ages.into_iter().filter_map(|age| self.items.remove(&age).map(|(_, item)| item))
    }

    /// How many items are held.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// How many items are held for `key`.
    pub fn len_of(&self, key: NeighborKey) -> usize {
        self.waiting.get(&key).map_or(0, VecDeque::len)
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes the item of `age`, which is the oldest of its neighbour.
    fn take(&mut self, age: u64) -> Option<T> {
        let (key, item) = self.items.remove(&age)?;
        if let Some(ages) = self.waiting.get_mut(&key) {
            ages.pop_front();
            if ages.is_empty() {
                self.waiting.remove(&key);
            }
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(last: u8) -> NeighborKey {
        NeighborKey { interface: 0, address: [192, 0, 2, last].into() }
    }

    #[test]
    fn the_oldest_of_a_neighbour_makes_room() {
        let mut queue = HoldQueue::new(2, 10);
        assert_eq!((queue.hold(key(1), 'a'), queue.hold(key(1), 'b')), (None, None));
        assert_eq!(queue.hold(key(1), 'c'), Some('a'));
        assert_eq!(queue.release(key(1)).collect::<String>(), "bc");
        assert!(queue.is_empty());
    }

    #[test]
    fn the_oldest_of_all_makes_room_when_the_whole_is_full() {
        let mut queue = HoldQueue::new(2, 3);
        for (neighbor, item) in [(1, 'a'), (2, 'b'), (3, 'c')] {
            assert_eq!(queue.hold(key(neighbor), item), None);
        }
        assert_eq!(queue.hold(key(4), 'd'), Some('a'));
        assert_eq!(queue.release(key(1)).count(), 0);
        assert_eq!((queue.release(key(2)).count(), queue.len()), (1, 2));
    }
}
