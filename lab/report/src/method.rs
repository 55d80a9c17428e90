//! Whether campaigns were measured alike, and whether the host was as the method took it to be.

use lab_record::{MethodRecord, Results};

/// A stall that overflows the rings of a device under load, in microseconds.
const LONG_US: f64 = 1e3;
/// More stalls than this many times those that a method was chosen for are told.
const MORE: f64 = 4.0;

/// Stalls of over a millisecond in a second, over the whole campaign: those of idle cores before
/// each start, and of the generator in its trials, whichever are more.
pub fn stalls_per_s(results: &Results) -> f64 {
    let (mut idle, mut idle_s) = (0.0, 0.0);
    for probe in &results.probes {
        idle += probe.long as f64;
        idle_s += probe.watched_s;
    }
    let (mut busy, mut busy_s) = (0.0, 0.0);
    for trial in &results.trials {
        let long =
            trial.stalls.iter().filter(|it| !it.is_of_the_device() && it.length_us > LONG_US);
        busy += long.count() as f64;
        busy_s += trial.outcome.elapsed_s;
    }
    let rate = |count: f64, seconds: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    rate(idle, idle_s).max(rate(busy, busy_s))
}

/// How a campaign was measured, in words, with what the host was like meanwhile.
pub fn words(results: &Results) -> Option<String> {
    let method = results.methods.first()?;
    let seen = stalls_per_s(results);
    let mut told = format!("Method: {}.", method.words());
    if seen > 0.0 || method.stalls_per_s > 0.0 {
        told += &format!(" Over the whole campaign there were {seen:.2} such stalls a second");
        told += match seen > MORE * method.stalls_per_s.max(0.2 / method.trial_s.max(1e-9)) {
            true => ": more than its trials were made for, so that bounds may lie low.",
            false => ".",
        };
    }
    Some(told)
}

/// Why numbers of two campaigns are not to be compared, if so.
pub fn disagreement(one: &Results, other: &Results) -> Option<String> {
    let said = |method: Option<&MethodRecord>| {
        method.map_or_else(|| "it does not tell how".to_owned(), MethodRecord::words)
    };
    let (one, other) = (one.methods.first(), other.methods.first());
    let alike = match (one, other) {
        (Some(one), Some(other)) => one.agrees_with(other),
        // Of before this was told.
        (None, None) => true,
        _ => false,
    };
    (!alike).then(|| format!("measured otherwise: {}; and: {}", said(one), said(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Outcome, ProbeRecord, Stall, Subject, Trial, TrialRecord};

    fn results(trial_s: f64, stalls_per_s: f64) -> Results {
        let method =
            MethodRecord { trial_s, trial_asked_s: 2.0, stalls_per_s, ..MethodRecord::default() };
        Results { methods: vec![method], ..Results::default() }
    }

    #[test]
    fn campaigns_that_measured_otherwise_say_so() {
        let (long, short) = (results(2.0, 0.0), results(0.01, 32.0));
        assert_eq!(disagreement(&long, &long), None);
        let told = disagreement(&long, &short).unwrap();
        assert!(told.contains("up to 2 s") && told.contains("up to 0.01 s"), "{told}");
        let untold = Results::default();
        assert!(disagreement(&long, &untold).unwrap().contains("it does not tell how"));
        assert_eq!(disagreement(&untold, &untold), None);
    }

    #[test]
    fn stalls_are_those_of_the_whole_campaign() {
        let mut results = results(2.0, 0.0);
        assert!(!words(&results).unwrap().contains("stalls a second"));
        let quiet = ProbeRecord { watched_s: 1.0, ..ProbeRecord::default() };
        results.probes = vec![quiet; 2];
        let outcome = Outcome::of(Trial::new(1.0, 10.0), 10);
        let mut trial = TrialRecord::new(Subject::default(), 0, "mlr", 0.0, outcome);
        let stall = |length_us, seen_by: &str| Stall::new(0.0, length_us, seen_by);
        trial.stalls = vec![stall(900.0, "generator"), stall(9e3, Stall::DEVICE)];
        trial.stalls.extend((0..15).map(|_| stall(2e3, "generator")));
        results.trials = vec![trial];
        assert_eq!(super::stalls_per_s(&results), 1.5);
        let told = words(&results).unwrap();
        assert!(told.contains("1.50 such stalls a second: more than"), "{told}");
    }
}
