//! Do events come at a fixed period? Found without knowing it, among strays.
//!
//! ```text
//! events   |    |    | |  |    |    |  |    phases at the right period bunch up,
//! phase    ▁█▁▁▁▁▂▁▁▁                       at a wrong one they spread
//! ```
//! Each candidate period (a distance between events, or a small fraction of one) is judged by the
//! length of the mean phase vector (Rayleigh): 1 when all events share a phase. A period's
//! fractions fit as well as itself, so the longest multiple of the best that still fits is taken,
//! again and again until no longer one fits.
//! Least squares over cycle numbers sharpen it.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

/// Events needed.
const FEWEST: usize = 6;
/// Neighbours whose distance is tried as a period: strays in between are skipped over.
const REACH: usize = 4;
/// Events that a period is searched on; more of them only sharpen it.
const SEARCHED: usize = 256;
/// Periods tried to either side of a candidate.
const MOST_STEPS: f64 = 200.0;
/// Chance at which events at random times may look periodic.
const SIGNIFICANT_P: f64 = 1e-3;

/// A period found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Period {
    /// The period.
    pub period_s: f64,
    /// Share of the events that keep it.
    pub share: f64,
    /// Chance that random events look as regular.
    pub p: f64,
}

/// The period of event times in rising order, if they have one.
pub fn find(times_s: &[f64]) -> Option<Period> {
    if times_s.len() < FEWEST {
        return None;
    }
    let candidates = candidates(times_s);
    let scored = candidates.iter().map(|&candidate_s| sharpen(times_s, candidate_s));
    let best = scored.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (period_s, score) = longest_multiple(times_s, best);
    let count = times_s.len() as f64;
    // Rayleigh's tail, once for each period tried.
    let tried = candidates.len() as f64 * 2.0 * MOST_STEPS;
    let p = (tried * (-count * score * score).exp()).min(1.0);
    let share = kept(times_s, period_s).len() as f64 / count;
    (p < SIGNIFICANT_P && share >= 0.5).then_some(Period { period_s, share, p })
}

/// The longest multiple of a period that fits about as well. At a multiple of the true period the
/// phases cancel; at a multiple of a fraction of it they still agree.
fn longest_multiple(times_s: &[f64], best: (f64, f64)) -> (f64, f64) {
    let fits = |&(_, score): &(f64, f64)| score > 0.7 * best.1;
    let mut longest = best;
    loop {
        let multiples = (2..=8).map(|times| sharpen(times_s, longest.0 * f64::from(times)));
        let longer = multiples.filter(|it| it.0 > 1.5 * longest.0 && fits(it));
        // Nothing longer than the events themselves comes again.
        let length_s = times_s[times_s.len() - 1] - times_s[0];
        match longer.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|it| it.0 < length_s) {
            Some(longer) => longest = longer,
            None => return longest,
        }
    }
}

fn candidates(times_s: &[f64]) -> Vec<f64> {
    let mut found = Vec::new();
    for reach in 1..=REACH {
        let mut distances: Vec<f64> =
            times_s.windows(reach + 1).map(|window| window[reach] - window[0]).collect();
        distances.sort_by(f64::total_cmp);
        // A few of each kind: the usual distance is among them, whatever strays do to the rest.
        for share in [0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9] {
            let distance = distances[((distances.len() - 1) as f64 * share) as usize];
            found.extend([1.0, 2.0, 3.0].map(|parts| distance / parts));
        }
    }
    found.retain(|&period_s| period_s > 0.0);
    found
}

/// The length of the mean phase vector, and its angle.
fn rayleigh(times_s: &[f64], period_s: f64) -> (f64, f64) {
    let (mut x, mut y) = (0.0, 0.0);
    for &at_s in times_s {
        let (sin, cos) = (TAU * ((at_s - times_s[0]) / period_s)).sin_cos();
        x += cos;
        y += sin;
    }
    (x.hypot(y) / times_s.len() as f64, y.atan2(x))
}

