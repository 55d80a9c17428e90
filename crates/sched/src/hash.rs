//! Spreading flow hashes over queues: one multiplication, whatever the caller's hash is worth.

/// A bucket in `0..buckets`: the high half of a multiplicative mix, scaled.
#[inline]
pub(crate) fn bucket(flow_hash: u32, buckets: u32) -> u32 {
    let mixed = flow_hash.wrapping_mul(0x9e37_79b1);
    ((u64::from(mixed) * u64::from(buckets)) >> 32) as u32
}

/// The seed after `seed`, never the same twice in 2^32 (Marsaglia's xorshift, moved off zero).
pub(crate) fn next_seed(seed: u32) -> u32 {
    let mut next = seed ^ 0x2545_f491;
    next ^= next << 13;
    next ^= next >> 17;
    next ^ (next << 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_spread_over_all_buckets() {
        let mut counts = [0u32; 64];
        for hash in 0..6400 {
            counts[bucket(hash, 64) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (80..=120).contains(&count)), "{counts:?}");
    }
}
