//! Which spikes of a trial are written down one by one: the largest, in the order of time.

use lab_record::Spike;

/// As many of a trial.
const MOST: usize = 50;

/// The largest of them.
pub(crate) fn largest(spikes: &[Spike]) -> Vec<Spike> {
    let mut kept = spikes.to_vec();
    kept.sort_by(|a, b| b.peak.total_cmp(&a.peak));
    kept.truncate(MOST);
    kept.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_wherever_in_the_trial_they_are() {
        let spike = |step: u32| {
            let peak = if step == 399 { 9.0 } else { f64::from(step % 7) };
            Spike { at_s: f64::from(step), length_s: 0.1, peak, count: 1 }
        };
        let kept = largest(&(0..400).map(spike).collect::<Vec<_>>());
        assert_eq!(kept.len(), MOST);
        assert_eq!(kept.last().map(|it| (it.at_s, it.peak)), Some((399.0, 9.0)));
        assert!(kept.iter().all(|it| it.peak >= 6.0), "{kept:?}");
        assert!(kept.is_sorted_by(|a, b| a.at_s < b.at_s));
    }
}
