//! Packets that wait for a neighbour's MAC: a few for each, bounded in all. When all are full, the
//! oldest is dropped of the interface and family that has the most: others' packets stay.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::{NeighborKey, ShareKey};

/// Held items by neighbour. The item type is the caller's: this crate knows no packets.
#[derive(Debug)]
pub struct HoldQueue<T> {
    per_neighbor: usize,
    total: usize,
    next: u64,
    /// All items by age; the lists of each neighbour name them.
    items: BTreeMap<u64, (NeighborKey, T)>,
    waiting: HashMap<NeighborKey, VecDeque<u64>>,
    /// The ages of each share.
    shares: BTreeMap<ShareKey, BTreeSet<u64>>,
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
            shares: BTreeMap::new(),
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
            None if self.items.len() >= self.total => self.oldest_of_most(key.share()),
            None => None,
        };
        let dropped = oldest.and_then(|age| self.take(age));
        self.items.insert(self.next, (key, item));
        self.waiting.entry(key).or_default().push_back(self.next);
        self.shares.entry(key.share()).or_default().insert(self.next);
        self.next += 1;
        dropped
    }

    /// The oldest item of the share that has the most; of those that are alike, of `own`. Shares
    /// are few.
    fn oldest_of_most(&self, own: ShareKey) -> Option<u64> {
        let most = self.shares.iter().max_by_key(|(of, ages)| (ages.len(), **of == own))?;
        most.1.first().copied()
    }

    /// Hands back all that waits for `key`, oldest first.
    pub fn release(&mut self, key: NeighborKey) -> impl Iterator<Item = T> + '_ {
        let ages = self.waiting.remove(&key).unwrap_or_default();
        ages.iter().for_each(|age| self.leave_share(key, *age));
        ages.into_iter().filter_map(|age| self.items.remove(&age).map(|(_, item)| item))
    }

    /// Hands back what waits for `key` and has waited long enough, oldest first.
    pub fn release_due(&mut self, key: NeighborKey, is_due: impl Fn(&T) -> bool) -> Vec<T> {
        let is_due = |age: &u64| self.items.get(age).is_some_and(|(_, item)| is_due(item));
        let ages = self.waiting.get(&key).into_iter().flatten().copied();
        let due: Vec<u64> = ages.take_while(is_due).collect();
        due.into_iter().filter_map(|age| self.take(age)).collect()
    }

    /// How many items are held.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// How many items are held for `key`.
    pub fn len_of(&self, key: NeighborKey) -> usize {
        self.waiting.get(&key).map_or(0, VecDeque::len)
    }

    /// How many items are held for each key that has some.
    pub fn lens(&self) -> impl Iterator<Item = (NeighborKey, usize)> + '_ {
        self.waiting.iter().map(|(key, ages)| (*key, ages.len()))
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes the item of `age`, which is the oldest of its neighbour.
    fn take(&mut self, age: u64) -> Option<T> {
        let (key, item) = self.items.remove(&age)?;
        self.leave_share(key, age);
        if let Some(ages) = self.waiting.get_mut(&key) {
            ages.pop_front();
            if ages.is_empty() {
                self.waiting.remove(&key);
            }
        }
        Some(item)
    }

    fn leave_share(&mut self, key: NeighborKey, age: u64) {
        if let Some(ages) = self.shares.get_mut(&key.share()) {
            ages.remove(&age);
            if ages.is_empty() {
                self.shares.remove(&key.share());
            }
        }
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

    #[test]
    fn what_waited_long_enough_goes_and_the_rest_stays() {
        let mut queue = HoldQueue::new(4, 10);
        for item in "aabb".chars() {
            assert_eq!(queue.hold(key(1), item), None);
        }
        assert_eq!(queue.hold(key(2), 'a'), None);
        assert_eq!(queue.release_due(key(1), |item| *item == 'b'), [], "the oldest is not due");
        assert_eq!(queue.release_due(key(1), |item| *item == 'a'), ['a', 'a']);
        assert_eq!((queue.len_of(key(1)), queue.len_of(key(2)), queue.len()), (2, 1, 3));
        assert_eq!(queue.release_due(key(1), |_| true), ['b', 'b']);
        assert_eq!((queue.len_of(key(1)), queue.release_due(key(1), |_| true).len()), (0, 0));
        assert_eq!(queue.release(key(2)).collect::<String>(), "a");
        assert!(queue.is_empty());
    }

    #[test]
    fn a_link_with_many_packets_makes_room_for_those_of_others() {
        let mut queue = HoldQueue::new(2, 4);
        let on = |interface, last| NeighborKey { interface, ..key(last) };
        assert_eq!(queue.hold(on(1, 1), 'x'), None);
        for (last, item) in (1..=3).zip('a'..) {
            assert_eq!(queue.hold(on(0, last), item), None);
        }
        assert_eq!(queue.hold(on(0, 4), 'd'), Some('a'));
        assert_eq!(queue.hold(on(1, 2), 'y'), Some('b'));
        assert_eq!(queue.hold(on(0, 5), 'e'), Some('c'), "none takes from one that is alike");
        assert_eq!(queue.release(on(1, 1)).collect::<String>(), "x");
        assert_eq!(queue.release(on(1, 2)).collect::<String>(), "y");
    }
}
