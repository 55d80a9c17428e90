//! Wilcoxon's signed-rank test: are paired differences centred on zero?
//!
//! ```text
//! differences      +3.1  -0.2  +1.7  +0.9        W+ = ranks of the positive ones
//! ranks of |d|       4     1     3     2            = 4 + 3 + 2 = 9 of 10
//! ```
//! Exact up to 50 untied differences (counting the sign patterns of each rank sum); above, or with
//! ties, the normal approximation with its tie correction.

use super::special::normal_cdf;

/// Differences up to which the distribution is counted out.
const EXACT_UP_TO: usize = 50;

/// The two-sided p-value; 1 where there is nothing but zeros.
pub fn signed_rank_p(differences: &[f64]) -> f64 {
    let mut nonzero: Vec<f64> = differences.iter().copied().filter(|&it| it != 0.0).collect();
    nonzero.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let count = nonzero.len();
    if count == 0 {
        return 1.0;
    }
    let (mut positive, mut ties, mut from) = (0.0, 0.0, 0);
    while from < count {
        let size = nonzero[from..].iter().take_while(|it| it.abs() == nonzero[from].abs()).count();
        let rank = from as f64 + (size as f64 + 1.0) / 2.0;
        let above = nonzero[from..from + size].iter().filter(|&&it| it > 0.0).count();
        positive += rank * above as f64;
        ties += (size * size * size - size) as f64;
        from += size;
    }
    let n = count as f64;
    let centre = n * (n + 1.0) / 4.0;
    if ties == 0.0 && count <= EXACT_UP_TO {
        let far = centre - (positive - centre).abs();
        return (2.0 * share_up_to(count, far as usize)).min(1.0);
    }
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let distance = ((positive - centre).abs() - 0.5).max(0.0);
    2.0 * normal_cdf(-distance / variance.sqrt())
}

/// Share of the 2^n sign patterns whose positive ranks sum to at most `limit`.
fn share_up_to(count: usize, limit: usize) -> f64 {
    let mut patterns = vec![0.0; limit + 1];
    patterns[0] = 1.0;
    for rank in 1..=count {
        for sum in (rank..=limit).rev() {
            patterns[sum] += patterns[sum - rank];
        }
    }
    patterns.iter().sum::<f64>() / 2f64.powi(count as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn small_samples_have_their_tabulated_p_values() {
        assert_eq!(signed_rank_p(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2.0 / 64.0);
        assert_eq!(signed_rank_p(&[-1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 4.0 / 64.0);
        assert_eq!(signed_rank_p(&[1.0, -1.5]), 1.0);
        assert_eq!(signed_rank_p(&[0.0, 0.0]), 1.0);
    }

    #[test]
    fn twenty_differences_are_significant_at_a_rank_sum_of_52() {
        // The table's two-sided 5 % point for n = 20 is 52.
        assert!(2.0 * share_up_to(20, 52) <= 0.05 && 2.0 * share_up_to(20, 53) > 0.05);
    }

    #[test]
    fn the_approximation_meets_the_exact_test() {
        let mut random = Random::new(4);
        let exact: Vec<f64> = (0..50).map(|_| random.normal() + 0.3).collect();
        let mut tied = exact.clone();
        tied.push(exact[0]);
        let (exact, tied) = (signed_rank_p(&exact), signed_rank_p(&tied));
        assert!((exact / tied).ln().abs() < 0.6, "{exact} {tied}");
    }
}
