//! Numbers of flows by hash, in lines of cache.
//!
//! ```text
//!  hash ─▶ a bucket: seven signatures │ seven numbers │ how many of its own are with its neighbour
//!            └ full: the neighbour, the other of a pair; both are: twice as many buckets
//! ```
//! A signature is half of the hash: what is found is to be proved by who asks. That nothing is
//! there is mostly said by one line.

/// Places of a bucket.
const WAYS: usize = 7;
/// Buckets of a new one.
const FIRST: usize = 16;

#[derive(Clone, Default, Debug)]
#[repr(align(64))]
struct Bucket {
    signs: [u32; WAYS],
    places: [u32; WAYS],
    /// Of those that belong here, how many are with the neighbour.
    away: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Index {
    buckets: Vec<Bucket>,
    /// Buckets at most.
    most: usize,
}

/// The upper half of a hash; 0 is none.
#[inline(always)]
fn sign_of(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}

impl Index {
    /// An empty one, that has room for so many.
    pub(crate) fn new(most: usize) -> Self {
        let most = most.next_power_of_two().max(FIRST);
        Self { buckets: vec![Bucket::default(); FIRST], most }
    }

    pub(crate) fn clear(&mut self) {
        self.buckets.fill(Bucket::default());
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    /// The line that is looked at first.
    #[inline(always)]
    pub(crate) fn address(&self, hash: u64) -> *const u8 {
        (&raw const self.buckets[self.home(hash)]).cast()
    }

    /// The first number under a hash, that `is_it` says yes to.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let (home, sign) = (self.home(hash), sign_of(hash));
        let bucket = &self.buckets[home];
        let look = |bucket: &Bucket, is_it: &mut dyn FnMut(u32) -> bool| {
            let mut alike = bucket.alike(sign);
            while alike != 0 {
                let place = bucket.places[alike.trailing_zeros() as usize];
                if is_it(place) {
                    return Some(place);
                }
                alike &= alike - 1;
            }
            None
        };
        let found = look(bucket, &mut is_it);
        if found.is_some() || bucket.away == 0 {
            return found;
        }
        look(&self.buckets[home ^ 1], &mut is_it)
    }

    /// Puts a number under a hash; false where there is no room near it.
    fn put(&mut self, hash: u64, place: u32) -> bool {
        let (home, sign) = (self.home(hash), sign_of(hash));
        for at in [home, home ^ 1] {
            let bucket = &mut self.buckets[at];
            if let Some(free) = bucket.signs.iter().position(|sign| *sign == 0) {
                (bucket.signs[free], bucket.places[free]) = (sign, place);
                self.buckets[home].away += u32::from(at != home);
                return true;
            }
        }
        false
    }

    /// Puts a number under a hash, growing where it may: `hash_of` tells that of each number. Where
    /// it may not, the number that has to go first.
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        place: u32,
        hash_of: impl Fn(u32) -> u64,
    ) -> Result<(), u32> {
        while !self.put(hash, place) {
            if self.buckets.len() >= self.most {
                return Err(self.buckets[self.home(hash)].places[(hash >> 40) as usize % WAYS]);
            }
            self.grow(&hash_of);
        }
        Ok(())
    }

    /// Twice as many buckets. Those of one pair come to two, so that all have room again.
    fn grow(&mut self, hash_of: &impl Fn(u32) -> u64) {
        let all: Vec<u32> = self.buckets.iter().flat_map(Bucket::each).collect();
        self.buckets = vec![Bucket::default(); self.buckets.len() * 2];
        for place in all {
            let has_room = self.put(hash_of(place), place);
            debug_assert!(has_room);
        }
    }

    /// Takes a number out that is under a hash.
    pub(crate) fn remove(&mut self, hash: u64, place: u32) {
        let home = self.home(hash);
        for at in [home, home ^ 1] {
            let bucket = &mut self.buckets[at];
            let mut both = bucket.signs.iter().zip(&bucket.places);
            if let Some(at_way) = both.position(|(sign, own)| *sign != 0 && *own == place) {
                bucket.signs[at_way] = 0;
                self.buckets[home].away -= u32::from(at != home);
                return;
            }
        }
    }
}

impl Bucket {
    /// A bit for each place of this signature.
    #[inline(always)]
    fn alike(&self, sign: u32) -> u32 {
        let mut bits = 0;
        for (at, own) in self.signs.iter().enumerate() {
            bits |= u32::from(*own == sign) << at;
        }
        bits
    }

    fn each(&self) -> impl Iterator<Item = u32> + '_ {
        let both = self.signs.iter().zip(&self.places);
        both.filter(|(sign, _)| **sign != 0).map(|(_, place)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn it_has_what_a_map_has(
            steps in proptest::collection::vec((0..200u32, any::<bool>()), 1..400),
            crowd in 1..40u64,
            most in 1..64usize,
        ) {
            // Many in the same buckets, some of the same signature.
            let hash = |place: u32| ((u64::from(place) % 50) << 33) | (u64::from(place) % crowd);
            let (mut index, mut twin) = (Index::new(most), HashMap::new());
            for (place, adds) in steps {
                if !adds {
                    if twin.remove(&place).is_some() {
                        index.remove(hash(place), place);
                    }
                } else if !twin.contains_key(&place) {
                    while let Err(victim) = index.insert(hash(place), place, hash) {
                        // Who has to go is one of those that are there.
                        prop_assert!(twin.remove(&victim).is_some());
                        index.remove(hash(victim), victim);
                    }
                    twin.insert(place, ());
                }
                for place in 0..200 {
                    let found = index.find(hash(place), |own| own == place);
                    prop_assert_eq!(found.is_some(), twin.contains_key(&place), "{}", place);
                }
            }
        }
    }
}
