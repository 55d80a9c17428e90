//! Where every decision of a run comes from: a seed, or the bytes of a fuzzer.

/// Draws numbers, the same ones from the same beginning.
#[derive(Clone, Debug)]
pub enum Chance {
    /// Those of a seed: without end.
    Seed(u64),
    /// Those that bytes say: zeros behind the last.
    Bytes(Vec<u8>, usize),
}

impl Chance {
    /// By a fuzzer's input.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec(), 0)
    }

    /// Whether nothing new is to be decided.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Bytes(bytes, at) if *at >= bytes.len())
    }

    /// Any number.
    fn next(&mut self, bytes_wanted: usize) -> u64 {
        match self {
            // SplitMix64.
            Self::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ (mixed >> 31)
            }
            Self::Bytes(bytes, at) => (0..bytes_wanted).fold(0, |sum, _| {
                let byte = bytes.get(*at).copied().unwrap_or(0);
                *at += 1;
                sum << 8 | u64::from(byte)
            }),
        }
    }

    /// A number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        let bytes = if count > 256 { 2 } else { 1 };
        (self.next(bytes) % count.max(1) as u64) as usize
    }

    /// True once in so many times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_again_and_another_draws_otherwise() {
        let draws = |seed| {
            let mut chance = Chance::Seed(seed);
            (0..50).map(|_| chance.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
        assert!(draws(1).iter().all(|draw| *draw < 1000));
    }

    #[test]
    fn bytes_decide_one_by_one_until_they_are_over() {
        let mut chance = Chance::of_bytes(&[7, 1, 2]);
        assert_eq!((chance.below(5), chance.below(1000)), (2, 0x0102));
        assert!(chance.is_over());
        assert_eq!(chance.below(9), 0);
    }
}
