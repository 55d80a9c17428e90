//! The slots of a frame by what they have in common, the interface that they leave by for one: what
//! a node has to find out about it, and to count, it does once for each group.
//!
//! ```text
//!  tx      3 5 3 3 7 5          group 3:  1 0 1 1 0 0
//!                               group 5:  0 1 0 0 0 1     a bit a slot
//!                               group 7:  0 0 0 0 1 0
//! ```

use crate::slots::{Selection, VECTOR};
use crate::{Frame, PacketView, vectorized};

/// Groups that are looked for; slots that are in none of those are each one of their own, so that
/// 256 packets of 256 interfaces are not compared 256 times.
const MOST: usize = 16;

/// What all of these are, if they are alike.
#[inline(always)]
pub fn alike<T: Copy + PartialEq>(of: &[T]) -> Option<T> {
    let &first = of.first()?;
    // No early exit: a plain fold is what the compiler turns into vector code.
    of.iter().fold(true, |same, &other| same & (other == first)).then_some(first)
}

/// The packets of a frame that have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// All of them, as in most vectors.
    All,
    /// Those of these slots.
    Some(Selection),
    /// That of one slot.
    One(usize),
}

impl Group {
    /// Its slots in a frame of `count` packets.
    #[inline]
    pub fn slots(self, count: usize) -> Selection {
        match self {
            Self::All => Selection::first(count),
            Self::Some(slots) => slots,
            Self::One(slot) => {
                let mut one = Selection::default();
                one.insert(slot);
                one
            }
        }
    }
}

/// The groups of a frame that were not named yet.
pub struct Groups {
    rest: Selection,
    /// How many were looked for.
    named: usize,
    /// None was, and there are all slots, which `rest` does not say yet.
    is_whole: bool,
    /// The word of `rest` that is next where each slot is a group.
    word: usize,
}

impl Groups {
    /// Those of all slots.
    #[inline]
    pub fn all() -> Self {
        Self { rest: Selection::default(), named: 0, is_whole: true, word: 0 }
    }

    /// Those of a group that has something else in common, of a frame of `count` packets.
    #[inline]
    pub fn within(group: Group, count: usize) -> Self {
        match group {
            Group::All => Self::all(),
            some => Self { rest: some.slots(count), named: 0, is_whole: false, word: 0 },
        }
    }

    /// What the lowest slot that is left has, and all that have the same. `of` is what each slot of
    /// the frame has: it may be changed for those that were named.
    #[inline(always)]
    pub fn next(&mut self, of: &[u16]) -> Option<(u16, Group)> {
        if self.named < MOST {
            return self.look_for_next(of);
        }
        loop {
            let bits = self.rest.0.get_mut(self.word)?;
            if *bits != 0 {
                let slot = self.word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                return Some((*of.get(slot)?, Group::One(slot)));
            }
            self.word += 1;
        }
    }

    #[inline]
    fn look_for_next(&mut self, of: &[u16]) -> Option<(u16, Group)> {
        if core::mem::take(&mut self.is_whole) {
            if let Some(its) = alike(of) {
                return Some((its, Group::All));
            }
            self.rest = Selection::first(of.len());
        }
        let its = *of.get(self.rest.lowest()?)?;
        let slots = self.rest.with_value(of, its);
        self.rest.remove(&slots);
        self.named += 1;
        Some((its, Group::Some(slots)))
    }
}

impl Frame {
    /// How many packets a group has.
    #[inline(always)]
    pub fn count_of(&self, group: &Group) -> usize {
        match group {
            Group::All => self.len(),
            Group::Some(slots) => slots.len(),
            Group::One(_) => 1,
        }
    }

    /// Bytes of a group's longest packet, from its header on.
    #[inline(always)]
    pub fn longest_of(&self, group: &Group) -> u32 {
        let mut longest = 0;
        match group {
            Group::All => longest = self.longest(),
            Group::Some(slots) => slots.each(|slot| longest = longest.max(self.length[slot])),
            Group::One(slot) => longest = self.length[*slot],
        }
        longest
    }

