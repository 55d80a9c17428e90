//! The writer's own record of an IPv4 table: every route, exactly as it was added.
//!
//! ```text
//!   lengths 0..8       9..16         17..24         25..32
//!   [ shelf ] --256--> [ shelf ] --> [ shelf ] --> [ shelf ]      (shelf.rs)
//! ```
//!
//! Bytes per route: 4 to 5 in a crowded shelf, and 128 for each shelf in use. Readers never come
//! here.

use std::collections::TryReserveError;

use super::shelf::{LEAVES, STRIDE, Shelf};
use crate::{Ip4Prefix, Prefix};

/// Where a prefix lives: the shelf's level and the heap place in it.
#[derive(Clone, Copy)]
struct Place {
    level: u8,
    heap: usize,
}

/// Place of a prefix of `length` at `address`.
#[inline]
fn place_of(address: u32, length: u8) -> Place {
    let level = length.saturating_sub(1) / STRIDE;
    let depth = length - level * STRIDE;
    let below = u64::from(address) << (level * STRIDE) & 0xffff_ffff;
    Place { level, heap: 1 << depth | (below >> (32 - depth)) as usize }
}

/// The octet of `address` that leads from a shelf of `level` to its child.
#[inline]
fn leaf_of(address: u32, level: u8) -> usize {
    (address >> (24 - level * STRIDE) & 0xff) as usize
}

/// The prefix at `heap` of the shelf of `level` that `address` lies in.
fn prefix_of(address: u32, level: u8, heap: usize) -> Ip4Prefix {
    let depth = heap.ilog2() as u8;
    let base = u64::from(address) & !(u64::from(u32::MAX) >> (level * STRIDE));
    let bits = (heap as u64 - (1 << depth)) << (32 - level * STRIDE - depth);
    let length = level * STRIDE + depth;
    Prefix::new((base | bits) as u32, length).unwrap_or_else(|_| Prefix::all())
}

/// See the module's drawing.
#[derive(Debug)]
pub(super) struct Routes {
    shelves: Vec<Shelf>,
    free: Vec<u32>,
    count: usize,
}

impl Routes {
    pub(super) fn new() -> Routes {
        Routes { shelves: vec![Shelf::default()], free: Vec::new(), count: 0 }
    }

    /// How many routes there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Asks for the shelf of `prefix`, if that is the last one that is not at hand.
    #[inline]
    pub(super) fn prefetch_shelf(&self, prefix: Ip4Prefix) {
        let place = place_of(prefix.address(), prefix.length());
        if let Some(shelf) = self.shelf_at(prefix.address(), place.level) {
            shelf.prefetch();
        }
    }

    /// Asks for the value of `prefix`; its shelf should be at hand.
    #[inline]
    pub(super) fn prefetch_value(&self, prefix: Ip4Prefix) {
        let place = place_of(prefix.address(), prefix.length());
        if let Some(shelf) = self.shelf_at(prefix.address(), place.level) {
            shelf.prefetch_value(place.heap);
        }
    }

    /// The route of exactly this prefix.
    pub(super) fn get(&self, prefix: Ip4Prefix) -> Option<u32> {
        let place = place_of(prefix.address(), prefix.length());
        self.shelf_at(prefix.address(), place.level)?.get(place.heap)
    }

    /// Adds or replaces a route and returns the value it had; on an error nothing changed.
    pub(super) fn insert(
        &mut self,
        prefix: Ip4Prefix,
        value: u32,
    ) -> Result<Option<u32>, TryReserveError> {
        let place = place_of(prefix.address(), prefix.length());
        let inserted = self
            .make_shelf(prefix.address(), place.level)
            .and_then(|index| self.shelves[index].insert(place.heap, value));
        match inserted {
            Ok(None) => self.count += 1,
            Ok(Some(_)) => {}
            Err(_) => self.prune(prefix.address(), place.level),
        }
        inserted
    }

