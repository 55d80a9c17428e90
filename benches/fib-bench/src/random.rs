//! A small generator, so that every run has the same tables and destinations.

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A rank below `end`: rank r about 1/r as often as the first (Zipf with exponent 1).
    pub(crate) fn zipf(&mut self, end: usize) -> usize {
        let share = self.next() as f64 / u64::MAX as f64;
        ((end as f64).powf(share) as usize).clamp(1, end) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_prefers_the_first_ranks_and_stays_in_range() {
        let mut random = Random(1);
        let ranks: Vec<usize> = (0..10_000).map(|_| random.zipf(1000)).collect();
        assert!(ranks.iter().all(|rank| *rank < 1000));
        assert!(ranks.iter().filter(|rank| **rank < 31).count() > 4500);
    }
}
