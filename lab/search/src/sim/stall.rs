//! Stalls of a simulated host: times at which nothing runs.
//!
//! ```text
//! random    ──█────────█─█──────────────█──   exponential gaps, a mean length
//! periodic  ──█─────█─────█─────█─────█────   every `period_s`, the same length
//! ```

use crate::random::Random;

/// When a host stalls, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// Random stalls per second.
    pub per_s: f64,
    /// Mean length of a random stall.
    pub mean_s: f64,
    /// Period and length of a regular stall.
    pub periodic: Option<(f64, f64)>,
}

impl Stalls {
    /// A host that never stalls.
    pub fn none() -> Self {
        Self { per_s: 0.0, mean_s: 0.0, periodic: None }
    }

    /// Random stalls alone.
    pub fn random(per_s: f64, mean_s: f64) -> Self {
        Self { per_s, mean_s, periodic: None }
    }

    /// The stalls of a trial: when and how long, in order of time.
    pub fn of_trial(&self, duration_s: f64, random: &mut Random) -> Vec<(f64, f64)> {
        let mut stalls = Vec::new();
        for _ in 0..random.poisson(self.per_s * duration_s) {
            stalls.push((random.uniform() * duration_s, self.mean_s * random.exponential()));
        }
        if let Some((period_s, length_s)) = self.periodic {
            let mut at_s = random.uniform() * period_s;
            while at_s < duration_s {
                stalls.push((at_s, length_s));
                at_s += period_s;
            }
        }
        stalls.sort_by(|a, b| a.0.total_cmp(&b.0));
        stalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_stalls_come_at_their_rate_and_in_order() {
        let stalls = Stalls::random(2.0, 1e-3).of_trial(1_000.0, &mut Random::new(1));
        assert!((1_850..2_150).contains(&stalls.len()), "{}", stalls.len());
        assert!(stalls.is_sorted_by(|a, b| a.0 <= b.0));
        let mean_s = stalls.iter().map(|stall| stall.1).sum::<f64>() / stalls.len() as f64;
        assert!((mean_s / 1e-3 - 1.0).abs() < 0.1, "{mean_s}");
    }

    #[test]
    fn regular_stalls_keep_their_period() {
        let stalls = Stalls { periodic: Some((0.1, 2e-4)), ..Stalls::none() };
        let stalls = stalls.of_trial(10.0, &mut Random::new(2));
        assert_eq!(stalls.len(), 100);
        assert!(stalls.windows(2).all(|pair| (pair[1].0 - pair[0].0 - 0.1).abs() < 1e-9));
    }
}
