//! Places in sets of eight: whoever finds any of the eight free has it for itself.
//!
//! ```text
//!   key ─ hash ─▶ set   │ tag │ tag │ tag │ tag │ tag │ tag │ tag │ tag │
//!                         ▲ its own, else one that nobody uses, else it shares
//! ```
//! By chance alone 30 flows in 1024 places share one in three times; in sets of eight, next to
//! never (Thomas, "set associativity" in CAKE, 2018).

use crate::hash;

/// Places of a set: their tags are half a cache line.
const WAYS: usize = 8;

/// Whom places belong to.
pub(super) struct Places {
    tags: Vec<u32>,
}

/// A place, and whether others have it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) at: usize,
    pub(super) shared: bool,
}

impl Places {
    /// So many, rounded up to whole sets.
    pub(super) fn new(places: usize) -> Self {
        Self { tags: vec![0; places.next_multiple_of(WAYS)] }
    }

    pub(super) fn len(&self) -> usize {
        self.tags.len()
    }

    /// The place of this key, where `is_used` tells those that others may not be given.
    #[inline]
    pub(super) fn find(&mut self, key: u32, is_used: impl Fn(usize) -> bool) -> Place {
        let first = hash::bucket(key, (self.tags.len() / WAYS) as u32) as usize * WAYS;
        let mut free = None;
        for at in first..first + WAYS {
            if !is_used(at) {
                free = free.or(Some(at));
            } else if self.tags[at] == key {
                return Place { at, shared: false };
            }
        }
        let Some(at) = free else {
            return Place { at: first + key as usize % WAYS, shared: true };
        };
        self.tags[at] = key;
        Place { at, shared: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_key_finds_its_place_again_and_shares_only_in_a_full_set() {
        let mut places = Places::new(1024);
        let mut used: HashSet<usize> = HashSet::new();
        for key in 0..400u32 {
            let key = key.wrapping_mul(0x85eb_ca6b);
            let Place { at, shared } = places.find(key, |at| used.contains(&at));
            assert!(!shared && used.insert(at), "key {key:x} of its own");
            assert_eq!(places.find(key, |at| used.contains(&at)), Place { at, shared });
        }
        let mut full = Places::new(8);
        let nine: Vec<Place> =
            (0..9u32).map(|key| full.find(key, |at| at < key as usize)).collect();
        assert!(nine[..8].iter().all(|place| !place.shared));
        assert!(nine[8].shared);
    }
}
