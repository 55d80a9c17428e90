//! How a header field varies from packet to packet, without a table whatever the number of values.
//!
//! ```text
//! fixed        7 7 7 7 7 7       one value
//! increment    0 1 2 3 0 1       counting, wrapping at `count`
//! random       2 0 0 3 1 3       seeded; values repeat
//! permutation  2 0 3 1 2 0       each of `count` once before any twice, in seeded order
//! ```
//! The permutation is a Feistel network over the next even number of bits; indices that land
//! outside `count` walk on until they are inside (cycle walking), four rounds on average at worst.

use lab_search::random::mix;
use serde::{Deserialize, Serialize};

/// A rule for a field's offset from its base value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Field {
    /// Always 0.
    Fixed,
    /// 0, 1, 2 … `count` - 1, and again.
    Increment {
        /// Number of values.
        count: u64,
    },
    /// Any of `count` values, drawn anew for each packet.
    Random {
        /// Number of values.
        count: u64,
        /// Names the sequence.
        seed: u64,
    },
    /// All of `count` values in an order that looks random, and again.
    Permutation {
        /// Number of values.
        count: u64,
        /// Names the order.
        seed: u64,
    },
}

/// Rounds of the network: enough that neighbours land far apart.
const ROUNDS: u64 = 4;

impl Field {
    /// The offset for the `index`-th packet, below `count`.
    #[inline]
    pub fn value(&self, index: u64) -> u64 {
        match *self {
            Self::Fixed => 0,
            Self::Increment { count } => index % count.max(1),
            Self::Random { count, seed } => {
                let word = mix(mix(seed) ^ index);
                ((u128::from(word) * u128::from(count.max(1))) >> 64) as u64
            }
            Self::Permutation { count, seed } => permute(index % count.max(1), count, seed),
        }
    }

    /// How many different values there are.
    pub fn count(&self) -> u64 {
        match *self {
            Self::Fixed => 1,
            Self::Increment { count }
            | Self::Random { count, .. }
            | Self::Permutation { count, .. } => count.max(1),
        }
    }
}

fn permute(index: u64, count: u64, seed: u64) -> u64 {
    if count < 2 {
        return 0;
    }
    let half_bits = (u64::BITS - (count - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << half_bits) - 1;
    let mut value = index;
    loop {
        let (mut left, mut right) = (value >> half_bits, value & mask);
        for round in 0..ROUNDS {
            let key = seed.wrapping_add(round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            (left, right) = (right, left ^ (mix(right ^ mix(key)) & mask));
        }
        value = left << half_bits | right;
        if value < count {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_gives_each_value_once_before_any_twice() {
        for count in [1, 2, 3, 64, 65, 1_000, 4_097] {
            for seed in 0..3 {
                let field = Field::Permutation { count, seed };
                let mut seen: Vec<u64> = (0..count).map(|index| field.value(index)).collect();
                assert_eq!(field.value(count), field.value(0), "and again");
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..count), "{count} {seed}");
            }
        }
    }

    #[test]
    fn a_permutation_has_no_order_that_a_prefetcher_could_guess() {
        let field = Field::Permutation { count: 1 << 20, seed: 9 };
        let near = (0..10_000)
            .filter(|&index| field.value(index).abs_diff(field.value(index + 1)) < 1_000);
        assert!(near.count() < 60);
        let other = Field::Permutation { count: 1 << 20, seed: 10 };
        assert!((0..1_000).filter(|&index| field.value(index) == other.value(index)).count() < 5);
    }

    #[test]
    fn the_largest_counts_need_no_memory() {
        let field = Field::Permutation { count: u64::MAX, seed: 1 };
        assert!((0..100).map(|index| field.value(index)).all(|value| value < u64::MAX));
        assert_ne!(field.value(1), field.value(2));
    }

    #[test]
    fn random_values_cover_their_range_and_increments_wrap() {
        let random = Field::Random { count: 10, seed: 1 };
        let mut seen = [0; 10];
        (0..10_000).for_each(|index| seen[random.value(index) as usize] += 1);
        assert!(seen.iter().all(|&count| (850..1_150).contains(&count)), "{seen:?}");
        assert_eq!(Field::Increment { count: 4 }.value(6), 2);
        assert_eq!((Field::Fixed.value(9), Field::Fixed.count()), (0, 1));
    }
}
