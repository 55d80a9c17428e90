//! Gaps between packets, in nanoseconds, for a process of a given mean rate.
//!
//! ```text
//! constant   |    |    |    |    |    |    |         the same gap
//! poisson    | |      |  ||     |   |        |       exponential gaps, memoryless
//! on/off     ||||||            ||||||                constant at the peak rate, then silence
//! burst      ||||              ||||                  n back to back, then the gap that keeps the mean
//! trace      as recorded, over and over
//! ```
//! Gaps are computed in fractions of a nanosecond and the error is carried over, so that the rate
//! is exact over any length: 14.88 Mpps is a gap of 67.2 ns, not of 67.

use lab_search::random::Random;
use serde::{Deserialize, Serialize};

use crate::Error;

/// How packets follow each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "process", rename_all = "snake_case")]
pub enum Process {
    /// Equal gaps.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Sends at `peak` times the mean rate for `on_us`, then is silent as long as keeps the mean.
    OnOff {
        /// Peak rate over mean rate, above 1.
        peak: f64,
        /// Length of the on phase.
        on_us: f64,
    },
    /// `packets` back to back, then a pause.
    Burst {
        /// Packets of a burst.
        packets: u32,
    },
    /// Recorded gaps, scaled to the mean rate, over and over.
    Trace {
        /// The gaps.
        gaps_ns: Vec<u64>,
    },
}

/// The gaps of one stream: an endless iterator.
#[derive(Debug, Clone)]
pub struct Gaps {
    process: Process,
    mean_ns: f64,
    random: Random,
    /// What rounding has kept back.
    carry_ns: f64,
    step: u64,
    /// Packets of an on phase, or mean gap of a trace: what the process needs worked out once.
    scale: f64,
}

impl Gaps {
    /// The gaps of a process with this mean rate.
    pub fn new(process: Process, rate_pps: f64, seed: u64) -> Result<Self, Error> {
        let refuse = |what, value, range| Err(Error::Parameter { what, value, range });
        if !(rate_pps > 0.0 && rate_pps.is_finite()) {
            return refuse("packet rate", rate_pps, "above 0");
        }
        let mean_ns = 1e9 / rate_pps;
        let scale = match &process {
            Process::OnOff { peak, .. } if *peak <= 1.0 => {
                return refuse("peak over mean rate", *peak, "above 1");
            }
            Process::OnOff { on_us, .. } if on_us.is_nan() || *on_us <= 0.0 => {
                return refuse("on time in us", *on_us, "above 0");
            }
            Process::OnOff { peak, on_us } => (on_us * 1e3 * peak / mean_ns).round().max(1.0),
            Process::Burst { packets: 0 } => return refuse("packets of a burst", 0.0, "above 0"),
            Process::Trace { gaps_ns } => {
                let sum = gaps_ns.iter().sum::<u64>() as f64;
                if sum <= 0.0 {
                    return refuse("sum of a trace's gaps", sum, "above 0");
                }
                mean_ns * gaps_ns.len() as f64 / sum
            }
            _ => 1.0,
        };
        Ok(Self { process, mean_ns, random: Random::new(seed), carry_ns: 0.0, step: 0, scale })
    }

    fn exact_ns(&mut self) -> f64 {
        let mean_ns = self.mean_ns;
        match &self.process {
            Process::Constant => mean_ns,
            Process::Poisson => mean_ns * self.random.exponential(),
            Process::OnOff { peak, .. } => {
                let on_ns = mean_ns / peak;
                let last = self.step % self.scale as u64 == self.scale as u64 - 1;
                on_ns + if last { (mean_ns - on_ns) * self.scale } else { 0.0 }
            }
            Process::Burst { packets } => {
                let last = self.step % u64::from(*packets) == u64::from(*packets) - 1;
                if last { mean_ns * f64::from(*packets) } else { 0.0 }
            }
            Process::Trace { gaps_ns } => {
                gaps_ns[(self.step % gaps_ns.len() as u64) as usize] as f64 * self.scale
            }
        }
    }

    /// The next gap.
    #[inline]
    pub fn next_ns(&mut self) -> u64 {
        let exact_ns = self.exact_ns() + self.carry_ns;
        let gap_ns = exact_ns.round().max(0.0);
        self.carry_ns = exact_ns - gap_ns;
        self.step += 1;
        gap_ns as u64
    }
}

impl Iterator for Gaps {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.next_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_search::stats::ks;

    fn gaps(process: Process, rate_pps: f64, count: usize) -> Vec<u64> {
        Gaps::new(process, rate_pps, 1).unwrap().take(count).collect()
    }

    fn rate(gaps: &[u64]) -> f64 {
        gaps.len() as f64 * 1e9 / gaps.iter().sum::<u64>() as f64
    }

    #[test]
    fn every_process_keeps_its_mean_rate() {
        let processes = [
            Process::Constant,
            Process::Poisson,
            Process::OnOff { peak: 4.0, on_us: 10.0 },
            Process::Burst { packets: 32 },
            Process::Trace { gaps_ns: vec![1, 5, 100, 7] },
        ];
        for process in processes {
            let got = rate(&gaps(process.clone(), 14_880_952.0, 960_000));
            assert!((got / 14_880_952.0 - 1.0).abs() < 0.003, "{process:?}: {got}");
        }
        let exact = rate(&gaps(Process::Constant, 14_880_952.0, 1_000_000));
        assert!((exact / 14_880_952.0 - 1.0).abs() < 1e-7);
    }

    #[test]
    fn poisson_gaps_pass_a_kolmogorov_smirnov_test() {
        // At 10 kpps whole nanoseconds are a hundred-thousandth of the mean gap.
        for seed in 0..20 {
            let gaps = Gaps::new(Process::Poisson, 1e4, seed).unwrap().take(5_000);
            let sample: Vec<f64> = gaps.map(|gap_ns| gap_ns as f64).collect();
            let p = ks::p_value(&sample, |gap_ns| 1.0 - (-gap_ns / 1e5).exp());
            assert!(p > 0.001, "seed {seed}: p = {p}");
        }
    }

    #[test]
    fn constant_gaps_fail_that_test() {
        let sample: Vec<f64> =
            gaps(Process::Constant, 1e4, 500).into_iter().map(|gap_ns| gap_ns as f64).collect();
        assert!(ks::p_value(&sample, |gap_ns| 1.0 - (-gap_ns / 1e5).exp()) < 1e-6);
    }

    #[test]
    fn a_burst_is_back_to_back_and_a_trace_repeats() {
        assert_eq!(gaps(Process::Burst { packets: 3 }, 1e6, 6), [0, 0, 3_000, 0, 0, 3_000]);
        let trace = Process::Trace { gaps_ns: vec![1, 3] };
        assert_eq!(gaps(trace, 1e6, 4), [500, 1_500, 500, 1_500]);
    }

    #[test]
    fn an_on_phase_sends_at_the_peak_rate() {
        let gaps = gaps(Process::OnOff { peak: 2.0, on_us: 2.0 }, 1e6, 4);
        assert_eq!(gaps, [500, 500, 500, 2_500]);
    }

    #[test]
    fn processes_that_cannot_be_are_refused() {
        assert!(Gaps::new(Process::Constant, 0.0, 1).is_err());
        assert!(Gaps::new(Process::OnOff { peak: 1.0, on_us: 5.0 }, 1e6, 1).is_err());
        assert!(Gaps::new(Process::Burst { packets: 0 }, 1e6, 1).is_err());
        assert!(Gaps::new(Process::Trace { gaps_ns: vec![] }, 1e6, 1).is_err());
    }
}
