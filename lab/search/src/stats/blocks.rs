//! The order in which two devices are measured against each other.
//!
//! ```text
//! block 1    block 2    block 3         within a block the linear drift of the host cancels;
//! A B B A    B A A B    A B B A …       which order a block has is drawn, so that nothing
//!                                       periodic on the host can follow it
//! ```

use serde::{Deserialize, Serialize};

use super::summary::median;
use crate::random::Random;

/// One of the two devices (or versions) compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The base.
    A,
    /// What is held against it.
    B,
}

/// The order of `blocks` blocks, drawn by `seed`: each is ABBA or BAAB, as many of one as of the
/// other where their number is even.
pub fn order(blocks: usize, seed: u64) -> Vec<[Side; 4]> {
    use Side::{A, B};
    let mut order: Vec<[Side; 4]> =
        (0..blocks).map(|block| if block % 2 == 0 { [A, B, B, A] } else { [B, A, A, B] }).collect();
    Random::new(seed).shuffle(&mut order);
    order
}

/// A block's natural-log ratio of B over A: geometric means of its two values each.
pub fn log_ratio(a: [f64; 2], b: [f64; 2]) -> f64 {
    (b[0].ln() + b[1].ln() - a[0].ln() - a[1].ln()) / 2.0
}

/// A block's log-ratio, and how far its two starts of one side lie apart at most, as a logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// The log-ratio.
    pub ratio: f64,
    /// How far the same lay from the same.
    pub unrest: f64,
}

impl Block {
    /// Of its two values of each side.
    pub fn of(a: [f64; 2], b: [f64; 2]) -> Self {
        let apart = |[one, other]: [f64; 2]| (one / other).ln().abs();
        Self { ratio: log_ratio(a, b), unrest: apart(a).max(apart(b)) }
    }

    /// Of the log-ratios of its two pairs, each of which was measured at one time.
    pub fn of_ratios([one, next]: [f64; 2]) -> Self {
        Self { ratio: (one + next) / 2.0, unrest: (one - next).abs() }
    }
}

/// So many times as restless as the usual block is one in which the host changed its pace.
const RESTLESS: f64 = 5.0;
/// Blocks that are left at least.
const FEWEST: usize = 6;

/// The log-ratios of the blocks in which the host kept its pace. Which they are does not depend on
/// how the sides differ: the same is held against the same.
pub fn steady(blocks: &[Block]) -> Vec<f64> {
    let unrest: Vec<f64> = blocks.iter().map(|block| block.unrest).collect();
    let most = if unrest.is_empty() { 0.0 } else { RESTLESS * median(&unrest) };
    let kept: Vec<f64> =
        blocks.iter().filter(|it| it.unrest <= most).map(|block| block.ratio).collect();
    match kept.len() {
        FEWEST.. => kept,
        _ => blocks.iter().map(|block| block.ratio).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_come_equally_often_in_an_order_that_the_seed_draws() {
        let blocks = order(20, 1);
        assert_eq!(blocks.iter().filter(|block| block[0] == Side::A).count(), 10);
        assert_ne!(blocks, order(20, 2));
        assert!(blocks.iter().all(|block| block[0] == block[3] && block[1] == block[2]));
    }

    #[test]
    fn blocks_in_which_the_host_changed_its_pace_are_left_out() {
        let mut blocks: Vec<Block> = (0..8)
            .map(|at| Block::of([100.0, 100.5 + f64::from(at % 3)], [101.0, 101.5]))
            .collect();
        blocks.push(Block::of([100.0, 150.0], [101.0, 101.0]));
        assert_eq!(steady(&blocks).len(), 8);
        assert_eq!(steady(&blocks[3..]).len(), 6, "as many as are needed, spoiled or not");
        assert!(steady(&[]).is_empty());
    }

    #[test]
    fn geometric_drift_over_a_block_cancels() {
        let at = |place: i32, factor: f64| factor * 1.01f64.powi(place);
        let ratio = log_ratio([at(0, 5.0), at(3, 5.0)], [at(1, 6.0), at(2, 6.0)]);
        assert!((ratio - 1.2f64.ln()).abs() < 1e-12);
    }
}
