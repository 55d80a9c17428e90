//! Where a tuple lies: a multiplication folded, with a secret, so that nobody can have many lie
//! together.

use crate::tuple::Tuple;

/// A table's secret.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret([u64; 2]);

impl Secret {
    /// Made of a seed, which nobody outside is to know.
    pub(crate) fn new(seed: u64) -> Self {
        let one = fold(seed ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
        Self([one | 1 << 63, fold(one, 0xa076_1d64_78bd_642f) | 1])
    }

    #[inline]
    pub(crate) fn hash(self, tuple: &Tuple) -> u64 {
        let Self([one, two]) = self;
        let mut sum = fold(tuple.first ^ one, tuple.key ^ two);
        if tuple.is_long() {
            let [high, low_source, low_destination] = tuple.rest;
            sum = fold(sum ^ high ^ one, low_source ^ two);
            sum = fold(sum ^ low_destination ^ two, one);
        }
        // The last step spreads what one product leaves in its middle.
        fold(sum ^ one, two ^ 0xe703_7ed1_a0b4_28db)
    }
}

#[inline]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}
