//! The order in which two devices are measured against each other.
//!
//! ```text
//! block 1    block 2    block 3         within a block the linear drift of the host cancels;
//! A B B A    B A A B    A B B A …       which order a block has is drawn, so that nothing
//!                                       periodic on the host can follow it
//! ```

use serde::{Deserialize, Serialize};

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
    fn geometric_drift_over_a_block_cancels() {
        let at = |place: i32, factor: f64| factor * 1.01f64.powi(place);
        let ratio = log_ratio([at(0, 5.0), at(3, 5.0)], [at(1, 6.0), at(2, 6.0)]);
        assert!((ratio - 1.2f64.ln()).abs() < 1e-12);
    }
}
