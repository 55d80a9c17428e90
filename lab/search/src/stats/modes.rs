//! Two-humped results: found and told apart, so that their mean is never printed.
//!
//! ```text
//!   ▁▃▇▃▁          ▂▆▂         two modes: far apart for their spread, neither a handful of strays
//! ──────────────────────────
//! ```
//! The sorted sample is cut where the two parts vary least. Two parts of one normal sample cut that
//! way lie about 2.7 of their spreads apart (3.5 for a uniform one); a distance above 6 is a second
//! mode.

use lab_record::Mode;

use super::summary::{deviation, mean};

/// Ashman's D above which two parts are two modes.
const FAR_APART: f64 = 6.0;
/// Values below which two modes cannot be told from chance.
const FEWEST: usize = 12;

/// The two modes of a sample, lower first; none where it has one, or too few values to tell.
pub fn two_modes(values: &[f64]) -> Option<[Mode; 2]> {
    if values.len() < FEWEST {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = (values.len() / 10).max(3);
    let cut = (least..=sorted.len() - least).min_by(|&a, &b| {
        let within = |cut: usize| squares(&sorted[..cut]) + squares(&sorted[cut..]);
        within(a).total_cmp(&within(b))
    })?;
    let mode = |part: &[f64]| Mode { count: part.len(), mean: mean(part), sd: deviation(part) };
    let [low, high] = [mode(&sorted[..cut]), mode(&sorted[cut..])];
    let spread = ((low.sd.powi(2) + high.sd.powi(2)) / 2.0).sqrt();
    let gap = sorted[cut] - sorted[cut - 1];
    // The gap, too, must be wide: a long tail is no second mode.
    let apart = high.mean - low.mean > FAR_APART * spread && gap > 2.0 * spread;
    apart.then_some([low, high])
}

fn squares(part: &[f64]) -> f64 {
    let middle = mean(part);
    part.iter().map(|value| (value - middle).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn found(count: usize, draw: impl Fn(&mut Random) -> f64) -> usize {
        let mut random = Random::new(9);
        let mut sample = || (0..count).map(|_| draw(&mut random)).collect::<Vec<_>>();
        (0..500).filter(|_| two_modes(&sample()).is_some()).count()
    }

    #[test]
    fn two_modes_are_found_and_told_apart() {
        let mut random = Random::new(1);
        let mut values: Vec<f64> = (0..14).map(|_| 10.0 + 0.05 * random.normal()).collect();
        values.extend((0..6).map(|_| 9.0 + 0.05 * random.normal()));
        let [low, high] = two_modes(&values).unwrap();
        assert_eq!((low.count, high.count), (6, 14));
        assert!((low.mean - 9.0).abs() < 0.1 && (high.mean - 10.0).abs() < 0.1);
    }

    #[test]
    fn one_hump_is_rarely_taken_for_two() {
        assert!(found(20, |random| random.normal()) <= 10);
        assert!(found(20, |random| random.uniform()) <= 10);
        assert!(found(20, |random| random.exponential()) <= 15);
        assert_eq!(found(100, |random| random.normal()), 0);
    }

    #[test]
    fn a_lone_stray_is_no_mode() {
        let mut values = vec![1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.01, 0.99];
        values.push(9.0);
        assert_eq!(two_modes(&values), None);
    }
}
