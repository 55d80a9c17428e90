//! Verdicts: what a trial, or a series of them, must be read with.
//!
//! ```text
//! trial    generator-bound · counters disagree · host stalled
//! series   loss inversion · bimodal · drift · still warming up
//! host     fit for absolute numbers, or for ratios and instruction counts only
//! ```
//! Facts in, words out: every verdict carries the number that it was drawn from.

use lab_record::{Accounts, Outcome, Stalled, Verdict};

use super::drift::drift;
use super::modes::two_modes;
use super::warmup::{Warmup, warmup};

/// Share of the generator's ceiling above which a result says nothing of the device.
pub const CEILING_SHARE: f64 = 0.9;

/// The verdicts of one trial. `ceiling_pps` is the generator's own limit on this link, if known.
pub fn of_trial(
    outcome: &Outcome,
    accounts: Option<&Accounts>,
    stalled: &Stalled,
    ceiling_pps: Option<f64>,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let share = ceiling_pps.map(|ceiling| outcome.forwarding_pps() / ceiling);
    // What the generator itself failed to send limits a trial, whatever its ceiling was once.
    let limits = outcome.unsent() > outcome.lost();
    if let Some(share) = share.filter(|&share| share > CEILING_SHARE || limits) {
        verdicts.push(Verdict::GeneratorBound { share });
    }
    if let Some(accounts) = accounts {
        let known = [accounts.received, accounts.dropped, accounts.in_flight];
        let missing = known.iter().fold(accounts.sent as i64, |left, &count| left - count as i64);
        if missing != 0 {
            verdicts.push(Verdict::CountersDisagree { missing });
        }
    }
    if stalled.stalls > 0 {
        let share = stalled.total_us / 1e6 / outcome.elapsed_s.max(1e-9);
        let &Stalled { stalls, longest_us, .. } = stalled;
        verdicts.push(Verdict::HostStalled { stalls, longest_us, share });
    }
    verdicts
}

/// What a device says of its own stalls in a trial.
pub fn device_stalled(stalled: &Stalled, elapsed_s: f64) -> Option<Verdict> {
    let &Stalled { stalls, longest_us, total_us } = stalled;
    let share = total_us / 1e6 / elapsed_s.max(1e-9);
    (stalls > 0).then_some(Verdict::DeviceStalled { stalls, longest_us, share })
}

/// Whether packets seem overtaken that came by different queues, looked at one after the other.
pub fn order_unknown(queues: u64, reordered: u64) -> Option<Verdict> {
    (queues > 1 && reordered > 0).then_some(Verdict::OrderUnknown { queues, reordered })
}

/// Whether an answer is the generator's rather than the device's: too near what it can do itself.
pub fn generator_bound(answer_pps: f64, ceiling_pps: f64) -> Option<Verdict> {
    let share = answer_pps / ceiling_pps;
    (share > CEILING_SHARE).then_some(Verdict::GeneratorBound { share })
}

/// The verdicts of a series of results in order of time.
pub fn of_series(series: &[f64]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    if let Some(modes) = two_modes(series) {
        verdicts.push(Verdict::Bimodal { modes });
    }
    match (warmup(series), drift(series)) {
        (Warmup::Unfinished, Some(trend)) if trend.p < 0.01 => {
            verdicts.push(Verdict::StillWarmingUp);
        }
        // A change too small to matter is no verdict, however sure.
        (_, Some(trend)) if trend.p < 0.01 && trend.share.abs() > 0.002 => {
            verdicts.push(Verdict::Drift { share: trend.share, p: trend.p });
        }
        _ => {}
    }
    verdicts
}

/// Whether a host may be used for absolute numbers: stalls may take up to this share of the time.
pub fn is_fit_for_absolutes(stalled: &Stalled, watched_s: f64) -> bool {
    stalled.total_us / 1e6 <= 0.001 * watched_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use lab_record::Trial;

    fn outcome() -> Outcome {
        Outcome::of(Trial::new(1e6, 1.0), 950_000)
    }

    #[test]
    fn a_result_near_the_generators_ceiling_is_refused() {
        let verdicts = of_trial(&outcome(), None, &Stalled::default(), Some(1e6));
        assert!(matches!(verdicts[..], [Verdict::GeneratorBound { share }] if share > 0.94));
        assert!(of_trial(&outcome(), None, &Stalled::default(), Some(2e6)).is_empty());
        let late = Outcome { offered: 600_000, received: 590_000, ..outcome() };
        let verdicts = of_trial(&late, None, &Stalled::default(), Some(2e6));
        assert!(matches!(verdicts[..], [Verdict::GeneratorBound { share }] if share < 0.3));
    }

    #[test]
    fn an_answer_near_the_generators_ceiling_is_the_generators() {
        assert_eq!(generator_bound(0.8e6, 1e6), None);
        assert_eq!(generator_bound(1e6, 1e6), Some(Verdict::GeneratorBound { share: 1.0 }));
    }

    #[test]
    fn the_order_of_packets_is_known_within_a_queue_only() {
        assert_eq!([order_unknown(1, 5), order_unknown(2, 0)], [None, None]);
        let expected = Verdict::OrderUnknown { queues: 2, reordered: 5 };
        assert_eq!(order_unknown(2, 5), Some(expected));
    }

    #[test]
    fn a_trial_that_does_not_add_up_says_by_how_much() {
        let mut accounts = Accounts { sent: 100, received: 90, dropped: 8, in_flight: 2 };
        assert!(of_trial(&outcome(), Some(&accounts), &Stalled::default(), None).is_empty());
        accounts.dropped = 11;
        let verdicts = of_trial(&outcome(), Some(&accounts), &Stalled::default(), None);
        assert_eq!(verdicts, [Verdict::CountersDisagree { missing: -3 }]);
    }

    #[test]
    fn stalls_are_told_with_their_share_of_the_trial() {
        let stalled = Stalled { stalls: 3, longest_us: 900.0, total_us: 2_000.0 };
        let verdicts = of_trial(&outcome(), None, &stalled, None);
        assert!(
            matches!(verdicts[..], [Verdict::HostStalled { stalls: 3, share, .. }] if share == 0.002)
        );
        assert!(!is_fit_for_absolutes(&stalled, 1.0) && is_fit_for_absolutes(&stalled, 10.0));
    }

    #[test]
    fn a_device_that_was_away_is_told_with_its_share() {
        let stalled = Stalled { stalls: 2, longest_us: 400.0, total_us: 500.0 };
        assert!(matches!(
            device_stalled(&stalled, 0.1),
            Some(Verdict::DeviceStalled { stalls: 2, share, .. }) if share == 0.005
        ));
        assert_eq!(device_stalled(&Stalled::default(), 1.0), None);
    }

    #[test]
    fn a_series_is_judged_on_its_shape() {
        let mut random = Random::new(1);
        let mut series = |shape: fn(i32) -> f64| -> Vec<f64> {
            (0..40).map(|step| 100.0 * shape(step) + 0.1 * random.normal()).collect()
        };
        assert!(of_series(&series(|_| 1.0)).is_empty());
        let two = of_series(&series(|step| if step % 3 == 0 { 0.9 } else { 1.0 }));
        assert!(matches!(two[..], [Verdict::Bimodal { .. }]), "{two:?}");
        let rising = of_series(&series(|step| 1.0 + 0.01 * f64::from(step)));
        assert!(rising.contains(&Verdict::StillWarmingUp), "{rising:?}");
    }
}
