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
const MOST: usize = 24;

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
}

impl Group {
    /// Its slots in a frame of `count` packets.
    #[inline]
    pub fn slots(self, count: usize) -> Selection {
        match self {
            Self::All => Selection::first(count),
            Self::Some(slots) => slots,
        }
    }
}

/// The groups of a frame that were not named yet.
pub struct Groups {
    rest: Selection,
    named: usize,
    /// None was named, and there are all slots, which `rest` does not say yet.
    is_whole: bool,
}

impl Groups {
    /// Those of all slots.
    #[inline]
    pub fn all() -> Self {
        Self { rest: Selection::default(), named: 0, is_whole: true }
    }

    /// Those of some slots.
    #[inline]
    pub fn among(slots: Selection) -> Self {
        Self { rest: slots, named: 0, is_whole: false }
    }

    /// What the lowest slot that is left has, and all that have the same. `of` is what each slot of
    /// the frame has: it may be changed for those that were named.
    #[inline]
    pub fn next(&mut self, of: &[u16]) -> Option<(u16, Group)> {
        if core::mem::take(&mut self.is_whole) {
            if let Some(its) = alike(of) {
                return Some((its, Group::All));
            }
            self.rest = Selection::first(of.len());
        }
        let lowest = self.rest.lowest()?;
        let its = *of.get(lowest)?;
        let slots = if self.named < MOST { self.rest.with_value(of, its) } else { one(lowest) };
        self.named += 1;
        self.rest.remove(&slots);
        Some((its, Group::Some(slots)))
    }
}

fn one(slot: usize) -> Selection {
    let mut one = Selection::default();
    one.insert(slot);
    one
}

impl Frame {
    /// How many packets a group has.
    #[inline(always)]
    pub fn count_of(&self, group: &Group) -> usize {
        match group {
            Group::All => self.len(),
            Group::Some(slots) => slots.len(),
        }
    }

    /// Bytes of a group's longest packet, from its header on.
    #[inline(always)]
    pub fn longest_of(&self, group: &Group) -> u32 {
        let mut longest = 0;
        match group {
            Group::All => longest = self.longest(),
            Group::Some(slots) => slots.each(|slot| longest = longest.max(self.length[slot])),
        }
        longest
    }

    /// Looks at each packet of a group in order.
    #[inline(always)]
    pub fn each_in(&mut self, group: &Group, mut look: impl FnMut(PacketView<'_>)) {
        match group {
            Group::All => self.each(look),
            Group::Some(slots) => slots.each(|slot| look(self.view(slot))),
        }
    }

    /// Bytes of a group's packets together, from their headers on.
    #[inline(always)]
    pub fn bytes_of(&self, group: &Group) -> u64 {
        let mut bytes = 0;
        match group {
            Group::All => bytes = u64::from(vectorized(|| self.lengths().iter().sum::<u32>())),
            Group::Some(slots) => slots.each(|slot| bytes += u64::from(self.length[slot])),
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
        fn each_slot_is_in_one_group_in_order(
            of in prop::collection::vec(0u16..40, 1..=VECTOR),
            left_out in prop::collection::vec(0usize..VECTOR, 0..9),
        ) {
            let mut wanted = Selection::first(of.len());
            left_out.into_iter().for_each(|slot| wanted.take(slot));
            let mut groups = Groups::among(wanted);
            let (mut all, mut values) = (Vec::new(), Vec::new());
            while let Some((value, group)) = groups.next(&of) {
                let slots = group.slots(of.len());
                prop_assert!(slots.slots().all(|slot| of[slot] == value));
                values.push(value);
                all.extend(slots.slots());
            }
            // Of a group that was looked for, all are in it.
            let looked_for = &values[..values.len().min(MOST)];
            let others = &values[looked_for.len()..];
            prop_assert!(looked_for.iter().all(|value| !others.contains(value)));
            all.sort_unstable();
            prop_assert_eq!(all, wanted.slots().collect::<Vec<_>>());
        }
    }
}