/// The events within a tenth of a period of the common phase: (cycle, time).
fn kept(times_s: &[f64], period_s: f64) -> Vec<(f64, f64)> {
    let origin_s = times_s[0] + rayleigh(times_s, period_s).1 / TAU * period_s;
    let cycle = |at_s: f64| (at_s - origin_s) / period_s;
    let near = times_s.iter().filter(|&&at_s| (cycle(at_s) - cycle(at_s).round()).abs() < 0.1);
    near.map(|&at_s| (cycle(at_s).round(), at_s)).collect()
}

/// The best period within 3 % of this one, in steps that move the last phase by a quarter turn at
/// most.
fn nearby(times_s: &[f64], period_s: f64) -> f64 {
    let cycles = (times_s[times_s.len() - 1] - times_s[0]) / period_s;
    let steps = (0.03 * 4.0 * cycles).ceil().min(MOST_STEPS);
    let at = |step: i32| period_s * (1.0 + 0.03 * f64::from(step) / steps);
    let tried = (-(steps as i32)..=steps as i32).map(at);
    let score = |period_s: f64| rayleigh(times_s, period_s).0;
    tried.max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(period_s)
}

/// The best period near a candidate, and how well it fits: searched for on some of the events, then
/// sharpened by least squares on ever more of them.
fn sharpen(times_s: &[f64], candidate_s: f64) -> (f64, f64) {
    let mut size = SEARCHED;
    let mut period_s = nearby(&times_s[..size.min(times_s.len())], candidate_s);
    loop {
        let part = &times_s[..size.min(times_s.len())];
        let points = kept(part, period_s);
        let count = points.len() as f64;
        if points.len() >= 3 {
            let cycle = points.iter().map(|point| point.0).sum::<f64>() / count;
            let at_s = points.iter().map(|point| point.1).sum::<f64>() / count;
            let over: f64 = points.iter().map(|p| (p.0 - cycle) * (p.1 - at_s)).sum();
            let under: f64 = points.iter().map(|p| (p.0 - cycle).powi(2)).sum();
            if under > 0.0 && over > 0.0 {
                period_s = over / under;
            }
        }
        if size >= times_s.len() {
            return (period_s, rayleigh(times_s, period_s).0);
        }
        size += size / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn events(period_s: f64, jitter_s: f64, strays: u64, missing: f64) -> Vec<f64> {
        let mut random = Random::new(11);
        let mut times = Vec::new();
        for cycle in 0..100 {
            if !random.chance(missing) {
                times.push(f64::from(cycle) * period_s + jitter_s * random.normal());
            }
        }
        let length_s = 100.0 * period_s;
        times.extend((0..strays).map(|_| length_s * random.uniform()));
        times.sort_by(f64::total_cmp);
        times
    }

    #[test]
    fn a_period_is_found_among_jitter_strays_and_gaps() {
        for (jitter, strays, missing) in [(0.0, 0, 0.0), (0.02, 0, 0.1), (0.005, 40, 0.1)] {
            let found = find(&events(0.1, 0.1 * jitter, strays, missing)).unwrap();
            assert!((found.period_s / 0.1 - 1.0).abs() < 0.01, "{found:?}");
        }
    }

    /// Every fourth event has a companion a third of the period behind it: distances of a third are
    /// candidates, thirds of it, too.
    #[test]
    fn a_fraction_of_a_fraction_is_not_taken_for_the_period() {
        let mut times = Vec::new();
        for cycle in 0..100 {
            times.push(f64::from(cycle) * 0.1);
            if cycle % 4 == 0 {
                times.push(f64::from(cycle) * 0.1 + 0.1 / 3.0);
            }
        }
        let best = (0.1 / 9.0, rayleigh(&times, 0.1 / 9.0).0);
        let (period_s, _) = longest_multiple(&times, best);
        assert!((period_s / 0.1 - 1.0).abs() < 0.01, "{period_s}");
    }

    #[test]
    fn random_events_have_no_period() {
        let mut random = Random::new(12);
        let alarms = (0..300).filter(|_| {
            let mut times: Vec<f64> = (0..40).map(|_| random.uniform()).collect();
            times.sort_by(f64::total_cmp);
            find(&times).is_some()
        });
        assert_eq!(alarms.count(), 0);
    }

    #[test]
    fn a_handful_of_events_proves_nothing() {
        assert_eq!(find(&[0.0, 0.1, 0.2, 0.3, 0.4]), None);
    }
}
