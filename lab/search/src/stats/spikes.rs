//! Spikes in a series of latencies or rates: when, how high, how long.
//!
//! ```text
//!            ▲ 214 us                  ▲
//!  limit ┈┈┈┈█┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈█┈┈┈    median + k robust deviations
//!  ▁▂▁▁▂▁▁▂▁▁█▂▁▁▂▁▂▁▁▂▂▁▁▂▁▁▂▁▁▂▁▂▁▁▂▁█▂▁
//! ```
//! Neighbouring values above the limit are one spike: a stalled device hands over all that waited.

use lab_record::Spike;

use super::summary::{median, robust_deviation};

/// What counts as a spike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Robust standard deviations above the median.
    pub deviations: f64,
    /// And at least this share of the median above it: a device without jitter has a deviation of
    /// nothing.
    pub share: f64,
    /// Values closer together than this belong to one spike.
    pub merge_s: f64,
}

impl Default for Threshold {
    fn default() -> Self {
        // A queue's latency has an exponential tail: at 20 deviations one packet in three million.
        Self { deviations: 20.0, share: 0.5, merge_s: 1e-3 }
    }
}

/// The spikes of (time, value) pairs in order of time.
pub fn spikes(series: &[(f64, f64)], threshold: Threshold) -> Vec<Spike> {
    let values: Vec<f64> = series.iter().map(|&(_, value)| value).collect();
    let middle = median(&values);
    let above = (threshold.deviations * robust_deviation(&values)).max(threshold.share * middle);
    let limit = middle + above;
    let mut found: Vec<Spike> = Vec::new();
    for &(at_s, value) in series.iter().filter(|&&(_, value)| value > limit) {
        match found.last_mut() {
            Some(last) if at_s - (last.at_s + last.length_s) <= threshold.merge_s => {
                last.length_s = at_s - last.at_s;
                last.peak = last.peak.max(value);
                last.count += 1;
            }
            _ => found.push(Spike { at_s, length_s: 0.0, peak: value, count: 1 }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::stats::period;

    /// Latencies of a device under load that stalls for 200 us each 100 ms: what arrives in a
    /// stall waits for its end.
    fn stalling_device(period_s: f64, stall_s: f64, strays_per_s: f64) -> Vec<(f64, f64)> {
        let mut random = Random::new(3);
        let strays: Vec<f64> =
            (0..random.poisson(4.0 * strays_per_s)).map(|_| 4.0 * random.uniform()).collect();
        let gap_s = 20e-6;
        (0..200_000)
            .map(|packet| {
                let at_s = f64::from(packet) * gap_s;
                let into_s = (at_s + 0.0317) % period_s;
                let stall_s = if into_s < stall_s { stall_s - into_s } else { 0.0 };
                let stray_s = strays.iter().map(|stray| at_s - stray);
                let stray_s = stray_s.filter(|since| (0.0..150e-6).contains(since));
                let stray_s = stray_s.map(|since| 150e-6 - since).fold(0.0, f64::max);
                (at_s, 4e-6 + 0.5e-6 * random.exponential() + stall_s.max(stray_s))
            })
            .collect()
    }

    #[test]
    fn a_stall_of_200_us_each_100_ms_is_found_with_its_period() {
        for strays_per_s in [0.0, 3.0] {
            let series = stalling_device(0.1, 200e-6, strays_per_s);
            let found = spikes(&series, Threshold::default());
            let times: Vec<f64> = found.iter().map(|spike| spike.at_s).collect();
            let period = period::find(&times).expect("periodic");
            assert!((period.period_s / 0.1 - 1.0).abs() < 0.01, "{period:?}");
            let highest = found.iter().map(|spike| spike.peak).fold(0.0, f64::max);
            assert!((180e-6..230e-6).contains(&highest), "{highest}");
        }
    }

    #[test]
    fn jitter_alone_has_no_spikes() {
        let quiet: Vec<_> = stalling_device(0.1, 0.0, 0.0);
        let rare = spikes(&quiet, Threshold::default()).len();
        assert!(rare <= 2, "{rare} of 200000");
    }

    #[test]
    fn neighbouring_values_are_one_spike() {
        let mut series: Vec<(f64, f64)> = (0..100).map(|at| (f64::from(at) * 1e-4, 1.0)).collect();
        (50..55).for_each(|at| series[at].1 = 10.0);
        let found = spikes(&series, Threshold::default());
        assert_eq!((found.len(), found[0].count), (1, 5));
        assert!((found[0].length_s - 4e-4).abs() < 1e-12);
    }
}
