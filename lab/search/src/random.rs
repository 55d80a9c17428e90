//! Seeded random numbers: the same seed gives the same trial, on every machine, forever.
//!
//! xoshiro256++ seeded by SplitMix64; distributions by inversion or by the polar method, so that a
//! sequence never depends on a library's version.

/// A seeded generator.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
    /// The second number of the last polar pair.
    spare: Option<f64>,
}

/// One step of SplitMix64: a good 64-bit mix of its input.
pub fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

impl Random {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        let word = |index: u64| mix(seed.wrapping_add(index.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        Self { state: [word(0), word(1), word(2), word(3)], spare: None }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `limit` (0 for a limit of 0), by the high half of a product.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// Whether something of this probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A number of the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// A number of the standard normal distribution.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Events of a Poisson process with this mean; by a normal number where the mean is large.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        if mean > 64.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let mut events = 0;
        let mut left = mean - self.exponential();
        while left > 0.0 {
            events += 1;
            left -= self.exponential();
        }
        events
    }

    /// Puts a slice in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(count: usize, mut draw: impl FnMut() -> f64) -> f64 {
        (0..count).map(|_| draw()).sum::<f64>() / count as f64
    }

    #[test]
    fn a_seed_names_a_sequence() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn the_distributions_have_their_means_and_variances() {
        let mut random = Random::new(1);
        assert!((mean(100_000, || random.uniform()) - 0.5).abs() < 0.005);
        assert!((mean(100_000, || random.exponential()) - 1.0).abs() < 0.015);
        assert!(mean(100_000, || random.normal()).abs() < 0.015);
        assert!((mean(100_000, || random.normal().powi(2)) - 1.0).abs() < 0.02);
        for expected in [0.1, 3.0, 40.0, 500.0] {
            let got = mean(20_000, || random.poisson(expected) as f64);
            assert!((got / expected - 1.0).abs() < 0.05, "{got} for {expected}");
        }
    }

    #[test]
    fn a_limit_is_never_reached_and_every_value_below_it_is() {
        let mut random = Random::new(3);
        let mut seen = [0; 7];
        (0..7_000).for_each(|_| seen[random.below(7) as usize] += 1);
        assert!(seen.iter().all(|&count| (800..1_200).contains(&count)), "{seen:?}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(5).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
