//! Is B faster than A, and by how much? Paired log-ratios of interleaved blocks.
//!
//! ```text
//! A against A  ──▶ ratios of nothing ──▶ the smallest difference to be believed
//! A against B  ──▶ ratios ──▶ their shift and its interval, signed-rank p
//! ```
//! A host that changes its pace within a block (a neighbour on the other hyper-thread) spoils that
//! block. A few of those do not spoil the comparison: shift and spread are those of most.
//! Outcome: a difference is believed if the test says so *and* it is larger than the null
//! campaign's smallest believable one; the stopping rule (number of blocks) is fixed beforehand.

use lab_record::{Comparison, Finding};
use serde::{Deserialize, Serialize};

use super::shift::{shift, spread};
use super::wilcoxon::signed_rank_p;
use crate::Error;

/// The level of the test.
const SIGNIFICANT_P: f64 = 0.05;

/// A against A: what this host makes of no difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Null {
    /// Standard deviation of a block's log-ratio, as most blocks have it.
    pub block_sd: f64,
    /// Their shift: should be 0.
    pub mean: f64,
    /// Whether the null campaign itself found a "difference": then the host or the harness is
    /// biased.
    pub false_alarm: bool,
}

impl Null {
    /// Reads a null campaign.
    pub fn of(log_ratios: &[f64]) -> Result<Self, Error> {
        if log_ratios.len() < 6 {
            let got = log_ratios.len();
            return Err(Error::TooFew { what: "an A/A comparison", needed: 6, got });
        }
        let false_alarm = signed_rank_p(log_ratios) < SIGNIFICANT_P;
        Ok(Self { block_sd: spread(log_ratios), mean: shift(log_ratios)?.0, false_alarm })
    }

    /// The smallest relative difference to be believed after `blocks` blocks: two standard errors.
    pub fn smallest_believable(&self, blocks: usize) -> f64 {
        (2.0 * self.block_sd / (blocks.max(1) as f64).sqrt()).exp_m1()
    }

    /// Blocks needed to find a relative difference nine times in ten.
    pub fn blocks_needed(&self, difference: f64) -> usize {
        // z(0.975) + z(0.9), and the signed-rank test needs 1/0.955 of the t-test's sample.
        let z = 1.96 + 1.2816;
        let size = (z * self.block_sd / difference.ln_1p().abs()).powi(2) / 0.955;
        (size.ceil() as usize).max(6)
    }
}

/// Compares by the log-ratios of blocks, B over A.
pub fn compare(log_ratios: &[f64], null: Option<&Null>) -> Result<Comparison, Error> {
    let blocks = log_ratios.len();
    if blocks < 6 {
        // With five blocks even five equal signs have p = 1/16.
        return Err(Error::TooFew { what: "a paired comparison", needed: 6, got: blocks });
    }
    let (centre, within) = shift(log_ratios)?;
    let p = signed_rank_p(log_ratios);
    let smallest_believable = null.map(|null| null.smallest_believable(blocks));
    let believable = smallest_believable.is_none_or(|least| centre.abs() >= least.ln_1p());
    let finding = match (p < SIGNIFICANT_P && believable, centre > 0.0) {
        (false, _) => Finding::NoDifference,
        (true, true) => Finding::Higher,
        (true, false) => Finding::Lower,
    };
    let ratio_95 = within.map(f64::exp);
    Ok(Comparison { blocks, ratio: centre.exp(), ratio_95, p, smallest_believable, finding })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::stats::blocks::{Block, Side, log_ratio, order, steady};

    /// Log-ratios of a simulated campaign: 1 % noise a trial, offsets and drift of the host shared
    /// by a block, `slowdown` on B.
    fn campaign(blocks: usize, slowdown: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let host = order(blocks, seed).into_iter().map(|sides| {
            let level = 1e6 * (1.0 + 0.05 * random.normal());
            let slope = 0.02 * random.normal();
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (place, side) in sides.into_iter().enumerate() {
                let noise = 1.0 + slope * place as f64 + 0.01 * random.normal();
                match side {
                    Side::A => a.push(level * noise),
                    Side::B => b.push(level * noise * (1.0 - slowdown)),
                }
            }
            log_ratio([a[0], a[1]], [b[0], b[1]])
        });
        host.collect()
    }

    #[test]
    fn a_slowdown_of_one_percent_is_found_with_twenty_blocks() {
        let found = (0..300).filter(|&seed| {
            let null = Null::of(&campaign(20, 0.0, 10_000 + seed)).unwrap();
            let found = compare(&campaign(20, 0.01, seed), Some(&null)).unwrap();
            found.finding == Finding::Lower
        });
        let found = found.count();
        assert!(found >= 285, "{found} of 300");
    }

    /// The same on a host that goes half as fast again for some seconds now and then: its starts
    /// have 1 % of noise, and one in twenty of them finds the pace changed.
    fn uneven(slowdown: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(77 ^ seed);
        let mut slow = false;
        let blocks = order(20, seed).into_iter().map(|sides| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for side in sides {
                slow ^= random.chance(0.05);
                let level = if slow { 1e6 / 1.5 } else { 1e6 };
                let rate = level * (1.0 + 0.01 * random.normal());
                match side {
                    Side::A => a.push(rate),
                    Side::B => b.push(rate * (1.0 - slowdown)),
                }
            }
            Block::of([a[0], a[1]], [b[0], b[1]])
        });
        steady(&blocks.collect::<Vec<_>>())
    }

    #[test]
    fn a_host_that_changes_its_pace_hides_no_percent_and_raises_no_alarm() {
        let mut found = [0; 2];
        for seed in 0..300 {
            let null = Null::of(&uneven(0.0, 10_000 + seed)).unwrap();
            let of = |slowdown, seed| compare(&uneven(slowdown, seed), Some(&null)).unwrap();
            found[0] += u32::from(of(0.01, seed).finding == Finding::Lower);
            found[1] += u32::from(of(0.0, 20_000 + seed).finding != Finding::NoDifference);
        }
        println!("{found:?} of 300");
        assert!(found[0] >= 270 && found[1] <= 15, "{found:?} of 300");
    }

    #[test]
    fn at_most_one_campaign_in_twenty_of_equals_raises_an_alarm() {
        let alarms = (0..1_000).filter(|&seed| {
            let finding = compare(&campaign(20, 0.0, seed), None).unwrap().finding;
            finding != Finding::NoDifference
        });
        let alarms = alarms.count();
        assert!(alarms <= 50, "{alarms} of 1000");
    }

    #[test]
    fn the_interval_holds_the_true_ratio() {
        let held = (0..300).filter(|&seed| {
            let ratio_95 = compare(&campaign(20, 0.03, seed), None).unwrap().ratio_95;
            ratio_95.contains(0.97)
        });
        let held = held.count();
        assert!((270..=297).contains(&held), "{held} of 300");
    }

    #[test]
    fn the_null_campaign_says_how_many_blocks_a_difference_takes() {
        let null = Null { block_sd: 0.01, mean: 0.0, false_alarm: false };
        assert!((null.smallest_believable(25) - 0.004).abs() < 1e-4);
        assert_eq!(null.blocks_needed(0.01), 12);
    }

    #[test]
    fn five_blocks_cannot_show_anything() {
        assert!(compare(&[0.1; 5], None).is_err());
    }
}
