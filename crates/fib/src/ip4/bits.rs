//! Sets of small numbers as words of bits, with rank: the place of a member among the members.

use std::ops::Range;

/// Whether `index` is a member.
#[inline]
pub(super) fn contains(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}

/// Makes `index` a member.
pub(super) fn set(words: &mut [u64], index: usize) {
    words[index / 64] |= 1 << (index % 64);
}

/// Makes `index` no member.
pub(super) fn clear(words: &mut [u64], index: usize) {
    words[index / 64] &= !(1 << (index % 64));
}

/// How many members are below `index`.
#[inline]
pub(super) fn rank(words: &[u64], index: usize) -> usize {
    let whole: u32 = words[..index / 64].iter().map(|word| word.count_ones()).sum();
    let part = words[index / 64] & ((1 << (index % 64)) - 1);
    (whole + part.count_ones()) as usize
}

/// Whether there is a member in `range`, which is not empty.
pub(super) fn any(words: &[u64], range: Range<usize>) -> bool {
    let (first, last) = (range.start / 64, (range.end - 1) / 64);
    let from = u64::MAX << (range.start % 64);
    let to = u64::MAX >> (63 - (range.end - 1) % 64);
    if first == last {
        return words[first] & from & to != 0;
    }
    words[first] & from != 0
        || words[last] & to != 0
        || words[first + 1..last].iter().any(|word| *word != 0)
}

/// The members, lowest first.
pub(super) fn members(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(place, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(place * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{any, clear, contains, members, rank, set};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn bits_behave_as_a_set(inserted: BTreeSet<usize>, start in 0usize..512, len in 1usize..512) {
            let inserted: BTreeSet<usize> = inserted.into_iter().map(|i| i % 512).collect();
            let mut words = [0u64; 8];
            inserted.iter().for_each(|index| set(&mut words, *index));
            let range = start..(start + len).min(512);
            prop_assert_eq!(any(&words, range.clone()), inserted.range(range).next().is_some());
            prop_assert_eq!(rank(&words, start), inserted.range(..start).count());
            prop_assert_eq!(contains(&words, start), inserted.contains(&start));
            prop_assert!(members(&words).eq(inserted.iter().copied()));
            clear(&mut words, start);
            prop_assert!(!contains(&words, start));
        }
    }
}
