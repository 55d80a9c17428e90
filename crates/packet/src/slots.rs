//! The slots of a frame: how many there are, the exit of each, and a choice of some.

/// Packets in a full frame.
pub const VECTOR: usize = 256;

/// Slots behind the last packet that a SIMD kernel may scribble on.
pub const SLACK: usize = 32;

/// All of them.
pub(crate) const SLOTS: usize = VECTOR + SLACK;

/// Exit of each slot of a frame, as bytes.
#[repr(align(64))]
pub struct ExitBytes(pub [u8; SLOTS]);

impl Default for ExitBytes {
    fn default() -> Self {
        Self([0; SLOTS])
    }
}

/// The slots that one exit takes: a bit a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection(pub(crate) [u64; VECTOR / 64]);

impl Selection {
    /// The first `count` slots.
    #[inline]
    pub fn first(count: usize) -> Self {
        Self(core::array::from_fn(|word| match count.saturating_sub(word * 64) {
            0 => 0,
            bits if bits >= 64 => u64::MAX,
            bits => (1 << bits) - 1,
        }))
    }

    /// Adds a slot, which a frame has.
    #[inline]
    pub fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    /// Takes a slot away, which a frame has.
    #[inline]
    pub fn take(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    /// How many slots.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; VECTOR / 64]
    }

    /// The lowest slot.
    #[inline]
    pub fn lowest(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    /// Takes `other`'s slots away.
    #[inline]
    pub fn remove(&mut self, other: &Self) {
        for (word, gone) in self.0.iter_mut().zip(other.0) {
            *word &= !gone;
        }
    }

    /// Of these slots, those whose exit is `exit`.
    #[inline]
    pub fn with_exit(&self, exits: &ExitBytes, exit: u8) -> Self {
        let mut words = self.0;
        for (word, bytes) in words.iter_mut().zip(exits.0.chunks_exact(64)) {
            if *word != 0 {
                *word &= equal_bytes(bytes, exit);
            }
        }
        Self(words)
    }

    /// Shows each slot, in order: what a loop over [`Selection::slots`] does, in fewer
    /// instructions.
    #[inline(always)]
    pub fn each(&self, mut show: impl FnMut(usize)) {
        for (index, &word) in self.0.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                show(index * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }

    /// The slots in order.
    pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            core::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

/// A bit for each of 64 bytes: is it `value`?
#[cfg(target_arch = "x86_64")]
#[inline]
fn equal_bytes(bytes: &[u8], value: u8) -> u64 {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    let mut bits = 0;
    for (group, sixteen) in bytes.chunks_exact(16).enumerate() {
        // SAFETY: SSE2 is part of x86-64; the chunk has the 16 bytes.
        let mask = unsafe {
            let loaded = _mm_loadu_si128(sixteen.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(loaded, _mm_set1_epi8(value as i8)))
        };
        bits |= u64::from(mask as u16) << (group * 16);
    }
    bits
}

/// A bit for each of 64 bytes: is it `value`?
#[cfg(not(target_arch = "x86_64"))]
fn equal_bytes(bytes: &[u8], value: u8) -> u64 {
    bytes.iter().enumerate().fold(0, |bits, (bit, &byte)| bits | (u64::from(byte == value) << bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn a_selection_lists_its_slots(chosen in proptest::collection::vec(any::<bool>(), 1..=VECTOR)) {
            let mut exits = ExitBytes::default();
            for (byte, &yes) in exits.0.iter_mut().zip(&chosen) { *byte = u8::from(yes); }
            let mut rest = Selection::first(chosen.len());
            let yes = rest.with_exit(&exits, 1);
            let expected: Vec<usize> = (0..chosen.len()).filter(|&n| chosen[n]).collect();
            prop_assert_eq!(yes.slots().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(yes.lowest(), expected.first().copied());
            rest.remove(&yes);
            prop_assert_eq!(rest, Selection::first(chosen.len()).with_exit(&exits, 0));
        }
    }
}
