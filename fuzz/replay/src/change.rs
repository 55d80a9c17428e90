//! Changes of a seed: a few bytes, its end, or a part of another, by chances that are the same each
//! time.

/// Chances that follow from a number (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below a bound; 0 where there is nothing to choose from.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// The change of this number of a seed, one to four steps of it.
pub(crate) fn changed(seed: &[u8], all: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut chance = Chance(number.wrapping_mul(0x1000_0001) ^ seed.len() as u64);
    let mut bytes = seed.to_vec();
    for _ in 0..=chance.below(4) {
        step(&mut bytes, all, &mut chance);
    }
    bytes
}

fn step(bytes: &mut Vec<u8>, all: &[Vec<u8>], chance: &mut Chance) {
    let at = chance.below(bytes.len());
    match chance.below(6) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, chance.next() as u8),
        2 => {
            let other = &all[chance.below(all.len())];
            let from = chance.below(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from.min(other.len())..]);
        }
        3 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][chance.below(5)],
        4 if !bytes.is_empty() => bytes[at] ^= 1 << chance.below(8),
        _ if !bytes.is_empty() => bytes[at] = chance.next() as u8,
        _ => bytes.push(chance.next() as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn changes_are_the_same_each_time_and_differ_from_one_another() {
        let all = [b"one seed of some length".to_vec(), b"another".to_vec(), Vec::new()];
        for seed in &all {
            let of = |number| changed(seed, &all, number);
            assert!((1..100).all(|number| of(number) == of(number)));
            let different: std::collections::BTreeSet<_> = (1..100).map(of).collect();
            assert!(different.len() > 30, "{} of 99", different.len());
        }
    }
}