    /// Takes a route away and returns its value.
    pub(super) fn remove(&mut self, prefix: Ip4Prefix) -> Option<u32> {
        let place = place_of(prefix.address(), prefix.length());
        let index = self.index_at(prefix.address(), place.level)?;
        let value = self.shelves[index].remove(place.heap)?;
        self.count -= 1;
        self.prune(prefix.address(), place.level);
        Some(value)
    }

    /// The longest route that covers `prefix`, itself included if `or_same`.
    pub(super) fn cover(&self, prefix: Ip4Prefix, or_same: bool) -> Option<(Ip4Prefix, u32)> {
        let address = prefix.address();
        let place = place_of(address, prefix.length());
        let (indexes, deepest) = self.path(address, place.level);
        for level in (0..=deepest).rev() {
            let from = match level == place.level {
                true if or_same => place.heap,
                true => place.heap / 2,
                false => LEAVES | leaf_of(address, level),
            };
            if let Some((heap, value)) = self.shelves[indexes[level as usize]].at_or_above(from) {
                return Some((prefix_of(address, level, heap), value));
            }
        }
        None
    }

    /// Whether a route longer than `prefix` lies inside it.
    pub(super) fn has_longer(&self, prefix: Ip4Prefix) -> bool {
        let place = place_of(prefix.address(), prefix.length());
        self.shelf_at(prefix.address(), place.level)
            .is_some_and(|shelf| !shelf.is_bare_beneath(place.heap))
    }

    /// Emits the largest prefixes that together are `prefix` less all longer routes inside it.
    pub(super) fn gaps(&self, prefix: Ip4Prefix, emit: &mut impl FnMut(Ip4Prefix)) {
        let place = place_of(prefix.address(), prefix.length());
        match self.index_at(prefix.address(), place.level) {
            Some(index) => self.gaps_below(index, prefix.address(), place, emit),
            None => emit(prefix),
        }
    }

    fn gaps_below(
        &self,
        index: usize,
        address: u32,
        place: Place,
        emit: &mut impl FnMut(Ip4Prefix),
    ) {
        let shelf = &self.shelves[index];
        if shelf.is_bare_beneath(place.heap) {
            return emit(prefix_of(address, place.level, place.heap));
        }
        if place.heap >= LEAVES {
            let address = prefix_of(address, place.level, place.heap).address();
            if let Some(child) = shelf.child(place.heap - LEAVES) {
                let top = Place { level: place.level + 1, heap: 1 };
                self.gaps_below(child as usize, address, top, emit);
            }
            return;
        }
        for half in [place.heap * 2, place.heap * 2 + 1] {
            if shelf.get(half).is_none() {
                self.gaps_below(index, address, Place { heap: half, ..place }, emit);
            }
        }
    }

    /// Calls `visit` with every route, shorter ones of a shelf first.
    pub(super) fn for_each(&self, visit: &mut impl FnMut(Ip4Prefix, u32)) {
        self.for_each_below(0, 0, 0, visit);
    }

    fn for_each_below(
        &self,
        index: usize,
        address: u32,
        level: u8,
        visit: &mut impl FnMut(Ip4Prefix, u32),
    ) {
        for (heap, value) in self.shelves[index].routes() {
            visit(prefix_of(address, level, heap), value);
        }
        for (leaf, child) in self.shelves[index].child_shelves() {
            let below = prefix_of(address, level, LEAVES | leaf).address();
            self.for_each_below(child as usize, below, level + 1, visit);
        }
    }

    /// Bytes held, the allocator's own overhead aside.
    pub(super) fn bytes(&self) -> usize {
        let lists: usize = self.shelves.iter().map(Shelf::list_bytes).sum();
        self.shelves.capacity() * size_of::<Shelf>() + self.free.capacity() * 4 + lists
    }

    fn index_at(&self, address: u32, level: u8) -> Option<usize> {
        let (indexes, deepest) = self.path(address, level);
        (deepest == level).then(|| indexes[level as usize])
    }

    fn shelf_at(&self, address: u32, level: u8) -> Option<&Shelf> {
        self.index_at(address, level).map(|index| &self.shelves[index])
    }

