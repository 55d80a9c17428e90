//! How far a sample lies from nothing, whatever a few of its values do: the estimate that belongs
//! to the signed-rank test (Hodges and Lehmann).
//!
//! ```text
//! values            ▪▪▪▪▪                      ▪▪      a host that changed its pace within a block
//! means of pairs     ▁▃▇▇▃▁▁▂▂▁▁ ▁ ▁                   their median is the shift, the interval ends
//!                     └──┬──┘                          at the pairs that the test would not reject
//! ```
//! Of normal values it needs a twentieth more of them than the mean; of values with outliers the
//! mean needs many times as many.

use lab_record::Interval;

use super::summary::{median, robust_deviation};
use crate::Error;

/// Standard normal deviate of a 95 % interval.
const Z95: f64 = 1.96;

/// The shift of a sample, and its 95 % interval.
pub fn shift(values: &[f64]) -> Result<(f64, Interval), Error> {
    let count = values.len();
    if count < 2 {
        return Err(Error::TooFew { what: "a shift", needed: 2, got: count });
    }
    let mut means: Vec<f64> = values
        .iter()
        .enumerate()
        .flat_map(|(at, one)| values[at..].iter().map(move |other| one.midpoint(*other)))
        .collect();
    means.sort_by(f64::total_cmp);
    let n = count as f64;
    let expected = n * (n + 1.0) / 4.0;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    // So many pairs at either end the test rejects.
    let outside = (expected - Z95 * deviation).floor().max(1.0) as usize;
    let interval = Interval { low: means[outside - 1], high: means[means.len() - outside] };
    Ok((median(&means), interval))
}

/// The spread of such a sample: that of most of its values; of no more than half of them that
/// differ at all the usual one.
pub fn spread(values: &[f64]) -> f64 {
    let robust = robust_deviation(values);
    if robust > 0.0 { robust } else { super::summary::deviation(values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_shift_of_normal_values_is_their_mean_s_and_its_interval_holds_it() {
        let mut random = Random::new(5);
        let mut held = 0;
        for _ in 0..1_000 {
            let values: Vec<f64> = (0..20).map(|_| 0.5 + random.normal()).collect();
            let (found, within) = shift(&values).unwrap();
            assert!(within.low <= found && found <= within.high);
            held += u32::from(within.contains(0.5));
        }
        assert!((935..=970).contains(&held), "{held} of 1000");
    }

    #[test]
    fn a_few_values_far_away_move_it_little() {
        let mut values: Vec<f64> = (0..18).map(|at| 0.01 + 0.001 * f64::from(at % 3)).collect();
        values.extend([0.5, -0.4]);
        let (found, within) = shift(&values).unwrap();
        assert!((found - 0.011).abs() < 0.001 && within.high < 0.02, "{found} {within:?}");
        assert!(spread(&values) < 0.002, "{}", spread(&values));
        assert!(shift(&values[..1]).is_err());
    }
}