    /// Looks at each packet of a group in order.
    #[inline(always)]
    pub fn each_in(&mut self, group: &Group, mut look: impl FnMut(PacketView<'_>)) {
        // Each way is a copy of `look`, which is not in line where there are three.
        match group {
            Group::All => self.each(look),
            some => some.slots(self.len()).each(|slot| look(self.view(slot))),
        }
    }

    /// Bytes of a group's packets together, from their headers on.
    #[inline(always)]
    pub fn bytes_of(&self, group: &Group) -> u64 {
        let mut bytes = 0;
        match group {
            Group::All => bytes = u64::from(vectorized(|| self.lengths().iter().sum::<u32>())),
            Group::Some(slots) => slots.each(|slot| bytes += u64::from(self.length[slot])),
            Group::One(slot) => bytes = u64::from(self.length[*slot]),
        }
        bytes
    }
}

impl Selection {
    /// Of these slots, those that have `value`.
    #[inline]
    fn with_value(&self, of: &[u16], value: u16) -> Self {
        let of = &of[..of.len().min(VECTOR)];
        let mut words = [0; VECTOR / 64];
        for (word, values) in words.iter_mut().zip(of.chunks(64)) {
            *word = equal_words(values, value);
        }
        for (word, wanted) in words.iter_mut().zip(self.0) {
            *word &= wanted;
        }
        Self(words)
    }
}

/// A bit for each of 64 values at most: is it `value`?
#[cfg(target_arch = "x86_64")]
#[inline]
fn equal_words(values: &[u16], value: u16) -> u64 {
    use core::arch::x86_64::{
        _mm_cmpeq_epi16, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16,
    };
    let sixteens = values.chunks_exact(16);
    let rest = sixteens.remainder();
    let behind = values.len() - rest.len();
    let mut bits = 0;
    for (at, sixteen) in sixteens.enumerate() {
        // SAFETY: SSE2 is part of x86-64; the chunk has the 32 octets.
        let mask = unsafe {
            let wanted = _mm_set1_epi16(value as i16);
            let half =
                |at| _mm_cmpeq_epi16(_mm_loadu_si128(sixteen.as_ptr().add(at).cast()), wanted);
            _mm_movemask_epi8(_mm_packs_epi16(half(0), half(8)))
        };
        bits |= u64::from(mask as u16) << (at * 16);
    }
    bits | one_by_one(rest, value).checked_shl(behind as u32).unwrap_or(0)
}

/// A bit for each of 64 values at most: is it `value`?
#[cfg(not(target_arch = "x86_64"))]
fn equal_words(values: &[u16], value: u16) -> u64 {
    one_by_one(values, value)
}

fn one_by_one(values: &[u16], value: u16) -> u64 {
    let bit = |(at, &its): (usize, &u16)| u64::from(its == value) << at;
    values.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeapPool, Pool};
    use proptest::prelude::*;

    #[test]
    fn what_is_alike_is_said_and_nothing_of_none() {
        assert_eq!(
            [alike(&[7, 7, 7]), alike(&[7, 7, 8]), alike::<u16>(&[])],
            [Some(7), None, None]
        );
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn each_slot_is_in_one_group(
            of in prop::collection::vec(0u16..40, 1..=VECTOR),
            kinds in 1u16..=40,
        ) {
            let of: Vec<u16> = of.into_iter().map(|its| its % kinds).collect();
            let (mut groups, mut all, mut values) = (Groups::all(), Vec::new(), Vec::new());
            while let Some((value, group)) = groups.next(&of) {
                let slots: Vec<usize> = group.slots(of.len()).slots().collect();
                prop_assert!(slots.iter().all(|slot| of[*slot] == value));
                values.push(value);
                all.extend(slots);
            }
            // Of a group that was looked for, all are in it.
            let looked_for = &values[..values.len().min(MOST)];
            let others = &values[looked_for.len()..];
            prop_assert!(looked_for.iter().all(|value| !others.contains(value)));
            all.sort_unstable();
            prop_assert_eq!(all, (0..of.len()).collect::<Vec<_>>());
        }

        #[test]
        fn groups_of_groups_are_parts_of_those(
            of in prop::collection::vec((0u16..3, 0u16..20), 1..=VECTOR),
        ) {
            let (one, other): (Vec<u16>, Vec<u16>) = of.iter().copied().unzip();
            let (mut outer, mut all) = (Groups::all(), Vec::new());
            while let Some((value, group)) = outer.next(&one) {
                let mut inner = Groups::within(group, of.len());
                while let Some((of_these, group)) = inner.next(&other) {
                    let slots: Vec<usize> = group.slots(of.len()).slots().collect();
                    prop_assert!(slots.iter().all(|slot| of[*slot] == (value, of_these)));
                    all.extend(slots);
                }
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..of.len()).collect::<Vec<_>>());
        }

        #[test]
        fn what_is_told_of_groups_is_what_their_packets_are(
            lengths in prop::collection::vec(1u8..100, 1..40),
            kinds in 1u16..=30,
        ) {
            let pool = HeapPool::new(40, 128).unwrap();
            let (mut cache, mut frame) = (pool.cache(), Frame::new());
            for length in &lengths {
                frame.push(cache.copy_of(&vec![0; usize::from(*length)]).unwrap(), 0);
            }
            let of: Vec<u16> = (0..lengths.len() as u16).map(|slot| slot % kinds).collect();
            let mut groups = Groups::all();
            while let Some((_, group)) = groups.next(&of) {
                let its: Vec<u32> =
                    group.slots(of.len()).slots().map(|slot| lengths[slot].into()).collect();
                prop_assert_eq!(frame.count_of(&group), its.len());
                prop_assert_eq!(frame.longest_of(&group), *its.iter().max().unwrap());
                prop_assert_eq!(frame.bytes_of(&group), u64::from(its.iter().sum::<u32>()));
                let mut seen = Vec::new();
                frame.each_in(&group, |packet| seen.push(packet.length() as u32));
                prop_assert_eq!(seen, its);
            }
            cache.release(frame.take_all());
        }
    }
}
