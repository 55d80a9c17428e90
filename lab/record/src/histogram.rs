//! A log-linear histogram: every latency of a trial in 18 KiB, each value within 1 %.
//!
//! ```text
//! value (ns)   0 … 63   64 … 127   128 … 255   256 … 511  …   2^39 … 2^40-1
//! bucket       1 ns     1 ns       2 ns        4 ns           2^33 ns wide
//! buckets      64       64         64          64             64
//! ```
//! A bucket stands for its middle, at most 1/128 of a value away. The floor is 1 ns, the ceiling 18
//! minutes; what lies above is counted in the last bucket and shows in `max`. Recording is a count
//! of leading zeros, a shift and an add: one cache line touched.

use serde::{Deserialize, Serialize};

/// Buckets of an octave: 2^6.
const OCTAVE_BITS: u32 = 6;
const OCTAVE: usize = 1 << OCTAVE_BITS;
/// Values have at most this many bits.
const VALUE_BITS: u32 = 40;
const BUCKETS: usize = OCTAVE * (VALUE_BITS - OCTAVE_BITS + 1) as usize;

/// Counts of nanosecond values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Sparse", into = "Sparse")]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: Box::new([0; BUCKETS]), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

fn bucket(value: u64) -> usize {
    let value = value.min((1 << VALUE_BITS) - 1);
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(OCTAVE_BITS + 1);
    ((octave as usize) << OCTAVE_BITS) + (value >> octave) as usize
}

/// Smallest value of a bucket, and its width.
fn bounds(bucket: usize) -> (u64, u64) {
    if bucket < 2 * OCTAVE {
        return (bucket as u64, 1);
    }
    let octave = bucket / OCTAVE - 1;
    (((bucket % OCTAVE + OCTAVE) as u64) << octave, 1 << octave)
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_many(value_ns, 1);
    }

    /// Counts a value several times.
    #[inline]
    pub fn record_many(&mut self, value_ns: u64, times: u64) {
        self.counts[bucket(value_ns)] += times;
        self.count += times;
        self.sum += u128::from(value_ns) * u128::from(times);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest value, exact; 0 of none.
    pub fn min_ns(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Largest value, exact.
    pub fn max_ns(&self) -> u64 {
        self.max
    }

    /// Mean, exact.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The value that this share of all values do not exceed (nearest rank), within 1 %; 0 of none.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        let rank =
            (percent / 100.0 * self.count as f64).ceil().clamp(1.0, self.count.max(1) as f64);
        let mut seen = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen as f64 >= rank {
                let (low, width) = bounds(index);
                return (low + width / 2).clamp(self.min, self.max);
            }
        }
        0
    }

    /// Share of the values that are at most `value_ns`, to the precision of a bucket.
    pub fn share_up_to(&self, value_ns: u64) -> f64 {
        let counts = &self.counts[..=bucket(value_ns)];
        counts.iter().sum::<u64>() as f64 / self.count.max(1) as f64
    }

    /// The buckets in use: (smallest value, width, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let used = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        used.map(|(index, &count)| (bounds(index).0, bounds(index).1, count))
    }
}

/// What is written down of a histogram: the buckets in use, by index.
#[derive(Serialize, Deserialize)]
struct Sparse {
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    buckets: Vec<(usize, u64)>,
}

impl From<Histogram> for Sparse {
    fn from(histogram: Histogram) -> Self {
        let used = histogram.counts.iter().copied().enumerate().filter(|&(_, count)| count > 0);
        Self {
            sum_ns: histogram.sum,
            min_ns: histogram.min,
            max_ns: histogram.max,
            buckets: used.collect(),
        }
    }
}

impl From<Sparse> for Histogram {
    fn from(sparse: Sparse) -> Self {
        let mut histogram = Self::default();
        for (index, count) in sparse.buckets {
            histogram.counts[index.min(BUCKETS - 1)] += count;
            histogram.count += count;
        }
        Self { sum: sparse.sum_ns, min: sparse.min_ns, max: sparse.max_ns, ..histogram }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_join_without_gap_or_overlap() {
        for index in 1..BUCKETS {
            let (low, width) = bounds(index - 1);
            assert_eq!(low + width, bounds(index).0, "bucket {index}");
            assert_eq!((bucket(low), bucket(low + width - 1)), (index - 1, index - 1));
        }
    }

    #[test]
    fn every_percentile_is_within_one_percent_of_the_exact_one() {
        // Over six decades, in no order.
        let share = |step: u64| (step.wrapping_mul(2_654_435_761) % 50_021) as f64 / 50_021.0;
        let mut values: Vec<u64> =
            (0..50_000).map(|step| (1e6f64.powf(share(step))) as u64 + 1).collect();
        let mut histogram = Histogram::default();
        values.iter().for_each(|&value| histogram.record(value));
        values.sort_unstable();
        for percent in [0.0, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0] {
            let rank = ((percent / 100.0 * 50_000.0_f64).ceil() as usize).max(1);
            let (exact, got) = (values[rank - 1] as f64, histogram.percentile_ns(percent) as f64);
            assert!((got - exact).abs() <= 0.01 * exact.max(1.0), "p{percent}: {got} for {exact}");
        }
        let mean = values.iter().sum::<u64>() as f64 / 50_000.0;
        assert!((histogram.mean_ns() - mean).abs() < 1e-6);
    }

    #[test]
    fn merging_is_recording_all_in_one() {
        let (mut left, mut right, mut all) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for value in 0..5_000u64 {
            let half = if value % 3 == 0 { &mut left } else { &mut right };
            half.record(value * value);
            all.record(value * value);
        }
        left.merge(&right);
        assert_eq!(left, all);
    }

    #[test]
    fn values_beyond_the_ceiling_are_counted_and_show_in_the_largest() {
        let mut histogram = Histogram::default();
        histogram.record(u64::MAX);
        histogram.record(0);
        assert_eq!((histogram.count(), histogram.max_ns()), (2, u64::MAX));
        assert_eq!((histogram.min_ns(), histogram.percentile_ns(50.0)), (0, 0));
    }

    #[test]
    fn nothing_recorded_has_no_percentiles() {
        let empty = Histogram::default();
        assert_eq!((empty.percentile_ns(99.0), empty.mean_ns(), empty.min_ns()), (0, 0.0, 0));
    }

    #[test]
    fn what_is_written_is_read_back_equal() {
        let mut histogram = Histogram::default();
        [1, 70, 5_000, 5_001, 1 << 39].into_iter().for_each(|value| histogram.record(value));
        let text = serde_json::to_string(&histogram).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
    }
}