    /// The shelves that lead to `address`, down to `level` or as far as there are any.
    fn path(&self, address: u32, level: u8) -> ([usize; 4], u8) {
        let mut indexes = [0; 4];
        for above in 0..level {
            let shelf = &self.shelves[indexes[above as usize]];
            match shelf.child(leaf_of(address, above)) {
                Some(child) => indexes[above as usize + 1] = child as usize,
                None => return (indexes, above),
            }
        }
        (indexes, level)
    }

    fn make_shelf(&mut self, address: u32, level: u8) -> Result<usize, TryReserveError> {
        let (indexes, mut deepest) = self.path(address, level);
        let mut index = indexes[deepest as usize];
        while deepest < level {
            if self.free.is_empty() {
                if self.shelves.len() == self.shelves.capacity() {
                    // By a quarter: most of the allocator's growth here is moving no bytes.
                    self.shelves.try_reserve_exact((self.shelves.len() / 4).max(4))?;
                    // Room to free them all, so that freeing cannot fail.
                    self.free.try_reserve_exact(self.shelves.capacity())?;
                }
                self.free.push(self.shelves.len() as u32);
                self.shelves.push(Shelf::default());
            }
            let Some(child) = self.free.last().copied() else { break };
            self.shelves[index].add_child(leaf_of(address, deepest), child)?;
            self.free.pop();
            index = child as usize;
            deepest += 1;
        }
        Ok(index)
    }

    /// Unhooks the empty shelves at the end of the path to `address`.
    fn prune(&mut self, address: u32, level: u8) {
        let (indexes, deepest) = self.path(address, level);
        for level in (1..=deepest).rev() {
            let index = indexes[level as usize];
            if !self.shelves[index].is_empty() {
                return;
            }
            let parent = &mut self.shelves[indexes[level as usize - 1]];
            parent.remove_child(leaf_of(address, level - 1));
            // Room was reserved when the shelf was made.
            self.free.push(index as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Ip4Prefix {
        text.parse().unwrap()
    }

    fn routes(texts: &[&str]) -> Routes {
        let mut routes = Routes::new();
        for (value, text) in texts.iter().enumerate() {
            routes.insert(prefix(text), value as u32 + 1).unwrap();
        }
        routes
    }

    #[test]
    fn a_place_names_its_prefix() {
        for text in ["0.0.0.0/0", "128.0.0.0/1", "10.0.0.0/8", "10.128.0.0/9", "10.1.2.3/32"] {
            let prefix = prefix(text);
            let place = place_of(prefix.address(), prefix.length());
            assert_eq!(prefix_of(prefix.address(), place.level, place.heap), prefix);
        }
    }

    #[test]
    fn the_longest_cover_is_found_across_shelves() {
        let routes = routes(&["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24"]);
        let cover = |text, same| routes.cover(prefix(text), same).unwrap().0.to_string();
        assert_eq!(cover("10.1.2.3/32", false), "10.1.2.0/24");
        assert_eq!(cover("10.1.2.0/24", false), "10.1.0.0/16");
        assert_eq!(cover("10.1.2.0/24", true), "10.1.2.0/24");
        assert_eq!(cover("10.2.0.0/16", false), "10.0.0.0/8");
        assert_eq!(cover("11.0.0.0/8", false), "0.0.0.0/0");
    }

    #[test]
    fn gaps_are_what_longer_routes_leave() {
        let routes = routes(&["10.0.0.0/15", "10.0.0.0/17", "10.1.0.0/16"]);
        let mut gaps = Vec::new();
        routes.gaps(prefix("10.0.0.0/15"), &mut |gap| gaps.push(gap.to_string()));
        assert_eq!(gaps, ["10.0.128.0/17"]);
    }

    #[test]
    fn emptied_shelves_are_used_again() {
        let mut routes = Routes::new();
        for round in 0..3u32 {
            let host = Prefix::host(round << 24 | 7);
            routes.insert(host, 1).unwrap();
            assert_eq!(routes.remove(host), Some(1));
        }
        assert_eq!((routes.len(), routes.shelves.len()), (0, 4));
    }
}
