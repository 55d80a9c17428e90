//! Throughput on four time scales: what a second hides, a millisecond shows.
//!
//! ```text
//! 1 ms      ▇▇▇▁▇▇▇▇▇▇▇▇▁▇▇▇▇…   a stall of 1 ms is a hole here …
//! 10 ms     ▇▇▇▇▇▇…              … a dent here …
//! 1000 ms   ▇…                   … and nothing here
//! ```
//! Only the finest scale is counted per packet; coarser ones are sums. Complete windows alone
//! count: the cut-off last one would look like a stall.

use lab_record::ScaleRates;

/// Lengths of the windows, finest first.
pub const SCALES_MS: [u64; 4] = [1, 10, 100, 1_000];
const FINEST_NS: u64 = 1_000_000;

/// Counts packets per millisecond since the first.
#[derive(Debug, Clone)]
pub struct RateWindows {
    start_ns: u64,
    counts: Vec<u32>,
    limit: usize,
}

impl RateWindows {
    /// Windows from `start_ns` on, for at most `duration_ms`; later packets are not counted.
    pub fn new(start_ns: u64, duration_ms: usize) -> Self {
        Self { start_ns, counts: Vec::with_capacity(duration_ms), limit: duration_ms }
    }

    /// Takes note of packets that arrived together.
    #[inline]
    pub fn observe(&mut self, at_ns: u64, packets: u32) {
        let window = (at_ns.saturating_sub(self.start_ns) / FINEST_NS) as usize;
        if window < self.limit {
            if window >= self.counts.len() {
                self.counts.resize(window + 1, 0);
            }
            self.counts[window] += packets;
        }
    }

    /// Packets in each millisecond.
    pub fn per_ms(&self) -> &[u32] {
        &self.counts
    }

    /// The rates on each scale that has a complete window, up to `end_ns`.
    pub fn rates(&self, end_ns: u64) -> Vec<ScaleRates> {
        let complete = (end_ns.saturating_sub(self.start_ns) / FINEST_NS) as usize;
        let mut counts: Vec<u64> = self.counts.iter().map(|&count| u64::from(count)).collect();
        counts.resize(complete.min(self.limit), 0);
        let of_scale = |&window_ms: &u64| {
            let sums = counts.chunks_exact(window_ms as usize).map(|ms| ms.iter().sum::<u64>());
            let rates: Vec<f64> = sums.map(|sum| sum as f64 * 1e3 / window_ms as f64).collect();
            (!rates.is_empty()).then(|| ScaleRates {
                window_ms,
                windows: rates.len(),
                min_pps: rates.iter().copied().fold(f64::INFINITY, f64::min),
                mean_pps: rates.iter().sum::<f64>() / rates.len() as f64,
                max_pps: rates.iter().copied().fold(0.0, f64::max),
                empty: rates.iter().filter(|&&rate| rate == 0.0).count(),
            })
        };
        SCALES_MS.iter().filter_map(of_scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_of_a_few_milliseconds_shows_on_fine_scales_alone() {
        let mut windows = RateWindows::new(500, 2_000);
        for microsecond in 0..2_000_000u64 {
            let stalled = (1_003_000..1_006_000).contains(&microsecond);
            if !stalled {
                windows.observe(500 + microsecond * 1_000, 1);
            }
        }
        let rates = windows.rates(500 + 2_000_000_000);
        let min: Vec<f64> = rates.iter().map(|scale| scale.min_pps).collect();
        assert_eq!(min, [0.0, 700_000.0, 970_000.0, 997_000.0]);
        assert_eq!((rates[0].empty, rates[1].empty, rates[0].windows), (3, 0, 2_000));
        assert_eq!(rates[3].max_pps, 1e6);
    }

    #[test]
    fn a_trial_shorter_than_a_window_has_no_rate_on_that_scale() {
        let mut windows = RateWindows::new(0, 1_000);
        windows.observe(3_000_000, 7);
        let rates = windows.rates(15_000_000);
        assert_eq!(rates.iter().map(|scale| scale.window_ms).collect::<Vec<_>>(), [1, 10]);
        assert_eq!(rates[0].max_pps, 7_000.0);
    }

    #[test]
    fn packets_after_the_end_are_not_counted() {
        let mut windows = RateWindows::new(0, 2);
        windows.observe(9_000_000, 1);
        assert!(windows.per_ms().is_empty());
    }
}
